"""Small files that unpack to much, declare much, or nest deeply."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from campaign.mutate import zipped
from campaign.recipes import ENTRIES, READ, Recipe, folder, mtx, table, text


def _npy(shape: str, data: bytes, descr: str = "<f8") -> bytes:
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head = head.ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def _npz_zeros(place: Path) -> str:
    """480 MB of zeros per view, in a file of about 1 MB."""
    with zipfile.ZipFile(place / "data.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in ("a", "b"):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(_npy("(6000000, 10)", b""))
                for _ in range(480):
                    member.write(bytes(10**6))
    return "data.npz"


def _npz_lies(place: Path) -> str:
    (place / "data.npz").write_bytes(
        zipped([("a.npy", _npy("(20000000, 300)", b"\x00" * 64)), ("b.npy", _npy("(4, 1)", bytes(32)))])
    )
    return "data.npz"


def _npz_overflow(place: Path) -> str:
    (place / "data.npz").write_bytes(zipped([("a.npy", _npy("(4611686018427387904, 4)", bytes(64)))]))
    return "data.npz"


def _npz_negative(place: Path) -> str:
    (place / "data.npz").write_bytes(zipped([("a.npy", _npy("(-4, 2)", bytes(64)))]))
    return "data.npz"


def _npz_deep_header(place: Path) -> str:
    (place / "data.npz").write_bytes(zipped([("a.npy", _npy("(" * 5000 + ")" * 5000, b""))]))
    return "data.npz"


def _sparse_npz(shape: tuple[int, int]) -> object:
    def write(place: Path) -> str:
        rows = shape[0] if shape[0] < 10**8 else 3
        np.savez_compressed(
            place / "data.npz", format=b"csr", shape=np.array(shape), data=np.ones(2), indices=np.array([0, 1]),
            indptr=np.concatenate([[0, 2], np.full(rows - 1, 2)]),
        )  # fmt: skip
        return "data.npz"

    return write


def _excel_far_cell(place: Path) -> str:
    import openpyxl

    book = openpyxl.Workbook()
    for row in ([None, "a", "b"], ["s1", 1.0, 2.0], ["s2", 3.0, 4.0]):
        book.active.append(row)
    book.active["XFD1048576"] = 1.0
    book.save(place / "data.xlsx")
    return "data.xlsx"


def _excel_with(sheet: bytes, more: bytes = b"") -> object:
    def write(place: Path) -> str:
        import openpyxl

        stream = io.BytesIO()
        openpyxl.Workbook().save(stream)
        with zipfile.ZipFile(stream) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
        with zipfile.ZipFile(place / "data.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, data in members:
                if name == "xl/worksheets/sheet1.xml":
                    with archive.open(name, "w", force_zip64=True) as member:
                        head, _, tail = sheet.partition(b"@")
                        member.write(head)
                        for _ in range(600 if more else 0):
                            member.write(more * (10**6 // len(more)))
                        member.write(tail)
                else:
                    archive.writestr(name, data)
        return "data.xlsx"

    return write


_SHEET = (
    b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>@</sheetData></worksheet>'
)
_LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE z [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (c, b"&%c;" % (c - 1) * 10) for c in range(98, 108))
    + b"]>" + _SHEET.replace(b"@", b'<row r="1"><c r="A1" t="inlineStr"><is><t>&k;</t></is></c></row>')
)  # fmt: skip


def _gzip_zeros(name: str, head: bytes) -> object:
    def write(place: Path) -> str:
        with gzip.open(place / name, "wb", compresslevel=1) as file:
            file.write(head)
            for _ in range(3000):
                file.write(bytes(10**6))
        return name

    return write


def _xdr(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}i", *numbers)


_RDS_HEAD = b"X\n" + _xdr(3, 0x030500, 0x030500, 5) + b"UTF-8"


def _symbol(name: bytes) -> bytes:
    return _xdr(1, 0x00040009, len(name)) + name


#: the sequence 1:1e10 in a few bytes, as R stores it
_ALTREP = (
    _RDS_HEAD + _xdr(238) + _xdr(2) + _symbol(b"compact_realseq") + _xdr(2) + _symbol(b"base") + _xdr(2)
    + _xdr(13, 1, 14) + _xdr(254) + _xdr(14, 3) + struct.pack(">3d", 1e10, 1.0, 1.0) + _xdr(254)
)  # fmt: skip


def _rds_deep(place: Path) -> str:
    (place / "data.rds").write_bytes(gzip.compress(_RDS_HEAD + _xdr(19, 1) * 50_000 + _xdr(254)))
    return "data.rds"


def _mat_zeros(place: Path) -> str:
    """Two matrices of 1.6 GB of zeros, packed."""
    pack = zlib.compressobj(1)
    data = pack.compress(_mat_matrix_head(20_000_000, 10, 1_600_000_000))
    for _ in range(1600):
        data += pack.compress(bytes(10**6))
    data += pack.flush()
    (place / "data.mat").write_bytes(_MAT_HEAD + struct.pack("<II", 15, len(data)) + data)
    return "data.mat"


_MAT_HEAD = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"


def _mat_matrix_head(rows: int, columns: int, size: int) -> bytes:
    flags = struct.pack("<IIII", 6, 8, 6, 0)
    dims = struct.pack("<IIii", 5, 8, rows, columns)
    name = struct.pack("<HH4s", 1, 1, b"X")
    body = flags + dims + name
    return struct.pack("<II", 14, len(body) + 8 + size) + body + struct.pack("<II", 9, size)


def _mat_lies(place: Path) -> str:
    (place / "data.mat").write_bytes(_MAT_HEAD + _mat_matrix_head(2_000_000, 1000, 2_000_000_000) + bytes(64))
    return "data.mat"


def _mat_deep(place: Path) -> str:
    """Cells in cells, 3000 floors."""
    body = b""
    for _ in range(3000):
        inner = (
            struct.pack("<IIII", 6, 8, 1, 0)
            + struct.pack("<IIii", 5, 8, 1, 1)
            + struct.pack("<HH4s", 1, 1, b"X")
            + body
        )
        body = struct.pack("<II", 14, len(inner)) + inner
    (place / "data.mat").write_bytes(_MAT_HEAD + body)
    return "data.mat"


def _hdf_huge(place: Path) -> str:
    import h5py

    with h5py.File(place / "data.mat", "w") as file:
        for name in ("a", "b"):
            file.create_dataset(name, shape=(100_000, 1_000_000), chunks=(1000, 1000), dtype="f8")
    return "data.mat"


def _hdf_packed(place: Path) -> str:
    import h5py

    with h5py.File(place / "data.mat", "w") as file:
        for name in ("a", "b"):
            shape, chunk = (100, 4_000_000), (100, 10_000)
            made = file.create_dataset(name, shape=shape, chunks=chunk, dtype="f8", compression="gzip")
            packed = zlib.compress(bytes(8_000_000))
            for start in range(0, shape[1], chunk[1]):
                made.id.write_direct_chunk((0, start), packed)
    return "data.mat"


def _hdf_deep(place: Path) -> str:
    import h5py

    with h5py.File(place / "data.mat", "w") as file:
        group = file
        for _ in range(3000):
            group = group.create_group("g")
        group["x"] = np.eye(3)
    return "data.mat"


def _h5ad_shape(place: Path) -> str:
    """A sparse X that says it has 2e7 rows and 3e4 columns, and has two values."""
    import anndata
    import h5py
    from scipy import sparse

    anndata.AnnData(sparse.csr_matrix(np.eye(4))).write_h5ad(place / "data.h5ad")
    with h5py.File(place / "data.h5ad", "r+") as file:
        file["X"].attrs["shape"] = [20_000_000, 30_000]
    return "data.h5ad"


def _h5ad_dense(place: Path) -> str:
    import anndata
    import h5py

    anndata.AnnData(np.eye(4)).write_h5ad(place / "data.h5ad")
    with h5py.File(place / "data.h5ad", "r+") as file:
        attrs = dict(file["X"].attrs)
        del file["X"]
        file.create_dataset("X", shape=(1_000_000, 100_000), chunks=(1000, 1000), dtype="f8").attrs.update(attrs)
    return "data.h5ad"


def _parquet_rows(place: Path) -> str:
    """Six columns of 1e8 equal numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.array(np.zeros(2 * 10**6))
    schema = pa.schema([(f"c{j}", pa.float64()) for j in range(6)])
    with pq.ParquetWriter(place / "left.parquet", schema) as file:
        group = pa.table([column] * 6, schema=schema)
        for _ in range(50):
            file.write_table(group, row_group_size=2 * 10**6)
    return "left.parquet"


