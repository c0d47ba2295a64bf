"""What users have becomes aligned views: values with zeros under the smallest mask, whatever the container."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import jella
import jella.readout.scoring
from jella.numerics.arrays import to_numpy
from jella.views import ReadOnce, Schema, read_views

N = 24


def low_rank(n=N, widths=(7, 5), r=2, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, r))
    return [W @ rng.normal(size=(r, d)) + noise * rng.normal(size=(n, d)) for d in widths]


def holed(seed=0, **options):
    """Two views: samples 0-3 lack the first, 4-6 the second."""
    left, right = low_rank(seed=seed, **options)
    left[:4] = np.nan
    right[4:7] = np.nan
    return left, right


def model(**options):
    return jella.MVLIV(**{"n_components": 2, "tol": 1e-6, "max_iter": 5000, **options})


def dense(view):
    return view.X.toarray() if view.is_sparse else to_numpy(view.X)


def full_mask(view):
    return np.broadcast_to(to_numpy(view.mask), (view.n_samples, view.n_features))


# containers


def test_containers_of_the_same_numbers_read_the_same():
    left, right = holed()
    masked = np.ma.masked_invalid(left)
    masked.data[:4] = 1e9  # garbage under the mask of a masked array
    for X in (
        [left, right],
        (left, right),
        {"a": left, "b": right},
        [left.tolist(), right.tolist()],
        [masked, right],
        [pd.DataFrame(left), pd.DataFrame(right)],
        [sparse.csr_array(left), right],
        [np.asfortranarray(left), right[:, :]],
        [left.astype(object), right],
    ):
        views = read_views(X)
        for view, expected in zip(views, (left, right), strict=True):
            assert np.array_equal(dense(view), np.nan_to_num(expected))
            assert np.array_equal(full_mask(view), ~np.isnan(expected))
            assert view.mask.shape == (N, 1)
            assert view.X.dtype == np.float64


def test_names_of_views_and_features():
    left, right = low_rank()
    assert read_views([left, right]).names == ("view0", "view1")
    assert read_views({"rna": left, 7: right}).names == ("rna", "7")
    assert read_views(left).names == ("view",)
    frame = pd.DataFrame(right, columns=[f"g{j}" for j in range(5)])
    assert read_views([frame]).items[0].feature_names == tuple(frame.columns)


@pytest.mark.parametrize(
    "wrap",
    [
        np.asarray,
        np.ndarray.tolist,
        list,
        pd.DataFrame,
        sparse.csr_array,
        lambda X: [[None if np.isnan(x) else x for x in row] for row in X],
    ],
    ids=["array", "lists", "list of arrays", "DataFrame", "sparse", "None"],
)
def test_a_matrix_is_one_view(wrap):
    X = np.arange(12.0).reshape(4, 3)
    X[1, 2] = np.nan
    views = read_views(wrap(X))
    assert len(views) == 1
    assert np.array_equal(np.where(full_mask(views[0]), dense(views[0]), np.nan), X, equal_nan=True)


def test_a_list_of_one_array_is_a_collection_and_gives_the_same_fit():
    left, _ = low_rank()
    one, many = model().fit(left), model().fit([left])
    assert isinstance(many.complete([left]), list)
    assert isinstance(one.complete(left), np.ndarray)
    assert np.array_equal(one.embedding_, many.embedding_)


def test_every_array_library_gives_the_fit_of_numpy(xp):
    left, right = holed()
    expected = model().fit([left, right])
    found = model().fit([xp.asarray(left), xp.asarray(right)])
    assert type(found.embedding_) is type(xp.asarray(left))
    assert np.allclose(to_numpy(found.embedding_), expected.embedding_, atol=1e-9)
    completed = found.complete([xp.asarray(left), xp.asarray(right)])
    for ours, theirs in zip(completed, expected.complete([left, right]), strict=True):
        assert type(ours) is type(xp.asarray(left))
        assert np.allclose(to_numpy(ours), theirs, atol=1e-9)
    lacking = found.complete([xp.asarray(left[4:]), None])
    assert type(lacking[1]) is type(lacking[0])
    assert np.allclose(to_numpy(lacking[1]), expected.complete([left[4:], None])[1], atol=1e-9)
    scores = found.score([xp.asarray(left), xp.asarray(right)]), expected.score([left, right])
    assert scores[0] == pytest.approx(scores[1], rel=1e-9)


def test_masks_of_every_array_library(xp):
    left, right = low_rank()
    mask = np.ones((N, 7), dtype=bool)
    mask[2, 3] = mask[5] = False
    views = read_views([xp.asarray(left), xp.asarray(right)], [xp.asarray(mask), None])
    assert np.array_equal(to_numpy(views[0].mask), mask)
    assert np.array_equal(to_numpy(views[0].X), np.where(mask, left, 0.0))
    assert np.array_equal(to_numpy(read_views([xp.asarray(left)], [mask])[0].mask), mask)


def sparse_frame(values):
    return pd.DataFrame(values).astype(pd.SparseDtype(values.dtype, 0))


@pytest.mark.parametrize(
    "wrap", [np.asarray, pd.DataFrame, sparse.csr_array, sparse.csc_matrix, np.ma.array, sparse_frame]
)
def test_float32_stays_float32(wrap):
    X = [wrap(view.astype(np.float32)) for view in low_rank()]
    fitted = model(tol=1e-3).fit(X)
    assert read_views(X).dtype == np.float32
    assert fitted.embedding_.dtype == np.float32
    assert all(U.dtype == np.float32 for U in fitted.bases_)
    assert fitted.transform(X).dtype == np.float32


def test_float32_beside_float64_is_float64():
    left, right = low_rank()
    views = read_views([left.astype(np.float32), right])
    assert [view.X.dtype for view in views] == [np.float64, np.float64]
    assert read_views([left.astype(np.float16)])[0].X.dtype == np.float64


@pytest.mark.parametrize(
    ("wrap", "dtype"),
    [
        (wrap, dtype)
        for wrap in (np.asarray, pd.DataFrame, sparse.csr_array, np.ma.array)
        for dtype in (np.uint8, np.int8, np.uint16, np.int16, np.int64, bool)
        if (wrap, dtype) != (pd.DataFrame, bool)  # truth values of tables are categories
    ],
)
@pytest.mark.parametrize("scale", ["sample", "feature"])
def test_integers_are_never_squared_as_integers(dtype, wrap, scale):
    rng = np.random.default_rng(0)
    high = {"bool": 2, "int8": 128, "uint8": 256, "int16": 2**15, "uint16": 2**16}.get(np.dtype(dtype).name, 2**40)
    whole = [rng.integers(high // 2, high, size=(12, d)).astype(dtype) for d in (4, 3)]
    ints = model(scale=scale).fit([wrap(view) for view in whole])
    floats = model(scale=scale).fit([wrap(view.astype(np.float64)) for view in whole])
    assert np.array_equal(ints.embedding_, floats.embedding_)
    assert np.isfinite(ints.embedding_).all()


# masks


@given(
    hnp.arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 4))), st.sampled_from(["nan", "observed", "sparse"])
)
@settings(max_examples=80, deadline=None)
def test_the_mask_is_the_smallest_that_tells_all(mask, way):
    n, d = mask.shape
    values = np.arange(1.0, n * d + 1).reshape(n, d)
    holes = np.where(mask, values, np.nan)
    X, observed = {
        "nan": (holes, None),
        "observed": (np.where(mask, values, np.inf), mask),
        "sparse": (sparse.csr_array(holes), None),
    }[way]
    view = read_views([X], None if observed is None else [observed])[0]
    rowwise = np.array_equal(mask.any(axis=1), mask.all(axis=1))
    assert view.mask.shape == ((1, 1) if mask.all() else (n, 1) if rowwise else (n, d))
    assert view.is_complete == mask.all()
    assert view.is_rowwise == (rowwise or d == 1)
    assert np.array_equal(full_mask(view), mask)
    assert np.array_equal(dense(view), np.where(mask, values, 0.0))
    assert view.is_sparse == (way == "sparse" and rowwise)
    assert np.array_equal(view.count_by_sample(), mask.sum(axis=1))
    assert np.array_equal(view.count_by_feature(), mask.sum(axis=0))
    assert view.n_observed() == mask.sum()
    assert np.array_equal(view.presence(), mask.any(axis=1))


def test_observed_in_every_shape():
    left, right = low_rank()
    rows = np.arange(N) % 3 > 0
    entries = np.random.default_rng(0).random((N, 5)) < 0.7
    for mask in (rows, rows[:, None], rows.tolist(), rows.astype(int), np.repeat(rows[:, None], 7, axis=1)):
        views = read_views([left, right], [mask, entries])
        assert np.array_equal(views[0].mask, rows[:, None])
        assert np.array_equal(views[1].mask, entries)
        assert read_views([left, right], (mask, None))[1].is_complete
    assert read_views({"a": left, "b": right}, {"b": rows})[1].mask.shape == (N, 1)
    assert read_views({1: left, 2: right}, {2: rows})[1].mask.shape == (N, 1)
    assert read_views([left, right], {"view0": rows})[0].mask.shape == (N, 1)
    assert np.array_equal(read_views(left, rows)[0].mask, rows[:, None])
    assert np.array_equal(read_views(right.tolist(), entries.tolist())[0].mask, entries)
    assert np.array_equal(read_views(right[:1], [[True, False, True, True, True]])[0].mask, [[1, 0, 1, 1, 1]])


def test_a_mask_adds_to_nan():
    left, _ = holed()
    mask = ~np.isnan(left)
    mask[10, 2] = False
    assert np.array_equal(full_mask(read_views([left], [mask])[0]), mask)


@pytest.mark.parametrize("garbage", [np.nan, np.inf, -np.inf, 1e300, -7.0])
@pytest.mark.parametrize("method", [jella.MVLIV, jella.PVC])
@pytest.mark.parametrize("shape", ["rows", "entries"])
def test_garbage_where_nothing_was_observed_changes_nothing(garbage, method, shape):
    left, right = (np.abs(view) for view in low_rank())
    rng = np.random.default_rng(1)
    masks = [rng.random(N) < 0.7, np.ones(N, dtype=bool)]
    masks = masks if shape == "rows" else [rng.random(view.shape) < 0.8 for view in (left, right)]
    options = {"n_components": 2, "n_clusters": 3, "random_state": 0, "tol": 1e-3}

    def outcome(value):
        X = [
            np.where(mask if mask.ndim == 2 else mask[:, None], v, value)
            for mask, v in zip(masks, (left, right), strict=True)
        ]
        fitted = method(**options).fit(X, observed=masks)
        new = fitted.transform(X, observed=masks), fitted.complete(X, observed=masks)
        return [fitted.embedding_, *fitted.bases_, fitted.labels_, new[0], *new[1], fitted.score(X, observed=masks)]

    for ours, theirs in zip(outcome(garbage), outcome(0.0), strict=True):
        assert np.array_equal(ours, theirs)


def test_garbage_in_a_sparse_view_changes_nothing():
    left, right = low_rank()
    rows = np.arange(N) % 4 > 0
    clean = model().fit([sparse.csr_array(left), right], observed=[rows, None])
    for garbage in (np.nan, np.inf, 1e300):
        X = [sparse.csr_array(np.where(rows[:, None], left, garbage)), right]
        assert np.array_equal(model().fit(X, observed=[rows, None]).embedding_, clean.embedding_)


# DataFrames


def frames():
    left, right = low_rank()
    a = pd.DataFrame(left, index=[f"s{i}" for i in range(N)], columns=[f"a{j}" for j in range(7)])
    b = pd.DataFrame(right, index=[f"s{i}" for i in range(N)], columns=[f"b{j}" for j in range(5)])
    return a.iloc[:20], b.iloc[4:]


def test_frames_are_aligned_on_the_union_of_their_samples():
    a, b = frames()
    views = read_views({"a": a, "b": b})
    assert list(views.sample_names) == [f"s{i}" for i in range(N)]
    assert np.array_equal(views[0].mask[:, 0], np.arange(N) < 20)
    assert np.array_equal(views[1].mask[:, 0], np.arange(N) >= 4)
    assert np.array_equal(views[0].X[:20], a)
    assert np.array_equal(views[1].X[4:], b)
    assert not views[1].X[:4].any()


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_does_not_matter(seed):
    a, b = frames()
    rng = np.random.default_rng(seed)
    c, d = a.iloc[rng.permutation(len(a))], b.iloc[rng.permutation(len(b))]
    names = [*c.index, *(name for name in d.index if name not in c.index)]
    first, second = model().fit([a, b]), model().fit([c, d])
    expected = pd.DataFrame(first.embedding_, index=[f"s{i}" for i in range(N)])
    assert np.allclose(second.embedding_, expected.loc[names], atol=1e-8)
    assert np.allclose(first.transform([c, d]), expected.loc[names], atol=1e-3)
    for ours, theirs in zip(first.complete([c, d]), first.complete([a, b]), strict=True):
        pd.testing.assert_frame_equal(ours, theirs.loc[ours.index])
    shuffled = second.complete([a, b])[1]
    pd.testing.assert_frame_equal(shuffled, first.complete([a, b])[1], rtol=1e-6)


def test_the_order_of_columns_does_not_matter_after_the_fit():
    a, b = frames()
    fitted = model().fit({"a": a, "b": b})
    hole = b.copy()
    hole.iloc[3, 1] = np.nan
    turned = hole[hole.columns[::-1]]
    assert np.array_equal(fitted.transform({"a": a, "b": turned}), fitted.transform({"a": a, "b": hole}))
    ours, theirs = fitted.complete({"a": a, "b": turned})["b"], fitted.complete({"a": a, "b": hole})["b"]
    assert list(ours.columns) == list(turned.columns)
    pd.testing.assert_frame_equal(ours[theirs.columns], theirs)
    mask = np.ones(b.shape, dtype=bool)
    mask[3, 1] = False
    ours = fitted.transform({"a": a, "b": b[b.columns[::-1]]}, observed={"b": mask[:, ::-1]})
    assert np.array_equal(ours, fitted.transform({"a": a, "b": hole}))


def test_the_order_of_a_dict_does_not_matter_after_the_fit():
    left, right = holed()
    fitted = model().fit({"a": left, "b": right})
    masks = {"a": ~np.isnan(left), "b": ~np.isnan(right)}
    expected = fitted.transform({"a": left, "b": right})
    assert np.array_equal(fitted.transform({"b": right, "a": left}), expected)
    assert np.array_equal(fitted.transform({"b": right, "a": left}, observed=masks), expected)
    assert np.array_equal(fitted.transform([left, right]), expected)
    assert list(fitted.complete({"b": right, "a": left})) == ["b", "a"]


def test_pandas_masks_are_aligned_by_their_names():
    a, b = frames()
    rng = np.random.default_rng(0)
    mask = pd.DataFrame(rng.random(b.shape) < 0.7, index=b.index, columns=b.columns)
    by_hand = read_views([a, b.where(mask)])
    turned = mask.iloc[::-1, ::-1]
    for given_mask in (
        mask,
        turned,
        turned.astype("boolean"),
        turned.reindex([*turned.index, "other"], fill_value=True),
    ):
        assert np.array_equal(read_views([a, b], [None, given_mask])[1].mask, by_hand[1].mask)
    rows = mask["b0"]
    expected = read_views([a, b.where(np.repeat(rows.to_numpy()[:, None], 5, axis=1))])[1].mask
    for given_mask in (rows, rows.iloc[::-1], rows.to_frame("any name"), rows.to_numpy()):
        assert np.array_equal(read_views([a, b], [None, given_mask])[1].mask, expected)


def test_what_a_pandas_mask_does_not_know_is_not_observed():
    """NA in a mask of pandas' own booleans is no True: the value under it is not used."""
    a, b = frames()
    mask = pd.DataFrame(True, index=b.index, columns=b.columns).astype("boolean")
    mask.iloc[0, 1], mask.iloc[1, 2], mask.iloc[2] = pd.NA, False, pd.NA
    expected = np.ones(b.shape, dtype=bool)
    expected[0, 1] = expected[1, 2] = expected[2] = False
    assert np.array_equal(read_views([b], [mask])[0].mask, expected)
    assert np.array_equal(read_views([b], [mask.iloc[::-1]])[0].mask, expected)
    assert np.array_equal(read_views([b.to_numpy()], [mask])[0].mask, expected)  # nothing to align by
    assert np.array_equal(read_views([a, b], [None, mask])[1].mask[4:], expected)
    rows = pd.Series([True, None, False] + [True] * (len(b) - 3), index=b.index, dtype="boolean")
    for given_mask in (rows, rows.to_frame(), rows.iloc[::-1]):
        view = read_views([b], [given_mask])[0]
        assert np.array_equal(view.mask[:, 0], rows.fillna(False))
        assert not view.X[1].any()


