"""From predictions to answers: the recipe, intervals, error estimates, and signs of values missing by their size."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import jella
from jella.impute.chance import clustered_error
from jella.impute.errors import FEW_ROWS, estimate, gains, trust_in
from jella.impute.hidden_values import HiddenValues
from jella.impute.imputer import N_FOLDS, cross_fitted
from jella.impute.leaning import expected_means, leanings
from jella.impute.recipe import Bounds, Recipe, first_guess, mean_error
from jella.impute.spread import Spread, _kept
from jella.impute.units import Units
from jella.views import read_views


def low_rank(rng, n=40, widths=(8, 6), r=3, noise=0.1):
    W = rng.normal(size=(n, r))
    return [W @ rng.normal(size=(r, d)) + noise * rng.normal(size=(n, d)) for d in widths]


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
        expected=np.zeros(n),
        predictions=np.asarray(predictions, dtype=float),
    )


def bounds_of(low=-np.inf, high=np.inf, widths=(4,)):
    return Bounds(tuple(np.full(d, float(low)) for d in widths), tuple(np.full(d, float(high)) for d in widths))


def test_weights_find_the_best_predictor_and_are_not_negative(rng):
    truth = rng.normal(size=4000)
    noise = rng.normal(size=(4, 4000))
    predictions = np.stack([truth + 0.1 * noise[0], truth + 2 * noise[1], noise[2], -truth + noise[3]])
    found = Recipe.learn(evidence_of(truth, predictions, rng), bounds_of())
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
        weights = Recipe.learn(evidence_of(truth, predictions, rng), bounds_of()).corrections[0].weights
        far.append(np.linalg.norm(weights - guess))
    assert far[0] < 0.1 < far[1] < far[2]
    # many values of few samples are few samples
    rows, truth = np.repeat([0, 1], 1000), rng.normal(size=2000)
    predictions = np.stack([rng.normal(size=2000), rng.normal(size=2000), truth, rng.normal(size=2000)])
    own = evidence_of(truth, predictions, rng, rows=rows)
    assert np.linalg.norm(Recipe.learn(own, bounds_of()).corrections[0].weights - guess) < 0.15


@pytest.mark.parametrize("by_feature", [(), ((0, False),)])
def test_answers_do_not_use_the_truth_of_their_own_sample_in_any_trial(by_feature, rng):
    truth = rng.normal(size=400)
    own = evidence_of(truth, truth + rng.normal(size=(4, 400)), rng, rows=np.repeat(np.arange(100), 4))
    own = replace(own, trial=np.tile(np.arange(4), 100))
    mine = own.sample % N_FOLDS == 2
    other = replace(own, truth=np.where(mine, -5.0 * truth + 1.0, truth))
    first, second = (cross_fitted(one, bounds_of(), by_feature) for one in (own, other))
    np.testing.assert_array_equal(first[mine], second[mine])
    assert (first[~mine] != second[~mine]).all()


def test_features_are_corrected_by_themselves(rng):
    truth = rng.normal(size=3000)
    own = evidence_of(truth, truth + 0.1 * rng.normal(size=(4, 3000)), rng)
    shift, slope = np.array([1.0, -1.0, 0.0, 0.0]), np.array([1.0, 1.0, 2.0, 0.5])
    own = replace(own, truth=shift[own.feature] + slope[own.feature] * own.truth)
    plain, refined = (Recipe.learn(own, bounds_of(), groups) for groups in ((), ((0, False),)))
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
    recipe = Recipe.learn(own, bounds)
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


@pytest.mark.parametrize("follows", [0.05, 0.95])
def test_the_mean_error_is_known_better_than_the_mean_of_the_truth(follows):
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = np.repeat(np.arange(50), 20)
        truth = rng.normal(size=50)[rows] + 0.2 * rng.normal(size=1000)
        p = follows * truth + 0.02 * rng.normal(size=50)[rows] - 0.03
        found.append((*mean_error(truth, p, rows), truth.mean() - p.mean()))
    mean, error, plain = np.array(found).T
    assert abs(mean.mean() - 0.03) < 0.005
    assert np.mean(np.abs(mean - 0.03) < 2 * error) > 0.85
    off, plainly_off = (np.quantile(np.abs(x - 0.03), 0.9) for x in (mean, plain))
    # weak predictions: what the truth of the hidden values is by chance is taken out; strong ones follow it
    assert off < 0.1 * plainly_off if follows < 0.5 else off < 0.02


def test_a_mean_of_the_truth_that_is_expected_is_no_chance():
    """Samples with large values lack more of them: the mean of what is hidden is known beforehand."""
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        rows = np.repeat(np.arange(30), 20)
        truth = 0.1 + rng.normal(size=30)[rows] + 0.2 * rng.normal(size=600)
        p = np.zeros(600)  # predictions that know nothing
        found.append([mean_error(truth, p, rows, expected)[0] for expected in (0.1, 0.0)])
    known, unknown = np.mean(found, axis=0)
    assert abs(known - 0.1) < 0.02
    assert abs(unknown) < 0.03  # it is taken for chance


def test_a_mean_error_of_values_that_are_missing_by_their_size_stays(rng):
    rows, truth = np.arange(2000), 0.5 + rng.normal(size=2000)
    mean, error = mean_error(truth, 0.2 * truth, rows)
    assert abs(mean - 0.4) < 0.04
    assert error < 0.02


def test_totals_of_counts_stay_where_few_features_make_them(rng):
    """Frequent words are predicted too low, rare ones are not: the shift of all features misses the total."""
    unit, n = np.array([10.0, 0.1, 0.1, 0.1]), 8000
    known = 0.3 * rng.normal(size=n)
    truth = known + rng.gamma(0.2, 2.0, size=n) - 0.4
    own = evidence_of(truth, np.zeros((4, n)), rng, rows=np.repeat(np.arange(n // 40), 40))
    p, low = known + np.where(own.feature == 0, -0.1, 0.1 / 3), np.full(4, -0.5)
    own = replace(own, predictions=np.tile(p, (4, 1)))
    bounds = Bounds((low,), (np.full(4, np.inf),))
    plain, kept = (Recipe.learn(own, bounds, (), units) for units in (None, [unit]))
    weight, total = unit[own.feature], np.sum(unit[own.feature] * (truth - low[own.feature]))
    lacking = [np.sum(weight * (truth - one.answers(own))) / total for one in (plain, kept)]
    assert lacking[0] > 0.05
    assert abs(lacking[1]) < 0.3 * lacking[0]
    assert (kept.answers(own) >= low[own.feature]).all()
    errors = [np.mean((truth - one.answers(own)) ** 2) for one in (plain, kept)]
    assert errors[1] < errors[0] + 0.02
    untouched = Recipe.learn(own, bounds, (), [np.zeros(4)])  # no counts
    np.testing.assert_array_equal(untouched.answers(own), plain.answers(own))


def test_without_trust_the_answer_is_exactly_the_mean(rng):
    truth = rng.normal(size=200)
    own = evidence_of(truth, truth + rng.normal(size=(4, 200)), rng)
    recipe = Recipe.learn(own, bounds_of(-1.0, 1.0)).trusted({(0, False): 0.0})
    predictions = rng.normal(size=(4, 5, 4))
    for whole in (True, False):  # also by the fallback
        np.testing.assert_array_equal(recipe.answer(predictions, 0, np.full(5, whole)), 0.0)
    half, full = (recipe.trusted({(0, False): t}).answer(predictions, 0, np.zeros(5, dtype=bool)) for t in (0.5, 1.0))
    np.testing.assert_allclose(half, full / 2)


# which entries are hidden


@pytest.mark.parametrize("setting", ["mcar", "mnar"])
def test_hidden_entries_are_as_large_as_missing_ones(setting):
    """A model has seen the large values that are observed; that alone does not make missing ones small."""
    off = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        truth = rng.poisson(rng.gamma(1.0, 1.0, (90, 2)) @ rng.gamma(0.3, 0.5, (2, 150))).astype(float)
        truth = truth if setting == "mcar" else low_rank(rng, 90, (40,))[0]
        views = read_views([jella.datasets.make_incomplete([truth], 0.3, setting, random_state=seed)[0]])
        odds = np.exp(leanings(views, rng)[0]) * views[0].mask
        size = (truth - truth.mean(axis=0)) / np.maximum(truth.std(axis=0), 0.1)
        off.append((odds * size).sum() / odds.sum() - size[views[0].mask].mean())
    if setting == "mcar":
        assert abs(np.mean(off)) < 0.01
    else:
        assert min(off) > 0.03


def test_sizes_of_samples_are_not_counted_twice():
    """Where samples with small or large values lack more of them, rates say so, and sizes add nothing."""
    tilt, off = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        W, level = rng.normal(size=(150, 2)), np.abs(rng.normal(size=60))
        truth = (
            np.outer(W[:, 0], level) + np.outer(W[:, 1], 0.5 * rng.normal(size=60)) + 0.3 * rng.normal(size=(150, 60))
        )
        views = read_views([jella.datasets.make_incomplete([truth], 0.4, "mar", random_state=seed)[0]])
        odds, seen, size = np.exp(leanings(views, rng)[0]), views[0].mask, truth / truth.std(axis=0)
        tilt.append(size[~seen].mean() - size[seen].mean())
        off.append((odds * size)[seen].sum() / odds[seen].sum() - size[~seen].mean())
    assert np.mean(np.abs(tilt)) > 0.3
    assert np.mean(np.abs(off)) < 0.3 * np.mean(np.abs(tilt))
    assert np.mean(np.sign(tilt) * off) < 0.03  # not beyond the missing ones


def test_values_of_few_samples_of_noise_do_not_lean_by_size():
    """Otherwise the largest would be hidden in each trial, and means would be corrected for that."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        views = read_views(
            [np.where(rng.random((15, d)) < 0.4, np.nan, np.exp(1.5 * rng.normal(size=(15, d)))) for d in (8, 6)]
        )
        for view, lean in zip(views, leanings(views, rng), strict=True):
            missing = ~view.mask
            rows, columns = missing.sum(axis=1), missing[view.presence()].sum(axis=0)
            there = view.presence()
            rows = np.log((rows + 1) / (view.n_features - rows + 1))
            columns = np.log((columns + 1) / (there.sum() - columns + 1))
            by_rates = (rows - rows[there].mean())[:, None] + columns - columns.mean()
            np.testing.assert_allclose(lean, np.clip(by_rates, -3, 3))


