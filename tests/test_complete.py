"""Completed views come back as they came: container, names, order, types, and observed values bit for bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import jella
from jella.metrics import rmse
from jella.numerics.arrays import to_numpy
from jella.views import fill_in, read_views

N, WIDTHS = 30, (7, 5)


def low_rank(n=N, widths=WIDTHS, r=2, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, r))
    return [W @ rng.normal(size=(r, d)) + noise * rng.normal(size=(n, d)) for d in widths]


@pytest.fixture(scope="module")
def fitted():
    return jella.MVLIV(n_components=2).fit(low_rank())


@pytest.fixture(scope="module")
def fitted_on_frames():
    return jella.MVLIV(n_components=2).fit(frames())


def frames(dtype=np.float64):
    left, right = low_rank()
    names = [f"s{i}" for i in range(N)]
    a = pd.DataFrame(left, index=pd.Index(names, name="id"), columns=[f"a{j}" for j in range(7)])
    b = pd.DataFrame(right, index=pd.Index(names, name="id"), columns=[f"b{j}" for j in range(5)])
    return a.astype(dtype), b.astype(dtype)


def same_bits(a, b):
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def with_holes(values):
    """Entries here and there, and the samples 3 to 5."""
    holes = np.random.default_rng(1).random(values.shape) < 0.2
    holes[3:6] = True
    return np.where(holes, np.asarray(np.nan, values.dtype), values), ~holes


# containers


@pytest.mark.parametrize("kind", [list, tuple, dict])
def test_the_collection_stays_what_it_was(kind):
    left, right = low_rank()
    left[2:4] = np.nan
    X = {7: left, "b": right} if kind is dict else kind([left, right])
    completed = jella.MVLIV(n_components=2).fit(X).complete(X)
    assert type(completed) is kind
    if kind is dict:
        assert list(completed) == [7, "b"]
    first = completed[7] if kind is dict else completed[0]
    assert isinstance(first, np.ndarray)
    assert np.isfinite(first).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_observed_values_come_back_bit_for_bit(fitted, dtype):
    left, right = (view.astype(dtype) for view in low_rank())
    tiny = np.finfo(dtype).smallest_subnormal
    left[10, :6] = [-0.0, 0.0, tiny, -3 * tiny, np.finfo(dtype).tiny, 0.1]
    right[11, :4] = [-0.0, tiny, 60000.0, 1 / 3]
    (left, seen_left), (right, seen_right) = with_holes(left), with_holes(right)
    right[3] = low_rank()[1][3]  # no sample may lack both
    right[4:6] = left[7, 0]
    seen_right = ~np.isnan(right)
    completed = fitted.complete([left, right])
    for ours, theirs, seen in zip(completed, (left, right), (seen_left, seen_right), strict=True):
        assert ours.dtype == dtype
        assert same_bits(ours[seen], theirs[seen])
        assert np.isfinite(ours).all()
        assert ours[~seen].any()


def test_every_array_library_bit_for_bit(fitted, xp):
    left, right = low_rank()
    left[10, :2] = [-0.0, 5e-324]
    left[0, 0] = np.nan
    for dtype in (np.float32, np.float64):
        X = [xp.asarray(view.astype(dtype)) for view in (left, right)]
        completed = fitted_like(fitted, X).complete(X)
        assert [view.dtype for view in completed] == [X[0].dtype] * 2
        seen = ~np.isnan(left)
        assert same_bits(to_numpy(completed[0])[seen], left.astype(dtype)[seen])
        assert np.isfinite(to_numpy(completed[0])[0, 0])


def fitted_like(fitted, X):
    return fitted if isinstance(X[0], np.ndarray) else jella.MVLIV(n_components=2).fit(X)


def test_a_complete_view_is_returned_unchanged_and_as_a_copy(fitted, xp):
    left, right = low_rank()
    big = np.full((N, 5), 2**53 + 1, dtype=np.int64)
    left[0] = np.nan
    for complete in (
        right,
        right.astype(np.float32),
        big,
        sparse.coo_array(right),
        pd.DataFrame(right),
        np.ma.array(right),
    ):
        X = [pd.DataFrame(left) if isinstance(complete, pd.DataFrame) else left, complete]
        found = fitted.complete(X)[1]
        assert type(found) is type(complete)
        assert found is not complete
        if isinstance(complete, np.ndarray):
            assert same_bits(found, complete)
            assert not np.shares_memory(found, complete)
        elif isinstance(complete, pd.DataFrame):
            pd.testing.assert_frame_equal(found, complete)
        else:
            assert same_bits(found.toarray(), complete.toarray())
            assert not np.shares_memory(found.data, complete.data)
    X = [xp.asarray(left), xp.asarray(right)]
    found = fitted_like(fitted, X).complete(X)[1]
    found[0, 0] = 99.0
    assert float(X[1][0, 0]) == right[0, 0]


def test_integers_with_gaps_become_floats_and_keep_their_values(fitted):
    left, _ = low_rank()
    whole = np.arange(N * 5).reshape(N, 5) + 2**53 - 1000
    mask = np.arange(N) % 3 > 0
    found = fitted.complete([left, whole], observed=[None, mask])[1]
    assert found.dtype == np.float64
    assert np.array_equal(found[mask].astype(np.int64), whole[mask])
    assert not np.array_equal(found[~mask], whole[~mask])
    counts = fitted.complete([left, sparse.csr_array(whole % 7)], observed=[None, mask])[1]
    assert isinstance(counts, sparse.csr_array)
    assert np.array_equal(counts.toarray()[mask], whole[mask] % 7)


def test_masked_arrays_come_back_with_nothing_masked(fitted):
    left, right = low_rank()
    masked = np.ma.array(left, mask=np.random.default_rng(0).random(left.shape) < 0.2)
    masked.data[masked.mask] = 1e9
    found = fitted.complete([masked, right])[0]
    assert isinstance(found, np.ma.MaskedArray)
    assert not np.ma.getmaskarray(found).any()
    assert same_bits(found.data[~masked.mask], left[~masked.mask])
    assert np.abs(found.data).max() < 100
    expected = fitted.complete([masked.filled(np.nan), right])[0]
    assert np.array_equal(found.data, expected)


def test_garbage_under_observed_is_replaced(fitted):
    left, right = low_rank()
    mask = np.random.default_rng(0).random(left.shape) < 0.8
    expected = fitted.complete([np.where(mask, left, np.nan), right])[0]
    for garbage in (np.inf, 1e300, np.nan):
        found = fitted.complete([np.where(mask, left, garbage), right], observed=[mask, None])[0]
        assert same_bits(found, expected)


# DataFrames


def test_frames_keep_index_columns_order_and_names(fitted_on_frames):
    a, b = frames()
    a.iloc[4, 2] = np.nan
    b.columns.name = "gene"
    b.iloc[7] = np.nan
    found = fitted_on_frames.complete([a.iloc[::-1], b])
    pd.testing.assert_index_equal(found[0].index, a.index[::-1])
    pd.testing.assert_index_equal(found[1].index, b.index)
    pd.testing.assert_index_equal(found[1].columns, b.columns)
    assert found[0].index.name == "id"
    assert found[1].columns.name == "gene"
    for ours, theirs in zip(found, (a.iloc[::-1], b), strict=True):
        assert ours.notna().all(axis=None)
        seen = theirs.notna().to_numpy()
        assert same_bits(ours.to_numpy()[seen], theirs.to_numpy()[seen])


def test_frames_that_lack_samples_get_them_after_their_own_rows(fitted_on_frames):
    a, b = frames()
    few = b.iloc[[9, 2, 14]]
    found = fitted_on_frames.complete([a, few])[1]
    assert list(found.index[:3]) == ["s9", "s2", "s14"]
    assert list(found.index[3:]) == [f"s{i}" for i in range(N) if i not in (2, 9, 14)]
    assert found.index.name == "id"
    renamed = fitted_on_frames.complete([a, few.rename_axis("patient")])
    assert [view.index.name for view in renamed] == ["id", "patient"]
    assert same_bits(found.iloc[:3].to_numpy(), few.to_numpy())
    by_rows = fitted_on_frames.complete([a, few.reindex(a.index)])[1]
    pd.testing.assert_frame_equal(found.loc[a.index], by_rows)


COLUMN_TYPES = [
    # type of a column, and its type once a gap is filled
    ("float64", "float64"),
    ("float32", "float32"),
    ("Float64", "Float64"),
    ("Float32", "Float32"),
    ("int64", "float64"),
    ("uint8", "float64"),
    ("Int64", "Float64"),
    ("bool", "float64"),
    ("boolean", "Float64"),
    (pd.SparseDtype("float64", 0.0), pd.SparseDtype("float64", 0.0)),
    (pd.SparseDtype("float32", 0.0), pd.SparseDtype("float32", 0.0)),
    (pd.SparseDtype("int64", 0), pd.SparseDtype("float64", 0.0)),
    (pd.SparseDtype("float64", np.nan), pd.SparseDtype("float64", np.nan)),
]


@pytest.mark.parametrize(("dtype", "floating"), COLUMN_TYPES)
def test_column_types(fitted_on_frames, dtype, floating):
    a, b = frames()
    b = (b.abs() > 0.5).astype("int64").astype(dtype)
    pd.testing.assert_frame_equal(fitted_on_frames.complete([a, b])[1], b)
    mask = np.ones(b.shape, dtype=bool)
    mask[3, 1] = False
    gap = fitted_on_frames.complete([a, b], observed=[None, mask])[1]
    assert [str(found) for found in gap.dtypes] == [str(dtype), str(floating), *[str(dtype)] * 3]
    lacking = fitted_on_frames.complete([a, b.iloc[5:]])[1]
    assert [str(found) for found in lacking.dtypes] == [str(floating)] * 5
    for found, seen in ((gap, mask), (lacking.loc[b.index], np.repeat(np.arange(N) >= 5, 5).reshape(N, 5))):
        values = found.to_numpy(dtype=float, na_value=np.nan)
        assert np.isfinite(values).all()
        assert np.array_equal(values[seen], b.to_numpy(dtype=float)[seen])


def test_columns_of_several_types_stay_in_their_places(fitted_on_frames):
    a, _ = frames()
    b = pd.DataFrame(
        {
            "b0": np.arange(N, dtype=np.float32),
            "b1": np.full(N, 2**63 - 1),  # no float holds it
            "b2": np.arange(N) + 0.5,
            "b3": pd.array([None, *range(1, N)], dtype="Int64"),
            "b4": -np.arange(N, dtype=np.float32),
        },
        index=a.index,
    )
    b.iloc[2, 0] = b.iloc[3, 2] = b.iloc[4, 4] = np.nan
    found = fitted_on_frames.complete([a, b])[1]
    assert list(found.dtypes.astype(str)) == ["float32", "int64", "float64", "Float64", "float32"]
    assert list(found.columns) == list(b.columns)
    assert (found["b1"] == 2**63 - 1).all()
    for column in b:
        seen = b[column].notna()
        assert (found[column][seen] == b[column][seen]).all()
        assert found[column].notna().all()


def test_columns_may_share_a_name():
    a, b = frames()
    b.columns = ["x", "x", "y", "y", "z"]
    b.iloc[3, 1] = np.nan
    found = jella.MVLIV(n_components=2).fit([a, b]).complete([a, b])[1]
    assert list(found.columns) == list(b.columns)
    assert np.array_equal(np.argwhere(found.to_numpy() != b.to_numpy()), [[3, 1]])


# sparse views


@pytest.mark.parametrize(
    "kind",
    [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_views_stay_sparse(kind, dtype):
    left, right = low_rank()
    counts = np.where(right > 0.5, right, 0.0).astype(dtype)
    counts[4:9] = np.nan
    X = [left.astype(dtype), kind(counts)]
    fitted = jella.MVLIV(n_components=2).fit(X)
    found = fitted.complete(X)[1]
    assert type(found) is kind
    assert found.dtype == dtype
    seen = ~np.isnan(counts)
    assert same_bits(found.toarray()[seen], counts[seen])
    assert np.isfinite(found.toarray()).all()
    assert found.toarray()[4:9].any()
    one_entry = counts.copy()
    one_entry[0, 0] = np.nan
    entrywise = fitted.complete([X[0], kind(one_entry)])[1]
    assert type(entrywise) is kind
    assert entrywise.dtype == dtype
    assert same_bits(entrywise.toarray()[10:], counts[10:])


def test_stored_zeros_stay_stored():
    left, right = low_rank()
    stored = sparse.csr_array(right)
    stored.data[:7] = [0.0, -0.0, 5e-324, 0.0, 1.0, -0.0, 0.0]
    mask = np.arange(N) < 20
    found = jella.MVLIV(n_components=2).fit([left, stored]).complete([left, stored], observed=[None, mask])[1]
    assert same_bits(found[:20].data, stored[:20].data)
    assert same_bits(found[:20].indices, stored[:20].indices)


# estimates


def test_lacking_views_get_estimates(fitted, fitted_on_frames):
    left, right = low_rank()
    gone = np.full((N, 5), np.nan)
    assert np.allclose(fitted.complete([left, None])[1], fitted.complete([left, gone])[1])
    a, b = frames()
    found = fitted_on_frames.complete([a, None])[1]
    pd.testing.assert_frame_equal(
        found, fitted_on_frames.complete([a, b * np.nan])[1], check_names=False, check_index_type=False
    )
    assert list(found.columns) == list(b.columns)
    named = jella.MVLIV(n_components=2).fit({"a": left, "b": right}).complete({"a": left})
    assert list(named) == ["a", "b"]
    assert np.allclose(named["b"], fitted.complete([left, None])[1])


SHIFTS = {"sample": 0.0, "none": 0.0, "feature": 0.0, "standardize": 5.0}


@pytest.mark.parametrize("scale", SHIFTS)
@pytest.mark.parametrize("setting", ["missing-view", "mcar"])
def test_estimates_are_in_the_units_of_the_user(scale, setting):
    """Planted data that are of low rank in the scale the model works in, each view in units of its own."""
    rng = np.random.default_rng(0)
    n, r, widths = 150, 3, (40, 30)
    W = rng.normal(size=(n, r)) * rng.uniform(1, 4, size=(n, 1))
    units = (1e3, 1e-4)
    views = []
    for d, unit in zip(widths, units, strict=True):
        U = np.linalg.qr(rng.normal(size=(d, r)))[0]  # norms of a sample are proportional in all views
        stretch = rng.uniform(1, 100, size=d) if scale in ("feature", "standardize") else 1.0
        noise = 1e-3 * rng.normal(size=(n, d))
        views.append(unit * stretch * (W @ U.T + noise + SHIFTS[scale]))
    holes = jella.datasets.make_incomplete(views, 0.3, setting, random_state=0)
    # every block solved exactly: over-relaxed sweeps cannot see a view that counts 1e14 times less than the other
    model = jella.MVLIV(n_components=r, scale=scale, view_weights=[1, 4], solver="basic", max_iter=5000)
    completed = model.fit(holes).complete(holes)
    # with single entries missing the norm of a sample is an estimate, as is the mean of a feature with any missing:
    # both are off by chance, which no model of rank r can make good
    by_chance = scale == "standardize" or (scale, setting) == ("sample", "mcar")
    allowed = 0.2 if by_chance else 0.02
    for ours, view, hole in zip(completed, views, holes, strict=True):
        missing = np.isnan(hole)
        spread = view[missing] - view[missing].mean()
        assert rmse(view, ours, missing=missing) < allowed * np.sqrt(np.mean(spread**2))


def test_only_the_lacking_samples_of_a_sparse_view_are_estimated(rng):
    view = sparse.random_array((12, 30), density=0.2, rng=rng, format="csr")
    present = np.arange(12) % 3 > 0
    asked = []

    def estimate(position, rows):
        asked.append(rows)
        return np.full((len(rows), 30), 7.0)

    views = read_views([view], [present])
    (written,) = fill_in([view], views, estimate)
    np.testing.assert_array_equal(asked[0], np.flatnonzero(~present))
    np.testing.assert_array_equal(written.toarray()[present], view.toarray()[present])
    assert (written.toarray()[~present] == 7.0).all()