def test_column_types_of_frames():
    frame = pd.DataFrame(
        {
            "int": pd.Series([1, 2, 3], dtype="int32"),
            "nullable": pd.array([4, None, 6], dtype="Int64"),
            "Float32": pd.array([0.5, 1.5, None], dtype="Float32"),
            "float32": np.array([1, np.nan, 3], dtype=np.float32),
            "bool": [True, False, True],
            "boolean": pd.array([True, None, False], dtype="boolean"),
            "sparse": pd.arrays.SparseArray([0.0, 0.0, 5.0], fill_value=0.0),
        }
    )
    view = read_views([frame])[0]
    expected = np.array(
        [
            [1, 4, 0.5, 1, 0, 1, 0, 1, 0],
            [2, np.nan, 1.5, np.nan, 1, 0, np.nan, np.nan, 0],
            [3, 6, np.nan, 3, 0, 1, 1, 0, 5],
        ]
    )
    assert np.array_equal(view.X, np.nan_to_num(expected))
    assert np.array_equal(view.mask, ~np.isnan(expected))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([3, 1, 2], [1, 2, 3]),
        ([3, 1, 2], [4, 3]),
        (["x", "y"], [1, 2]),
        (pd.date_range("2020-01-01", periods=3), pd.date_range("2020-01-02", periods=3)),
        (pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]), pd.MultiIndex.from_tuples([("b", 2), ("c", 3)])),
        (pd.CategoricalIndex(["u", "v"]), pd.CategoricalIndex(["v", "w"])),
    ],
)
def test_any_index_aligns(first, second):
    a = pd.DataFrame({"x": np.arange(1.0, len(first) + 1)}, index=first)
    b = pd.DataFrame({"y": np.arange(1.0, len(second) + 1)}, index=second)
    views = read_views([a, b])
    for view, frame in zip(views, (a, b), strict=True):
        for position, name in enumerate(views.sample_names):
            there = name in frame.index
            assert bool(full_mask(view)[position, 0]) == there
            assert view.X[position, 0] == (frame.iloc[frame.index.get_loc(name), 0] if there else 0.0)