def test_what_hidden_values_will_have_on_average_is_known(rng):
    X = rng.normal(size=(200, 30)) + np.where(np.arange(200) < 100, 1.0, -1.0)[:, None]
    here = rng.random(X.shape) < np.where(np.arange(200) < 100, 0.3, 0.9)[:, None]
    views = read_views([np.where(here, X, np.nan)])
    units = Units.of(views)
    lean = leanings(views, rng)
    expected = expected_means(views, units, lean)[0]
    missing = units.relative(X, 0)[~here].mean()
    assert missing > 0.5
    assert abs(expected.mean() - missing) < 0.15 * missing
    np.testing.assert_array_equal(expected_means(views, units, [None])[0], np.zeros(30))
    # of two entries per sample little is known
    pair = read_views([np.where(here[:, :2], X[:, :2], np.nan)])
    assert np.abs(expected_means(pair, Units.of(pair), [lean[0][:, :2]])[0]).mean() < np.abs(expected[:2]).mean()


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
        strata = Spread.learn(own, answers, bounds, [], None).of(0, False)
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


def test_intervals_hold_values_of_new_samples_where_errors_of_a_sample_go_together():
    inside = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n, d = 30, 40
        rows, of_sample, of_new = np.repeat(np.arange(n), d), rng.normal(size=n), rng.normal(size=60)
        errors = of_sample[rows] + 0.5 * rng.normal(size=n * d)
        own = evidence_of(errors, np.zeros((4, n * d)), rng, rows=rows)
        lower, upper, _ = (
            Spread.learn(own, np.zeros(n * d), bounds_of(), [], None)
            .of(0, False)
            .around(np.zeros((60, 4)), np.full(60, 0.5), 0.9)
        )
        new = of_new[:, None] + 0.5 * rng.normal(size=(60, 4))
        inside.append(np.mean((lower <= new) & (new <= upper)))
    assert 0.89 <= np.mean(inside) <= 0.92  # 0.88 if all errors count as independent


