"""Scaling uses observed entries only, and its way back ends in the user's units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import jella
from jella.arrays import to_numpy
from jella.scaling import KINDS, Scaling, predict_log_norms, sample_norms
from jella.views import read_views


def holed(n=20, widths=(6, 4), rate=0.3, seed=0):
    rng = np.random.default_rng(seed)
    views = [rng.normal(3.0, 2.0, size=(n, d)) * rng.uniform(0.1, 10, size=d) for d in widths]
    views = [np.where(rng.random(view.shape) < rate, np.nan, view) for view in views]
    views[0][3] = np.nan
    return views


def scaled_by_hand(X, kind):
    """Entry by entry, from the definitions."""
    n, d = X.shape
    out = np.zeros((n, d))
    for i in range(n):
        for j in range(d):
            if np.isnan(X[i, j]):
                continue
            if kind == "sample":
                seen = X[i][~np.isnan(X[i])]
                out[i, j] = X[i, j] / (np.sqrt(sum(seen**2)) * np.sqrt(d / len(seen)))
            elif kind == "feature":
                seen = X[:, j][~np.isnan(X[:, j])]
                out[i, j] = X[i, j] / np.sqrt(sum(seen**2) / len(seen)) / np.sqrt(d)
            elif kind == "standardize":
                seen = X[:, j][~np.isnan(X[:, j])]
                mean = sum(seen) / len(seen)
                out[i, j] = (X[i, j] - mean) / np.sqrt(sum((seen - mean) ** 2) / len(seen)) / np.sqrt(d)
            else:
                out[i, j] = X[i, j]
    return out


def values_of(view):
    return view.X.toarray() if view.is_sparse else to_numpy(view.X)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_as_computed_by_hand(kind, xp):
    X = holed()
    views = read_views([xp.asarray(view) for view in X])
    for view, raw in zip(Scaling.learn(views, kind).apply(views), X, strict=True):
        assert np.allclose(to_numpy(view.X), scaled_by_hand(raw, kind), rtol=1e-12, atol=0)
        assert np.array_equal(to_numpy(view.X) != 0, ~np.isnan(raw))


@pytest.mark.parametrize("kind", ["sample", "feature", "none"])
def test_sparse_views_scale_as_dense_ones_and_stay_sparse(kind):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((20, 6)) < 0.4, rng.normal(size=(20, 6)), 0.0)
    X[4:7] = np.nan
    plain, views = read_views([X]), read_views([sparse.coo_array(X)])
    scaled = Scaling.learn(views, kind, [2.0]).apply(views)[0]
    assert scaled.is_sparse
    assert np.allclose(scaled.X.toarray(), Scaling.learn(plain, kind, [2.0]).apply(plain)[0].X, rtol=1e-12, atol=0)
    assert np.allclose(sample_norms(views), sample_norms(plain), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_complete_samples_have_a_norm_near_one(kind):
    rng = np.random.default_rng(0)
    views = read_views([rng.normal(size=(200, d)) * rng.uniform(0.01, 100, d) for d in (50, 3)])
    norms = [np.linalg.norm(view.X, axis=1) for view in Scaling.learn(views, kind).apply(views)]
    if kind == "sample":
        assert np.allclose(norms, 1.0, rtol=1e-12)
    elif kind != "none":
        assert np.allclose([np.mean(norm**2) for norm in norms], 1.0, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", [None, [4.0, 0.25], {"view1": 9.0}])
def test_weights_enter_as_their_roots(kind, weights):
    views = read_views(holed())
    plain, weighed = Scaling.learn(views, kind).apply(views), Scaling.learn(views, kind, weights).apply(views)
    expected = {None: (1, 1), "list": (2.0, 0.5), "dict": (1.0, 3.0)}[type(weights).__name__ if weights else None]
    for before, after, root in zip(plain, weighed, expected, strict=True):
        assert np.allclose(after.X, root * before.X, rtol=1e-12)


def test_weights_of_a_fit_multiply_the_loss_of_a_view():
    X = holed(rate=0.0)[0][4:], holed(rate=0.0)[1][4:]
    model = jella.MVLIV(n_components=2, view_weights={"view0": 1e6, "view1": 1e-6}).fit(X)
    alone = jella.MVLIV(n_components=2).fit([X[0]])
    ours = np.linalg.qr(model.embedding_)[0]
    theirs = np.linalg.qr(alone.embedding_)[0]
    assert np.linalg.svd(ours.T @ theirs)[1].min() > 1 - 1e-4  # the heavy view decides the embedding
    repeated = jella.MVLIV(n_components=2, tol=1e-10, max_iter=5000).fit([X[0], X[1], X[1]])
    doubled = jella.MVLIV(n_components=2, tol=1e-10, max_iter=5000, view_weights=[1, 2]).fit(X)
    assert doubled.objective_[-1] == pytest.approx(repeated.objective_[-1], rel=1e-6)


@given(
    hnp.arrays(np.float64, (5, 3), elements=st.floats(-1e6, 1e6, allow_subnormal=False)),
    hnp.arrays(bool, (5, 3)),
    st.sampled_from(KINDS),
    st.sampled_from([0.25, 1.0, 7.0]),
    st.sampled_from([1e-150, 1e-18, 1.0, 1e18, 1e150]),
)
@settings(max_examples=150, deadline=None)
def test_the_way_back_ends_where_it_began(X, mask, kind, weight, unit):
    X = X * unit
    views = read_views([np.where(mask, X, np.nan)])
    scaling = Scaling.learn(views, kind, [weight])
    scaled = scaling.apply(views)
    assert np.isfinite(scaled[0].X).all()
    back = scaling.invert(scaled[0].X, 0, scaling.scale_of(views))
    size = np.abs(np.where(mask, X, 0)).max()
    assert np.allclose(back[mask], X[mask], rtol=1e-9, atol=1e-12 * size)


@pytest.mark.parametrize("kind", ["feature", "standardize"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [50, 5000])
def test_constant_and_tiny_features_survive(kind, dtype, n):
    rng = np.random.default_rng(0)
    z = rng.normal(size=n)
    X = np.stack([z, 1e-18 * z, 1e18 * z, np.full(n, 0.1), np.full(n, 1e9), np.zeros(n), 1e4 + z], axis=1).astype(dtype)
    X[::3, 4] = np.nextafter(X[::3, 4], dtype(np.inf))  # the last bit flickers
    X[::7] = np.nan
    views = read_views([X])
    scaling = Scaling.learn(views, kind)
    scaled = np.sqrt(7) * scaling.apply(views)[0].X
    seen = ~np.isnan(X[:, 0])
    rms = np.sqrt(np.mean(scaled[seen].astype(float) ** 2, axis=0))
    assert np.allclose(rms[:3], 1.0, rtol=1e-5)  # the unit of a feature does not matter
    if kind == "standardize":
        assert np.allclose(rms[3:6] / [0.1, 1e9, 1], 0.0, atol=10 * np.finfo(dtype).eps)  # rounding is not blown up
        assert rms[6] == pytest.approx(1.0, rel=1e-3)
    else:
        assert np.allclose(rms[[3, 4, 6]], 1.0, rtol=1e-4)
        assert rms[5] == 0.0
    back = scaling.invert(scaled / np.sqrt(7), 0, None)
    assert np.allclose(back[seen], X[seen], rtol=1e-5 if dtype == np.float32 else 1e-12, atol=0)


@pytest.mark.parametrize("kind", ["feature", "standardize", "sample"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_unit_of_a_view_does_not_matter(kind, dtype):
    """Squares of these values over- or underflow; the scaled view is the same all the same."""
    X = holed()[1]
    expected = Scaling.learn(read_views([X]), kind).apply(read_views([X]))[0].X
    exponent = 30 if dtype == np.float32 else 250
    for unit in (10.0**exponent, 10.0**-exponent):
        for wrap in (np.asarray, sparse.csr_array) if kind != "standardize" else (np.asarray,):
            raw = (X * unit).astype(dtype)
            views = read_views([wrap(np.where(np.isnan(X).any(axis=1, keepdims=True), np.nan, raw))])
            whole = ~np.isnan(X).any(axis=1)
            if kind == "sample":
                found = values_of(Scaling.learn(views, kind).apply(views)[0])
                assert np.allclose(found[whole], expected[whole], rtol=1e-5)
            else:
                reference = read_views([X[whole]])
                found = values_of(Scaling.learn(views, kind).apply(views)[0])[whole]
                assert np.allclose(found, Scaling.learn(reference, kind).apply(reference)[0].X, rtol=1e-4, atol=1e-6)


def test_new_samples_are_scaled_by_what_was_learned():
    X = holed()
    views, new = read_views(X), read_views([view[:3] * 2 for view in holed(seed=5)])
    scaling = Scaling.learn(views, "feature")
    spread = [np.sqrt(np.nanmean(view**2, axis=0)) for view in X]
    for found, raw, size in zip(scaling.apply(new), new, spread, strict=True):
        assert np.allclose(found.X, raw.X / size / np.sqrt(raw.n_features))


# norms of views that a sample lacks


def proportional(n=300, seed=0):
    """The norm of the second view is three times that of the first, over four orders of magnitude."""
    rng = np.random.default_rng(seed)
    size = 10 ** rng.uniform(-2, 2, size=n)
    unit = [rng.normal(size=(n, d)) for d in (8, 6, 5)]
    unit = [view / np.linalg.norm(view, axis=1, keepdims=True) for view in unit]
    return [unit[0] * size[:, None], 3 * unit[1] * size[:, None] * rng.uniform(0.95, 1.05, (n, 1)), unit[2]]


def test_norms_of_missing_views_follow_the_other_views():
    X = proportional()
    true = np.linalg.norm(X[1], axis=1)
    missing = np.arange(300) % 3 == 0
    X[1] = np.where(missing[:, None], np.nan, X[1])
    views = read_views(X)
    predicted = Scaling.learn(views, "sample").scale_of(views)
    assert np.allclose(predicted[~missing, 1], true[~missing])
    error = np.abs(np.log(predicted[missing, 1] / true[missing]))
    by_median = np.abs(np.log(np.median(true[~missing]) / true[missing]))
    assert error.mean() < 0.05
    assert error.mean() < by_median.mean() / 20
    # a new sample alone, from the training norms
    one = read_views([view[:1] for view in X])
    alone = Scaling.learn(views, "sample").scale_of(one)
    assert alone[0, 1] == pytest.approx(predicted[0, 1])


def test_completion_of_missing_views_has_their_norms():
    X = proportional()
    missing = np.arange(300) % 3 == 0
    true = np.linalg.norm(X[1], axis=1)
    W = np.random.default_rng(1).normal(size=(300, 2))
    U = [np.linalg.qr(np.random.default_rng(d).normal(size=(d, 2)))[0] for d in (8, 6)]
    size = np.linalg.norm(X[0], axis=1, keepdims=True)
    direction = W / np.linalg.norm(W, axis=1, keepdims=True)
    left, right = size * direction @ U[0].T, 3 * size * direction @ U[1].T
    hole = np.where(missing[:, None], np.nan, right)
    completed = jella.MVLIV(n_components=2, tol=1e-3).fit([left, hole]).complete([left, hole])[1]
    assert np.allclose(np.linalg.norm(completed, axis=1)[missing], 3 * size[missing, 0], rtol=0.02)
    assert np.ptp(np.log(true[missing])) > 5


def test_the_median_where_nothing_else_is_known():
    training = np.log(np.array([[1.0, 10.0], [2.0, np.nan], [3.0, 30.0], [4.0, 50.0]]))
    found = np.exp(predict_log_norms(np.full((1, 2), np.nan), training))
    assert np.allclose(found, [[2.5, 30.0]], rtol=0.03)  # medians of the logs
    few = np.exp(predict_log_norms(np.log(np.array([[100.0, np.nan]])), training))
    assert few[0, 1] == pytest.approx(30.0)  # three pairs are too few to regress on


def test_predictions_stay_in_the_range_that_was_seen():
    rng = np.random.default_rng(0)
    size = rng.uniform(0, 1, 50)
    training = np.stack([size, 2 * size], axis=1)
    found = predict_log_norms(np.array([[100.0, np.nan], [-100.0, np.nan]]), training)
    assert np.allclose(found[:, 1], [2 * size.max(), 2 * size.min()])


def test_samples_of_zeros_stay_zero():
    X = holed(rate=0.0)
    X[1][5] = 0.0
    views = read_views(X)
    scaling = Scaling.learn(views, "sample")
    assert not scaling.apply(views)[1].X[5].any()
    assert np.isfinite(scaling.scale_of(views)).all()
    assert np.isfinite(jella.MVLIV(n_components=2).fit(X).embedding_).all()
