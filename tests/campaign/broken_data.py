"""Well-formed files with bad data: indices out of range, odd types, ids that do not fit, no values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from campaign.recipes import ENTRIES, FIT, READ, Recipe, folder, mtx, table, text
from campaign.sandbox import Run


def _npz(**arrays: Any) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        np.savez(place / "data.npz", **arrays)
        return "data.npz"

    return write


def _csr(data: Any, indices: Any, indptr: Any, shape: Any = (12, 4), kind: bytes = b"csr") -> Callable[[Path], str]:
    return _npz(
        format=kind, shape=np.array(shape), data=np.array(data), indices=np.array(indices), indptr=np.array(indptr)
    )


_POINTERS = np.arange(13)
_ONES = np.ones(12)


class _Opens:
    """Pickled, it would write a file when it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return open, ("out-of-pickle", "w")


def _pickled(place: Path) -> str:
    np.savez(place / "data.npz", a=np.array([_Opens()], dtype=object), b=np.eye(3))
    return "data.npz"


def _mat_sparse(old: Any, new: Any) -> Callable[[Path], str]:
    """A sparse matrix, with some of its integers exchanged in the file."""

    def write(place: Path) -> str:
        from scipy import sparse
        from scipy.io import savemat

        path = place / "data.mat"
        savemat(path, {"a": sparse.csc_matrix(np.arange(1.0, 49.0).reshape(12, 4)), "y": np.arange(12) % 2})
        before, after = (np.array(values, "<i4").tobytes() for values in (old, new))
        content = path.read_bytes()
        if before not in content:
            raise ValueError("these integers are not in the file")
        path.write_bytes(content.replace(before, after, 1))
        return path.name

    return write


def _h5ad_sparse(part: str, at: int, value: int) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        import anndata
        import h5py
        from scipy import sparse

        anndata.AnnData(sparse.csr_matrix(np.arange(1.0, 49.0).reshape(12, 4))).write_h5ad(place / "data.h5ad")
        with h5py.File(place / "data.h5ad", "r+") as file:
            file[f"X/{part}"][at] = value
        return "data.h5ad"

    return write


def _h5ad(X: Any, **parts: Any) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        import anndata

        anndata.AnnData(X, **parts).write_h5ad(place / "data.h5ad")
        return "data.h5ad"

    return write


def _arrow(kind: str, *columns: tuple[str, Any]) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        import pyarrow as pa
        import pyarrow.feather as feather
        import pyarrow.parquet as pq

        made = pa.table([pa.array(values) for _, values in columns], names=[name for name, _ in columns])
        (pq.write_table if kind == "parquet" else feather.write_feather)(made, place / f"left.{kind}")
        return f"left.{kind}"

    return write


def _parquet_metadata(place: Path) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = pa.table({"a": [1.0, 2.0], "b": [2.0, 1.0]}).replace_schema_metadata(
        {"pandas": '{"index_columns": [{"kind": "range"}]}'}
    )
    pq.write_table(made, place / "left.parquet")
    return "left.parquet"


def _excel(*rows: tuple[Any, ...], title: str = "left") -> Callable[[Path], str]:
    def write(place: Path) -> str:
        import openpyxl

        book = openpyxl.Workbook()
        book.active.title = title
        for row in rows:
            book.active.append(row)
        book.save(place / "data.xlsx")
        return "data.xlsx"

    return write


def _r(**values: Any) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        import rdata

        rdata.write_rda(place / "data.rda", values)
        return "data.rda"

    return write


def _refused(run: Run, place: Path) -> str:
    """Data of which some would be lost silently must be refused."""
    return "" if run.code == 2 else "lost"


def _pair(left: str, right: str) -> Callable[[Path], str]:
    return folder({"left.csv": left, "right.csv": right})