def test_errors_that_go_together_are_kept_at_even_places():
    errors = np.linspace(-1.0, 1.0, 1000)
    few = _kept(errors, np.repeat(np.arange(40), 25))
    assert few.size == 40
    np.testing.assert_allclose(few, -few[::-1], atol=0.003)  # neither side lies further out
    np.testing.assert_array_equal(_kept(errors, np.arange(1000)), errors)


def test_intervals_grow_with_their_level_and_the_deviation_is_that_of_errors(rng):
    own, answers, bounds = planted_errors("gauss", 0)
    spread = Spread.learn(own, answers, bounds, [], None)
    strata = spread.of(0, False)
    values = np.linspace(-2, 2, 9)[:, None] * np.ones(4)
    ends = [strata.around(values, np.full(9, 0.9), level) for level in (0.5, 0.8, 0.95, 0.999)]
    for narrow, wide in pairwise(ends):
        assert (wide[0] < narrow[0]).all()
        assert (wide[1] > narrow[1]).all()
    np.testing.assert_allclose(ends[0][2], 0.5, rtol=0.1)
    assert spread.of(0, True) is strata  # the other kind of hole
    assert spread.of(1, False) is None


def unlinked(n, rng, shared=0, entries=0.1):
    """Two views of three groups; hardly a sample has both. The truth, and the views with holes."""
    y = rng.integers(0, 3, n)
    truth = [3 * rng.normal(size=(3, d))[y] + 0.5 * rng.normal(size=(n, d)) for d in (8, 6)]
    holed = [np.where(rng.random(X.shape) < entries, np.nan, X) for X in truth]
    holed[0][n // 2 + shared :], holed[1][: n // 2] = np.nan, np.nan
    return truth, holed


@pytest.mark.parametrize("shared", [0, 4])
def test_what_few_samples_show_of_whole_views_is_no_promise(shared, rng):
    truth, holed = unlinked(120, rng, shared)
    done = jella.complete(holed, interval=0.9)
    whole = [np.isnan(X).all(axis=1) for X in holed]
    inside = [
        ((low <= X) & (high >= X))[rows].mean()
        for X, low, high, rows in zip(truth, done.lower, done.upper, whole, strict=True)
    ]
    assert min(inside) > 0.8
    if not shared:
        missing, errors = [np.isnan(X) for X in holed], []
        for X, Y, where in zip(truth, done.views, missing, strict=True):
            errors.append(((Y - X) / np.nanstd(np.where(where, np.nan, X), axis=0))[where])
        assert done.error == pytest.approx(np.sqrt(np.mean(np.concatenate(errors) ** 2)), rel=0.1)
        assert sum("no better than the mean" in note for note in done.notes) == 2


def test_views_that_share_no_sample_have_no_known_error(rng):
    _, holed = unlinked(60, rng, entries=0.0)
    done = jella.complete(holed)
    assert done.error is done.mean_error is None
    assert "views that share no sample say nothing about each other" in repr(done)
    with pytest.raises(ValueError, match="a sample that loses a view needs another"):
        jella.complete(holed, interval=0.9)


def test_new_samples_without_a_view_that_none_lacked_have_wide_intervals(rng):
    X = low_rank(rng, n=80)
    X[1][rng.random(X[1].shape) < 0.2] = np.nan
    model = jella.SparseBDR(3, random_state=0).fit(X)
    new = [np.full((5, 8), np.nan), X[1][:5]]
    found = model.complete(new, interval=0.9)
    width = (found.upper[0] - found.lower[0]) / X[0].std(axis=0)
    assert (width.mean(axis=0) > 2).all()  # 90 % of a normal feature are within 3.3 standard deviations


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
    assert alone == pytest.approx(values.std() / np.sqrt(97))
    assert clustered_error(np.repeat(values, 4)[:12], np.repeat(np.arange(3), 4)) == np.inf  # three samples say nothing
    assert clustered_error(np.repeat(values, 4), np.repeat(np.arange(100), 4)) == pytest.approx(alone)
    assert trust_in(-1.0, 0.1) == 0.0
    assert trust_in(0.1, 0.5) == 0.0  # may be chance
    assert trust_in(0.4, 0.5) == 0.0 == trust_in(10.0, np.inf)
    assert 0 < trust_in(0.6, 0.5) < trust_in(1.0, 0.5) < trust_in(10.0, 0.5) < 1


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


# noise and counts


def test_noise_is_completed_by_means_and_said(monkeypatch):
    monkeypatch.setattr("jella.impute.hidden_values.MOST_TRIALS", 3)
    said = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = [rng.normal(size=(100, 8)), rng.normal(size=(100, 6))]
        X = jella.datasets.make_incomplete(X, 0.2, random_state=seed)
        found = jella.complete(X, max_iter=5)
        for v, name in enumerate(("view0", "view1")):
            means = np.nanmean(X[v], axis=0)
            is_mean = np.allclose(np.where(np.isnan(X[v]), found.views[v], means), means)
            assert is_mean == (name in found.imputed_by_mean)
            assert any("nothing predicts" in note and name in note for note in found.notes) == is_mean
            assert (found.error_by_view[name] == found.mean_error_by_view[name]) == is_mean
        said += found.imputed_by_mean
        assert found.error < 1.03 * found.mean_error
    assert len(said) >= 4


def test_counts_are_not_negative_and_their_totals_stay(monkeypatch):
    monkeypatch.setattr("jella.impute.hidden_values.MOST_TRIALS", 3)
    excess = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rate = rng.gamma(1.0, 1.0, (100, 3)) @ rng.gamma(0.5, 0.7, (3, 30))
        truth = [rng.poisson(rate).astype(float), np.log1p(rate[:, :6]) + 0.3 * rng.normal(size=(100, 6))]
        X = jella.datasets.make_incomplete(truth, 0.4, random_state=seed)
        found = jella.complete(X, max_iter=5)
        gone = np.isnan(X[0])
        assert found.views[0][gone].min() >= 0
        spread = np.maximum(np.nanstd(X[0], axis=0), 0.1)
        # against the rates: the counts of the samples that lack the view have noise of their own
        excess.append(((found.views[0] - rate) / spread)[gone].mean())
    assert abs(np.mean(excess)) < 0.02 + 2 * np.std(excess) / np.sqrt(len(excess))
