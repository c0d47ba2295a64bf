"""Parquet parts as Dask collections: which files are which view, ids, types, and what is refused."""

import decimal
import sys

import numpy as np
import pytest

import jella
from jella.io import DataError, read, read_partitions

pd = pytest.importorskip("pandas", reason="pandas is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask DataFrames are not installed")
da = pytest.importorskip("dask.array", reason="dask arrays are not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")


def numbers(n=24, d=3, seed=0, prefix="x"):
    values = np.random.default_rng(seed).normal(size=(n, d))
    return pd.DataFrame(values, columns=[f"{prefix}{j}" for j in range(d)])


def named(frame, name="sample"):
    return frame.set_axis(pd.Index([f"s{i}" for i in range(len(frame))], name=name), axis=0)


def in_parts(frame, folder, n_parts=12, **options):
    folder.mkdir(parents=True)
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), n_parts)):
        frame.iloc[rows].to_parquet(folder / f"part.{number}.parquet", **options)
    return folder


# which files are which view


def test_a_folder_of_folders_has_a_view_a_folder(tmp_path):
    left, right = named(numbers()), named(numbers(seed=1, prefix="y"))
    in_parts(left, tmp_path / "left")
    in_parts(right, tmp_path / "right.parquet", 2)
    views = read_partitions(tmp_path)
    assert list(views) == ["left", "right"]
    assert [view.npartitions for view in views.values()] == [12, 2]
    for name, frame in (("left", left), ("right", right)):
        pd.testing.assert_frame_equal(views[name].compute(), frame, check_names=False, check_index_type=False)


def test_parts_follow_each_other_as_their_numbers_do(tmp_path):
    frame = numbers()
    (view,) = read_partitions([in_parts(frame, tmp_path / "only", index=False)]).values()
    np.testing.assert_array_equal(np.asarray(view), frame.to_numpy())


def test_files_of_the_same_columns_are_one_view_and_others_a_view_each(tmp_path):
    folder = in_parts(numbers(), tmp_path / "both", 2, index=False)
    assert {name: view.shape for name, view in read_partitions(folder).items()} == {"both": (24, 3)}
    numbers(12, prefix="other").to_parquet(folder / "other.parquet")
    assert {name: view.shape for name, view in read_partitions(folder).items()} == {
        "other": (12, 3),
        "part.0": (12, 3),
        "part.1": (12, 3),
    }


def test_a_list_may_mix_files_and_folders_of_parts(tmp_path):
    numbers(prefix="y").to_parquet(tmp_path / "one.parquet")
    views = read_partitions([in_parts(numbers(), tmp_path / "many", 3, index=False), tmp_path / "one.parquet"])
    assert {name: view.numblocks[0] for name, view in views.items()} == {"many": 3, "one": 1}


def test_what_other_programs_leave_beside_the_data_is_passed_over(tmp_path):
    folder = in_parts(numbers(), tmp_path / "spark", 2, index=False)
    for name in ("_SUCCESS", "_metadata", "._SUCCESS.crc", ".part.0.parquet.crc"):
        (folder / name).write_bytes(b"")
    (folder / "_temporary").mkdir()
    assert list(read_partitions(folder)) == ["spark"]


def test_row_groups_are_parts_and_nothing_but_footers_is_read(tmp_path, monkeypatch):
    import jella.io.parquet_files

    numbers().to_parquet(tmp_path / "groups.parquet", row_group_size=7)

    def refuse(*args):
        raise AssertionError("read")

    monkeypatch.setattr(jella.io.parquet_files, "_table", refuse)
    view = read_partitions(tmp_path / "groups.parquet")["groups"]
    assert view.chunks == ((7, 7, 7, 3), (3,))
    with pytest.raises(AssertionError, match="read"):
        view.compute()


# ids and types


@pytest.mark.parametrize(
    ("frame", "options", "column"),
    [
        (named(numbers()), {}, None),
        (named(numbers(), None), {}, None),
        (named(numbers()).reset_index(), {}, None),
        (named(numbers(), "who").reset_index(), {}, None),
        (named(numbers(), "who").reset_index()[["x0", "who", "x1", "x2"]], {}, "who"),
        (named(numbers(), "who").reset_index().set_axis(range(5, 29), axis=0), {"index": True}, "who"),
    ],
    ids=["index", "index without a name", "called sample", "text", "named", "named beside an index"],
)
def test_ids_are_found_where_they_are(tmp_path, frame, options, column):
    frame.to_parquet(tmp_path / "view.parquet", **options)
    got = read_partitions(tmp_path / "view.parquet", id_column=column)["view"].compute()
    assert list(got.index) == [f"s{i}" for i in range(24)]
    assert list(got.columns) == ["x0", "x1", "x2"]
    np.testing.assert_array_equal(got.to_numpy(), numbers().to_numpy())


def test_whole_ids_stay_numbers_where_all_views_have_them(tmp_path):
    for name in ("a", "b"):
        frame = numbers(prefix=name)
        frame.insert(0, "id", np.arange(24, dtype=np.int32) * 10)
        frame.to_parquet(tmp_path / f"{name}.parquet")
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    assert read_partitions(files)["b"].compute().index[:3].tolist() == [0, 10, 20]
    frame.astype({"id": str}).to_parquet(files[1])
    assert read_partitions(files)["a"].compute().index[:3].tolist() == ["0", "10", "20"]


