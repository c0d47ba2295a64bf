"""Scaling uses observed entries only, and its way back ends in the user's units."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import jella
from jella.numerics.arrays import to_numpy
from jella.readout.scoring import held_out_rmse
from jella.views import Views, read_views
from jella.views.draw import draw_for_score
from jella.views.norms import predict_log_norms, view_norms
from jella.views.scaling import ALL_KINDS, KINDS, Scaling


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
    if kind in ("root", "center"):
        Y = np.sign(X) * np.sqrt(np.abs(X)) if kind == "root" else X
        Y = Y - np.nanmean(Y, axis=0)
        return np.nan_to_num(Y / np.sqrt(np.nanmean(Y**2)) / np.sqrt(d))
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


@pytest.mark.parametrize("kind", [*KINDS, "root"])
def test_every_kind_as_computed_by_hand(kind, xp):
    X = holed()
    views = read_views([xp.asarray(view) for view in X])
    for view, raw in zip(Scaling.learn(views, kind).apply(views), X, strict=True):
        assert np.allclose(to_numpy(view.X), scaled_by_hand(raw, kind), rtol=1e-12, atol=0)
        assert np.array_equal(to_numpy(view.X) != 0, ~np.isnan(raw))


@pytest.mark.parametrize("kind", ["sample", "feature", "none", "root", "auto"])
def test_sparse_views_scale_as_dense_ones_and_stay_sparse(kind):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((20, 6)) < 0.4, rng.normal(size=(20, 6)), 0.0)
    if kind in ("root", "auto"):
        X = np.where(rng.random((20, 6)) < 0.3, np.abs(X), 0.0)
    X[4:7] = np.nan
    plain, views = read_views([X]), read_views([sparse.coo_array(X)])
    scaled = Scaling.learn(views, kind, [2.0]).apply(views)[0]
    assert scaled.is_sparse
    assert np.allclose(scaled.X.toarray(), Scaling.learn(plain, kind, [2.0]).apply(plain)[0].X, rtol=1e-12, atol=0)
    for view, without_mask in zip(views, plain, strict=True):
        assert np.allclose(view_norms(view), view_norms(without_mask), rtol=1e-12)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_complete_samples_have_a_norm_near_one(kind):
    rng = np.random.default_rng(0)
    views = read_views([rng.normal(size=(200, d)) * rng.uniform(0.01, 100, d) for d in (50, 3)])
    norms = [np.linalg.norm(view.X, axis=1) for view in Scaling.learn(views, kind).apply(views)]
    if kind == "sample":
        assert np.allclose(norms, 1.0, rtol=1e-12)
    elif kind != "none":
        assert np.allclose([np.mean(norm**2) for norm in norms], 1.0, rtol=1e-12)


@pytest.mark.parametrize("kind", ALL_KINDS)
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
    st.sampled_from(ALL_KINDS),
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


@pytest.mark.parametrize("kind", ["feature", "standardize", "sample", "root"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_unit_of_a_view_does_not_matter(kind, dtype):
    """Squares of these values over- or underflow; the scaled view is the same all the same."""
    X = holed()[1]
    expected = Scaling.learn(read_views([X]), kind).apply(read_views([X]))[0].X
    wraps = (np.asarray,) if kind in ("standardize", "root") else (np.asarray, sparse.csr_array)
    exponent = 30 if dtype == np.float32 else 250
    for unit in (10.0**exponent, 10.0**-exponent):
        for wrap in wraps:
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
    completed = jella.MVLIV(n_components=2, scale="sample", tol=1e-3).fit([left, hole]).complete([left, hole])[1]
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


# roots, and a kind of its own for every view


def counts(n=40, d=30, rate=0.1, seed=0):
    """Mostly zeros, sizes of samples over two orders of magnitude."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(20, size=(n, d)) * rng.integers(1, 100, size=(n, 1)) * (rng.random((n, d)) < rate)
    X[np.arange(n), np.arange(n) % d] += 1
    return X.astype(float)


