"""DataArrays of xarray and frames of polars and pyarrow: aligned as pandas does, and given back as they came in."""

import builtins
import sys

import numpy as np
import pandas as pd
import pytest

import jella
from jella.datasets import make_incomplete
from jella.model_selection import HeldOut
from jella.views import read_views

SAMPLES = [f"s{i}" for i in range(30)]


def make_views():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(30, 3))
    left, right = W @ rng.normal(size=(3, 5)), W @ rng.normal(size=(3, 4))
    left[3], right[5, 2] = np.nan, np.nan
    return {
        "left": pd.DataFrame(left, index=SAMPLES, columns=list("abcde")).iloc[:25],
        "right": pd.DataFrame(right, index=SAMPLES, columns=list("wxyz")).iloc[::-1].iloc[:27],
    }


def as_xarray(frame):
    xr = pytest.importorskip("xarray")
    array = xr.DataArray(frame, dims=("cell", "gene"), name="counts", attrs={"unit": "mm"})
    return array.assign_coords(batch=("cell", np.arange(float(len(frame)))), depth=3.5)


def as_polars(frame):
    pytest.importorskip("narwhals")
    return pytest.importorskip("polars").from_pandas(frame.reset_index(names="sample_id"))


def as_pyarrow(frame):
    pytest.importorskip("narwhals")
    return pytest.importorskip("pyarrow").Table.from_pandas(frame.reset_index(names="sample_id"), preserve_index=False)


def back(container):
    """A container as DataFrame of pandas, indexed by sample."""
    if hasattr(container, "dims"):
        return pd.DataFrame(container.values, index=container.indexes["cell"], columns=container.indexes["gene"])
    return container.to_pandas().set_index("sample_id")


KINDS = pytest.mark.parametrize("make", [as_xarray, as_polars, as_pyarrow])


def model():
    return jella.MVLIV(n_components=3)


@KINDS
def test_fits_and_completes_as_pandas_does(make):
    frames = make_views()
    views = {name: make(frame) for name, frame in frames.items()}
    ours, theirs = model().fit(views), model().fit(frames)
    np.testing.assert_array_equal(ours.embedding_, theirs.embedding_)
    assert list(ours.sample_names_in_) == list(theirs.sample_names_in_)
    assert ours.schema_ == theirs.schema_
    np.testing.assert_array_equal(ours.transform(views), theirs.transform(frames))
    done, wanted = ours.complete(views), theirs.complete(frames)
    for name in frames:
        assert type(done[name]) is type(views[name])
        pd.testing.assert_frame_equal(
            back(done[name]), wanted[name], check_names=False, check_index_type=False, check_column_type=False
        )


@KINDS
def test_lists_single_views_and_other_calls(make):
    frames = list(make_views().values())
    views = [make(frame) for frame in frames]
    np.testing.assert_array_equal(jella.cluster(views, 2).labels, jella.cluster(frames, 2).labels)
    done = jella.complete(views, estimate_error=True)
    assert done.error == jella.complete(frames).error
    assert type(done.views) is list
    assert type(done.views[0]) is type(views[0])
    holed = make_incomplete(views, 0.3, "mcar", random_state=0)
    wanted = make_incomplete(frames, 0.3, "mcar", random_state=0)
    for one, frame in zip(holed, wanted, strict=True):
        np.testing.assert_array_equal(back(one).to_numpy(), frame.to_numpy())
    held = HeldOut(random_state=0)
    ((holed, hidden),) = held.split(views)
    assert held.score(views, model().fit(holed).complete(holed), hidden) > 0
    single = model().fit(views[1])
    np.testing.assert_array_equal(single.embedding_, model().fit(frames[1]).embedding_)
    assert list(single.feature_names_in_) == list("wxyz")
    assert type(single.complete(views[1])) is type(views[1])
    clusters = jella.SparseBDR(2, random_state=0).fit(views)
    np.testing.assert_array_equal(clusters.predict(views), clusters.labels_)


