"""Observed values come back as they were given or stored: no digit is lost, in Python and in files."""

import csv
import re
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import loadmat, savemat

import jella
from jella.io import read, write_views
from jella.views.exact import is_exact, rounded
from jella.views.fill import fill, fill_frame

LARGE = [2**53 + 1, 2**60 + 1, 2**63 - 1, -(2**63), 7]
FLOATS = [-0.0, 5e-324, 0.1 + 0.2, 1e308, 1 / 3]
NO_LONG_DOUBLE = np.finfo(np.longdouble).nmant <= 52


def same_bits(a, b):
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype == np.longdouble:  # its padding holds anything
        return bool(((a == b) & (np.signbit(a) == np.signbit(b))).all())
    return a.tobytes() == b.tobytes()


# types


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5))
def test_is_exact_agrees_with_python(numbers):
    assert is_exact(np.array(numbers, dtype=np.int64)) == all(int(float(n)) == n for n in numbers)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5))
def test_is_exact_for_unsigned(numbers):
    assert is_exact(np.array(numbers, dtype=np.uint64)) == all(int(float(n)) == n for n in numbers)
    assert is_exact(np.array(numbers, dtype=np.uint64), 64)


@pytest.mark.skipif(NO_LONG_DOUBLE, reason="long doubles are doubles here")
def test_is_exact_for_long_doubles():
    assert is_exact(np.array([1.5, np.nan, -0.0], dtype=np.longdouble))
    assert not is_exact(np.array([1.5, np.longdouble(1) + np.longdouble(2) ** -60]))


def test_rounded_stays_in_range():
    for dtype in (np.int8, np.int64, np.uint64):
        info = np.iinfo(dtype)
        got = rounded(np.array([-1e30, 1e30, 2.6, np.nan]), np.dtype(dtype))
        assert got.tolist() == [info.min, info.max, 3, 0]


# in Python


def incomplete(dtype):
    """Values of a type in a column next to small ones, and which of them are observed."""
    values = np.array([LARGE, [1, 2, 3, 4, 5], [5, 3, 1, 4, 2]], dtype=object).T
    values = np.abs(values) if np.dtype(dtype).kind == "u" else values
    observed = np.ones((5, 3), dtype=bool)
    observed[4, 0] = observed[1, 1] = False
    return values.astype(dtype), observed


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
def test_arrays_of_integers_keep_them(dtype):
    values, observed = incomplete(dtype)
    done = jella.MVLIV(n_components=1, max_iter=2000).fit(values.astype(float) / 1e18, observed=observed)
    done = done.complete(values, observed=observed)
    assert done.dtype == dtype
    assert (done == values)[observed].all()


def test_arrays_of_small_integers_become_floats():
    values, observed = np.arange(12).reshape(4, 3), np.ones((4, 3), dtype=bool)
    observed[1, 1] = False
    done = jella.MVLIV(n_components=1).fit(values, observed=observed).complete(values, observed=observed)
    assert done.dtype == np.float64
    assert (done == values)[observed].all()


def test_sparse_integers_keep_them():
    values = sparse.csr_array(np.array([LARGE, [1, 2, 3, 4, 5]], dtype=np.int64).T)
    keep = np.array([True, True, True, True, False])[:, None]
    done = fill(values, keep, np.full((5, 2), 2.6))
    assert done.dtype == np.int64
    np.testing.assert_array_equal(done.toarray()[:4], values.toarray()[:4])
    np.testing.assert_array_equal(done.toarray()[4], [3, 3])
    small = sparse.csr_array(values.toarray() % 8)
    assert fill(small, keep, np.full((5, 2), 2.6)).dtype == np.float64


@pytest.mark.skipif(NO_LONG_DOUBLE, reason="long doubles are doubles here")
def test_long_doubles_keep_them():
    values = np.arange(12.0).reshape(4, 3).astype(np.longdouble) + np.longdouble(2) ** -58
    holed = values.copy()
    holed[1, 1] = np.nan
    done = jella.MVLIV(n_components=1).fit(holed).complete(holed)
    assert done.dtype == np.longdouble
    assert (done == values).sum() == 11
    kept = fill(np.array([[2**60 + 1, 1]]), np.array([[True, False]]), np.full((1, 2), np.nan))
    assert kept.dtype == np.longdouble
    assert kept[0, 0] == np.longdouble(2**60) + 1