def mixed(n=40, seed=0):
    """A sparse view, a dense one of intensities and one of either sign, all with missing samples or entries."""
    rng = np.random.default_rng(seed)
    X = [counts(n, seed=seed), rng.gamma(2.0, 5.0, size=(n, 6)), rng.normal(1.0, 3.0, size=(n, 5))]
    X[0][::7] = np.nan
    X[1][1::7] = np.nan
    X[1][3, 2] = np.nan
    X[2][2::7] = np.nan
    return [sparse.csr_array(X[0]), *X[1:]]


def test_roots_of_sparse_samples_have_unit_norm():
    X = counts()
    views = read_views([sparse.csr_array(X)])
    scaling = Scaling.learn(views, "root", [4.0])
    found = scaling.apply(views)[0].X
    assert found.nnz == np.count_nonzero(X)
    assert np.allclose(found.toarray(), 2 * np.sqrt(X / X.sum(axis=1, keepdims=True)), rtol=1e-12)
    assert np.allclose(scaling.scale_of(views)[:, 0] ** 2, X.sum(axis=1), rtol=1e-12)


def test_sparse_views_with_missing_entries_are_scaled_as_sparse_ones():
    """The library stores them dense: the share of zeros tells them."""
    X = counts()
    X[0, 3] = np.nan
    views = read_views([sparse.csr_array(X)])
    assert not views[0].is_sparse
    scaled = Scaling.learn(views, "root").apply(views)[0].X
    assert np.allclose(np.linalg.norm(scaled[1:], axis=1), 1.0, rtol=1e-12)
    assert np.linalg.norm(scaled[0]) == pytest.approx(np.sqrt(29 / 30))
    assert (scaled >= 0).all()


@pytest.mark.parametrize("kind", ["root", "standardize"])
def test_later_samples_take_the_form_that_was_learned(kind):
    rng = np.random.default_rng(0)
    full = rng.gamma(2.0, size=(10, 30))
    train, few, many = (read_views([X]) for X in (full, counts(10), full + 1))
    as_dense = Scaling.learn(train, kind)
    for new in (few, many):
        thin = read_views([sparse.csr_array(new[0].X)])
        assert np.array_equal(as_dense.apply(thin)[0].X, as_dense.apply(new)[0].X)
    nothing = replace(thin[0], X=sparse.csr_array((10, 30)), mask=np.zeros((10, 1), dtype=bool))
    assert not as_dense.apply(Views((nothing,)))[0].X.toarray().any()
    if kind == "root":
        as_sparse = Scaling.learn(read_views([sparse.csr_array(counts())]), kind)
        scaled = as_sparse.apply(many)[0].X
        assert np.allclose(scaled, as_sparse.apply(thin)[0].X.toarray(), rtol=1e-12)
        assert np.allclose(np.linalg.norm(scaled, axis=1), 1.0, rtol=1e-12)


def test_auto_by_zeros_and_signs(xp):
    rng = np.random.default_rng(0)
    full = rng.gamma(2.0, size=(10, 10))
    some = np.where(np.arange(100).reshape(10, 10) < 20, full, 0.0)
    more = np.where(np.arange(100).reshape(10, 10) < 21, full, 0.0)
    hidden = np.where(np.arange(100).reshape(10, 10) >= 99, np.nan, some)  # 20 of 99 are not few
    views = read_views([xp.asarray(view) for view in (full, some, more, hidden, -some, full - 1)])
    scaling = Scaling.learn(views, "auto")
    assert scaling.kinds == ("root", "root", "root", "root", "standardize", "standardize")
    assert [scale.by_norm for scale in scaling.scales] == [False, True, False, False, False, False]


def test_auto_takes_sparse_views_of_any_content():
    X = np.random.default_rng(0).normal(size=(10, 4))
    views = read_views([sparse.csr_array(view) for view in (X, abs(X), np.where(X > 1, X, 0.0))])
    scaling = Scaling.learn(views, "auto")
    assert scaling.kinds == ("root",) * 3
    assert all(scale.by_norm for scale in scaling.scales)
    back = scaling.invert(scaling.apply(views)[0].X.toarray(), 0, scaling.scale_of(views))
    assert np.allclose(back, X, rtol=1e-12)


def test_what_stands_under_the_mask_does_not_matter():
    X = np.random.default_rng(0).gamma(2.0, size=(20, 5))
    mask = np.random.default_rng(1).random(X.shape) < 0.7
    views = [read_views([np.where(mask, X, junk)], [mask]) for junk in (0.0, -1e9, np.nan)]
    first, *others = (Scaling.learn(one, "auto").apply(one)[0].X for one in views)
    assert all(np.array_equal(first, other) for other in others)
    assert not first[~mask].any()


