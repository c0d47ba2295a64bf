"""No file ends the program: bombs, damaged indices, links to other files, special files; each is one sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import zipfile
import zlib

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite, savemat

import jella
from jella.cli.main import main
from jella.io import DataError, read, write_views
from jella.numerics.limits import Limits, limits_as

pd = pytest.importorskip("pandas")

BIG = 10**9


def refused(path, words: str | None = None) -> str:
    with pytest.raises(DataError, match=words) as error:
        read(path)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def views(rng):
    return {"left": rng.standard_normal((12, 5)), "right": rng.standard_normal((12, 4))}


# declared far larger than stored


@pytest.mark.parametrize(
    "text",
    [
        "%%MatrixMarket matrix coordinate real general\n20000000 2 1\n1 1 1.0\n",
        "%%MatrixMarket matrix coordinate real general\n2 20000000 1\n1 1 1.0\n",
    ],
)
def test_matrix_market_of_many_rows(tmp_path, text):
    (tmp_path / "a.mtx").write_text(text)
    assert "--max-unpacked" in refused(tmp_path / "a.mtx", "expected a.mtx to need at most 256.0 MiB")


@pytest.mark.parametrize("size", [f"{BIG} {BIG}", f"{BIG} 2 {BIG}"])
def test_matrix_market_without_its_entries(tmp_path, size):
    kind = "array" if size.count(" ") == 1 else "coordinate"
    (tmp_path / "a.mtx").write_text(f"%%MatrixMarket matrix {kind} real general\n{size}\n1 1 1.0\n")
    refused(tmp_path / "a.mtx", "entries declared in")


def archive(path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)


def npy(array=None, head: str = "") -> bytes:
    if array is not None:
        out = io.BytesIO()
        np.lib.format.write_array(out, array)
        return out.getvalue()
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()


def test_archives_that_unpack_to_much(tmp_path):
    archive(tmp_path / "a.npz", {"x.npy": npy(np.zeros((2**10, 2**15), dtype=np.int8)), "y.npy": npy(np.eye(3))})
    with limits_as(Limits(unpacked=2**20)):
        refused(tmp_path / "a.npz", "expected a.npz to need at most")


@pytest.mark.parametrize("dtype", ["<f8", "<U0"])
def test_arrays_that_declare_more_than_there_is(tmp_path, dtype):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({BIG}, 100)}}"
    archive(tmp_path / "a.npz", {"x.npy": npy(head=head)})
    refused(tmp_path / "a.npz", "array of the shape|to need at most")


def test_workbooks_with_a_cell_far_away(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = 1, 2
    book.save(tmp_path / "a.xlsx")
    refused(tmp_path / "a.xlsx", "to need at most")


def test_workbooks_that_unpack_to_much(tmp_path, views):
    pytest.importorskip("openpyxl")
    pd.DataFrame(views["left"]).to_excel(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx", "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/sharedStrings.xml", b" " * 2**20)
    with limits_as(Limits(unpacked=2**19)):
        refused(tmp_path / "a.xlsx", "to need at most")


def test_tables_of_one_value_many_times(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet, feather = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.feather")
    numbers = pa.table({"a": np.zeros(10**5), "b": np.zeros(10**5)})
    texts = pa.table({"a": pa.array(["x" * 1000] * 2000)})
    with limits_as(Limits(unpacked=2**20)):
        for table in (numbers, texts):
            parquet.write_table(table, tmp_path / "a.parquet")
            refused(tmp_path / "a.parquet", "to need at most")
        feather.write_feather(numbers, tmp_path / "a.feather", compression="zstd")
        refused(tmp_path / "a.feather", "to need at most")


def test_matlab_files_that_unpack_to_much(tmp_path):
    savemat(tmp_path / "a.mat", {"X": np.zeros((2**8, 2**11))}, do_compression=True)
    with limits_as(Limits(unpacked=2**20)):
        refused(tmp_path / "a.mat", "to need at most")


def element(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content + b"\0" * (-len(content) % 8)


def variable(kind: int, shape: tuple[int, ...], *content: bytes, name: bytes = b"") -> bytes:
    parts = (
        element(6, struct.pack("<II", kind, 0)),
        element(5, np.array(shape, dtype="<i4").tobytes()),
        element(1, name),
        *content,
    )
    return element(14, b"".join(parts))


def mat_file(path, *variables: bytes) -> None:
    path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + b"".join(variables))


def test_matlab_cells_in_cells(tmp_path):
    inner = variable(6, (1, 1), element(9, bytes(8)))
    for _ in range(20_000):
        inner = variable(1, (1, 1), inner) if len(inner) < 2**21 else inner
    mat_file(tmp_path / "a.mat", inner)
    refused(tmp_path / "a.mat", "expected at most 50 cells in one another")


def test_matlab_types_that_do_not_exist(tmp_path):
    mat_file(tmp_path / "a.mat", variable(6, (2, 2), element(200, bytes(32)), name=b"X"))
    refused(tmp_path / "a.mat", "unknown type 200")
    packed = zlib.compress(variable(6, (2, 2), element(11, bytes(32)), name=b"X"))
    mat_file(tmp_path / "a.mat", struct.pack("<II", 15, len(packed)) + packed)
    refused(tmp_path / "a.mat", "unknown type 11")


def test_hdf5_that_was_never_written(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        file.create_dataset("X", (10**6, 10**6), dtype="f4", chunks=(100, 100))
    refused(tmp_path / "a.mat", "to need at most")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_r_data_that_unpacks_to_much(tmp_path, pack):
    pytest.importorskip("rdata")
    (tmp_path / "a.rda").write_bytes(pack(b"RDX2\nX\n" + bytes(2**21)))
    with limits_as(Limits(unpacked=2**20)):
        refused(tmp_path / "a.rda", "to need at most")


def r_object(kind: int, *numbers: int, content: bytes = b"") -> bytes:
    return struct.pack(f">{1 + len(numbers)}i", kind, *numbers) + content


R_HEAD = b"X\n" + struct.pack(">3i", 2, 0, 0)


def test_r_data_of_many_objects_or_a_long_sequence(tmp_path):
    pytest.importorskip("rdata")
    (tmp_path / "a.rds").write_bytes(gzip.compress(R_HEAD + r_object(19, 10**6) + r_object(254) * 10**6))
    refused(tmp_path / "a.rds", "to need at most")
    symbol, package = (r_object(1) + r_object(9, len(word), content=word) for word in (b"compact_intseq", b"base"))
    name = r_object(2) + symbol + r_object(2) + package + r_object(254)
    state = r_object(14, 3, content=struct.pack(">3d", BIG, 1, 1))
    (tmp_path / "a.rds").write_bytes(R_HEAD + r_object(238) + name + state + r_object(254))
    refused(tmp_path / "a.rds", "to need at most")


def test_r_data_of_deep_lists(tmp_path):
    pytest.importorskip("rdata")
    (tmp_path / "a.rds").write_bytes(R_HEAD + r_object(19, 1) * 5000 + r_object(254))
    refused(tmp_path / "a.rds")


def test_text_of_a_million_columns(tmp_path):
    (tmp_path / "a.csv").write_text(("1," * 10**6 + "1\n") * 2)
    refused(tmp_path / "a.csv", "to need at most")
    (tmp_path / "a.csv").write_text("a,b\n1," + "1" * 200_000 + "\n")
    refused(tmp_path / "a.csv")


def test_the_limit_can_be_raised(tmp_path, capsys):
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2000000 2 1\n1 1 1.0\n")
    before = jella.get_limits()
    with limits_as(Limits(unpacked=2**20)):
        assert main(["info", str(tmp_path / "a.mtx")]) == 2
        assert "jella: expected a.mtx to need at most 1.0 MiB" in capsys.readouterr().err
        assert main(["info", str(tmp_path / "a.mtx"), "--max-unpacked", "1GiB"]) == 0
        assert main(["info", str(tmp_path / "a.mtx"), "--max-unpacked", "much"]) == 2
        assert "expected a size in bytes" in capsys.readouterr().err
    assert jella.get_limits() == before


# sparse matrices with wrong indices


WRONG = {
    "range": lambda indptr, indices: indices.__setitem__(0, 2**30),
    "back": lambda indptr, indices: indptr.__setitem__(1, 2**30),
    "negative": lambda indptr, indices: indices.__setitem__(0, -5),
    "end": lambda indptr, indices: indptr.__setitem__(-1, indptr[-1] + 3),
}


@pytest.fixture(params=WRONG)
def wrong(request, rng):
    matrix = sparse.csc_array(sparse.random_array((12, 6), density=0.5, rng=rng, format="csc"))
    WRONG[request.param](matrix.indptr, matrix.indices)
    return matrix


def test_wrong_indices_in_archives(tmp_path, wrong):
    parts = {"data": wrong.data, "indices": wrong.indices, "indptr": wrong.indptr, "shape": np.array([12, 6])}
    np.savez(tmp_path / "a.npz", format=np.array(b"csc"), **parts)
    refused(tmp_path / "a.npz")


def test_wrong_indices_in_matlab_files(tmp_path, wrong):
    parts = [element(5, wrong.indices.astype("<i4").tobytes()), element(5, wrong.indptr.astype("<i4").tobytes())]
    mat_file(tmp_path / "a.mat", variable(5, (12, 6), *parts, element(9, wrong.data.tobytes()), name=b"X"))
    refused(tmp_path / "a.mat", "expected a sparse matrix with indices that fit its shape in a.mat")


def test_wrong_indices_in_hdf5(tmp_path, wrong):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        group = file.create_group("X")
        group.attrs["MATLAB_sparse"] = 12
        group["data"], group["ir"], group["jc"] = wrong.data, wrong.indices, wrong.indptr
    refused(tmp_path / "a.mat", "expected a sparse matrix with indices that fit its shape in a.mat")


@pytest.fixture
def annotated(tmp_path, rng):
    anndata = pytest.importorskip("anndata")
    matrix = sparse.random_array((12, 6), density=0.5, rng=rng, format="csr")
    names = {"obs": pd.DataFrame(index=[f"s{i}" for i in range(12)]), "var": pd.DataFrame(index=list("abcdef"))}
    anndata.AnnData(sparse.csr_matrix(matrix), **names).write_h5ad(tmp_path / "a.h5ad")
    assert read(tmp_path / "a.h5ad").views["a"].shape == (12, 6)
    return tmp_path / "a.h5ad"


def test_wrong_indices_in_annotated_matrices(annotated):
    h5py = pytest.importorskip("h5py")
    with h5py.File(annotated, "r+") as file:
        file["X/indices"][0] = 2**30
    refused(annotated, "expected a sparse matrix with indices that fit its shape in a.h5ad")


# data in other files


@pytest.mark.parametrize("kind", ["soft", "external", "raw", "virtual"])
def test_hdf5_is_read_from_one_file_only(annotated, kind):
    h5py = pytest.importorskip("h5py")
    with h5py.File(annotated, "r+") as file:
        if kind == "soft":
            file["uns/other"] = h5py.SoftLink("/X")
        elif kind == "external":
            file["uns/other"] = h5py.ExternalLink("/etc/other.h5", "/X")
        elif kind == "raw":
            file.create_dataset("uns/other", (4,), dtype="i1", external=[("/etc/hostname", 0, 4)])
        else:
            layout = h5py.VirtualLayout((4,), "f8")
            layout[:] = h5py.VirtualSource("/etc/other.h5", "X", (4,))
            file.create_virtual_dataset("uns/other", layout)
    refused(annotated, "expected all data in a.h5ad itself")


def test_groups_that_hold_themselves(annotated):
    h5py = pytest.importorskip("h5py")
    with h5py.File(annotated, "r+") as file:
        file["uns/again"] = file["uns"]
    refused(annotated, "under two names")


# values that would be lost


def test_formulas_without_values(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "genes"
    for row in (["a", "b"], [1, 2], [3, "=A2+1"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    refused(tmp_path / "a.xlsx", "got none in cell B3 of sheet 'genes'; open it in a spreadsheet program")


def test_errors_in_cells_are_noted(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "genes"
    for row in (["id", "a", "b"], ["x", 1, "#DIV/0!"], ["y", "#N/A", 2], ["z", 3, None], ["w", 4, 5]):
        book.active.append(row)
    other = book.create_sheet("other")
    for row in (["id", "c"], ["x", 1], ["y", 2], ["z", 3], ["w", 1]):
        other.append(row)
    book.save(tmp_path / "a.xlsx")
    found = read(tmp_path / "a.xlsx")
    assert [note for note in found.notes if "rrors" in note] == [
        "Errors such as '#DIV/0!' in 2 cells of sheet 'genes' are read as missing values."
    ]
    assert found.views["genes"].isna().to_numpy().sum() == 3
    write_views({name: view.fillna(0.25) for name, view in found.views.items()}, tmp_path / "out.xlsx", like=found)
    again = read(tmp_path / "out.xlsx")
    assert not any("rrors" in note for note in again.notes)
    assert again.views["genes"]["b"].tolist() == [0.25, 2, 0.25, 5]


def test_complex_numbers_and_symmetric_matrices(tmp_path, rng):
    square = rng.standard_normal((4, 4)).round(3)
    mmwrite(tmp_path / "a.mtx", sparse.coo_array(square * 1j))
    refused(tmp_path / "a.mtx", "expected real numbers in a.mtx, got complex ones")
    for X, symmetry in ((square + square.T, "symmetric"), (square - square.T, "skew-symmetric")):
        mmwrite(tmp_path / "a.mtx", sparse.coo_array(X), symmetry=symmetry)
        np.testing.assert_allclose(read(tmp_path / "a.mtx").views["a"].toarray(), X)
    mmwrite(tmp_path / "a.mtx", sparse.coo_array(square), field="pattern")
    np.testing.assert_array_equal(read(tmp_path / "a.mtx").views["a"].toarray(), 1)


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_whole_numbers_that_floats_cannot_hold_are_noted(tmp_path, ending):
    big = np.array([[2**53 + 1, 1], [2, 3], [4, 5]])
    if ending == "npz":
        np.savez(tmp_path / "a.npz", big=big, small=big % 7)
    else:
        pd.DataFrame(big, columns=["a", "b"]).to_csv(tmp_path / "big.csv", index=False)
    found = read(tmp_path / ("a.npz" if ending == "npz" else "big.csv"))
    assert [note for note in found.notes if "doubles" in note] == [
        "Rounded to doubles for the model, but completed files keep all digits: 'big'."
    ]


# files that are none


def test_special_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    refused(tmp_path / "pipe.csv", "is a pipe, a device or a socket")
    (tmp_path / "link.csv").symlink_to(tmp_path / "nowhere")
    refused(tmp_path / "link.csv", "which does not exist")
    (tmp_path / "folder.csv").mkdir()
    refused(tmp_path / "folder.csv", "got nothing; put files there")
    with pytest.raises(DataError, match="which is no file or is empty"):
        read([tmp_path / "pipe.csv", tmp_path / "folder.csv"])
    refused("/dev/zero", "is a pipe, a device or a socket")


@pytest.mark.parametrize("error", [KeyError("x"), MemoryError(), RecursionError("deep"), AssertionError(), OSError()])
def test_what_libraries_raise_is_one_sentence_with_its_cause(tmp_path, monkeypatch, error):
    def fail(path):
        raise error

    monkeypatch.setattr("jella.io.matlab.load_variables", fail)
    (tmp_path / "a.mat").write_bytes(b"x")
    with pytest.raises(DataError, match=r"^expected .*a\.mat .*;[^;]*$") as found:
        read(tmp_path / "a.mat")
    assert found.value.__cause__ is error


# options of the command line


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "n_neighbors=abc"],
        ["--set", "max_iter=1e9"],
        ["--set", "tol=float"],
        ["--set", "alpha=[1,2]"],
        ["--set", "callback=5"],
        ["--set", "init=3"],
        ["--set", "random_state=abc"],
        ["--set", "solver=[1]"],
        ["--set", "warm_start=2"],
        ["--max-unpacked", "9" * 400],
    ],
)
def test_wrong_values_of_options_are_one_sentence(tmp_path, views, capsys, words):
    np.savez(tmp_path / "a.npz", **views)
    assert main(["cluster", str(tmp_path / "a.npz"), "-k", "2", "-o", str(tmp_path / "out"), "--quiet", *words]) == 2
    assert capsys.readouterr().err.startswith("jella: expected ")


@pytest.mark.parametrize(
    "text",
    ["seed = [1]", "info = 3", "samples = []", "samples = 'x'", "seed = 'x'", "a = " + "[" * 5000, "seed = {a=1}"],
)
def test_wrong_configuration_files_are_one_sentence(tmp_path, views, capsys, text):
    np.savez(tmp_path / "a.npz", **views)
    (tmp_path / "c.toml").write_text(text)
    assert main(["info", str(tmp_path / "a.npz"), "--config", str(tmp_path / "c.toml")]) == 2
    assert capsys.readouterr().err.startswith("jella: expected ")


def test_control_characters_of_libraries_are_shown_as_text(tmp_path, monkeypatch):
    def fail(path):
        raise OSError("type \x0e\x1b[31m")

    monkeypatch.setattr("jella.io.matlab.load_variables", fail)
    (tmp_path / "a.mat").write_bytes(b"x")
    with pytest.raises(DataError, match=r"type \\x0e\\x1b\[31m"):
        read(tmp_path / "a.mat")