def test_columns_of_integers_keep_them():
    frame = pd.DataFrame(
        {
            "plain": np.array([2**60 + 1, 3, 5, 7], dtype=np.int64),
            "unsigned": np.array([2**64 - 1, 3, 5, 7], dtype=np.uint64),
            "nullable": pd.array([2**60 + 1, None, 5, 7], dtype="Int64"),
            "arrow": pd.array([2**60 + 1, None, 5, 7], dtype="int64[pyarrow]"),
            "sparse": pd.arrays.SparseArray(np.array([2**60 + 1, 0, 0, 7])),
            "small": [1, 2, 3, 4],
            "whole": np.array([2**60 + 1, 3, 5, 7], dtype=np.int64),
        },
        index=list("abcd"),
    )
    keep = frame.notna().to_numpy() & (np.array([[True], [False], [True], [True]]) | (frame.columns == "whole"))
    done = fill_frame(frame, frame.index, keep, np.full(frame.shape, 2.6))
    assert done.dtypes.drop("small").equals(frame.dtypes.drop("small"))
    assert done["small"].tolist() == [1.0, 2.6, 3.0, 4.0]
    for column in frame.columns.drop("small"):
        assert [int(done[column].iloc[i]) for i in (0, 2, 3)] == [int(frame[column].iloc[i]) for i in (0, 2, 3)]
        assert int(done[column].iloc[1]) == 3
    empty = fill_frame(frame, frame.index, keep, np.full(frame.shape, np.nan))
    assert empty["plain"].dtype == "Int64"
    assert empty["plain"].isna().tolist() == [False, True, False, False]
    assert int(empty["unsigned"].iloc[0]) == 2**64 - 1


# in files


def completed(path, tmp_path):
    """The file with all missing values replaced by a number, through reading and writing."""
    dataset = read(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = jella.MVLIV(n_components=1, max_iter=3).fit(dataset.views)
        return write_views(model.complete(dataset.views), tmp_path / "out", like=dataset), dataset


TEXTS = st.one_of(
    st.integers(-(2**63), 2**64 - 1).map(str),
    st.floats(-1e12, 1e12).map(repr),
    st.sampled_from(["1.10", "1e5", "-0.0", "+3", "5e-324", "007", "0.1000000000000000055511", "NA"]),
)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=4, max_size=8), st.booleans())
def test_cells_of_text_tables_keep_their_text(tmp_path_factory, rows, lacking):
    folder = tmp_path_factory.mktemp("text")
    rows = [("1.5", "2", "3.25"), *rows, ("4", "-1", "0.5")]
    table = [["id", "a", "b", "c"], *([f"s{i}", *row] for i, row in enumerate(rows))]
    (folder / "in").mkdir()
    for name, cut in (("left", len(table)), ("right", len(table) - lacking)):
        (folder / "in" / f"{name}.csv").write_text("\n".join(map(",".join, table[:cut])) + "\n")
    completed(folder / "in", folder)
    for name, cut in (("left", len(table)), ("right", len(table) - lacking)):
        with (folder / "out" / f"{name}.csv").open(newline="") as file:
            written = list(csv.reader(file))
        assert len(written) == len(table)
        for old, new in zip(table[:cut], written, strict=False):
            assert [n for o, n in zip(old, new, strict=True) if o != "NA"] == [o for o in old if o != "NA"]
            assert "NA" not in new
            assert "" not in new


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_columns_of_columnar_files_keep_their_bits(tmp_path, kind):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    columns = {
        "id": [f"s{i}" for i in range(5)],
        "int": pa.array([*LARGE[:4], None], pa.int64()),
        "uint": pa.array([2**64 - 1, None, 2**53 + 1, 1, 2], pa.uint64()),
        "whole": pa.array(LARGE, pa.int64()),
        "small": pa.array([1, None, 3, 4, 5], pa.int64()),
        "float": pa.array([*FLOATS[:4], None], pa.float64()),
        "single": pa.array([0.1, None, -0.0, 1e-45, 2.0], pa.float32()),
        "cls": pa.array([2**60 + 1, 2, 2, 1, 1], pa.int64()),
    }
    table, path = pa.table(columns), tmp_path / "in" / f"view.{kind}"
    path.parent.mkdir()
    write, load = {
        "parquet": (parquet.write_table, parquet.read_table),
        "feather": (feather.write_feather, feather.read_table),
    }[kind]
    write(table, path)
    (written,), dataset = completed(path, tmp_path)
    assert any("completed files keep all digits: 'view'" in note for note in dataset.notes)
    out = load(written)
    for name in table.column_names:
        old, new = table[name], out[name]
        same = [(o, n) for o, n in zip(old.to_pylist(), new.to_pylist(), strict=True) if o is not None]
        assert all(o == n for o, n in same)
        assert new.null_count == 0
        if name != "small":  # its integers are floats now: only doubles hold them and what was imputed
            assert [repr(o) for o, _ in same] == [repr(n) for _, n in same]
            assert new.type == old.type