@pytest.mark.parametrize("kind", [("sample", "root", "standardize"), ("root", "feature", "none")])
@pytest.mark.parametrize("by_name", [False, True])
def test_views_differ_in_kind(kind, by_name):
    X = dict(zip("abc", mixed(), strict=True))
    views = read_views(X)
    scaling = Scaling.learn(views, dict(zip("abc", kind, strict=True)) if by_name else kind, {"b": 4.0})
    assert scaling.kinds == kind
    norms = scaling.scale_of(views)
    for v, (view, one) in enumerate(zip(views, kind, strict=True)):
        alone = read_views({view.name: X[view.name]})
        expected = values_of(Scaling.learn(alone, one, [4.0 if view.name == "b" else 1.0]).apply(alone)[0])
        found = values_of(scaling.apply(views)[v])
        assert np.array_equal(found, expected)
        seen = np.broadcast_to(to_numpy(view.mask), found.shape)
        assert np.allclose(scaling.invert(found, v, norms)[seen], values_of(view)[seen], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_forward_is_apply_without_weights_and_masks(kind, xp):
    X = [*holed(), np.abs(holed(seed=1)[0])]
    views = read_views([xp.asarray(view) for view in X])
    scaling = Scaling.learn(views, kind, [4.0, 1.0, 9.0])
    norms, scaled = scaling.scale_of(views), scaling.apply(views)
    for v, root in enumerate((2, 1, 3)):
        seen = ~np.isnan(X[v])
        found = to_numpy(scaling.forward(views[v].X, v, norms))
        assert np.allclose(root * found[seen], to_numpy(scaled[v].X)[seen], rtol=1e-12)
        again = to_numpy(scaling.forward(scaling.invert(scaled[v].X, v, norms), v, norms))
        assert np.allclose(root * again[seen], to_numpy(scaled[v].X)[seen], rtol=1e-9, atol=1e-12)


def test_the_score_of_roots_is_in_root_space():
    X = [np.random.default_rng(0).gamma(2.0, size=(30, 4)), np.random.default_rng(1).gamma(2.0, size=(30, 3))]
    views = read_views(X)
    scaling = Scaling.learn(views, "root")
    found = held_out_rmse(views, lambda v: [np.full(w.X.shape, 2.0) for w in v], scaling, np.random.default_rng(3))
    errors = []
    for view, where in zip(X, draw_for_score(views, np.random.default_rng(3)), strict=True):
        spread = np.std(np.sqrt(view) - np.sqrt(view).mean(axis=0)) * np.sqrt(view.shape[1])
        errors.append(((np.sqrt(2.0) - np.sqrt(view)) / spread)[where[:, 0]].ravel())
    assert found == pytest.approx(np.sqrt(np.mean(np.concatenate(errors) ** 2)), rel=1e-9)


def test_norms_in_root_space_follow_the_other_views():
    X = [np.abs(view) for view in proportional()]
    true = np.linalg.norm(np.sqrt(X[1]), axis=1)
    missing = np.arange(300) % 3 == 0
    X[1] = np.where(missing[:, None], np.nan, X[1])
    views = read_views([X[0], sparse.csr_array(X[1])])
    for kind in ("root", ["none", "root"]):
        predicted = Scaling.learn(views, kind).scale_of(views)
        assert np.allclose(predicted[~missing, 1], true[~missing], rtol=1e-12)
        assert np.abs(np.log(predicted[missing, 1] / true[missing])).mean() < 0.2
    assert Scaling.learn(views, ["root", "none"]).scale_of(views) is None


@pytest.mark.parametrize("kind", ["root", "auto"])
@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_constant_features_and_samples_of_zeros_have_roots(kind, unit):
    z = np.random.default_rng(0).gamma(2.0, size=12)
    flat = np.tile([0.3, 0.0, 7.0], (12, 1))
    flat[::3, 2] = np.nextafter(7.0, 8.0)
    empty = counts(12, 10)
    empty[4] = 0.0
    X = [unit * view for view in (flat, np.zeros((12, 3)), np.stack([z, np.full(12, 0.1)], axis=1), empty)]
    views = read_views(X)
    scaling = Scaling.learn(views, kind)
    scaled, norms = scaling.apply(views), scaling.scale_of(views)
    assert np.abs(scaled[0].X).max() < 1e-14
    assert not scaled[1].X.any()
    assert np.sum(scaled[2].X ** 2) == pytest.approx(12.0, rel=1e-12)
    assert not scaled[3].X[4].any()
    for v, raw in enumerate(X):
        assert np.allclose(scaling.invert(scaled[v].X, v, norms) / unit, raw / unit, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", ["root", "auto"])
def test_single_precision_stays(kind, xp):
    X = [np.abs(holed()[0]), np.where(np.isnan(holed()[1]), np.nan, 0.0)]
    X[1][0] = 1.0
    views = read_views([xp.asarray(view, dtype=xp.float32) for view in X])
    scaling = Scaling.learn(views, kind)
    norms = scaling.scale_of(views)
    for v, view in enumerate(scaling.apply(views)):
        assert view.X.dtype == scaling.invert(view.X, v, norms).dtype == xp.float32
        assert scaling.forward(views[v].X, v, norms).dtype == xp.float32
    thin = read_views([sparse.csr_array(counts().astype(np.float32))])
    assert Scaling.learn(thin, kind).apply(thin)[0].X.dtype == np.float32


def test_the_views_given_are_not_written_to():
    X = mixed()
    before = [X[0].copy(), *(view.copy() for view in X[1:])]
    views = read_views(X)
    Scaling.learn(views, "auto").apply(views)
    assert np.array_equal(X[0].toarray(), before[0].toarray(), equal_nan=True)
    assert all(np.array_equal(*pair, equal_nan=True) for pair in zip(X[1:], before[1:], strict=True))
    again = read_views(before)
    assert all(np.array_equal(values_of(one), values_of(two)) for one, two in zip(views, again, strict=True))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (["root"], "scale must hold one kind for each of the 2 views, got ['root']"),
        ({"view1": "root"}, "scale must hold one kind for each of the 2 views, got {'view1': 'root'}"),
        ({"x": "root"}, "scale names 'x', but the views are ['view0', 'view1']"),
        (["root", "max"], f"scale must be one of {list(ALL_KINDS)}, got 'max'"),
        (["root", None], f"scale must be one of {list(ALL_KINDS)}, got None"),
        (3, f"scale must be one of {list(ALL_KINDS)}, got 3"),
    ],
)
def test_wrong_kinds_are_told_in_a_sentence(kind, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        Scaling.learn(read_views(holed()), kind)


@pytest.mark.parametrize("scale", ["root", "auto", ["root", "sample", "standardize"]])
def test_models_complete_and_score_with_roots(scale):
    X = mixed()
    model = jella.MVLIV(n_components=2, scale=scale).fit(X)
    assert np.isfinite(model.score(X))
    assert np.isfinite(model.transform([None, *X[1:]])[~np.isnan(X[1]).all(axis=1)]).all()
    for completed, raw in zip(model.complete(X), X, strict=True):
        completed, raw = (view.toarray() if sparse.issparse(view) else view for view in (completed, raw))
        assert np.isfinite(completed).all()
        assert np.array_equal(completed[~np.isnan(raw)], raw[~np.isnan(raw)])


@pytest.mark.parametrize("kind", ["sample", "root"])
def test_some_samples_of_a_fit_get_their_own_norms_back(rng, kind):
    X = {"a": rng.gamma(1.0, size=(60, 8)) * rng.gamma(2.0, size=(60, 1)), "b": rng.gamma(1.0, size=(60, 5))}
    X["b"][:9] = np.nan
    model = jella.SparseBDR(3, scale=kind, random_state=0).fit(X)
    samples, scaling, rows = model.readout_.samples, model.scaling_, np.array([3, 17, 40, 41])
    for one, whole in zip(scaling.undo(samples.take(rows), rows), scaling.undo(samples).take(rows), strict=True):
        np.testing.assert_allclose(one.X, whole.X, rtol=1e-9)
    assert model.learn_completion(most_samples=40) is not None
    assert model.gather_evidence(most_samples=40) is not None
