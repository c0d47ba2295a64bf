"""The parts of imputation: predictors, hidden values, and the way back from a scale."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import jella
from jella.graphs.neighbours import nearest
from jella.impute.hidden_values import PATIENCE, gather
from jella.impute.path import (
    FACTOR,
    FEW,
    FEWEST,
    MOST_COMPONENTS,
    MOST_WEIGHTS,
    PathPredictor,
    PathStart,
    most_components,
    path,
    path_scaling,
)
from jella.impute.predictors import Predictors
from jella.impute.thresholded import Thresholded
from jella.impute.units import Units
from jella.problem.terms import Ridge
from jella.solve.ridge_rows import ridge_rows
from jella.views import read_views
from jella.views.draw import draw_for_calibration
from jella.views.scaling import Scaling


def low_rank(rng, n=40, widths=(8, 6), r=3, noise=0.1):
    W = rng.normal(size=(n, r))
    return [W @ rng.normal(size=(r, d)) + noise * rng.normal(size=(n, d)) for d in widths]


# ridge regression on fixed bases


def textbook(arrays, masks, bases, weight):
    """One sample after the other, by a dense solver."""
    U, found = np.vstack(bases), []
    for i in range(arrays[0].shape[0]):
        x = np.concatenate([X[i] for X in arrays])
        seen = np.concatenate([np.broadcast_to(mask[i], X.shape[1]) for X, mask in zip(arrays, masks, strict=True)])
        gram = U[seen].T @ U[seen] + weight * np.eye(U.shape[1])
        found.append(np.linalg.solve(gram, U[seen].T @ x[seen]))
    return np.array(found)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("holes", ["views", "entries", "sparse"])
def test_ridge_rows_are_the_textbook_solution(holes, dtype, rng):
    arrays = [X.astype(dtype) for X in low_rank(rng)]
    masks = [rng.random((40, 1)) < 0.7, np.ones((40, 1), dtype=bool)]
    masks = [mask & np.ones(X.shape, dtype=bool) for mask, X in zip(masks, arrays, strict=True)]
    given = [np.where(mask, X, np.nan).astype(dtype) for mask, X in zip(masks, arrays, strict=True)]
    observed = None
    if holes == "entries":
        masks[0] &= rng.random(arrays[0].shape) < 0.8
        given[0] = np.where(masks[0], arrays[0], np.nan).astype(dtype)
    if holes == "sparse":
        arrays[0] *= rng.random(arrays[0].shape) < 0.3
        given[0], observed = sparse.csr_array(arrays[0]), [masks[0][:, 0], None]
    views = read_views(given, observed)
    bases = [rng.normal(size=(d, 5)).astype(dtype) for d in (8, 6)]
    for weight in (0.3, 30.0):
        found, expected = ridge_rows(views, bases, weight), textbook(arrays, masks, bases, weight)
        assert found.dtype == dtype
        assert np.linalg.norm(found - expected) <= 3e-3 * np.linalg.norm(expected)


def test_ridge_rows_do_not_depend_on_blocks(rng, monkeypatch):
    views, bases = read_views(low_rank(rng)), [rng.normal(size=(d, 3)) for d in (8, 6)]
    whole = ridge_rows(views, bases, 1.0)
    monkeypatch.setattr("jella.solve.ridge_rows.BLOCK_BYTES", 300)
    np.testing.assert_allclose(ridge_rows(views, bases, 1.0), whole, atol=1e-10)


# the path


@pytest.mark.parametrize("most", [None, 15], ids=["by singular values", "by sweeps"])
def test_the_path_is_the_soft_thresholded_svd_of_complete_data(most, rng, monkeypatch):
    monkeypatch.setattr("jella.impute.path.MOST_SWEEPS", 500)
    monkeypatch.setattr("jella.impute.path.TOLERANCE", 1e-9)
    monkeypatch.setattr("jella.impute.path.INSIDE", 1e-6)  # all directions from the start
    views = read_views(low_rank(rng, r=4, noise=0.3))
    start = PathStart.of(path_scaling(views), views, most)
    X = np.hstack([view.X for view in start.scaled]).astype(np.float64)  # with the constant
    Q, s, Vt = np.linalg.svd(X, full_matrices=False)
    # the objective ‖X − WUᵀ‖² + weight·(‖W‖² + ‖U‖²) is ‖X − Z‖² + 2·weight·‖Z‖_*
    assert Ridge(2.0).value(np.full((1, 1), 3.0)) == 18.0
    for model, W in path(start):
        expected = (Q * np.maximum(s - model.weight, 0.0)) @ Vt
        assert np.linalg.norm(W @ np.vstack(model.bases).T - expected) <= 2e-2 * np.linalg.norm(expected)


@pytest.mark.parametrize("shape", [(30, 18), (18, 30)], ids=["tall", "wide"])
def test_models_with_all_components_minimise_the_objective_of_incomplete_data(shape, rng, monkeypatch):
    """The gradient at observed entries is a subgradient of the nuclear norm; what is missing has none."""
    monkeypatch.setattr("jella.impute.thresholded.MOST_STEPS", 500)
    monkeypatch.setattr("jella.impute.thresholded.TOLERANCE", 1e-9)
    X = rng.normal(size=(shape[0], 3)) @ rng.normal(size=(3, shape[1])) + 0.3 * rng.normal(size=shape)
    seen = rng.random(shape) < 0.7
    views = read_views(np.where(seen, X, np.nan))
    weight = 0.2 * np.linalg.norm(np.where(seen, X, 0.0), 2)
    W, U = Thresholded(replace(views, items=(replace(views[0], X=views[0].X.astype(np.float32)),))).solve(weight)
    residual = np.where(seen, X - W @ U.T, 0.0)
    assert 0 < W.shape[1] < min(shape)
    np.testing.assert_allclose(W.T @ W, U.T @ U, atol=1e-3 * weight)  # balanced
    np.testing.assert_allclose(residual @ U, weight * W, atol=2e-2 * weight)
    np.testing.assert_allclose(residual.T @ W, weight * U, atol=2e-2 * weight)
    assert np.linalg.norm(residual, 2) <= 1.02 * weight


def test_going_on_in_the_direction_of_the_last_step_saves_steps(rng, monkeypatch):
    monkeypatch.setattr("jella.impute.thresholded.MOST_STEPS", 500)
    monkeypatch.setattr("jella.impute.thresholded.TOLERANCE", 1e-6)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 30)) + 0.3 * rng.normal(size=(40, 30))
    views = read_views(np.where(rng.random(X.shape) < 0.5, X, np.nan))
    steps, step = [], Thresholded._step
    monkeypatch.setattr(Thresholded, "_step", lambda *given: steps.append(1) or step(*given))
    Thresholded(views).solve(2.0)
    taken = len(steps)
    monkeypatch.setattr(Thresholded, "_go_on", lambda *given: None)
    Thresholded(views).solve(2.0)
    assert taken < 0.8 * (len(steps) - taken)


def test_sweeps_and_singular_values_find_the_same_models(rng):
    views = read_views(low_rank(rng, n=50, widths=(15, 12), r=5, noise=0.4))
    scaling, predictions = path_scaling(views), []
    for most in (None, 28):
        found = path(PathStart.of(scaling, views, most))
        predictions.append([W @ np.vstack(model.bases).T for model, W in islice(found, 4)])
    for ours, theirs in zip(*predictions, strict=True):
        assert np.linalg.norm(ours - theirs) <= 0.05 * np.linalg.norm(theirs)


def test_the_weights_of_the_path_fall_and_components_come(rng):
    views = read_views(low_rank(rng, n=60, widths=(20, 15), r=6, noise=0.5))
    found = [model for model, _ in path(PathStart.of(path_scaling(views), views))]
    weights, ranks = [one.weight for one in found], [one.bases[0].shape[1] for one in found]
    np.testing.assert_allclose(np.diff(np.log(weights)), np.log(FACTOR))
    assert len(found) == MOST_WEIGHTS
    assert ranks == sorted(ranks)
    assert ranks[0] < ranks[-1] <= 36
    assert all([U.shape[0] for U in one.bases] == [20, 15, 1] for one in found)


@pytest.mark.parametrize(
    "X",
    [np.ones((6, 3)), np.zeros((5, 2)), [[1.0, 2.0], [3.0, -1.0]], np.arange(5.0)[:, None], np.eye(4)],
    ids=["constant", "zero", "two samples", "one feature", "one view"],
)
def test_the_path_has_all_its_models_for_any_data(X):
    views = read_views([np.asarray(X, dtype=float)])
    predictor = PathPredictor.learn(views, (0, 3, 8))
    assert len(predictor.models) == 3 + len(FEW)
    for one in predictor.predict(views)[0]:
        assert np.isfinite(one).all()
        assert np.abs(one - views[0].X.mean(axis=0)).max() <= np.ptp(views[0].X, axis=0).max() + 1e-6


def test_models_have_all_components_where_that_is_affordable(rng):
    def count(n, d):
        return most_components(read_views(np.broadcast_to(1.0, (n, d))))

    assert (count(300, 5000), count(1000, 1000)) == (300, 1000)
    assert count(1500, 1200) == MOST_COMPONENTS
    assert count(5000, 2000) == count(900, 1_000_000) == FEWEST  # and not dense, if it is sparse
    assert count(100, 1_000_000) == 100  # there are no more
    views = read_views([rng.normal(size=(250, 300))])
    assert [model.bases[0].shape[1] for model, _ in path(PathStart.of(path_scaling(views), views))][-1] == 250


def test_rare_features_of_sparse_views_count_as_much_as_frequent_ones(rng):
    """Rare words that only two samples share are predicted by one from the other, beside frequent ones of any."""
    words = rng.poisson(20.0, (60, 10)).astype(float)
    rare = np.kron(np.eye(30), np.ones((2, 6)))  # six words per pair of samples
    X, other = sparse.csr_array(np.hstack([words, rare])), rare + 0.1 * rng.normal(size=rare.shape)
    there = (np.arange(60) % 2 == 1) | (np.arange(60) > 14)  # seven samples whose twins have the view
    views = read_views([X, other], [there, None])
    assert path_scaling(views).kinds == ("feature", "standardize")
    predictor = PathPredictor.learn(views, (3,))
    found, truth = predictor.predict(views)[0][0][~there][:, 10:], rare[~there]
    assert found[truth > 0].mean() > found[truth == 0].mean() + 0.2


def test_the_path_ends_where_it_gains_nothing(rng, monkeypatch):
    views = read_views(low_rank(rng, n=60, widths=(20, 15), r=2, noise=0.1))
    walked = []

    def counted(start):
        for one in path(start):
            walked.append(one)
            yield one

    monkeypatch.setattr("jella.impute.hidden_values.path", counted)
    model = jella.SparseBDR(n_clusters=2, max_iter=2, random_state=0).fit([np.asarray(view.X) for view in views])
    numbers = gather(views, model._refit, 0)[1]
    assert len(walked) <= MOST_WEIGHTS
    assert numbers[-1] < len(walked)
    monkeypatch.setattr("jella.impute.hidden_values.GAIN", 0.9)  # of what no weight gains so much
    walked.clear()
    gather(views, model._refit, 0)
    assert len(walked) == PATIENCE + 1


# donors


def test_embeddings_of_singular_values_predict_as_solved_rows_do(rng):
    X = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 40)) + 0.3 * rng.normal(size=(80, 40))
    views = read_views(jella.datasets.make_incomplete([X[:, :25], X[:, 25:]], 0.3, "incomplete-view", random_state=0))
    rows = np.array([3, 50, 7])
    predictor, known = PathPredictor.fitted(views, (1, 3), rows)
    assert [W is None for W in known] == [False, False, True, True]  # those of sweeps are less exact
    some = views.take(rows)
    for pairs in zip(predictor.predict(some, known), predictor.predict(some), strict=True):
        for ours, solved in zip(*pairs, strict=True):
            np.testing.assert_allclose(ours, solved, atol=0.05 * X.std())


@pytest.mark.parametrize("scale", ["standardize", "root", "sample"])
def test_donors_lend_their_mean_shrunk_to_that_of_the_feature(scale, rng):
    arrays = [np.abs(X) for X in low_rank(rng)]
    arrays[0][:6], arrays[0][10, 2] = np.nan, np.nan
    views = read_views(arrays)
    readout = jella.SparseBDR(n_neighbors=3, scale=scale, max_iter=2, random_state=0).fit(arrays).readout_
    units = Units.of(views)
    predictors = Predictors(readout, PathPredictor.learn(views, (0,)), units)
    lent = predictors.predict(views, predictors.near(views))[0][-1]
    samples = readout.scaling.undo(readout.samples)[0]
    near = nearest(readout.samples, 6, queries=readout.scaling.apply(views))
    norms = readout.scaling.scale_of(views)
    for i in range(12):
        donors = near[i][samples.mask[near[i]].any(axis=1)]
        values, here = samples.X[donors], samples.mask[donors]
        if scale == "sample":  # donors lend directions
            values = values / np.exp(readout.scaling.log_norms[donors, 0])[:, None] * norms[i, 0]
        expected = np.where(here, values - units.means[0], 0.0).sum(axis=0) / (here.sum(axis=0) + 1.0)
        np.testing.assert_allclose(lent[i], expected / units.spreads[0], atol=1e-10)


# units


@pytest.mark.parametrize("unit", [1.0, 1e300, 1e-300])
def test_units_are_those_of_the_observed_values(unit, rng):
    X = rng.poisson(1.0, (30, 5)).astype(float)
    X[:, 3] = 7.0
    here = rng.random(30) < 0.8
    dense = Units.of(read_views([np.where(here[:, None], X, np.nan) * unit]))
    thin = Units.of(read_views([sparse.csr_array(X * unit)], [here]))
    for units in (dense, thin):
        np.testing.assert_allclose(units.means[0] / unit, X[here].mean(axis=0))
        assert units.varies[0].tolist() == [True, True, True, False, True]
        np.testing.assert_allclose(units.spreads[0][units.varies[0]] / unit, X[here].std(axis=0)[[0, 1, 2, 4]])
        assert units.spreads[0][3] == 1.0


# the way back from a scale


@pytest.mark.parametrize("kind", ["sample", "feature", "standardize", "center", "none", "root", "auto"])
@pytest.mark.parametrize("form", ["dense", "entries", "sparse"])
def test_a_scale_is_undone(kind, form, rng):
    X, other = rng.poisson(1.5, (12, 5)).astype(float), rng.normal(size=(12, 4))
    X[4] = 0.0  # a sample without norm
    here = np.arange(12) % 5 > 0
    if form == "sparse":
        if kind in ("standardize", "center"):
            pytest.skip("it is refused for sparse views")
        views = read_views([sparse.csr_array(X), other], [here, None])
    else:
        holes = (rng.random(X.shape) < 0.8) if form == "entries" else True
        views = read_views([np.where(here[:, None] & holes, X, np.nan), other])
    scaling = Scaling.learn(views, [kind, "sample"], weights=[2.0, 0.3])
    back = scaling.undo(scaling.apply(views))
    for ours, theirs in zip(back, views, strict=True):
        assert ours.is_sparse == theirs.is_sparse
        assert ours.X.dtype == np.float64
        a, b = (view.X.toarray() if view.is_sparse else view.X for view in (ours, theirs))
        np.testing.assert_allclose(a, b, atol=1e-12)
        np.testing.assert_array_equal(ours.mask, theirs.mask)


def test_a_scale_is_undone_in_single_precision(rng):
    views = read_views([X.astype(np.float32) for X in low_rank(rng)])
    scaling = Scaling.learn(views, "standardize", weights=[3.0, 1.0])
    for ours, theirs in zip(scaling.undo(scaling.apply(views)), views, strict=True):
        np.testing.assert_allclose(ours.X, theirs.X, atol=3e-4)  # the last digits are rounded off


# what is hidden


def drawn(views, share=0.2, seed=0):
    views = read_views(views) if isinstance(views, list | dict) else views
    hidden = draw_for_calibration(views, share, np.random.default_rng(seed))
    left = hidden.apply(views)
    assert np.all(np.any([view.presence() for view in left], axis=0) == np.any([v.presence() for v in views], axis=0))
    for after, before in zip(left, views, strict=True):
        assert np.array_equal(after.count_by_feature() > 0, before.count_by_feature() > 0)
        assert after.is_sparse == before.is_sparse
    return views, hidden, left


def test_whole_views_are_hidden_as_samples_lack_them(rng):
    arrays = [rng.normal(size=(200, d)) for d in (3, 4, 2)]
    arrays[1][:60], arrays[2][60:80] = np.nan, np.nan  # three quarters and one quarter of the missing views
    n_lost = np.zeros(3)
    for seed in range(20):
        views, hidden, left = drawn(arrays, seed=seed)
        lost = views.presence() & ~left.presence()
        assert all(mask.shape[1] == 1 for mask in hidden)
        assert lost.sum(axis=1).max() == 1
        assert lost.any(axis=1).sum() == 40
        n_lost += lost.sum(axis=0)
    assert n_lost[0] == 0
    # samples that lack one of the two can only lose the other
    both = 120 * 0.75 + 20
    assert n_lost[1] / n_lost.sum() == pytest.approx(both / (both + 120 * 0.25 + 60), abs=0.06)


def test_entries_are_hidden_where_entries_are_missing(rng):
    arrays = [rng.normal(size=(50, d)) for d in (6, 5)]
    arrays[0][rng.random((50, 6)) < 0.1] = np.nan
    views, hidden, left = drawn(arrays)
    assert not hidden[1].any()
    # samples that would lose all entries are drawn again
    assert 0.17 * views[0].n_observed() < hidden[0].sum() <= round(0.2 * views[0].n_observed())
    assert not (hidden[0] & np.isnan(arrays[0])).any()
    assert left[0].presence().all()  # none at random


def test_where_nothing_is_missing_any_view_and_entries_are_hidden(rng):
    arrays = [rng.normal(size=(60, d)) for d in (6, 5)]
    _, _, left = drawn(arrays)
    lost = ~left.presence()
    assert lost.any(axis=1).sum() == 12
    assert lost.any(axis=0).all()
    for view, gone in zip(left, lost.T, strict=True):
        assert view.n_observed() == round(0.8 * (60 - gone.sum()) * view.n_features)
    one, hidden, _ = drawn([arrays[0]])
    assert hidden[0].sum() == round(0.2 * 360)
    assert len(one) == 1


def test_sparse_views_lose_no_entries(rng):
    X = sparse.csr_array(rng.poisson(0.3, (60, 30)).astype(float))
    _, hidden, _ = drawn([X, rng.normal(size=(60, 5))])
    assert hidden[0].shape == (60, 1)
    assert hidden[0].any()
    _, hidden, _ = drawn([X])
    assert not hidden[0].any()


def test_little_data_keep_their_last_values(rng):
    for seed in range(30):
        X = rng.normal(size=(4, 2))
        X[rng.random(X.shape) < 0.4] = np.nan
        X[np.isnan(X).all(axis=1), 0] = 1.0
        X[0, 1] = 1.0
        drawn([X, np.where(rng.random((4, 1)) < 0.5, np.nan, 1.0)], share=0.9, seed=seed)


def test_categories_are_hidden_in_whole_cells(rng):
    frame = pd.DataFrame({"x": rng.normal(size=40), "kind": rng.choice(["a", "b", "c"], 40), "y": rng.normal(size=40)})
    frame.iloc[3, 1] = frame.iloc[5, 0] = None
    views, hidden, _ = drawn({"clinical": frame, "more": pd.DataFrame(rng.normal(size=(40, 3)))}, share=0.3)
    category = views[0].categories[0].features
    assert hidden[0][:, category].any()
    assert np.array_equal(hidden[0][:, category].all(axis=1), hidden[0][:, category].any(axis=1))