@KINDS
def test_masks_are_aligned_by_names(make):
    frames = make_views()
    observed = {name: frame.notna() for name, frame in frames.items()}
    shuffled = {name: make(mask.iloc[::-1, ::-1]) for name, mask in observed.items()}
    filled = {name: make(frame.fillna(7.0)) for name, frame in frames.items()}
    ours, theirs = read_views(filled, shuffled), read_views(frames)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.mask, other.mask)
        np.testing.assert_array_equal(one.X, other.X)


@KINDS
def test_a_view_that_is_left_out_comes_in_the_same_kind(make):
    frames = make_views()
    views = {name: make(frame) for name, frame in frames.items()}
    fitted = model().fit(views)
    done = fitted.complete({"right": views["right"]})
    assert type(done["left"]) is type(views["left"])
    wanted = fitted.complete({"right": frames["right"]})["left"]
    found = done["left"].values if make is as_xarray else back(done["left"]).to_numpy()
    np.testing.assert_array_equal(found, wanted.to_numpy())


@KINDS
def test_columns_of_the_fit_in_another_order(make):
    frames = make_views()
    fitted = model().fit(frames)
    turned = make(frames["left"].iloc[:, ::-1])
    done = fitted.complete({"left": turned, "right": frames["right"]})
    assert list(back(done["left"]).columns) == list("edcba")
    wanted = fitted.complete(frames)["left"]
    np.testing.assert_array_equal(back(done["left"])[list("abcde")].to_numpy(), wanted.to_numpy())


@KINDS
def test_a_sample_that_comes_twice_is_named(make):
    frames = make_views()
    frames["left"].index = ["s1", *SAMPLES[1:25]]
    message = "view 'left' has the sample 's1' more than once; keep one row per sample"
    with pytest.raises(ValueError, match=message):
        model().fit({name: make(frame) for name, frame in frames.items()})
    with pytest.raises(ValueError, match="has the sample 's1' more than once"):
        model().fit(make(frames["left"]))


def test_mixed_containers():
    frames = make_views()
    done = model().fit(frames).complete({"left": as_xarray(frames["left"]), "right": as_polars(frames["right"])})
    wanted = model().fit(frames).complete(frames)
    for name in frames:
        np.testing.assert_array_equal(back(done[name]).to_numpy(), wanted[name].to_numpy())


def test_data_arrays_keep_dims_coordinates_and_attributes():
    array = as_xarray(make_views()["left"])
    array["cell"].attrs["from"] = "lab"
    done = (
        model()
        .fit({"left": array, "right": make_views()["right"]})
        .complete({"left": array, "right": make_views()["right"]})["left"]
    )
    assert (done.dims, done.name, done.attrs) == (array.dims, array.name, array.attrs)
    assert done["cell"].attrs == {"from": "lab"}
    assert float(done["depth"]) == 3.5
    np.testing.assert_array_equal(done["batch"][:25], array["batch"])
    assert bool(np.isnan(done["batch"][25:]).all())
    assert list(done["gene"].values) == list("abcde")
    array = array.copy()
    array[3] = 1.0
    array[2, 2] = np.nan
    same = model().fit(array).complete(array)
    assert not bool(np.isnan(same).any())
    assert same.coords.to_dataset().identical(array.coords.to_dataset())


def test_datasets_are_views_by_name():
    xr = pytest.importorskip("xarray")
    frames = {name: frame.reindex(SAMPLES) for name, frame in make_views().items()}
    dataset = xr.Dataset({name: ((("cell", f"{name}_gene")), f.to_numpy()) for name, f in frames.items()})
    dataset = dataset.assign_coords(cell=SAMPLES).assign_attrs(title="both")
    fitted = model().fit(dataset)
    np.testing.assert_array_equal(fitted.embedding_, model().fit(frames).embedding_)
    done = fitted.complete(dataset)
    assert isinstance(done, xr.Dataset)
    assert done.attrs == {"title": "both"}
    np.testing.assert_array_equal(done["left"].values, fitted.complete(dataset)["left"].values)
    assert not bool(np.isnan(done["right"]).any())
    assert isinstance(make_incomplete(dataset, 0.2, random_state=0), xr.Dataset)
    with pytest.raises(ValueError, match="samples as first dimension"):
        model().fit(dataset.assign(right=dataset["right"].T))


