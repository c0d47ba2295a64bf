"""Files in, the same files out: every format, the ways they are really stored, and files that are broken."""

from __future__ import annotations

import decimal
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse
from scipy.io import mmwrite, savemat

import jella
import jella.io
from jella.io import DataError, read, write_views
from jella.io.guard import damaged
from jella.io.matlab import load_variables
from jella.io.rda import _stacked
from jella.io.read import FILES, TABLES
from jella.io.stored import giving_arrays
from jella.terms import Ridge
from jella.views import read_views

loadmat = giving_arrays(scipy_io.loadmat)

pd = pytest.importorskip("pandas")

N = 12
Y = np.repeat([1, 2, 3], 4)


@pytest.fixture
def pair(rng):
    return [rng.standard_normal((N, 5)), rng.standard_normal((N, 7))]


def cell(matrices, shape=None):
    out = np.empty(len(matrices), dtype=object)
    out[:] = matrices
    return out.reshape(shape or (1, -1))


def mat(folder: Path, **variables) -> Path:
    savemat(folder / "data.mat", variables)
    return folder / "data.mat"


def completed(views):
    model = jella.JELLA(n_components=2, embedding=[Ridge(0.1)], basis=[Ridge(0.1)], max_iter=20, tol=0).fit(views)
    return model.complete(views)


def said(dataset, words: str) -> bool:
    return any(words in note for note in dataset.notes)


# MATLAB


@pytest.mark.parametrize("shape", [(1, -1), (-1, 1)])
@pytest.mark.parametrize("turned", [False, True])
def test_cells_are_views_whichever_way_round(tmp_path, pair, shape, turned):
    stored = [X.T for X in pair] if turned else pair
    found = read(mat(tmp_path, fea=cell(stored, shape), gt=Y[:, None]))
    assert list(found.views) == ["fea1", "fea2"]
    for X, expected in zip(found.views.values(), pair, strict=True):
        np.testing.assert_array_equal(X, expected)
    np.testing.assert_array_equal(found.labels, Y)
    assert said(found, "Samples were columns") is turned


def test_matrices_are_views_and_other_lengths_are_left_out(tmp_path, pair, rng):
    found = read(mat(tmp_path, X1=pair[0].T, X2=pair[1].T, other=rng.standard_normal((4, 6)), classLabel=Y))
    assert {name: X.shape for name, X in found.views.items()} == {"X1": (N, 5), "X2": (N, 7)}
    assert said(found, "'other' left out")


def test_small_integers_become_floats_before_they_overflow(tmp_path):
    big = np.full((N, 3), 60000, dtype=np.uint16)
    found = read(mat(tmp_path, X=cell([big, np.ones((N, 2))]), y=Y))
    assert (found.views["X1"] ** 2 == 3.6e9).all()
    assert said(found, "X1 (uint16)")


def test_one_hot_labels_are_not_a_view(tmp_path, pair):
    coded = np.eye(3)[Y - 1]
    both = read(mat(tmp_path, a=pair[0], b=pair[1], gnd=Y, Y=coded))
    assert list(both.views) == ["a", "b"]
    alone = read(mat(tmp_path, a=pair[0], b=pair[1], Y=coded.T))
    assert list(alone.views) == ["a", "b"]
    np.testing.assert_array_equal(alone.labels, Y)
    unnamed = read(mat(tmp_path, a=pair[0], b=pair[1], gnd=Y, coded=coded))
    assert list(unnamed.views) == ["a", "b"]


def test_x_and_y_may_be_two_views(tmp_path, pair):
    assert list(read(mat(tmp_path, X=pair[0], Y=pair[1])).views) == ["X", "Y"]


def test_sparse_stays_sparse(tmp_path, rng):
    words = sparse.random_array((N, 30), density=0.2, rng=rng, format="csc")
    found = read(mat(tmp_path, data=cell([words, words.copy()]), truth=Y))
    assert all(isinstance(X, sparse.csr_array) for X in found.views.values())
    np.testing.assert_array_equal(found.views["data1"].toarray(), words.toarray())


def test_index_triplets_are_matrices(tmp_path, rng):
    dense = rng.integers(1, 3, (N, 6)) * (rng.random((N, 6)) < 0.5)
    dense[-1, -1] = 1
    rows, columns = np.nonzero(dense)
    listed = np.column_stack([rows + 1, columns + 1, dense[rows, columns]])
    triplets = np.vstack([[N, 6, len(rows)], listed]).astype(np.uint16)
    found = read(mat(tmp_path, X1=triplets, X2=np.ones((N, 4)), truth=Y))
    np.testing.assert_array_equal(found.views["X1"].toarray(), dense)
    assert said(found, "index triplets")


def test_masks_and_folds_are_not_views(tmp_path, pair, rng):
    masks = [(rng.random((N, 2)) < 0.7).astype(float) for _ in range(10)]
    found = read(mat(tmp_path, data=cell(pair), per10=cell(masks), truth=Y))
    assert list(found.views) == ["data1", "data2"]
    folds = np.array([rng.permutation(N) + 1 for _ in range(5)])
    for only in ({"folds": cell(masks)}, {"folds": folds}):
        with pytest.raises(DataError, match=r"got none \(Masks or folds, not views: 'folds'\)"):
            read(mat(tmp_path, **only))