def test_every_kind_of_number_becomes_floating_and_empty_cells_nan(tmp_path):
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "yes": pd.array([True, False, None], dtype="boolean"),
            "exact": [decimal.Decimal("1.50"), None, decimal.Decimal("0.25")],
            "half": np.array([0.5, 1, 2], dtype=np.float16),
            "nothing": [None, None, None],
        }
    )
    frame.to_parquet(tmp_path / "kinds.parquet")
    got = np.asarray(read_partitions(tmp_path / "kinds.parquet")["kinds"])
    nan = np.nan
    expected = [[1, 1, 1.5, 0.5, nan], [nan, 0, nan, 1, nan], [3, nan, 0.25, 2, nan]]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_stays(tmp_path, dtype):
    numbers().astype(dtype).to_parquet(tmp_path / "a.parquet")
    named(numbers()).astype(dtype).to_parquet(tmp_path / "b.parquet")
    assert read_partitions(tmp_path / "a.parquet")["a"].dtype == dtype
    assert set(read_partitions(tmp_path / "b.parquet")["b"].compute().dtypes) == {np.dtype(dtype)}


def test_fits_and_saved_models_are_those_of_tables_in_memory(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    for seed, name in enumerate(("a", "b")):
        frame = named(numbers(40, 5, seed, name)).iloc[seed * 6 : 34 + seed * 6]
        frame.to_parquet(whole / f"{name}.parquet")
        in_parts(frame, parts / name, 3)
    model = jella.MVLIV(3, n_components=2, max_iter=5, tol=0.0, random_state=0)
    here, views = model.fit(read(whole).views).embedding_, read_partitions(parts)
    chunked = model.fit(views)
    np.testing.assert_allclose(np.asarray(chunked.embedding_), here, atol=1e-10)
    chunked.save(tmp_path / "model.jella")
    loaded = jella.load(tmp_path / "model.jella")
    assert list(loaded.sample_names_in_[:2]) == ["s0", "s1"]
    np.testing.assert_allclose(loaded.transform(read(whole).views), here, atol=1e-10)


# what is refused


def _csv(folder):
    (folder / "view.csv").write_text("a,b\n1,2\n")


def _both(folder):
    in_parts(numbers(), folder / "view", 2)
    numbers().to_parquet(folder / "other.parquet")


def _nested(folder):
    in_parts(numbers(), folder / "view" / "year=1", 2)


def _cut_off(folder):
    file = in_parts(numbers(), folder / "view", 1) / "part.0.parquet"
    file.write_bytes(file.read_bytes()[:-20])


def _other_columns(folder):
    in_parts(numbers(), folder / "view", 2, index=False)
    numbers(prefix="y").to_parquet(folder / "view" / "part.2.parquet")


def _text(folder):
    in_parts(named(numbers()).assign(colour="red"), folder / "view", 2)


def _ids_in_one(folder):
    in_parts(numbers(), folder / "plain", 2, index=False)
    in_parts(named(numbers()), folder / "with", 2)


def _lengths(folder):
    in_parts(numbers(), folder / "a", 2, index=False)
    in_parts(numbers(20), folder / "b", 2, index=False)


def _two_levels(folder):
    frame = numbers().set_axis(pd.MultiIndex.from_product([range(4), range(6)], names=["k", "l"]), axis=0)
    in_parts(frame, folder / "view", 1)


def _one_row(folder):
    in_parts(named(numbers(1)), folder / "view", 1)


def _same_name(folder):
    in_parts(numbers(), folder / "view", 1)
    in_parts(numbers(), folder / "view.parquet", 1)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda folder: None, "expected Parquet files in the folder 'data', got none; check"),
        (_csv, "expected Parquet files, got 'view.csv'; convert it"),
        (_both, "expected either Parquet files or folders of them in 'data', got both; name"),
        (_nested, "expected Parquet files, got 'year=1'; convert it"),
        (_cut_off, "expected a Parquet table in part.0.parquet, got bytes that are damaged or cut short; fetch"),
        (_other_columns, "expected the same columns in all parts of view 'view', got 'x0', .* not in both"),
        (_text, "expected numbers in view 'view', got other values in the columns 'colour'; leave"),
        (_ids_in_one, "expected sample ids in all views or in none, got ids in 'with' and none in 'plain'; name"),
        (_lengths, "without sample ids to have equal numbers of rows, got {'a': 24, 'b': 20}; add"),
        (_two_levels, "expected one index in view 'view', got the levels 'k', 'l'; name one with id_column"),
        (_one_row, r"expected at least two samples and one feature, got the shape \(1, 3\) for view 'view'; leave"),
        (_same_name, r"expected views of different names, got \['view', 'view'\]; rename"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path, make, sentence):
    folder = tmp_path / "data"
    folder.mkdir()
    make(folder)
    with pytest.raises(DataError, match=sentence) as raised:
        read_partitions(folder)
    assert "\n" not in str(raised.value)


def test_paths_and_columns_that_are_not_there_are_named(tmp_path):
    with pytest.raises(DataError, match=r"expected a file or folder, got '.*nowhere', which does not exist"):
        read_partitions([tmp_path / "nowhere"])
    with pytest.raises(DataError, match=r"expected views of different names, got \[\]"):
        read_partitions([])
    numbers().to_parquet(tmp_path / "view.parquet")
    with pytest.raises(DataError, match="expected the id column 'who' in all views, got none in 'view'; use one name"):
        read_partitions(tmp_path / "view.parquet", id_column="who")


def test_a_sample_without_an_id_is_refused_where_its_part_is_read(tmp_path):
    frame = named(numbers()).reset_index()
    frame.loc[5, "sample"] = None
    frame.to_parquet(tmp_path / "view.parquet")
    with pytest.raises(DataError, match=r"got none in row 5 of group 0 of view\.parquet; name this sample"):
        read_partitions(tmp_path / "view.parquet")["view"].compute()


def test_without_dask_the_way_to_install_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.dataframe", None)
    with pytest.raises(ImportError, match=r"pip install 'jella\[dask\]'"):
        read_partitions(tmp_path)