def test_without_ids_rows_are_taken_by_position():
    xr, pl = pytest.importorskip("xarray"), pytest.importorskip("polars")
    arrays = [np.ascontiguousarray(frame.reindex(SAMPLES)) for frame in make_views().values()]
    wanted = model().fit(arrays)
    for make in (lambda a: xr.DataArray(a, dims=("n", f"d{a.shape[1]}")), pl.DataFrame):
        views = [make(array) for array in arrays]
        fitted = model().fit(views)
        assert fitted.sample_names_in_ is None
        np.testing.assert_array_equal(fitted.embedding_, wanted.embedding_)
        done = fitted.complete(views)
        np.testing.assert_array_equal(done[0].to_numpy(), wanted.complete(arrays)[0])
        holed = make_incomplete(views, 0.2, random_state=0)
        assert type(holed[0]) is type(views[0])
        masks = [make(~np.isnan(array)) for array in arrays]
        filled = [make(np.nan_to_num(array)) for array in arrays]
        np.testing.assert_array_equal(read_views(filled, masks)[1].mask, read_views(arrays)[1].mask)


def test_the_column_of_ids_of_a_polars_frame():
    pl = pytest.importorskip("polars")
    numbers = {"x": [1.0, 2.0, 4.0], "y": [2.0, 1.0, 0.0]}
    assert list(read_views([pl.DataFrame({**numbers, "who": ["a", "b", "c"]})]).sample_names) == ["a", "b", "c"]
    assert list(read_views([pl.DataFrame({**numbers, "Sample ID": [7, 8, 9]})]).sample_names) == [7, 8, 9]
    assert read_views([pl.DataFrame(numbers)]).sample_names is None
    with pytest.raises(ValueError, match="got non-numeric columns"):
        read_views([pl.DataFrame({**numbers, "who": ["a", "b", "c"], "other": ["d", "e", "f"]})])
    with pytest.raises(ValueError, match=r"got a LazyFrame; call its collect\(\) first"):
        read_views([pl.DataFrame(numbers).lazy()])


def test_types_of_polars_columns_stay_where_values_allow():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "small": pl.Series([1.5, 2.5, None, 1.0, 0.5], dtype=pl.Float32),
            "count": pl.Series([1, 2, 3, 4, 5], dtype=pl.UInt8),
            "id": ["a", "b", "c", "d", "e"],
            "holes": pl.Series([1, None, 3, 4, 5], dtype=pl.Int16),
            "flag": pl.Series([True, None, False, True, True]),
            "large": pl.Series([2**60 + 1, None, 3, 4, 5], dtype=pl.Int64),
        }
    )
    done = jella.MVLIV(n_components=1).fit(frame).complete(frame)
    assert done.columns == frame.columns
    assert done.dtypes == [pl.Float32, pl.UInt8, pl.String, pl.Float64, pl.Boolean, pl.Int64]
    assert done["large"][0] == 2**60 + 1
    assert done["count"].to_list() == [1, 2, 3, 4, 5]
    assert done.null_count().sum_horizontal()[0] == 0
    both = jella.MVLIV(n_components=1).fit([frame, frame[:4]])
    assert both.complete([frame, frame[:4]])[1].dtypes[1:] == [pl.Float64, pl.String, pl.Float64, pl.Boolean, pl.Int64]


def test_data_arrays_in_chunks_are_refused():
    pytest.importorskip("dask")
    chunked = as_xarray(make_views()["left"]).chunk({"cell": 10})
    with pytest.raises(ValueError, match=r"got a DataArray in chunks; call its compute\(\)"):
        model().fit([chunked])


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    frame = as_polars(make_views()["left"])
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(ImportError, match=r"'narwhals', got no such package; run pip install 'jella\[polars\]'"):
        model().fit(frame)


def test_pandas_needs_no_other_package(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **options):
        assert name.partition(".")[0] not in ("xarray", "polars", "narwhals")
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    model().fit(make_views())


def test_a_frame_without_ids_or_text_cannot_be_renamed():
    pl = pytest.importorskip("polars")
    from jella.views.other_frames import with_ids

    with pytest.raises(ValueError, match=r"expected a frame with a column of ids, got the columns \['a'\]"):
        with_ids(pl.DataFrame({"a": [1.0]}), ["x"])