_GOOD = table(head="r{}")
#: `info` may show what a fit refuses
_FITS = ("cluster", "complete", "library")
_DOCS = {"left.mtx": mtx(3, 12, ENTRIES)}
_ERRORS = (None, "a", "b"), ("s1", "#N/A", "#DIV/0!"), ("s2", 1.0, 2.0), ("s3", 2.0, 2.5)
RECIPES = (
    Recipe("npz sparse", "column index too large", _csr(_ONES, np.full(12, 400), _POINTERS), FIT, _refused),
    Recipe("npz sparse", "column index far too large", _csr(_ONES, np.full(12, 2**30), _POINTERS), FIT, _refused),
    Recipe("npz sparse", "negative column index", _csr(_ONES, np.full(12, -2), _POINTERS), FIT, _refused),
    Recipe("npz sparse", "pointers beyond the data", _csr(_ONES, np.zeros(12, int), _POINTERS * 10**6), FIT, _refused),
    Recipe("npz sparse", "pointers fall", _csr(_ONES, np.zeros(12, int), _POINTERS[::-1]), FIT, _refused),
    Recipe("npz sparse", "coordinates out of range", _npz(format=b"coo", shape=np.array((12, 4)), data=_ONES,
           row=np.full(12, 90), col=np.zeros(12, int)), FIT, _refused),
    Recipe("npz sparse", "unknown layout", _csr(_ONES, np.zeros(12, int), _POINTERS, kind=b"xyz"), READ),
    Recipe("npz sparse", "shape of three", _csr(_ONES, np.zeros(12, int), _POINTERS, shape=(12, 4, 2)), READ),
    Recipe("npz sparse", "values that are text", _csr(["a"] * 12, np.zeros(12, int), _POINTERS), READ),
    Recipe("npz", "pickled object", _pickled, READ),
    Recipe("npz", "three dimensions", _npz(a=np.ones((3, 4, 5)), b=np.ones((3, 2))), READ),
    Recipe("npz", "complex", _npz(a=np.ones((6, 4)) * 1j, b=np.eye(6)), READ),
    Recipe("npz", "records", _npz(a=np.zeros((6,), dtype=[("x", "f8"), ("y", "i4")]), b=np.eye(6)), READ),
    Recipe("npz", "dates", _npz(a=np.zeros((6, 3), dtype="M8[D]"), b=np.eye(6)), READ),
    Recipe("npz", "text", _npz(a=np.full((6, 3), "x"), b=np.eye(6)), READ),
    Recipe("npz", "no samples", _npz(a=np.ones((0, 3)), b=np.ones((0, 2))), FIT),
    Recipe("npz", "no features", _npz(a=np.ones((6, 0)), b=np.ones((6, 2))), FIT),
    Recipe("npz", "one sample", _npz(a=np.ones((1, 3)), b=np.ones((1, 2))), FIT),
    Recipe("npz", "all missing", _npz(a=np.full((6, 3), np.nan), b=np.full((6, 2), np.nan)), FIT),
    Recipe("npz", "all equal", _npz(a=np.ones((12, 3)), b=np.ones((12, 2))), FIT),
    Recipe("npz", "infinite", _npz(a=np.full((12, 3), np.inf), b=np.eye(12)[:, :2]), FIT),
    Recipe("npz", "close to overflow", _npz(a=np.eye(12)[:, :4] * 1.7e308, b=-np.eye(12)[:, :3] * 1.7e308), FIT),
    Recipe("npz", "close to underflow", _npz(a=np.eye(12)[:, :4] * 5e-324, b=np.eye(12)[:, :3] * 5e-324), FIT),
    Recipe("npz", "64-bit integers", _npz(a=2**63 - 1 - np.arange(36).reshape(12, 3), b=np.eye(12)), FIT),
    Recipe("npz", "half floats at their limit", _npz(a=np.full((12, 3), 65504, "f2"), b=np.eye(12, dtype="f2")), FIT),
    Recipe("npz", "long doubles", _npz(a=np.eye(12, dtype="g"), b=np.ones((12, 2), "g")), FIT),
    Recipe("npz", "big-endian", _npz(a=np.eye(12, dtype=">f8"), b=np.arange(24.0).reshape(12, 2).astype(">f4")), FIT),
    Recipe("npz", "booleans", _npz(a=np.eye(12, dtype=bool), b=np.ones((12, 2), bool)), FIT),
    Recipe("mat5", "sparse row index too large", _mat_sparse([9, 10, 11], [9, 10, 500]), FIT, _refused),
    Recipe("mat5", "sparse row index negative", _mat_sparse([9, 10, 11], [9, 10, -5]), FIT, _refused),
    Recipe("mat5", "sparse pointer beyond the data", _mat_sparse([0, 12, 24], [0, 12, 10**8]), FIT),
    Recipe("h5ad", "sparse index too large", _h5ad_sparse("indices", 3, 10**6), FIT, _refused),
    Recipe("h5ad", "sparse index negative", _h5ad_sparse("indices", 3, -7), FIT, _refused),
    Recipe("h5ad", "sparse pointer beyond the data", _h5ad_sparse("indptr", 3, 10**7), FIT),
    Recipe("h5ad", "no matrix", _h5ad(None, shape=(12, 3)), READ),
    Recipe("h5ad", "infinite", _h5ad(np.full((12, 3), np.inf)), FIT),
    Recipe("mtx", "row out of range", folder({"left.mtx": mtx(3, 12, [*ENTRIES, (50, 1, "1")])}), FIT, _refused),
    Recipe("mtx", "index zero", folder({"left.mtx": mtx(3, 12, [*ENTRIES, (0, 1, "1")])}), FIT, _refused),
    Recipe("mtx", "index negative", folder({"left.mtx": mtx(3, 12, [*ENTRIES, (-1, 1, "1")])}), FIT, _refused),
    Recipe("mtx", "entries missing", folder({"left.mtx": mtx(3, 12, ENTRIES, n=99)}), READ, _refused),
    Recipe("mtx", "entries too many", folder({"left.mtx": mtx(3, 12, ENTRIES, n=5)}), READ, _refused),
    Recipe("mtx", "complex", folder({"left.mtx": mtx(3, 12, [(1, 1, "1 2")], kind="complex general")}), READ),
    Recipe("mtx", "infinite", folder({"left.mtx": mtx(3, 12, [*ENTRIES[1:], (1, 1, "inf")])}), FIT),
    Recipe("mtx", "NaN", folder({"left.mtx": mtx(3, 12, [*ENTRIES[1:], (1, 1, "nan")])}), FIT),
    Recipe("mtx", "symmetric, not square", folder({"left.mtx": mtx(3, 12, ENTRIES, kind="real symmetric")}), READ),
    Recipe("mtx", "documents twice", folder(_DOCS | {"left.docs": "s1\n" * 12}), READ, _refused),
    Recipe("mtx", "documents not UTF-8", folder(_DOCS | {"left.docs": b"\xff\xfe\n" * 12}), READ),
    Recipe("csv", "ids twice", text("left.csv", table(ids="s")), FIT, _refused),
    Recipe("csv", "one id twice", text("left.csv", table() + "s3,1,2,3\n"), FIT, _refused),
    Recipe("folder", "no common id", _pair(table(), table(ids="p{}", head="r{}")), _FITS, _refused),
    Recipe("folder", "ids in another case", _pair(table(), table(ids="S{}", head="r{}")), _FITS, _refused),
    Recipe("folder", "one common id", _pair(table(12), table(1, head="r{}")), FIT),
    Recipe("folder", "ids 1 and 01", _pair(table(ids="{}"), table(ids="0{}", head="r{}")), _FITS, _refused),
    Recipe("folder", "rows differ and there are no ids", _pair("a,b\n1,2\n3,4\n", "c,d\n1,2\n"), FIT, _refused),
    Recipe("csv", "header only", text("left.csv", "id,a,b\n"), FIT),
    Recipe("csv", "ids only", text("left.csv", "id\ns1\ns2\n"), FIT),
    Recipe("csv", "one row", text("left.csv", table(1)), FIT),
    Recipe("csv", "one column", text("left.csv", table(12, 1)), FIT),
    Recipe("csv", "empty cells only", text("left.csv", table(value="")), FIT),
    Recipe("csv", "constant", text("left.csv", table(value="7")), FIT),
    Recipe("csv", "infinite", text("left.csv", table(value="inf")), FIT),
    Recipe("csv", "1e308", text("left.csv", table(value="{}e307")), FIT),
    Recipe("csv", "integers above 64 bits", text("left.csv", table(value="9999999999999999999{}")), FIT),
    Recipe("csv", "400 digits", text("left.csv", table(value="9" * 400)), FIT),
    Recipe("csv", "text", text("left.csv", table(value="x{}")), FIT),
    Recipe("csv", "formulas", text("left.csv", table(value="=1+{}")), FIT),
    Recipe("csv", "ragged", text("left.csv", table() + "s99,1\ns98,1,2,3,4,5\n"), FIT),
    Recipe("csv", "columns twice", text("left.csv", table(head="same")), FIT),
    Recipe("csv", "byte-order mark", text("left.csv", "\ufeff" + table()), FIT),
    Recipe("csv", "UTF-16", text("left.csv", table().encode("utf-16")), FIT),
    Recipe("csv", "Latin-1", text("left.csv", table(head="größe{}").encode("latin-1")), FIT),
    Recipe("csv", "NUL bytes", text("left.csv", table().replace("5", "\x00")), FIT),
    Recipe("csv", "carriage returns", text("left.csv", table().replace("\n", "\r")), FIT),
    Recipe("csv", "random bytes", text("left.csv", np.random.default_rng(0).bytes(5000)), FIT),
    Recipe("tsv", "commas", text("left.tsv", table()), FIT),
    Recipe("txt", "prose", text("left.txt", "This is not a table.\nIt has two lines.\n"), FIT),
    Recipe("folder", "a view of zero features", _pair("id\n" + "".join(f"s{i}\n" for i in range(12)), _GOOD), FIT),
    Recipe("folder", "a view without values", _pair(table(value=""), _GOOD), FIT),
    Recipe("folder", "samples without values", _pair(table() + "e1,,,\ne2,,,\n", _GOOD), FIT),
    Recipe("parquet", "nested columns", _arrow("parquet", ("a", [[1, 2], [3]]), ("b", [{"x": 1}, {"x": 2}])), READ),
    Recipe("parquet", "columns twice", _arrow("parquet", ("a", [1.0, 2.0]), ("a", [2.0, 1.0])), FIT),
    Recipe("parquet", "no columns", _arrow("parquet"), FIT),
    Recipe("parquet", "no rows", _arrow("parquet", ("a", np.zeros(0)), ("b", np.zeros(0))), FIT),
    Recipe("parquet", "dates", _arrow("parquet", ("a", np.zeros(3, "M8[s]")), ("b", np.ones(3))), FIT),
    Recipe("parquet", "damaged notes of pandas", _parquet_metadata, READ),
    Recipe("feather", "nested columns", _arrow("feather", ("a", [[1, 2], [3]]), ("b", [1.0, 2.0])), READ),
    Recipe("feather", "64 bits", _arrow("feather", ("a", np.full(9, 2**64 - 1, "u8")), ("b", np.arange(9.0))), FIT),
    Recipe("xlsx", "no rows", _excel(), FIT),
    Recipe("xlsx", "errors of Excel", _excel(*_ERRORS), FIT),
    Recipe("xlsx", "formulas", _excel((None, "a", "b"), ("s1", "=1+1", "=cmd|' /C calc'!A0"), ("s2", 1.0, 2.0)), FIT),
    Recipe("xlsx", "ids twice", _excel((None, "a", "b"), ("s1", 1, 2), ("s1", 1.0, 2.0)), FIT, _refused),
    Recipe("rda", "no list", _r(a=3.0), READ),
    Recipe("rda", "text", _r(a="x", b=np.eye(3)), READ),
    Recipe("rda", "rows differ", _r(a=np.ones((4, 3)), b=np.ones((5, 2))), FIT),
)  # fmt: skip
