"""Data at the edge of what can be computed: every answer is finite and sensible, or there is one sentence why not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from campaign.laws import SCALES, check
from common import holed, make, planted
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import jella
from jella.estimators.catalogue import estimators
from jella.numerics.arrays import to_numpy
from jella.numerics.finite import is_finite, overflow_refused
from jella.solve.updates.sylvester import solve_low_rank

by_name = pytest.mark.parametrize("method", estimators().values(), ids=estimators().keys())
GOOD = planted(20, (5, 4))


def seen_once():
    rng = np.random.default_rng(0)
    one, other = rng.random((20, 5)), rng.random((20, 4))
    other[1:] = np.nan
    return [one, other]


DEGENERATE = {
    "zeros": [np.zeros((12, 4)), np.zeros((12, 3))],
    "sparse zeros": [sparse.csr_array((12, 4)), sparse.csr_array((12, 3))],
    "constant": [np.full((12, 4), 3.0), np.full((12, 3), 0.5)],
    "constant beside good": [GOOD[0], np.full((20, 3), 2.0)],
    "zeros beside good": [GOOD[0], np.zeros((20, 3))],
    "equal samples": [np.tile(X[:1], (12, 1)) for X in GOOD],
    "fewer samples than clusters": [np.repeat(X[:2], 6, axis=0) for X in GOOD],
    "one sample": [X[:1] for X in GOOD],
    "two samples": [X[:2] for X in GOOD],
    "one feature": [X[:, :1] for X in GOOD],
    "1e83": [GOOD[0] * 1e83, GOOD[1]],
    "1e300": [GOOD[0] * 1e300, GOOD[1]],
    "1e-300": [GOOD[0] * 1e-300, GOOD[1]],
    "denormal": [GOOD[0] * 1e-318, GOOD[1]],
    "offset": [GOOD[0] + 1e12, GOOD[1]],
    "single precision, 1e30": [(X * 1e30).astype(np.float32) for X in GOOD],
    "single precision, 1e-30": [(X * 1e-30).astype(np.float32) for X in GOOD],
    "seen once": seen_once(),
}


def fitted(method, views, **options):
    n = views[0].shape[0]
    model = make(method, **{"n_clusters": min(3, n), "random_state": 0, "max_iter": 10, "n_init": 1, **options})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # all others are errors
        return model.fit(views)


def assert_sensible(model, views):
    if hasattr(model, "transform"):
        np.testing.assert_array_equal(model.transform(views), model.embedding_)
        assert np.isfinite(model.embedding_).all()
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(model.predict(views), model.labels_)
    if not hasattr(model, "complete"):
        return
    for X, found in zip(views, model.complete(views), strict=True):
        if not sparse.issparse(X):
            seen = ~np.isnan(X)
            np.testing.assert_array_equal(found[seen], X[seen])
            assert np.isfinite(found).all()
            assert np.abs(found).max() <= 100 * np.abs(X[seen]).max()


def holes(views):
    """Some whole views missing, at the same places in all views of a length."""
    if sparse.issparse(views[0]) or len(views[0]) < 6 or np.isnan(views[1]).any():
        return views
    views = [X.copy() for X in views]
    views[0][3:5], views[1][7:9] = np.nan, np.nan
    return views


@by_name
@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_data_give_finite_answers_or_a_sentence(method, case):
    kinds = [kind for kind in SCALES if kind != "none"]
    turn = kinds[(list(DEGENERATE).index(case) + list(estimators().values()).index(method)) % len(kinds)]
    for options, views in [
        ({}, DEGENERATE[case]),
        ({"scale": "none"}, holes(DEGENERATE[case])),
        ({"scale": turn}, holes(DEGENERATE[case])),
    ]:
        refusal = ""
        try:
            assert_sensible(fitted(method, views, **options), views)
        except ValueError as error:
            refusal = str(error)
        assert "\n" not in refusal
        # only what is out of the range of the floating type may be refused as such
        assert "expected finite" not in refusal or case in ("1e300", "single precision, 1e30")


@pytest.mark.parametrize("seed", range(30))
def test_laws_hold_on_random_problems(seed):
    assert check(seed) is None


def test_daimc_refuses_a_view_that_fewer_samples_have_than_components():
    """Its basis could grow without end: completed values were 83 000 for values in [0, 1)."""
    rng = np.random.default_rng(0)
    views = [rng.uniform(size=(30, 5)), rng.uniform(size=(30, 4))]
    for count in (1, 2):
        few = [views[0], np.where(np.arange(30)[:, None] < count, views[1], np.nan)]
        with pytest.raises(ValueError, match=f"at least 3 samples of each view, but view 'view1' has {count}"):
            fitted(jella.DAIMC, few, n_clusters=3)
        assert np.abs(fitted(jella.DAIMC, few, n_clusters=count).complete(few)[1]).max() < 50


def test_daimc_of_zeros_is_zero():
    views = DEGENERATE["zeros"]
    model = fitted(jella.DAIMC, views)
    assert np.isfinite(model.objective_).all()
    np.testing.assert_array_equal(model.embedding_, 0.0)


def test_equations_with_a_shift_of_zero_have_the_solution_of_minimum_norm(rng):
    Y, right = rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
    for columns in (Y, np.concatenate([Y, Y[:, :1]], axis=1)):  # the second without full rank
        inside = columns @ rng.normal(size=(columns.shape[1], 2))
        found = solve_low_rank(columns, np.array([0.5, 2.0]), right)
        gram = columns @ columns.T
        np.testing.assert_allclose(gram @ found + found * [0.5, 2.0], right, atol=1e-10)
        np.testing.assert_allclose(
            solve_low_rank(columns, np.zeros(2), inside), np.linalg.pinv(gram) @ inside, atol=1e-8
        )


@pytest.mark.parametrize("method", [jella.RRMC, jella.RPCA])
@pytest.mark.parametrize("setting", ["missing-view", "incomplete-view"])
def test_completion_in_single_precision_is_that_of_the_same_numbers_in_double(method, setting):
    single = [X.astype(np.float32) for X in holed(setting)]
    double = [X.astype(np.float64) for X in single]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours, theirs = method().fit(single).complete(single), method().fit(double).complete(double)
    for one, two in zip(ours, theirs, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)


# what is refused


def test_values_whose_powers_overflow_are_refused_without_scaling():
    for factor, got in [(1e200, "got 1e\\+200"), (1e-200, "got 1e-200")]:
        views = [factor * X / X.max() for X in GOOD]
        with pytest.raises(
            ValueError, match=f"expected sizes from 1e-154 to 1e\\+77 with scale='none', {got} .*'view0'"
        ):
            fitted(jella.MVLIV, views, scale="none")
        fitted(jella.MVLIV, views)


class Overflowing(jella.MVLIV):
    """A method with a defect."""

    def _set_fitted(self, X, problem, result, prepared):
        super()._set_fitted(X, problem, result, prepared)
        self.embedding_[3, 0] = np.inf


def test_a_result_that_is_not_finite_is_refused_and_forgotten():
    model = Overflowing(n_components=2)
    with pytest.raises(ValueError, match=r"expected finite numbers for embedding_ of Overflowing.*scale the views"):
        model.fit(GOOD)
    assert not hasattr(model, "embedding_")
    with pytest.raises(Exception, match="is not fitted yet"):
        model.transform(GOOD)


def test_rows_of_dropped_samples_may_be_nan(xp):
    views = [np.concatenate([X, np.full((1, X.shape[1]), np.nan)]) for X in GOOD]
    model = jella.MVLIV(n_components=2, on_empty="drop").fit([xp.asarray(X) for X in views])
    assert np.isnan(to_numpy(model.embedding_)[-1]).all()
    assert is_finite(model.embedding_, 1)
    assert not is_finite(model.embedding_)


def test_new_samples_that_overflow_are_refused():
    model = fitted(jella.MVLIV, GOOD, scale="none")
    far = [1e308 * X for X in GOOD]
    for ask in (model.transform, model.predict):
        with pytest.raises(ValueError, match="expected finite numbers for new samples of MVLIV"):
            ask(far)


def test_an_equation_without_a_solution_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="expected finite numbers for the fit, got"), overflow_refused("the fit"):
        np.linalg.inv(np.zeros((2, 2)))


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e300])
def test_units_near_the_ends_of_doubles(unit):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(40, 3)) @ rng.normal(size=(3, d)) for d in (6, 5)]
    for view in X:
        view[rng.random(view.shape) < 0.2] = np.nan
    done = jella.complete([unit * X[0], X[1]], on_empty="drop")
    assert all(np.isfinite(view).all() for view in done.views)


def test_values_that_overflow_are_refused_by_a_sentence():
    X = 1e307 * np.random.default_rng(0).normal(size=(60, 8))
    with pytest.raises(ValueError, match="expected finite numbers for the fit of SparseBDR"):
        jella.SparseBDR(random_state=0).fit([X, X[:, :3] / 1e307])