def test_additional_samples_change_no_stored_integer(tmp_path):
    pytest.importorskip("pyarrow")
    folder = tmp_path / "in"
    folder.mkdir()
    one = pd.DataFrame({"id": list("abcd"), "x": [2**60 + 1, 2, 3, 4], "n": [1, 2, 3, 5], "cls": list("uuvv")})
    one["code"] = np.array([2**62 + 1, 0, 0, 1])
    one.to_parquet(folder / "one.parquet")
    pd.DataFrame({"id": list("bcde"), "height": [1.0, 2.0, 3.0, 4.0]}).to_parquet(folder / "two.parquet")
    dataset = read(folder, labels="code", non_numeric="drop")
    done = jella.MVLIV(n_components=1, max_iter=3, tol=1.0).fit(dataset.views).complete(dataset.views)
    write_views(done, tmp_path / "out", like=dataset)
    out = pd.read_parquet(tmp_path / "out" / "one.parquet")
    assert out["id"].tolist() == list("abcde")
    assert out["x"].tolist()[:4] == [2**60 + 1, 2, 3, 4]
    assert out["n"].tolist()[:4] == [1, 2, 3, 5]
    assert int(out["code"].iloc[0]) == 2**62 + 1


def test_cells_of_workbooks_keep_their_numbers(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "book.xlsx"
    frame = pd.DataFrame({"id": list("abcde"), "int": range(5), "holes": range(5), "float": np.arange(5) + 0.5})
    frame.to_excel(path, index=False)
    cells = {
        "B2": "9007199254740993",
        "B3": "1152921504606846977",
        "C2": "9007199254740993",
        "C3": None,
        "D2": "0.30000000000000004",
        "D3": "5e-324",
    }
    edit(path, cells)
    (written,), dataset = completed(path, tmp_path)
    assert any("keep all digits" in note for note in dataset.notes)
    out = texts(written)
    for cell in ("B2", "B3", "C2", "D2"):
        assert out[cell] == cells[cell]
    assert float(out["D3"]) == 5e-324
    assert out["C3"] not in (None, "")


def edit(path, cells):
    """Put texts of numbers into the cells of the only sheet; None removes the number."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"].decode()
    for cell, text in cells.items():
        sheet, count = re.subn(rf'(<c r="{cell}"[^>]*>)<v>[^<]*</v>', rf"\g<1><v>{text}</v>" if text else r"\1", sheet)
        assert count == 1
    parts["xl/worksheets/sheet1.xml"] = sheet.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def texts(path):
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    return dict(re.findall(r'<c r="(\w+)"[^>]*><v>([^<]*)</v>', sheet))


def arrays():
    """Arrays of types that doubles cannot hold, some with missing values."""
    rng = np.random.default_rng(0)
    long = rng.normal(size=(5, 2)).astype(np.longdouble) + np.longdouble(2) ** -60
    long[1, 1] = np.nan
    floats = np.array([FLOATS, FLOATS[::-1]]).T
    floats[0, 1] = np.nan
    return {
        "int": np.array([LARGE, [1, 2, 3, 4, 5]], dtype=np.int64).T,
        "uint": np.array([np.abs(np.array(LARGE, dtype=object)), [1, 2, 3, 4, 2**64 - 1]], dtype=np.uint64).T,
        "half": np.array([[0.1, 2], [3, np.nan], [5, 6], [7, 8], [-0.0, 1]], dtype=np.float16),
        "single": np.array([[0.1, 2], [3, np.nan], [5, 6], [7, 8], [-0.0, 1]], dtype=np.float32),
        "double": floats,
        "long": long,
    }


def check_arrays(stored, out):
    for name, old in stored.items():
        seen = old == old
        if seen.all():
            assert same_bits(out[name], old), name
        else:
            wider = np.result_type(old.dtype, out[name].dtype)
            assert same_bits(out[name].astype(wider)[seen], old.astype(wider)[seen]), name
            assert np.isfinite(out[name]).all()
            assert out[name].dtype == (np.float64 if old.dtype == np.float16 else old.dtype)


def test_archives_keep_their_bits(tmp_path):
    stored = arrays()
    np.savez(tmp_path / "data.npz", **stored)
    dataset = read(tmp_path / "data.npz")
    assert any("keep all digits: 'int', 'uint', 'long'" in note for note in dataset.notes)
    write_views(filled(dataset.views), tmp_path / "out.npz", like=dataset)
    with np.load(tmp_path / "out.npz") as out:
        check_arrays(stored, out)


def test_matlab_files_keep_their_bits(tmp_path):
    stored = {name: array for name, array in arrays().items() if name not in ("long", "half")}
    savemat(tmp_path / "data.mat", stored)
    dataset = read(tmp_path / "data.mat")
    write_views(filled(dataset.views), tmp_path / "out.mat", like=dataset)
    check_arrays(stored, loadmat(tmp_path / "out.mat"))


def filled(views):
    return {name: np.where(np.isnan(view), np.asarray(2.6, dtype=view.dtype), view) for name, view in views.items()}


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_annotated_files_keep_their_bits(tmp_path, make):
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    whole = np.array([LARGE, [1, 2, 3, 4, 5]], dtype=np.int64).T
    obs = pd.DataFrame(index=[f"s{i}" for i in range(5)])
    one = anndata.AnnData(make(whole), obs=obs, var=pd.DataFrame(index=["a", "b"]))
    two = anndata.AnnData(make(whole[:3]), obs=obs.iloc[:3], var=pd.DataFrame(index=["c", "d"]))
    one.write_h5ad(tmp_path / "one.h5ad")
    (written,), dataset = completed(tmp_path / "one.h5ad", tmp_path)
    assert any("keep all digits: 'one'" in note for note in dataset.notes)
    assert same_bits(dense(anndata.read_h5ad(written).X), whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mudata.MuData({"one": one, "two": two}).write_h5mu(tmp_path / "both.h5mu")
        (written,), _ = completed(tmp_path / "both.h5mu", tmp_path)
        both = mudata.read_h5mu(written)
    assert same_bits(dense(both["one"].X), whole)
    assert same_bits(dense(both["two"].X)[:3], whole[:3])
    assert both["two"].n_obs == 5


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def test_a_sample_that_a_completed_view_lacks_stays_as_stored(tmp_path):
    anndata = pytest.importorskip("anndata")
    whole = np.arange(10, dtype=np.int64).reshape(5, 2)
    stored = anndata.AnnData(whole, obs=pd.DataFrame(index=list("abcde")), var=pd.DataFrame(index=["a", "b"]))
    stored.write_h5ad(tmp_path / "one.h5ad")
    dataset = read(tmp_path / "one.h5ad")
    write_views({"one": dataset.views["one"].iloc[[0, 3]]}, tmp_path / "out.h5ad", like=dataset)
    np.testing.assert_array_equal(anndata.read_h5ad(tmp_path / "out.h5ad").X, whole)


def test_small_numbers_need_no_note(tmp_path):
    np.savez(tmp_path / "data.npz", left=np.arange(12).reshape(4, 3), right=np.ones((4, 2)))
    assert not any("digits" in note for note in read(tmp_path / "data.npz").notes)


IDS = {
    "text categories": (pd.Categorical(list("abcd")), list("bcde")),
    "unused categories": (pd.Categorical(list("abcd"), categories=list("edcba")), list("bcde")),
    "categories of integers": (pd.Categorical([1, 2, 3, 4]), ["2", "3", "4", "x"]),
    "integers and text": ([1, 2, 3, 4], ["2", "3", "4", "x"]),
    "integers and zeros": ([1, 2, 3, 4], ["2", "3", "4", "05"]),
    "integers": ([1, 2, 3, 4], [2, 3, 4, 5]),
    "bytes": ([b"a", b"b", b"c", b"d"], list("bcde")),
}


@pytest.mark.parametrize("case", IDS)
@pytest.mark.parametrize("as_index", [True, False])
def test_ids_of_additional_samples_keep_their_text(tmp_path, case, as_index):
    pytest.importorskip("pyarrow")
    own, other = IDS[case]
    folder = tmp_path / "in"
    folder.mkdir()
    for name, ids in (("one", own), ("two", other)):
        frame = pd.DataFrame({"id": ids, f"{name}x": [1.5, 2, 3, 4], f"{name}y": [4.5, 1, 2, 2]})
        (frame.set_index("id") if as_index else frame).to_parquet(folder / f"{name}.parquet")
    dataset = read(folder)
    done = jella.MVLIV(n_components=1, max_iter=3, tol=1.0).fit(dataset.views).complete(dataset.views)
    write_views(done, tmp_path / "out", like=dataset)
    out = pd.read_parquet(tmp_path / "out" / "one.parquet")
    ids = out.index if as_index else out["id"]
    added = str(other[-1])
    if case == "bytes":
        assert ids.tolist() == [*own, added.encode()]
    else:
        assert [str(one) for one in ids] == [*map(str, own), added]
    assert isinstance(ids.dtype, pd.CategoricalDtype) == (case in ("text categories", "unused categories"))
    if case == "integers":
        assert ids.dtype == np.int64
    again = read(tmp_path / "out")
    assert set(again.views["one"].index) == set(dataset.sample_names)