def test_sparse_frames_stay_sparse_and_align():
    a, b = frames()
    counts = np.random.default_rng(0).poisson(0.5, b.shape).astype(float)
    filled = pd.DataFrame(counts, index=b.index, columns=b.columns)
    views = read_views([a, filled.astype(pd.SparseDtype(float, 0))])
    plain = read_views([a, filled])
    assert views[1].is_sparse
    assert np.array_equal(views[1].X.toarray(), plain[1].X)
    assert np.array_equal(views[1].mask, plain[1].mask)
    holes = filled.mask(counts == 1)
    assert np.array_equal(
        full_mask(read_views([a, holes.astype(pd.SparseDtype(float, 0))])[1]), full_mask(read_views([a, holes])[1])
    )


def test_a_frame_that_is_one_view_keeps_its_index():
    a, _ = frames()
    hole = a.copy()
    hole.iloc[2, 3] = np.nan
    completed = model().fit(hole).complete(hole.iloc[::-1])
    assert list(completed.index) == list(a.index[::-1])
    assert completed.notna().all(axis=None)


# sparse arrays


FORMATS = [
    sparse.csr_array,
    sparse.csc_array,
    sparse.coo_array,
    sparse.csr_matrix,
    sparse.csc_matrix,
    sparse.coo_matrix,
]


