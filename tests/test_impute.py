"""The parts of imputation: predictors, hidden values, recipe, intervals, error estimates and signs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import jella
from jella.impute.errors import FEW_ROWS, estimate, gains, trust_in
from jella.impute.hidden_values import HiddenValues, clustered_error
from jella.impute.imputer import cross_fitted
from jella.impute.path import FACTOR, MOST_WEIGHTS, PathPredictor, path, path_scaling, path_views
from jella.impute.recipe import Bounds, Recipe, first_guess
from jella.impute.spread import Spread
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


def test_the_path_is_the_soft_thresholded_svd_of_complete_data(rng, monkeypatch):
    monkeypatch.setattr("jella.impute.path.MOST_SWEEPS", 500)
    monkeypatch.setattr("jella.impute.path.TOLERANCE", 1e-9)
    monkeypatch.setattr("jella.impute.path.INSIDE", 1e-6)  # all directions from the start
    views = read_views(low_rank(rng, r=4, noise=0.3))
    scaled = path_views(path_scaling(views), views)
    X = np.hstack([view.X for view in scaled]).astype(np.float64)
    Q, s, Vt = np.linalg.svd(X, full_matrices=False)
    # the objective ‖X − WUᵀ‖² + weight·(‖W‖² + ‖U‖²) is ‖X − Z‖² + 2·weight·‖Z‖_*
    assert Ridge(2.0).value(np.full((1, 1), 3.0)) == 18.0
    for model, W in path(scaled):
        expected = (Q * np.maximum(s - model.weight, 0.0)) @ Vt
        assert np.linalg.norm(W @ np.vstack(model.bases).T - expected) <= 2e-2 * np.linalg.norm(expected)


def test_the_weights_of_the_path_fall_and_components_come(rng):
    views = read_views(low_rank(rng, n=60, widths=(20, 15), r=6, noise=0.5))
    found = [model for model, _ in path(path_views(path_scaling(views), views))]
    weights, ranks = [one.weight for one in found], [one.bases[0].shape[1] for one in found]
    np.testing.assert_allclose(np.diff(np.log(weights)), np.log(FACTOR))
    assert len(found) == MOST_WEIGHTS
    assert ranks == sorted(ranks)
    assert ranks[0] < ranks[-1] <= 35
    assert all([U.shape[0] for U in one.bases] == [20, 15] for one in found)


@pytest.mark.parametrize(
    "X",
    [np.ones((6, 3)), np.zeros((5, 2)), [[1.0, 2.0], [3.0, -1.0]], np.arange(5.0)[:, None], np.eye(4)],
    ids=["constant", "zero", "two samples", "one feature", "one view"],
)
def test_the_path_has_all_its_models_for_any_data(X):
    views = read_views([np.asarray(X, dtype=float)])
    predictor = PathPredictor.learn(views, (0, 3, 8))
    assert len(predictor.models) == 3
    for one in predictor.predict(views)[0]:
        assert np.isfinite(one).all()
        assert np.abs(one - views[0].X.mean(axis=0)).max() <= np.ptp(views[0].X, axis=0).max() + 1e-6


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
        np.testing.assert_allclose(ours.X, theirs.X, atol=1e-5)


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


# the recipe


def evidence_of(truth, predictions, rng, *, n_features=4, n_trials=4, rows=None, whole=None, view=None, share=None):
    """Hidden values in random order of features; one per sample, unless rows are given."""
    n = len(truth)
    rows = np.arange(n) if rows is None else rows
    return HiddenValues(
        view=np.zeros(n, dtype=np.int32) if view is None else view,
        feature=rng.integers(n_features, size=n).astype(np.int32),
        trial=(rows % n_trials).astype(np.int32),
        sample=rows,
        whole=np.zeros(n, dtype=bool) if whole is None else whole,
        share=np.full(n, 0.5) if share is None else share,
        truth=np.asarray(truth, dtype=float),
        predictions=np.asarray(predictions, dtype=float),
    )


def bounds_of(low=-np.inf, high=np.inf, widths=(4,)):
    return Bounds(tuple(np.full(d, float(low)) for d in widths), tuple(np.full(d, float(high)) for d in widths))


def test_weights_find_the_best_predictor_and_are_not_negative(rng):
    truth = rng.normal(size=4000)
    noise = rng.normal(size=(4, 4000))
    predictions = np.stack([truth + 0.1 * noise[0], truth + 2 * noise[1], noise[2], -truth + noise[3]])
    found = Recipe.learn(evidence_of(truth, predictions, rng), [4], bounds_of())
    weights = found.corrections[0].weights
    assert (weights >= 0).all()
    assert weights[0] > 0.9
    assert weights[1:].max() < 0.05
    assert found.groups == ((0, False),)


def test_few_samples_leave_the_weights_near_the_first_guess(rng):
    guess, far = first_guess(4), []
    for n in (2, 20, 2000):
        truth = rng.normal(size=n)
        predictions = np.stack([rng.normal(size=n), rng.normal(size=n), truth, rng.normal(size=n)])
        weights = Recipe.learn(evidence_of(truth, predictions, rng), [4], bounds_of()).corrections[0].weights
        far.append(np.linalg.norm(weights - guess))
    assert far[0] < 0.1 < far[1] < far[2]
    # many values of few samples are few samples
    rows, truth = np.repeat([0, 1], 1000), rng.normal(size=2000)
    predictions = np.stack([rng.normal(size=2000), rng.normal(size=2000), truth, rng.normal(size=2000)])
    own = evidence_of(truth, predictions, rng, rows=rows)
    assert np.linalg.norm(Recipe.learn(own, [4], bounds_of()).corrections[0].weights - guess) < 0.15


@pytest.mark.parametrize("by_feature", [(), ((0, False),)])
def test_answers_do_not_use_the_truth_of_their_own_trial(by_feature, rng):
    truth = rng.normal(size=400)
    own = evidence_of(truth, truth + rng.normal(size=(4, 400)), rng)
    mine = own.trial == 2
    other = replace(own, truth=np.where(mine, -5.0 * truth + 1.0, truth))
    first, second = (cross_fitted(one, [4], bounds_of(), by_feature) for one in (own, other))
    np.testing.assert_array_equal(first[mine], second[mine])
    assert (first[~mine] != second[~mine]).all()


def test_features_are_corrected_by_themselves(rng):
    truth = rng.normal(size=3000)
    own = evidence_of(truth, truth + 0.1 * rng.normal(size=(4, 3000)), rng)
    shift, slope = np.array([1.0, -1.0, 0.0, 0.0]), np.array([1.0, 1.0, 2.0, 0.5])
    own = replace(own, truth=shift[own.feature] + slope[own.feature] * own.truth)
    plain, refined = (Recipe.learn(own, [4], bounds_of(), groups) for groups in ((), ((0, False),)))
    errors = [np.mean((one.answers(own) - own.truth) ** 2) for one in (plain, refined)]
    assert errors[1] < 0.1 * errors[0]
    (gain, error) = gains(own, refined.answers(own), plain.answers(own))[0, False]
    assert gain == pytest.approx(errors[0] - errors[1])
    assert gain > 5 * error


def test_bounds_hold_and_means_of_counts_stay(rng):
    counts = rng.poisson(0.8, size=6000) * 1.0
    truth = (counts - 0.8) / np.sqrt(0.8)
    low = -np.sqrt(0.8)
    noisy = 0.3 * truth + rng.normal(size=(4, 6000)) * 0.8  # many predictions below zero
    own = evidence_of(truth, noisy, rng)
    bounds = bounds_of(low, 3.0)
    recipe = Recipe.learn(own, [4], bounds)
    wide = replace(recipe.corrections[0], weights=np.array([1.0, 0.0, 0.0, 0.0]))
    for one in (recipe, replace(recipe, corrections=(wide,))):
        answers = one.answers(own)
        assert answers.min() >= low
        assert answers.max() <= 3.0
    raw = replace(recipe, bounds=bounds_of()).answers(own)
    assert (raw < low).mean() > 0.01
    assert abs(recipe.answers(own).mean() - raw.mean()) < 0.01
    assert np.clip(raw, low, 3.0).mean() - raw.mean() > 0.002  # as it would be without the factors
    assert abs(recipe.answers(own).mean() - truth.mean()) < 0.02


def test_without_trust_the_answer_is_exactly_the_mean(rng):
    truth = rng.normal(size=200)
    own = evidence_of(truth, truth + rng.normal(size=(4, 200)), rng)
    recipe = Recipe.learn(own, [4], bounds_of(-1.0, 1.0)).trusted({(0, False): 0.0})
    predictions = rng.normal(size=(4, 5, 4))
    for whole in (True, False):  # also by the fallback
        np.testing.assert_array_equal(recipe.answer(predictions, 0, np.full(5, whole)), 0.0)
    half, full = (recipe.trusted({(0, False): t}).answer(predictions, 0, np.zeros(5, dtype=bool)) for t in (0.5, 1.0))
    np.testing.assert_allclose(half, full / 2)


# intervals


def planted_errors(kind, seed, n=6000):
    """Truth and answers of two groups of observed shares with different errors, Gaussian or Poisson."""
    rng = np.random.default_rng(seed)
    share = np.where(rng.random(n) < 0.5, 0.2, 0.9)
    if kind == "gauss":
        answers = rng.normal(size=n)
        truth = answers + rng.normal(size=n) * np.where(share < 0.5, 2.0, 0.5)
        return evidence_of(truth, np.tile(answers, (4, 1)), rng, share=share), answers, bounds_of()
    rate = rng.gamma(2.0, 1.0, size=n)
    sd, mean = 2.0, 2.0
    truth, answers = (rng.poisson(rate) - mean) / sd, (rate - mean) / sd
    return evidence_of(truth, np.tile(answers, (4, 1)), rng, share=share), answers, bounds_of(-mean / sd)


@pytest.mark.parametrize("kind", ["gauss", "poisson"])
def test_intervals_hold_their_share_in_each_stratum(kind):
    inside, groups = [], []
    for seed in range(4):
        own, answers, bounds = planted_errors(kind, seed)
        new, values, _ = planted_errors(kind, seed + 100)
        strata = Spread.learn(own, answers, bounds).of(0, False)
        for feature in range(4):
            at = np.flatnonzero(new.feature == feature)
            lower, upper, _ = strata.around(np.tile(values[at][:, None], (1, 4)), new.share[at], 0.9)
            truth = new.truth[at]
            inside.append((lower[:, feature] - 1e-9 <= truth) & (truth <= upper[:, feature] + 1e-9))
            groups.append(np.stack([new.share[at] < 0.5, values[at] > np.median(values)], axis=1))
    inside, groups = np.concatenate(inside), np.concatenate(groups)
    slack = 0.05 if kind == "poisson" else 0.0  # the ends of whole numbers hold more
    assert 0.88 <= inside.mean() <= 0.92 + slack
    for column in range(2):
        for side in (True, False):
            assert 0.88 <= inside[groups[:, column] == side].mean() <= 0.92 + slack


def test_intervals_grow_with_their_level_and_the_deviation_is_that_of_errors(rng):
    own, answers, bounds = planted_errors("gauss", 0)
    spread = Spread.learn(own, answers, bounds)
    strata = spread.of(0, False)
    values = np.linspace(-2, 2, 9)[:, None] * np.ones(4)
    ends = [strata.around(values, np.full(9, 0.9), level) for level in (0.5, 0.8, 0.95, 0.999)]
    for narrow, wide in pairwise(ends):
        assert (wide[0] < narrow[0]).all()
        assert (wide[1] > narrow[1]).all()
    np.testing.assert_allclose(ends[0][2], 0.5, rtol=0.1)
    assert spread.of(0, True) is strata  # the other kind of hole
    assert spread.of(1, False) is None


# estimates of the error


def test_errors_are_weighted_as_values_are_really_missing(rng):
    n = 4000
    whole = np.arange(n) % 2 == 0
    truth = rng.normal(size=n)
    answers = truth + np.where(whole, 1.0, 0.1) * rng.choice([-1.0, 1.0], n)
    own = evidence_of(truth, np.tile(answers, (4, 1)), rng, whole=whole)
    trust = {(0, True): 0.0, (0, False): 1.0}
    for missing, expected in [
        ({(0, True): 10, (0, False): 0}, 1.0),
        ({(0, True): 0, (0, False): 10}, 0.01),
        ({(0, True): 30, (0, False): 10}, 0.7525),
        ({}, 0.505),
    ]:
        found = estimate(own, answers, missing, trust)
        assert found.error**2 == pytest.approx(expected)
        assert found.by_mean == (missing.get((0, False)) == 0)
    assert found.mean_error == pytest.approx(1.0, abs=0.05)
    assert (found.n_samples, found.n_values) == (n, n)
    assert estimate(own, answers, {}, trust, v=1).error is None


def test_the_standard_error_is_that_of_repetitions():
    errors, claimed = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = np.repeat(np.arange(60), 5)
        size = rng.gamma(1.0, 1.0, size=60)[rows]  # errors of a sample go together
        answers = size * rng.normal(size=300)
        own = evidence_of(np.zeros(300), np.zeros((4, 300)), rng, rows=rows)
        found = estimate(own, answers, {}, {(0, False): 1.0}, v=0)
        errors.append(found.error)
        claimed.append(found.standard_error)
        assert found.n_samples == 60
    assert np.std(errors) == pytest.approx(np.mean(claimed), rel=0.2)


def test_estimates_of_few_samples_are_rough(rng):
    for n, rough in ((FEW_ROWS - 1, True), (FEW_ROWS, False)):
        truth = rng.normal(size=5 * n)
        own = evidence_of(truth, np.zeros((4, 5 * n)), rng, rows=np.repeat(np.arange(n), 5))
        assert estimate(own, 0.0 * truth, {}, {(0, False): 0.0}).is_rough == rough


def test_the_error_of_a_mean_respects_samples_and_trust_grows_with_the_gain(rng):
    values = rng.normal(size=100)
    alone = clustered_error(values, np.arange(100))
    assert alone == pytest.approx(values.std() / 10)
    assert clustered_error(np.repeat(values, 4), np.repeat(np.arange(100), 4)) == pytest.approx(alone)
    assert trust_in(-1.0, 0.1) == 0.0
    assert 0 < trust_in(0.1, 0.5) < trust_in(1.0, 0.5) < trust_in(10.0, 0.5) < 1


# signs of values that are missing because of their size


@pytest.mark.parametrize("setting", ["mnar", "mcar"])
def test_signs_of_size_are_found_where_they_are_planted(setting):
    said = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        views = low_rank(rng, n=120, widths=(12, 8), r=2, noise=0.2)
        views = jella.datasets.make_incomplete(views, 0.25, setting, random_state=seed)
        notes = jella.complete(views, n_clusters=None, max_iter=5).notes
        said += any("missing because" in note for note in notes)
    assert said == (4 if setting == "mnar" else 0)