def _feather_rows(place: Path) -> str:
    import pyarrow as pa
    import pyarrow.feather as feather

    column = pa.array(np.zeros(5 * 10**7))
    feather.write_feather(pa.table({f"c{j}": column for j in range(8)}), place / "left.feather", compression="zstd")
    return "left.feather"


_MTX = {"left.docs": "".join(f"s{i}\n" for i in range(12))}
RECIPES = (
    Recipe("mtx", "2e7 rows declared", folder({"left.mtx": mtx(20_000_000, 12, ENTRIES)}), READ),
    Recipe(
        "mtx",
        "2e7 rows declared, named",
        folder({"left.mtx": mtx(20_000_000, 12, ENTRIES), **_MTX}),
        ("info", "cluster"),
    ),
    Recipe("mtx", "2e9 columns declared", folder({"left.mtx": mtx(3, 2_000_000_000, ENTRIES)}), READ),
    Recipe("mtx", "1e10 entries declared", folder({"left.mtx": mtx(3, 12, ENTRIES, n=10**10)}), READ),
    Recipe(
        "mtx",
        "1e8 dense declared",
        folder({"left.mtx": "%%MatrixMarket matrix array real general\n100000 100000\n1\n"}),
        READ,
    ),
    Recipe("mtx", "integers above 64 bits", folder({"left.mtx": mtx(10**20, 12, ENTRIES)}), READ),
    Recipe("npz", "1 GB of zeros in 1 MB", _npz_zeros, READ),
    Recipe("npz", "shape without data", _npz_lies, READ),
    Recipe("npz", "shape that overflows", _npz_overflow, READ),
    Recipe("npz", "negative shape", _npz_negative, READ),
    Recipe("npz", "header nested 5000 deep", _npz_deep_header, READ),
    Recipe("npz sparse", "2e7 empty rows", _sparse_npz((20_000_000, 2)), READ),
    Recipe("npz sparse", "1e12 columns", _sparse_npz((3, 10**12)), READ),
    Recipe("npz sparse", "1e12 rows declared", _sparse_npz((10**12, 3)), READ),
    Recipe("xlsx", "cell XFD1048576", _excel_far_cell, READ),
    Recipe("xlsx", "600 MB of spaces", _excel_with(_SHEET, b" "), READ),
    Recipe("xlsx", "600 MB of rows", _excel_with(_SHEET, b'<row><c t="n"><v>1</v></c></row>'), ("info",)),
    Recipe("xlsx", "billion laughs", _excel_with(_LAUGHS), READ),
    Recipe("xlsx", "nested 200000 deep", _excel_with(b"<worksheet>" + b"<a>" * 200_000 + b"@"), READ),
    Recipe("rds", "3 GB of zeros", _gzip_zeros("data.rds", _RDS_HEAD + _xdr(14, 2_000_000_000)), ("info",)),
    Recipe("rds", "sequence of 1e10", text("data.rds", gzip.compress(_ALTREP)), READ),
    Recipe("rds", "length without data", text("data.rds", gzip.compress(_RDS_HEAD + _xdr(14, 2**31 - 1))), READ),
    Recipe("rds", "list of 2e9", text("data.rds", gzip.compress(_RDS_HEAD + _xdr(19, 2**31 - 1))), READ),
    Recipe("rds", "nested 50000 deep", _rds_deep, READ),
    Recipe("mat5", "1.6 GB of zeros, packed", _mat_zeros, ("info",)),
    Recipe("mat5", "size without data", _mat_lies, READ),
    Recipe("mat5", "cells nested 3000 deep", _mat_deep, READ),
    Recipe("mat73", "1e11 declared", _hdf_huge, READ),
    Recipe("mat73", "6 GB packed", _hdf_packed, ("info",)),
    Recipe("mat73", "groups nested 3000 deep", _hdf_deep, READ),
    Recipe("h5ad", "sparse shape declared", _h5ad_shape, READ),
    Recipe("h5ad", "1e11 declared", _h5ad_dense, READ),
    Recipe("parquet", "1e8 equal rows", _parquet_rows, READ),
    Recipe("feather", "5e7 equal rows", _feather_rows, ("info",)),
    Recipe("csv", "20000 columns", text("left.csv", table(4, 20_000)), ("info", "cluster")),
    Recipe("csv", "one line of 20 MB", text("left.csv", "id,a\n" + "1" * 20_000_000), READ),
    Recipe("csv", "open quote and 5 MB", text("left.csv", 'id,a\ns1,"' + "x\n" * 2_500_000), READ),
    Recipe("csv", "one column more in the last line", text("left.csv", table() + "s99" + ",1" * 100_000 + "\n"), READ),
    Recipe("toml", "nested 100000 deep", text("study.toml", "a = " + "[" * 100_000), ("config",)),
    Recipe("toml", "keys nested 2000 deep", text("study.toml", ".".join("a" * 2000) + " = 1\n"), ("config",)),
    Recipe("toml", "integer of 100000 digits", text("study.toml", "seed = " + "9" * 100_000), ("config",)),
)