@pytest.mark.parametrize("kind", [*FORMATS, sparse.lil_array, sparse.dok_array])
def test_every_sparse_format_reads_as_its_dense_array(kind):
    rng = np.random.default_rng(0)
    values = np.where(rng.random((N, 6)) < 0.3, rng.normal(size=(N, 6)), 0.0)
    values[3] = np.nan
    view = read_views([kind(values)])[0]
    assert isinstance(view.X, sparse.csr_array)
    assert np.array_equal(view.X.toarray(), np.nan_to_num(values))
    assert np.array_equal(view.mask[:, 0], np.arange(N) != 3)


def test_stored_zeros_are_observed_zeros():
    values = sparse.coo_array((np.array([0.0, 1.0, 0.0]), ([0, 0, 2], [0, 1, 1])), shape=(3, 2))
    view = read_views([values])[0]
    assert view.is_complete
    assert view.n_observed() == 6
    rows = sparse.csr_array((np.array([0.0, 0.0, np.nan, np.nan]), ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(2, 2))
    assert np.array_equal(read_views([rows])[0].mask[:, 0], [True, False])


def test_duplicate_entries_are_summed_before_nan_are_counted():
    twice = sparse.csr_array((np.array([np.nan, np.nan, 2.0, 3.0]), np.array([0, 0, 1, 1]), np.array([0, 2, 4])))
    twice = sparse.csr_array((twice.data, twice.indices, twice.indptr), shape=(2, 2))
    view = read_views([twice])[0]
    assert np.array_equal(full_mask(view), [[False, True], [True, True]])
    assert np.array_equal(dense(view), [[0.0, 0.0], [0.0, 5.0]])


@pytest.mark.parametrize("scale", ["sample", "feature", "none"])
def test_sparse_and_dense_views_give_the_same_fit(scale):
    left, right = holed()
    right = np.where(np.abs(right) > 1, right, 0.0) + 0 * right
    dense_fit = model(scale=scale).fit([left, right])
    sparse_fit = model(scale=scale).fit([left, sparse.csc_array(right)])
    assert np.allclose(sparse_fit.embedding_, dense_fit.embedding_, atol=1e-5)
    assert np.allclose(sparse_fit.score([left, sparse.coo_matrix(right)]), dense_fit.score([left, right]), rtol=1e-4)


def wide_views(n, d):
    rng = np.random.default_rng(0)
    wide = sparse.random_array((n, d), density=5 / d, rng=rng, data_sampler=rng.standard_normal).tocsr()
    return wide, rng.normal(size=(n, 6)), rng.permutation(n)[: n // 5]


@pytest.fixture
def no_dense(monkeypatch):
    """From now on, turning all samples of a sparse array dense fails."""

    def watch(kind, name, n):
        original = getattr(kind, name)

        def guarded(self, *args, **kwargs):
            assert self.shape[0] < n, f"{name} on a sparse array of shape {self.shape}"
            return original(self, *args, **kwargs)

        monkeypatch.setattr(kind, name, guarded)

    def arm(n):
        for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
            for name in ("toarray", "todense"):
                watch(kind, name, n)

    return arm


@pytest.mark.parametrize("way", ["observed", "frames", "nan", "alone"])
def test_sparse_views_are_never_dense_where_whole_samples_are_missing(no_dense, monkeypatch, way):
    n, d = 60, 400
    wide, other, lacking = wide_views(n, d)
    present = ~np.isin(np.arange(n), lacking)
    observed = None
    X = [wide, other]
    if way == "observed":
        observed = [present, None]
    elif way == "frames":
        X = [pd.DataFrame.sparse.from_spmatrix(wide[present], index=np.flatnonzero(present)), pd.DataFrame(other)]
    elif way == "nan":
        X = jella.datasets.make_incomplete([wide, other], 0.3, random_state=0)
    else:  # samples that have the sparse view only: score hides entries of them
        other[present] = np.where(np.arange(present.sum())[:, None] < 5, np.nan, other[present])
        observed = [present, None]
    monkeypatch.setattr(jella.readout.scoring, "BLOCK_BYTES", 8 * (d + 6) * 7)
    no_dense(n)
    fitted = model(tol=1e-2).fit(X, observed=observed)
    score = fitted.score(X, observed=observed)
    assert np.allclose(fitted.transform(X, observed=observed), fitted.embedding_, atol=1e-6)
    assert -1 < score < 0


def test_a_sparse_view_too_wide_to_be_dense(monkeypatch):
    n, d = 300, 40_000  # 96 MB if dense
    wide, other, lacking = wide_views(n, d)
    observed = [~np.isin(np.arange(n), lacking), None]
    monkeypatch.setattr(jella.readout.scoring, "BLOCK_BYTES", 2**21)
    tracemalloc.start()
    fitted = model(tol=1e-2).fit([wide, other], observed=observed)
    fitted.transform([wide, other], observed=observed)
    fitted.transform([None, other])
    fitted.score([wide, other], observed=observed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * d / 3


# lacking views, and untouched inputs


def test_views_that_are_lacking_after_the_fit():
    left, right = holed()
    named, listed = model().fit({"a": left, "b": right}), model().fit([left, right])
    gone = np.full((N - 4, 5), np.nan)
    expected = named.transform({"a": left[4:], "b": gone})
    for found in (
        named.transform({"a": left[4:]}),
        named.transform([left[4:], None]),
        listed.transform([left[4:], None]),
        named.transform({"a": left[4:], "b": None}),
    ):
        assert np.allclose(found, expected, atol=1e-12)
    sparse_fit = model().fit({"a": left, "b": sparse.csr_array(right)})
    assert np.allclose(sparse_fit.transform({"a": left[4:]}), sparse_fit.transform([left[4:], gone]), atol=1e-12)


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_a_sample_alone_is_embedded_and_completed_as_among_others(wrap):
    left, right = holed()
    fitted = model().fit([wrap(left), wrap(right)])
    together = fitted.transform([wrap(left), wrap(right)])
    completed = [to_dense(view) for view in fitted.complete([wrap(left), wrap(right)])]
    for i in (0, 5, 10):
        lone = [wrap(left[i : i + 1]), wrap(right[i : i + 1])]
        assert np.allclose(fitted.transform(lone)[0], together[i], atol=1e-9)
        for ours, theirs in zip(fitted.complete(lone), completed, strict=True):
            assert np.allclose(to_dense(ours)[0], theirs[i], atol=1e-9)
    absent = fitted.complete([None, wrap(right[:1])])[0]
    assert np.allclose(to_dense(absent)[0], completed[0][0], atol=1e-9)


def to_dense(view):
    return view.toarray() if sparse.issparse(view) else np.asarray(view)


def containers():
    left, right = holed()
    sparse_right = sparse.csr_array(right)
    a, b = frames()
    return {
        "arrays": [left, right],
        "masked": [np.ma.masked_invalid(left), right],
        "sparse": {"a": left, "b": sparse_right},
        "coo": [left, sparse_right.tocoo()],
        "frames": [a, b],
        "nullable": [a.convert_dtypes(), b],
        "single": np.where(np.isnan(left), 1.0, left),
    }


def parts(X):
    """The arrays that hold the numbers of a container."""
    items = X.values() if isinstance(X, dict) else X if isinstance(X, list) else [X]
    for item in items:
        if isinstance(item, np.ma.MaskedArray):
            yield from (item.data, np.ma.getmaskarray(item))
        elif sparse.issparse(item):
            yield from (item.data, *item.nonzero())
        elif isinstance(item, pd.DataFrame):
            yield from (item.to_numpy(dtype=float, na_value=np.nan), item.index.to_numpy(), item.columns.to_numpy())
        else:
            yield item


@pytest.mark.parametrize("kind", containers())
@pytest.mark.parametrize("scale", ["sample", "feature", "none"])
def test_inputs_are_never_modified(kind, scale):
    X, untouched = containers()[kind], containers()[kind]
    items = X.values() if isinstance(X, dict) else X if isinstance(X, list) else [X]
    for item in items:
        if isinstance(item, np.ndarray):
            item.flags.writeable = False
        elif sparse.issparse(item):
            item.data.flags.writeable = False
    fitted = model(scale=scale).fit(X)
    for method in (fitted.transform, fitted.complete, fitted.score):
        method(X)
    for ours, theirs in zip(parts(X), parts(untouched), strict=True):
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")


def test_a_schema_is_what_a_model_remembers():
    left, right = holed()
    X = {"a": left, "b": pd.DataFrame(right, columns=list("uvwxy")).to_numpy()}
    schema = Schema.of(read_views(X), X)
    assert schema == Schema(("a", "b"), (7, 5), (None, None), False)
    views = read_views({"b": right[:3]}, schema=schema)
    assert views.names == ("a", "b")
    assert views[0].X.shape == (3, 7)
    assert not views[0].presence().any()


def test_read_once_is_read_as_the_dict_that_it_holds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 5))
    frames = {
        "a": pd.DataFrame(X[:9, :3], index=range(9), columns=list("uvw")),
        "b": pd.DataFrame(X[3:, 3:], index=range(3, 12), columns=list("xy")),
    }
    once = ReadOnce(frames)
    model = jella.MVLIV(n_components=2, max_iter=5, tol=0, random_state=0).fit(once)
    assert read_views(once, schema=model.schema_) is read_views(once)
    completed, expected = model.complete(once), model.complete(frames)
    assert isinstance(completed, ReadOnce)
    assert isinstance(model.bases_, dict)
    for name in frames:
        pd.testing.assert_frame_equal(completed[name], expected[name])
    turned = ReadOnce({"b": frames["b"], "a": frames["a"][["w", "u", "v"]]})
    for some in (turned, ReadOnce({"a": frames["a"]})):  # columns in another order; a view that is missing
        np.testing.assert_array_equal(model.transform(some), model.transform(dict(some)))
        assert read_views(some, schema=model.schema_) is read_views(some, schema=model.schema_)
    seen = {"a": np.arange(9) > 0}
    masked, plain = read_views(once, seen), read_views(frames, seen)
    assert not masked[0].mask[0, 0]
    assert all(np.array_equal(one.mask, other.mask) for one, other in zip(masked, plain, strict=True))
    assert read_views(once)[0].mask[0, 0]  # what was read before stays