def test_without_labels_the_views_must_agree(tmp_path, pair):
    assert read(mat(tmp_path, a=pair[0].T, b=pair[1].T)).views["a"].shape == (N, 5)
    same = read(mat(tmp_path, a=pair[0], b=pair[0] + 1))
    assert same.views["a"].shape == (N, 5)
    assert said(same, "samples='columns'")
    assert read(tmp_path / "data.mat", samples="columns").views["a"].shape == (5, N)
    with pytest.raises(DataError, match="equal numbers of samples"):
        read(mat(tmp_path, a=pair[0], b=np.ones((9, 8))))


def test_a_cell_of_another_length_is_refused(tmp_path, pair):
    with pytest.raises(DataError, match=r"expected 12 samples in each cell, got one of the shape \(9, 7\)"):
        read(mat(tmp_path, X=cell([pair[0], pair[1][:9]]), y=Y))


def test_other_labels_are_no_view_where_labels_are_named(tmp_path, pair):
    file = mat(tmp_path, a=pair[0], b=pair[1], Y=np.eye(3)[Y - 1], sex=np.tile([1, 2], N // 2))
    assert list(read(file, labels="sex").views) == ["a", "b"]


def test_a_square_view_goes_with_the_others(tmp_path, pair, rng):
    square = rng.standard_normal((N, N))
    found = read(mat(tmp_path, X=cell([square, pair[0].T]), y=Y))
    np.testing.assert_array_equal(found.views["X1"], square.T)


def test_named_labels_and_names_of_cells(tmp_path, pair):
    names = cell(["left", "right"])
    file = mat(tmp_path, X=cell(pair), y=Y, sex=np.tile([1, 2], N // 2), viewNames=names)
    found = read(file, labels="sex")
    assert list(found.views) == ["left", "right"]
    assert set(found.labels[:2]) == {1, 2}
    with pytest.raises(DataError, match="expected labels in the variable 'age'"):
        read(file, labels="age")


def test_matlab_7_3(tmp_path, pair):
    h5py = pytest.importorskip("h5py")
    words = sparse.csc_array(np.triu(np.arange(N * 4).reshape(N, 4) % 3))
    with h5py.File(tmp_path / "new.mat", "w", userblock_size=512) as file:
        held = file.create_group("#refs#")
        cells = file.create_dataset("X", (2, 1), dtype=h5py.ref_dtype)
        for i, X in enumerate(pair):
            cells[i, 0] = held.create_dataset(str(i), data=X.T).ref
        cells.attrs["MATLAB_class"] = np.bytes_("cell")
        file.create_dataset("gt", data=Y[None, :].astype(float))
        group = file.create_group("words")
        group.attrs["MATLAB_sparse"] = N
        for name, part in zip(("data", "ir", "jc"), (words.data, words.indices, words.indptr), strict=True):
            group.create_dataset(name, data=part)
    with (tmp_path / "new.mat").open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file".ljust(128))
    found = read(tmp_path / "new.mat")
    np.testing.assert_array_equal(found.views["X2"], pair[1])
    np.testing.assert_array_equal(found.labels, Y)
    variables = load_variables(tmp_path / "new.mat")
    np.testing.assert_array_equal(variables["words"].toarray(), words.toarray())
    (written,) = write_views(found.views, tmp_path / "out", like=found)
    np.testing.assert_array_equal(loadmat(written)["X"][0, 1], pair[1])


# NumPy archives


def test_npz_with_names_and_half_floats(tmp_path, pair):
    names = np.array([f"s{i}" for i in range(N)])
    file = tmp_path / "a.npz"
    np.savez(
        file, gist=pair[0].astype(np.float16), lbp=np.arange(N * 2, dtype=np.uint8).reshape(N, 2), y=Y, names=names
    )
    found = read(file)
    assert list(found.views["gist"].index) == list(names)
    assert found.views["gist"].to_numpy().dtype == np.float64
    assert list(found.labels.index) == list(names)
    plain = found.as_arrays()
    np.testing.assert_array_equal(plain.labels, Y)
    np.testing.assert_array_equal(plain.views["gist"], pair[0].astype(np.float16).astype(float))


def test_npz_of_one_sparse_matrix(tmp_path, rng):
    words = sparse.random_array((N, 9), density=0.4, rng=rng, format="csr")
    sparse.save_npz(tmp_path / "words.npz", words)
    np.testing.assert_array_equal(read(tmp_path / "words.npz").views["words"].toarray(), words.toarray())


def test_deeper_arrays_are_left_out_and_named(tmp_path, pair):
    np.savez(tmp_path / "a.npz", X=pair[0], images=np.ones((N, 2, 2)))
    found = read(tmp_path / "a.npz")
    assert list(found.views) == ["X"]
    assert said(found, "'images'")


@pytest.mark.parametrize("kind", ["npz", "mat", "sparse", "cell", "7.3"])
def test_complex_numbers_are_refused(tmp_path, pair, kind):
    wrong, path = pair[1] * 1j, tmp_path / ("a.npz" if kind == "npz" else "a.mat")
    if kind == "npz":
        np.savez(path, X=pair[0], Z=wrong)
    elif kind == "7.3":
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w", userblock_size=512) as file:
            file["X"], file["Z"] = pair[0].T, wrong.T.view([("real", float), ("imag", float)])
    else:
        savemat(path, {"X": pair[0], "Z": {"sparse": sparse.csc_array(wrong), "cell": cell([wrong])}.get(kind, wrong)})
    with pytest.raises(DataError, match=r"expected real numbers in 'Z1?' of a\.\w+, got complex ones; store"):
        read(path)


def test_tables_of_text_are_left_out_and_named(tmp_path, pair):
    words = np.array([["u", "v"]] * N)
    days = np.full((N, 2), "2020-01-01", dtype="datetime64[D]")
    np.savez(tmp_path / "a.npz", X=pair[0], rna=words, raw=words.astype(bytes), day=days, other=words[:3])
    found = read(tmp_path / "a.npz")
    assert list(found.views) == ["X"]
    left = [note for note in found.notes if "left out" in note]
    assert left == [
        "'rna' left out: it holds text, not numbers.",
        "'raw' left out: it holds text, not numbers.",
        "'day' left out: it holds dates, not numbers.",
    ]
    found = read(mat(tmp_path, X=pair[0], rna=words.astype(object), y=Y))
    assert said(found, "'rna' left out: it holds text, not numbers.")


def test_pickled_objects_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.array([{}, 1], dtype=object))
    with pytest.raises(DataError, match="pickled objects"):
        read(tmp_path / "a.npz")


# Matrix Market


def test_matrix_market_is_aligned_by_name(tmp_path):
    counts = np.array([[1, 0, 2], [0, 3, 0]])  # terms x documents
    for view, docs in {"news_one": ["001", "002", "010"], "news_two": ["010", "003", "001"]}.items():
        mmwrite(tmp_path / f"{view}.mtx", sparse.coo_array(counts))
        (tmp_path / f"{view}.docs").write_text("\n".join(docs))
        (tmp_path / f"{view}.terms").write_text("café\nzoo\n", encoding="utf-8")
    (tmp_path / "news.disjoint.clist").write_text("sport, 001,010\npolitics, 002,003\n")
    (tmp_path / "news.overlap.clist").write_text("sport: 001,010\npolitics: 002,001\n")
    found = read(tmp_path)
    assert list(found.views) == ["one", "two"]
    assert found.labels.to_dict() == {"001": "sport", "002": "politics", "003": "politics", "010": "sport"}
    assert found.views["two"].loc["003"].to_dict() == {"café": 0, "zoo": 3}
    plain = found.as_arrays()
    np.testing.assert_array_equal(plain.views["two"].toarray()[:, 0], [2, np.nan, 0, 1])
    with pytest.raises(DataError, match="samples with several"):
        read(tmp_path, labels="overlap")
    (tmp_path / "news_one.docs").write_text("001\n002\n")
    with pytest.raises(DataError, match="do not belong together"):
        read(tmp_path)


# tables


def tables(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def test_tables_by_position_with_labels(tmp_path):
    folder = tables(
        tmp_path, gene="a,b\n1,2\n3,NA\n5,\n", lipid="c\n.5\n1.5\n2.5\n", diet="diet\nx\ny\nx\n", sex="sex\nm\nf\nf\n"
    )
    found = read(folder)
    assert list(found.views) == ["gene", "lipid"]
    assert found.views["gene"]["a"].dtype == np.int64
    assert found.views["gene"]["b"].isna().sum() == 2
    assert list(found.labels) == ["x", "y", "x"]
    assert said(found, "'sex'")
    assert list(read(folder, labels="sex").labels) == ["m", "f", "f"]


def test_tables_by_id(tmp_path):
    folder = tables(tmp_path, left=",a\n001,1.5\n002,2.5\n", right="id;b;kind\n002;-999;u\n003;4;v\n")
    found = read(folder, labels="kind", missing=["-999"])
    assert list(found.views["left"].index) == ["001", "002"]
    assert list(found.views["right"].columns) == ["b"]
    assert found.labels.to_dict() == {"002": "u", "003": "v"}
    np.testing.assert_array_equal(found.as_arrays().views["right"][:, 0], [np.nan, 4, np.nan])
    model_input = read_views(found.views)
    assert list(model_input.sample_names) == ["001", "002", "003"]


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", " "])
@pytest.mark.parametrize("lead", ["sample", ""])
def test_delimiters_are_found(tmp_path, delimiter, lead):
    rows = [[lead, "a", "b"], ["s 1", "1.25", "2"], ["s 2", "3", "4e-3"]]
    quoted = [[f'"{text}"' for text in row] for row in rows]
    (tmp_path / "t.csv").write_text("\n".join(delimiter.join(row) for row in quoted))
    frame = read(tmp_path / "t.csv").views["t"]
    assert list(frame.index) == ["s 1", "s 2"]
    np.testing.assert_array_equal(frame.to_numpy(), [[1.25, 2], [3, 4e-3]])


def test_a_first_row_of_numbers_and_holes_is_a_sample(tmp_path):
    (tmp_path / "t.csv").write_text("p1,0.5,,-1.25\np2,1.5,2.5,NA\np3,,0.25,3.5\n")
    (tmp_path / "u.csv").write_text("id,1,,3\np1,0.5,2.5,1\np2,1.5,,4\n")
    view = read(tmp_path / "t.csv").views["t"]
    assert (list(view.index), view.shape) == (["p1", "p2", "p3"], (3, 3))
    assert read(tmp_path / "u.csv").views["u"].shape == (2, 3)


def test_row_names_of_r_and_tables_without_a_header(tmp_path):
    folder = tables(tmp_path, r='"a" "b"\n"s1" 1 2\n"s2" 3 4\n', plain="s1,0.5,2\ns2,1.5,3\n")
    found = read(folder)
    assert list(found.views["r"].index) == list(found.views["plain"].index) == ["s1", "s2"]
    assert list(found.views["r"].columns) == ["a", "b"]
    assert len(read(tables(tmp_path, counted="0,1\n7,8\n9,9\n") / "counted.csv").views["counted"]) == 2


def test_ids_keep_their_text(tmp_path):
    frame = read(tables(tmp_path, t="sample_id,a\n1_2,1\n1_3,2\n") / "t.csv").views["t"]
    assert list(frame.index) == ["1_2", "1_3"]


@pytest.mark.parametrize("cells", [("1_2", "3"), ("0.5", "1_2"), ("1_2", "1_3"), ("", "1_2")])
def test_numbers_with_underscores_are_text(tmp_path, cells):
    """Python reads '1_2' as 12; in a table it is a name, or a slip."""
    file = tables(tmp_path, t=f"a,b\n0.5,{cells[0]}\n1.5,{cells[1]}\n") / "t.csv"
    with pytest.raises(DataError, match=r"'b'; pass .*non_numeric"):
        read(file)
    assert list(read(file, non_numeric="drop").views["t"].columns) == ["a"]
    coded = read(file, non_numeric="encode").views["t"]
    assert "b=1_2" in coded.columns


def test_names_of_digits_and_underscores_are_a_header_and_ids(tmp_path):
    frame = read(tables(tmp_path, t="1_2,1_3\n0.5,2\n1.5,3\n") / "t.csv").views["t"]
    assert list(frame.columns) == ["1_2", "1_3"]
    np.testing.assert_array_equal(frame.to_numpy(), [[0.5, 2], [1.5, 3]])
    frame = read(tables(tmp_path, u="who,a\n1_2,5\n007,6\n1_4,7\n") / "u.csv").views["u"]
    assert list(frame.index) == ["1_2", "007", "1_4"]


@pytest.mark.parametrize("head", ["smoker,", "id,smoker,"])
def test_truth_values_among_numbers_are_numbers_and_keep_their_text(tmp_path, head):
    rows = ["True,1.50", "FALSE,2", ",3", "false,4", "1,5"]
    lead = "id" in head
    lines = [f"s{i},{row}" if lead else row for i, row in enumerate(rows)]
    (tmp_path / "a.csv").write_text("\n".join([f"{head}age", *lines, ""]))
    found = read(tmp_path / "a.csv")
    view = found.views["a"]
    np.testing.assert_array_equal(view["smoker"], [1, 0, np.nan, 0, 1])
    write_views({"a": view.fillna(0.5)}, tmp_path / "out", like=found)
    out = (tmp_path / "out" / "a.csv").read_text()
    assert out == (tmp_path / "a.csv").read_text().replace(",,", ",0.5,").replace("\n,3", "\n0.5,3")
    np.testing.assert_array_equal(read(tmp_path / "out" / "a.csv").views["a"]["smoker"], [1, 0, 0.5, 0, 1])
    (tmp_path / "b.csv").write_text("y,x\n1,true\n2,maybe\n2,false\n3,false\n")
    with pytest.raises(DataError, match="got text"):
        read(tmp_path / "b.csv")


def test_truth_values_may_be_labels(tmp_path):
    (tmp_path / "a.csv").write_text("id,a,b,ill\nx,1,2,True\ny,3,4,False\nz,3,4,False\n")
    assert read(tmp_path / "a.csv", labels="ill").labels.tolist() == ["True", "False", "False"]
    (tmp_path / "ill.csv").write_text("id,ill\nx,True\ny,False\nz,False\n")
    found = read(tmp_path)
    assert list(found.views) == ["a"]
    assert found.labels.tolist() == ["True", "False", "False"]


def test_a_named_id_column(tmp_path):
    folder = tables(tmp_path, one="a,who\n1,7\n2,8\n", two="who,b\n8,1\n7,2\n")
    found = read(folder, id_column="who")
    assert list(found.views["one"].columns) == ["a"]
    assert found.views["two"].loc["7", "b"] == 2
    with pytest.raises(DataError, match="expected the id column 'nobody'"):
        read(folder, id_column="nobody")


def test_text_columns_are_refused_dropped_or_encoded(tmp_path):
    file = tables(tmp_path, t="id,a,colour\nx,1,red\ny,2,\nz,3,blue\n") / "t.csv"
    with pytest.raises(DataError, match=r"'colour'; pass non_numeric"):
        read(file)
    assert list(read(file, non_numeric="drop").views["t"].columns) == ["a"]
    coded = read(file, non_numeric="encode").views["t"]
    assert list(coded.columns) == ["a", "colour=blue", "colour=red"]
    np.testing.assert_array_equal(coded["colour=red"], [1, np.nan, 0])


def test_parquet_and_feather(tmp_path, pair):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(pair[0], columns=list("abcde"), index=[f"s{i}" for i in range(N)])
    frame.to_parquet(tmp_path / "left.parquet")
    frame.reset_index().to_feather(tmp_path / "right.feather")
    found = read(tmp_path)
    pd.testing.assert_frame_equal(found.views["left"], found.views["right"], check_names=False)


def test_sheets_are_views(tmp_path, pair):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        for name, X in zip(("left", "right"), pair, strict=True):
            pd.DataFrame(X).rename(columns="c{}".format).to_excel(book, sheet_name=name, index=False)
        pd.DataFrame({"y": Y}).to_excel(book, sheet_name="classes", index=False)
        pd.DataFrame().to_excel(book, sheet_name="empty")
    found = read(tmp_path / "book.xlsx")
    assert list(found.views) == ["left", "right"]
    np.testing.assert_allclose(found.views["right"].to_numpy(), pair[1], rtol=1e-15)  # openpyxl writes 16 digits
    np.testing.assert_array_equal(found.labels, Y)


# annotated matrices


def test_annotated_matrices(tmp_path, pair):
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    names = [f"c{i}" for i in range(N)]
    obs = pd.DataFrame({"kind": Y.astype(str)}, index=names)
    rna = anndata.AnnData(sparse.csr_matrix(np.maximum(pair[0], 0)), obs=obs)
    adt = anndata.AnnData(pair[1][3:], obs=obs.iloc[3:])
    rna.write_h5ad(tmp_path / "rna.h5ad")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mudata.MuData({"rna": rna, "adt": adt}).write_h5mu(tmp_path / "both.h5mu")
    one = read(tmp_path / "rna.h5ad", labels="kind")
    assert one.labels.to_dict() == dict(zip(names, Y.astype(str), strict=True))
    both = read(tmp_path / "both.h5mu")
    assert both.views["adt"].shape == (N - 3, 7)
    np.testing.assert_array_equal(both.as_arrays().views["rna"].toarray(), np.maximum(pair[0], 0))
    filled = completed(both.views)
    (written,) = write_views(filled, tmp_path / "out", like=both)
    again = read(written)
    pd.testing.assert_frame_equal(again.views["adt"], filled["adt"], check_names=False)
    with pytest.raises(DataError, match="to name a column of obs"):
        read(tmp_path / "rna.h5ad", labels="age")


# R


def test_parts_of_r_lists_are_stacked(tmp_path):
    rdata = pytest.importorskip("rdata")
    xarray = pytest.importorskip("xarray")

    def matrix(ids, columns, start):
        values = start + np.arange(len(ids) * len(columns), dtype=float).reshape(len(ids), -1)
        return xarray.DataArray(values, dims=["dim_0", "dim_1"], coords={"dim_0": ids, "dim_1": columns})

    train = {"gene": matrix(["a", "b"], ["g", "h"], 0.0), "protein": matrix(["a", "b"], ["p"], 10.0)}
    test = {"gene": matrix(["c", "d"], ["h", "g"], 20.0)}
    parts = {"train": train | {"kind": np.array(["u", "v"])}, "test": test | {"kind": np.array(["u", "u"])}}
    frames = _stacked(list(parts.values()))
    assert list(frames["gene"].loc["c"]) == [21.0, 20.0]
    assert list(frames["protein"].index) == ["a", "b"]
    assert list(frames["kind"].index) == ["a", "b", "c", "d"]
    rdata.write_rda(tmp_path / "x.rda", {"left": np.eye(3), "right": np.ones((3, 2))})
    assert list(read(tmp_path / "x.rda").views) == ["left", "right"]


# writing


def holed(frame):
    out = frame.copy()
    out.iloc[1, 0] = np.nan
    return out


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather"])
def test_tables_come_back_as_they_were(tmp_path, pair, ending):
    if ending in ("parquet", "feather"):
        pytest.importorskip("pyarrow")
    index = pd.Index([f"00{i}" for i in range(N)], name="sample")
    left = holed(pd.DataFrame(pair[0], columns=list("abcde"), index=index))
    right = pd.DataFrame({"n": np.arange(N - 1), "x": pair[1][1:, 0]}, index=index[1:])
    (tmp_path / "in").mkdir()
    for name, frame in {"left": left, "right": right}.items():
        file = tmp_path / "in" / f"{name}.{ending}"
        if ending == "parquet":
            frame.to_parquet(file)
        elif ending == "feather":
            frame.reset_index().to_feather(file)
        else:
            frame.to_csv(file, sep="," if ending == "csv" else "\t")
    given = read(tmp_path / "in")
    done = completed(given.views)
    write_views(done, tmp_path / "out", like=given)
    again = read(tmp_path / "out")
    for name, frame in done.items():
        pd.testing.assert_frame_equal(again.views[name], frame, check_names=False, check_exact=True)
    there = left.notna().to_numpy()
    np.testing.assert_array_equal(again.views["left"].to_numpy()[there], left.to_numpy()[there])
    assert not again.views["left"].isna().any(axis=None)
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [f"left.{ending}", f"right.{ending}"]


def test_nullable_columns_stay_nullable(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1.5, None, 2.5], "b": [1, 2, 3]}).astype({"a": "Float64", "b": "Int32"})
    frame.to_parquet(tmp_path / "t.parquet")
    given = read(tmp_path / "t.parquet")
    (written,) = write_views({"t": given.views["t"].fillna(0.5)}, tmp_path / "out", like=given)
    pd.testing.assert_frame_equal(pd.read_parquet(written), frame.fillna(0.5))


def test_cells_that_did_not_change_keep_their_text(tmp_path):
    text = "id;a;note;b\nx;1.50;hi;0.1e1\ny;;ho;7\n"
    (tmp_path / "t.csv").write_text(text)
    given = read(tmp_path / "t.csv", non_numeric="drop")
    write_views({"t": given.views["t"].fillna(0.25)}, tmp_path / "out.csv", like=given)
    assert (tmp_path / "out.csv").read_text() == text.replace("y;;ho", "y;0.25;ho")


def test_workbooks_come_back_as_they_were(tmp_path, pair):
    pytest.importorskip("openpyxl")
    frame = holed(pd.DataFrame(pair[0], columns=list("abcde"), index=[f"s{i}" for i in range(N)]))
    kinds = pd.DataFrame({"kind": np.where(Y == 1, "u", "v")}, index=frame.index)
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        frame.to_excel(book, sheet_name="left")
        kinds.to_excel(book, sheet_name="kinds")
    given = read(tmp_path / "book.xlsx")
    exact = given.views["left"].fillna(1 / 3)
    exact.iloc[0] = pair[0][0]  # 17 digits
    exact.loc["new"] = 0.1 + 0.2
    (written,) = write_views({"left": exact}, tmp_path / "out", like=given)
    again = read(written)
    pd.testing.assert_frame_equal(again.views["left"], exact, check_exact=True)
    assert list(again.labels) == list(kinds["kind"])


def test_matlab_files_keep_their_layout(tmp_path, pair, rng):
    holes = pair[0].T.copy()
    holes[2, 3] = np.nan
    counts = np.arange(N * 2, dtype=np.uint8).reshape(2, N)
    words = sparse.random_array((6, N), density=0.5, rng=rng, format="csc")
    file = mat(tmp_path, X=cell([holes, counts, words], (3, 1)), y=Y[:, None], about="hello")
    given = read(file)
    done = given.views | {"X1": np.nan_to_num(given.views["X1"], nan=0.5)}
    (written,) = write_views(done, tmp_path / "out.mat", like=file)
    stored = loadmat(written)
    assert stored["X"].shape == (3, 1)
    np.testing.assert_array_equal(stored["X"][0, 0], np.nan_to_num(holes, nan=0.5))
    assert stored["X"][1, 0].dtype == np.uint8
    assert sparse.issparse(stored["X"][2, 0])
    assert (stored["X"][2, 0] != words).nnz == 0
    assert stored["about"] == ["hello"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["data.mat", "out.mat"]
    np.testing.assert_array_equal(stored["y"], Y[:, None])


def test_views_named_as_arguments_of_savez_come_back(tmp_path, pair):
    views = {"file": pair[0], "allow_pickle": pair[1]}
    write_views(views, tmp_path / "a.npz")
    found = read(tmp_path / "a.npz").views
    assert list(found) == list(views)
    for name, X in views.items():
        np.testing.assert_array_equal(found[name], X)


def test_archives_keep_types_and_order(tmp_path, pair):
    names = np.array([f"s{i}" for i in range(N)])
    half = pair[0].astype(np.float16)
    file = tmp_path / "a.npz"
    np.savez(file, half=half, wide=pair[1].T.copy(), y=Y, names=names)
    given = read(file)
    write_views({name: X.iloc[::-1] for name, X in given.views.items()}, tmp_path / "b.npz", like=given)
    with np.load(file) as before, np.load(tmp_path / "b.npz") as after:
        assert before.files == after.files
        for name in before.files:
            assert before[name].dtype == after[name].dtype
            np.testing.assert_array_equal(before[name], after[name])


def test_views_without_a_file_to_follow(tmp_path, pair):
    frame = pd.DataFrame(pair[0], index=[f"s{i}" for i in range(N)]).rename(columns=str)
    write_views({"one": frame}, tmp_path / "folder")
    np.testing.assert_array_equal(read(tmp_path / "folder").views["one"], frame)
    write_views({"one": frame, "two": frame.iloc[1:]}, tmp_path / "x.npz")
    assert np.isnan(read(tmp_path / "x.npz").views["two"].iloc[0]).all()


@pytest.mark.parametrize("name", ["out", "out.npz"])
def test_views_that_cannot_be_written(tmp_path, pair, name):
    with pytest.raises(DataError, match="got 1 and '1', which are one name in files; rename one"):
        write_views({1: pair[0], "1": pair[1]}, tmp_path / name)
    with pytest.raises(DataError, match=r"a 2-D array \(samples x features\) for view 'y', got 1 dimension"):
        write_views({"x": pair[0], "y": Y}, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_when_writing_fails(tmp_path, pair):
    given = read(tables(tmp_path, t="a,b\n1,2\n3,4\n") / "t.csv")
    with pytest.raises(DataError, match="expected the 2 rows of 't', got 1"):
        write_views({"t": given.views["t"].iloc[:1]}, tmp_path / "out", like=given)
    assert list((tmp_path / "out").iterdir()) == []
    with pytest.raises(DataError, match="it has"):
        write_views({"u": pair[0]}, tmp_path / "out", like=given)
    with pytest.raises(DataError, match=r"ends in \.npz"):
        write_views({"u": pair[0]}, tmp_path / "out.mat")
    with pytest.raises(DataError, match=r"ends in \.csv"):
        write_views(given.views, tmp_path / "out.npz", like=given)


# broken files

ENDINGS = sorted({*FILES, *TABLES})
PACKAGES = {".parquet": "pyarrow", ".feather": "pyarrow", ".xlsx": "openpyxl", ".h5ad": "anndata", ".h5mu": "mudata"}


@pytest.mark.parametrize("content", ["empty", "garbage"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_bytes_that_are_no_data_are_refused_in_one_sentence(tmp_path, ending, content):
    pytest.importorskip(PACKAGES.get(ending, "rdata" if ending.startswith(".r") else "numpy"))
    file = tmp_path / f"x{ending}"
    file.write_bytes(b"" if content == "empty" else np.random.default_rng(0).bytes(3000))
    with pytest.raises(DataError) as error:
        read(file)
    assert "\n" not in str(error.value)
    assert "expected" in str(error.value)
    assert "x" in str(error.value)


@pytest.mark.parametrize("ending", ["mat", "npz", "parquet", "csv", "mtx"])
def test_files_that_were_cut_off_are_refused(tmp_path, pair, ending):
    whole = tmp_path / f"whole.{ending}"
    if ending == "mat":
        savemat(whole, {"X": cell(pair), "y": Y}, do_compression=True)
    elif ending == "npz":
        np.savez_compressed(whole, a=pair[0], b=pair[1])
    elif ending == "mtx":
        mmwrite(whole, sparse.coo_array(pair[0]))
    elif ending == "csv":
        pd.DataFrame(pair[0]).to_csv(whole, index=False)
    else:
        pytest.importorskip("pyarrow")
        pd.DataFrame(pair[0]).rename(columns=str).to_parquet(whole)
    cut = tmp_path / f"cut.{ending}"
    cut.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * 0.6)])
    with pytest.raises(DataError, match="cut"):
        read(cut)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,a\nx,1\nx,2\n", "the sample 'x' more than once"),
        ("id,a\nx,1\n,2\n", "got none in row 1"),
        ("a,b\n1,2\n3,?\n4,5\n", r"text such as '\?' in 1 of 3 rows of 'b'; pass missing=\['\?'\]"),
        ("id;a;b\nx;1,5;2\ny;-2,25;3\n", "decimal commas such as '1,5' in 'a'"),
        ('id,a,b\nx,"1,200.5",1\ny,3.5,2\n', "commas between thousands such as '1,200.5' in 'a'; leave them out"),
        ("id,a,b\nx,12.5%,1\ny,3 %,2\n", "percent signs such as '12.5%' in 'a'; leave them out"),
        (",who,a\n0,anna,1\n1,bert,2\n2,carl,3\n", "pass id_column='who' if it names the samples, or non_numeric"),
        ("a,b\n1,2\n", r"the shape \(1, 2\)"),
        ("a,b\n", "rows below the header"),
        ("a,b,c\n1,,\n2,,NA\n", "2 columns without any in view 't'"),
        ("a:b:c\n1:2:3\n4:5:6\n7:8:9\n", "columns separated by"),
        ("a,b\n1,2\n3,4,5\n6,7\n", "got 3 in row 2"),
        ("a,b\n1,2,\n3,4,\n", "separator at the end of rows"),
        ("diet\nx\ny\nx\n", "got only labels"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        read(tmp_path / "t.csv")


def test_empty_columns_that_are_samples_of_another_view_are_not_to_be_removed(tmp_path):
    ids = [f"s{i}" for i in range(6)]
    pd.DataFrame(np.arange(12.0).reshape(6, 2), ids, ["a", "b"]).to_csv(tmp_path / "rows.csv")
    turned = pd.DataFrame(np.arange(18.0).reshape(3, 6), ["x", "y", "z"], ids)
    turned["s4"] = np.nan
    turned.to_csv(tmp_path / "turned.csv")
    with pytest.raises(DataError, match="are columns of 'turned'; transpose 'turned'"):
        read(tmp_path)


DAY = pd.Timestamp("2020-01-01")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([DAY, DAY, DAY], "got dates in the column 'b'; store it as numbers, or pass non_numeric='drop'"),
        ([DAY.date()] * 3, "got dates in the column 'b'"),
        ([DAY - DAY] * 3, "got times in the column 'b'"),
        ([decimal.Decimal("1.5")] * 3, "got decimals in the column 'b'"),
        ([[1], [2, 3], [4]], "got lists in the column 'b'"),
        (pd.Categorical([None, None, None]), "got values of the type category in the column 'b'"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_columns_of_other_types_are_named(tmp_path, values, words, first):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"b": values, "x": [1.0, 2, 3], "y": [2.0, 1, 1]})
    path = tmp_path / "t.feather"
    (frame if first else frame[["x", "b", "y"]]).to_feather(path)
    with pytest.raises(DataError, match=words):
        read(path)
    assert list(read(path, non_numeric="drop").views["t"].columns) == ["x", "y"]
    if "lists" in words:
        with pytest.raises(DataError, match=words):
            read(path, non_numeric="encode")
        frame[["b"]].to_feather(path)
        with pytest.raises(DataError, match=words):
            read(path)


def test_dates_in_workbooks_are_named(tmp_path):
    pytest.importorskip("openpyxl")
    pd.DataFrame({"x": [1.0, 2, 3], "b": [DAY] * 3}).to_excel(tmp_path / "t.xlsx", index=False)
    with pytest.raises(DataError, match="got dates in the column 'b'"):
        read(tmp_path / "t.xlsx")


def test_names_that_come_twice(tmp_path):
    (tmp_path / "t.csv").write_text("id,a,a,a.1,a\nx,1,2,3,4\ny,5,6,7,8\n")
    assert list(read(tmp_path / "t.csv").views["t"].columns) == ["a", "a.2", "a.1", "a.3"]
    pyarrow = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pyarrow.table([[1.0, 2.0], [2.0**60, 4.0]], names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="columns of different names in 't', got 'a' more than once; rename them"):
        read(tmp_path / "t.parquet")
    levels = pd.MultiIndex.from_product([["u", "v"], [1, 2]], names=["p", "q"])
    pd.DataFrame({"a": np.arange(4.0), "b": 1.0}, levels).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="one level of names in the index of 't', got 2; keep one, or join"):
        read(tmp_path / "t.parquet")


def test_a_folder_has_no_format(tmp_path):
    (tmp_path / "x.1").mkdir()
    assert "in one of the known formats" in str(damaged(tmp_path / "x.1", "why"))
    assert "in the format .npz" in str(damaged(tmp_path / "x.npz", "why"))


def test_tables_that_do_not_go_together(tmp_path):
    with pytest.raises(DataError, match="equal numbers of rows"):
        read(tables(tmp_path, a="x\n1\n2\n", b="y\n1\n2\n3\n"))
    with pytest.raises(DataError, match="ids in 'b' and none in 'a'"):
        read(tables(tmp_path, b="id,y\nu,1\nv,2\n"))


def test_other_wrong_paths(tmp_path):
    with pytest.raises(DataError, match="which does not exist"):
        read(tmp_path / "none.csv")
    (tmp_path / "a.docx").write_text("hello")
    with pytest.raises(DataError, match=r"got 'a\.docx'"):
        read(tmp_path / "a.docx")
    with pytest.raises(DataError, match=r"got 'a\.docx'; put files there that end in"):
        read(tmp_path)
    with pytest.raises(DataError, match="tables"):
        read([tmp_path / "a.mat"])
    np.savez(tmp_path / "a.npz", X=np.ones((3, 2)))
    with pytest.raises(ValueError, match="expected only labels, samples"):
        read(tmp_path / "a.npz", id_column="id")
    with pytest.raises(ValueError, match="expected non_numeric"):
        read(tmp_path / "a.npz", non_numeric="guess")


def test_matlab_without_views(tmp_path):
    with pytest.raises(DataError, match=r"got 'y'; store one matrix per view"):
        read(mat(tmp_path, y=Y))


def test_a_missing_package_is_named_with_its_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(ImportError, match=r"pip install 'jella\[parquet\]'"):
        read(tmp_path / "a.parquet")


def test_the_summary_tells_shapes_holes_and_classes(tmp_path):
    left = sparse.csr_array(np.array([[np.nan, np.nan], [0, 1.0]]))
    shown = repr(jella.io.Dataset("d", {"left": left, "b": np.eye(2)}, np.array(["u", "v"]), notes=("Said.",)))
    assert shown.splitlines() == [
        "Dataset 'd': 2 samples, 2 views",
        "  left  (2, 2)  sparse  50.0% missing",
        "  b     (2, 2)  array",
        "  labels  2 classes",
        "  - Said.",
    ]


def test_every_real_file_opens_or_is_refused_in_one_sentence(data_folder):
    pytest.importorskip("rdata")
    pytest.importorskip("h5py")
    refused = {}
    for file in sorted(file for file in data_folder.rglob("*") if file.is_file()):
        try:
            dataset = read(file)
        except DataError as error:
            refused[file.name] = str(error)
        else:
            n = len(dataset.sample_names)
            assert n > 1, file
            assert dataset.labels is None or len(dataset.labels) <= n, file
    assert not any("\n" in sentence for sentence in refused.values())
    data = {name: sentence for name, sentence in refused.items() if Path(name).suffix in (*FILES, ".csv")}
    assert all("folds" in sentence or "only labels" in sentence for sentence in data.values()), data
