"""Robust PCA and robust rank-k completion: their algorithms, their replays, and what every estimator must do."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from common import SETTINGS, holed, planted
from expected_failures import scikit_learn_checks
from scipy import io as scipy_io
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import jella
from jella.estimators.completion import RPCA, RRMC
from jella.estimators.completion.base import canonical
from jella.estimators.completion.lagrangian import Factors, separate
from jella.estimators.completion.rpca import GRAM_LIMIT, robust_pca, shrink
from jella.estimators.completion.rrmc import rank_k
from jella.io.stored import giving_arrays
from jella.numerics.arrays import like, to_numpy

loadmat = giving_arrays(scipy_io.loadmat)

METHODS = (RPCA, RRMC)
by_name = pytest.mark.parametrize("method", METHODS, ids=lambda m: m.__name__)
by_setting = pytest.mark.parametrize("setting", SETTINGS)
GOLDEN = pytest.mark.parametrize("case", ["buaa_full", "buaa_zerofill20", "msrc_zerofill20"])


def corrupted(seed=0, n=100, d=80, r=4, missing=0.3, wrong=0.05, size=10.0):
    """A matrix of rank r, and the same with NaN holes and with gross errors in some of what is left."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, r)) @ rng.normal(size=(r, d))
    errors = size * truth.std() * rng.choice([-1.0, 1.0], truth.shape) * (rng.random(truth.shape) < wrong)
    return truth, np.where(rng.random(truth.shape) < missing, np.nan, truth + errors)


def make(method, **options):
    """The method, at the rank of `common.planted` where it asks for one: nothing there hangs on rounding."""
    return RRMC(3, **options) if method is RRMC else method(**options)


def by_robust_pca(D, weight, max_iter=1000):
    return separate(D, robust_pca(D, weight), tol=1e-7, max_iter=max_iter)


def by_rank_k(D, observed, start, tol=1e-6, max_iter=1000):
    return separate(D, rank_k(D, observed, start), tol=tol, max_iter=max_iter)


def relative_error(estimate, truth):
    return np.linalg.norm(estimate - truth) / np.linalg.norm(truth)


def error_on_missing(model, truth, X):
    holes = np.isnan(X)
    return relative_error(model.fit(X).complete(X)[holes], truth[holes])


def fitted_matrix(model):
    return model.embedding_ @ np.concatenate(list(model.bases_)).T


# the algorithms


@GOLDEN
def test_the_inexact_lagrangian_replays_the_program(golden, case):
    file = loadmat(golden / "RPCA" / f"golden_{case}.mat")
    for D, L, E in ((file["D"], file["L"], file["E"]), (file["D"].T, file["L"].T, file["E"].T)):
        result = by_robust_pca(D, file["lambda"].item())
        assert result.n_iter == int(file["it"].item())
        assert result.converged
        np.testing.assert_allclose(result.low_rank, L, atol=1e-9)
        np.testing.assert_allclose(result.sparse, E, atol=1e-9)


@GOLDEN
def test_the_estimator_completes_as_the_program_does(golden, case):
    file = loadmat(golden / "RPCA" / f"golden_{case}.mat")
    X = np.where((file["D"] == 0) & (file["F"] != 0), np.nan, file["D"]).T
    model = RPCA(scale="none").fit(X)
    assert model.n_iter_ == int(file["it"].item())
    np.testing.assert_allclose(model.complete(X), np.where(np.isnan(X), file["L"].T, X), atol=1e-9)


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
@pytest.mark.parametrize("share", [0.5, 0.01, 0.1 * GRAM_LIMIT])
def test_shrinking_is_singular_value_thresholding(rng, shape, share):
    """Against the textbook, on a matrix with singular values down to 1e-9, by eigenvalues and by SVD."""
    Q, _ = np.linalg.qr(rng.normal(size=(shape[0], 12)))
    V, _ = np.linalg.qr(rng.normal(size=(shape[1], 12)))
    s = np.logspace(0, -9, 12)
    result = shrink((Q * s) @ V.T, 1.0 / share)
    lowered = np.maximum(s - share, 0.0)
    np.testing.assert_allclose(result.dense(), (Q * lowered) @ V.T, atol=1e-11)
    assert result.left.shape[1] == np.count_nonzero(lowered)
    assert result.value == pytest.approx(lowered.sum(), abs=1e-10)


def test_robust_pca_finds_the_planted_parts_where_nothing_is_missing():
    truth, X = corrupted(missing=0.0)
    result = by_robust_pca(X, X.shape[1] ** -0.5)
    assert relative_error(result.low_rank, truth) < 1e-5
    np.testing.assert_array_equal(np.abs(result.sparse) > 1e-3, np.abs(X - truth) > 1e-3)
    assert result.factors.left.shape[1] == 4


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("options", [{}, {"missing": 0.5, "wrong": 0.1}, {"size": 100.0}, {"n": 40, "d": 150}], ids=str)
def test_rank_k_completion_finds_the_planted_matrix(seed, options):
    truth, X = corrupted(seed, **options)
    observed, start = ~np.isnan(X), np.eye(X.shape[1], 4)
    result = by_rank_k(np.where(observed, X, 0.0), observed, start)
    assert result.converged
    assert relative_error(result.low_rank, truth) < 1e-4


def test_one_subspace_step_per_round_leads_where_truncated_svds_do():
    _, X = corrupted()
    observed = ~np.isnan(X)
    D = np.where(observed, X, 0.0)

    def truncate(M, mu):
        Q, s, Vt = np.linalg.svd(M, full_matrices=False)
        return Factors(Q[:, :4] * s[:4], Vt[:4].T)

    method = replace(rank_k(D, observed, np.eye(80, 4)), step=truncate)
    exact = separate(D, method, tol=1e-9, max_iter=1000)
    ours = by_rank_k(D, observed, np.eye(80, 4), tol=1e-9)
    np.testing.assert_allclose(ours.low_rank, exact.low_rank, atol=1e-6)


def test_objectives_and_residuals_are_what_they_say():
    _, X = corrupted(seed=1)
    observed = ~np.isnan(X)
    D = np.where(observed, X, 0.0)
    for result, loss in [
        (by_robust_pca(D, 0.1), lambda Z: np.linalg.norm(Z, "nuc") + 0.1 * np.abs(D - Z).sum()),
        (by_rank_k(D, observed, np.eye(80, 4)), lambda Z: np.abs(np.where(observed, D - Z, 0.0)).sum()),
    ]:
        assert result.objective[-1] == pytest.approx(loss(result.low_rank), rel=1e-9)
        assert result.objective.shape == result.residuals.shape == (result.n_iter,)
    for parts in (by_robust_pca(D, 0.1, max_iter=20), by_rank_k(D, observed, np.eye(80, 4), max_iter=20)):
        gap = np.linalg.norm(D - parts.low_rank - parts.sparse) / np.linalg.norm(D)
        assert parts.residuals[-1] == pytest.approx(gap, rel=1e-6)
        assert not parts.converged
    # where nothing was observed, the sparse part takes up the Z of the round before
    before = by_rank_k(D, observed, np.eye(80, 4), max_iter=19).low_rank
    np.testing.assert_allclose(parts.sparse[~observed], -before[~observed], atol=1e-12)


# completion


@pytest.mark.parametrize("scale", ["none", "sample"])
def test_gross_errors_hardly_touch_rrmc(scale):
    for seed in range(3):
        truth, X = corrupted(seed)
        ours = error_on_missing(RRMC(4, scale=scale), truth, X)
        assert ours < 1e-4
        assert ours < 1e-3 * error_on_missing(RPCA(scale=scale), truth, X)
        assert ours < 1e-3 * error_on_missing(jella.MVLIV(n_components=4, scale=scale), truth, X)


def test_rpca_repairs_a_few_holes():
    truth, X = corrupted(missing=0.05, wrong=0.0)
    assert error_on_missing(RPCA(scale="none"), truth, X) < 1e-5


@by_name
@pytest.mark.parametrize("scale", ["none", "sample", "feature"])
def test_completion_follows_the_units_of_the_user(method, scale):
    X = holed("incomplete-view")
    options = {"scale": scale, "tol": 1e-5}
    plain = make(method, **options).fit(X).complete(X)
    large = [1e6 * values for values in X]
    for ours, theirs in zip(make(method, **options).fit(large).complete(large), plain, strict=True):
        np.testing.assert_allclose(ours, 1e6 * theirs, rtol=1e-5, atol=1.0)


@by_name
@by_setting
def test_observed_values_come_back_bit_for_bit_and_inputs_stay(method, setting):
    X = dict(zip("abc", holed(setting), strict=True))
    before = {name: values.copy() for name, values in X.items()}
    completed = method().fit(X).complete(X)
    assert list(completed) == list("abc")
    for name, values in X.items():
        np.testing.assert_array_equal(values, before[name])
        known = ~np.isnan(values)
        np.testing.assert_array_equal(completed[name][known], values[known])
        assert np.isfinite(completed[name]).all()


@by_name
def test_frames_keep_their_names_and_get_the_samples_they_lack(method):
    a, b, _ = holed("incomplete-view")
    a[:5] = np.arange(9.0)
    a[5:, 0] = 1.0
    names = [f"s{i}" for i in range(40)]
    frames = [
        pd.DataFrame(a, index=names, columns=[f"a{j}" for j in range(9)]),
        pd.DataFrame(b, index=names, columns=[f"b{j}" for j in range(6)]).iloc[5:],
    ]
    model = method().set_output(transform="pandas").fit(frames)
    assert list(model.feature_names_in_) == [*frames[0].columns, *frames[1].columns]
    completed = model.complete(frames)
    assert list(completed[1].index) == [*names[5:], *names[:5]]
    assert completed[1].notna().all(axis=None)
    table = model.transform(frames)
    assert list(table.index) == names
    assert list(table.columns) == list(model.get_feature_names_out())
    pd.testing.assert_frame_equal(model.fit_transform(frames), table)


@by_name
def test_sparse_views_count_as_the_dense_ones_they_are(method):
    X = [np.where(values < 0.3, 0.0, values) for values in planted()]
    X[1][:4] = np.nan
    here = [X[0], sparse.csr_array(X[1]), X[2]]
    model, plain = (make(method).set_params(scale="sample").fit(data) for data in (here, X))
    np.testing.assert_allclose(model.embedding_, plain.embedding_, atol=1e-8)
    assert sparse.issparse(model.complete(here)[1])
    np.testing.assert_allclose(model.complete(here)[1].toarray(), plain.complete(X)[1], atol=1e-8)
    new = [values[:10] * 1.1 for values in X]
    np.testing.assert_allclose(
        model.transform([new[0], sparse.csr_array(new[1]), new[2]]), plain.transform(new), atol=1e-7
    )


@pytest.mark.parametrize("method", [*METHODS, jella.MVLIV])
@pytest.mark.parametrize("setting", ["mcar", "incomplete-view"])
def test_values_far_from_zero_are_completed_as_well_as_values_around_it(method, setting):
    """At the default scale, which centres; with samples at unit norm the error depends on where the values lie."""
    rng = np.random.default_rng(0)
    truth = [rng.normal(size=(60, 2)) @ rng.normal(size=(2, d)) + 0.5 * rng.normal(size=(60, d)) for d in (20, 15)]
    hidden = [np.isnan(view) for view in jella.datasets.make_incomplete(truth, 0.3, setting, random_state=0)]

    def error(model, data):
        X = [np.where(where, np.nan, view) for where, view in zip(hidden, data, strict=True)]
        return jella.metrics.rmse(data, model.fit(X).complete(X), missing=hidden)

    away = [10 * rng.normal(size=view.shape[1]) - 5.0 + view for view in truth]
    model = RPCA() if method is RPCA else method(n_components=2)
    assert error(model, away) == pytest.approx(error(model, truth), rel=1e-3)
    assert error(clone(model).set_params(scale="sample"), away) != pytest.approx(error(model, truth), rel=0.1)


# samples, of the fit and new ones


@by_name
def test_samples_of_the_fit_keep_what_was_fitted(method):
    X = holed("incomplete-view")
    model = method(tol=1e-3).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    np.testing.assert_array_equal(model.transform([values[5:7] for values in X]), model.embedding_[5:7])
    moved = [values.copy() for values in X]
    row, column = np.argwhere(~np.isnan(X[0]))[0]
    moved[0][row, column] = np.nan  # a new hole makes a new sample
    changed = model.transform(moved)
    assert not np.array_equal(changed[row], model.embedding_[row])
    np.testing.assert_array_equal(np.delete(changed, row, axis=0), np.delete(model.embedding_, row, axis=0))


def test_a_hole_is_no_zero_and_zero_has_no_sign():
    X = holed("incomplete-view")
    X[0][:, 0] = 0.0
    model = RRMC(3).fit(X)
    X[0][:, 0] = -0.0
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    X[0][:, 0] = np.nan
    assert not np.any(model.transform(X) == model.embedding_)


@pytest.mark.parametrize(
    ("model", "options"),
    [(RRMC(4, scale="none"), {}), (RPCA(scale="none"), {"missing": 0.0})],
    ids=["RRMC", "RPCA"],
)
def test_new_samples_with_gross_errors_are_found_too(model, options):
    truth, X = corrupted(n=140, **options)
    model.fit(X[:100])
    basis = model.bases_[0]
    W = model.transform(X[100:])
    assert relative_error(W @ basis.T, truth[100:]) < 1e-4
    # what the fit found for its own samples, the same rounds with its space find again
    np.testing.assert_allclose(model.transform(X[:100] * (1 + 1e-12)), model.embedding_, atol=1e-3)
    least_squares = np.array([np.linalg.lstsq(basis[~np.isnan(x)], x[~np.isnan(x)], rcond=None)[0] for x in X[100:]])
    assert relative_error(least_squares @ basis.T, truth[100:]) > 0.1


def test_new_samples_of_rpca_solve_its_problem_with_the_space_fixed():
    """½ wᵀS⁻¹w + alpha ‖x − Vw‖₁ at our w is next to the least that a smooth approximation finds."""
    from scipy.optimize import minimize

    _, X = corrupted(n=60, d=30, missing=0.1)
    model = RPCA(scale="none").fit(X[:50])
    V, S = model.bases_[0], model.singular_values_

    def value(w, x, blur):
        return 0.5 * np.sum(w**2 / S) + model.alpha_ * np.sum(np.sqrt((x - V @ w) ** 2 + blur**2))

    for w, x in zip(model.transform(X[50:]), np.nan_to_num(X[50:]), strict=True):
        best = minimize(value, w, (x, 1e-4), options={"gtol": 1e-6}).fun
        assert value(w, x, 0.0) < best * 1.01
        assert value(V.T @ x, x, 0.0) > best * 1.02  # the plain projection is further off


@by_name
def test_a_new_sample_alone_is_as_among_others(method):
    X = holed("incomplete-view")
    model = make(method).fit([values[:30] for values in X])
    together = model.transform([values[30:] for values in X])
    alone = np.concatenate([model.transform([values[i : i + 1] for values in X]) for i in range(30, 40)])
    np.testing.assert_allclose(alone, together, atol=1e-8)


@by_name
def test_new_samples_may_lack_views_altogether(method):
    a, b, c = holed("missing-view")
    model = method().fit([a, b, c])
    present = ~np.isnan(a[:, 0])
    completed = model.complete([a[present], None, None])
    assert [values.shape for values in completed] == [(present.sum(), d) for d in (9, 6, 4)]
    assert np.isfinite(np.concatenate(completed, axis=1)).all()


@by_name
def test_samples_without_any_value(method):
    X = holed("missing-view")
    for values in X:
        values[7] = np.nan
    with pytest.raises(ValueError, match="sample 7 is missing in every view"):
        method().fit(X)
    model = method(on_empty="drop").fit(X)
    assert model.dropped_ == [7]
    assert np.isnan(model.embedding_[7]).all()
    assert np.isfinite(np.delete(model.embedding_, 7, axis=0)).all()
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


# laws of missing data


@by_name
@by_setting
def test_garbage_under_the_mask_changes_nothing(method, setting):
    X = holed(setting)
    observed = [~np.isnan(values) for values in X]
    reference = method().fit(X)
    for garbage in (0.0, -1e300, np.inf, np.nan):
        filled = [np.where(mask, values, garbage) for values, mask in zip(X, observed, strict=True)]
        model = method().fit(filled, observed=observed)
        np.testing.assert_array_equal(model.embedding_, reference.embedding_)
        np.testing.assert_array_equal(model.transform(filled, observed=observed), reference.transform(X))
        for ours, theirs in zip(model.complete(filled, observed=observed), reference.complete(X), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert model.score(filled, observed=observed) == reference.score(X)


@by_name
@by_setting
def test_neither_the_order_of_samples_nor_of_views_matters(method, setting, rng):
    X, order, views = holed(setting), rng.permutation(40), [2, 0, 1]
    here = make(method, tol=1e-4).fit(X)
    there = make(method, tol=1e-4).fit([X[v][order] for v in views])
    np.testing.assert_allclose(there.embedding_, here.embedding_[order], atol=1e-7)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-8)
    for v, basis in zip(views, there.bases_, strict=True):
        np.testing.assert_allclose(basis, here.bases_[v], atol=1e-6)
    again = make(method, tol=1e-4).fit(X)
    np.testing.assert_array_equal(again.embedding_, here.embedding_)


# estimators


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "check"), scikit_learn_checks([RPCA(), RRMC(), RRMC(2, scale="none")]))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@by_name
def test_fitted_attributes(method):
    X = dict(zip("abc", holed("incomplete-view"), strict=True))
    model = method().fit(X)
    r = model.embedding_.shape[1]
    assert {name: U.shape for name, U in model.bases_.items()} == {"a": (9, r), "b": (6, r), "c": (4, r)}
    V = np.concatenate(list(model.bases_.values()))
    np.testing.assert_allclose(V.T @ V, np.eye(r), atol=1e-8)
    np.testing.assert_allclose(model.singular_values_, np.linalg.svd(model.embedding_ @ V.T)[1][:r], rtol=1e-6)
    assert len(model.residuals_) == len(model.objective_) == model.n_iter_
    assert model.residuals_[-1] < model.tol
    assert model.converged_ is True
    assert model.n_features_in_ == 19
    assert model.view_names_in_ == list("abc")
    assert list(model.get_feature_names_out()) == [f"{method.__name__.lower()}{j}" for j in range(r)]
    for absent in ("labels_", "predict", "fit_predict", "n_clusters_", "result_"):
        assert not hasattr(model, absent)


@by_name
def test_cloning_and_pickling(method):
    X = holed("missing-view")
    model = method(view_weights=[1.0, 2.0, 1.0], tol=1e-3).fit(X)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "embedding_")
    again = pickle.loads(pickle.dumps(model))
    for ours, theirs in zip(again.complete(X), model.complete(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_rank_is_asked_for_clipped_or_refused():
    X = holed("incomplete-view")
    assert RRMC().fit(X).embedding_.shape == (40, 10)
    assert RRMC(2).fit(X).embedding_.shape == (40, 2)
    assert np.linalg.matrix_rank(fitted_matrix(RRMC(2).fit(X)), tol=1e-8) == 2
    assert RRMC(on_empty="drop").fit(X[2]).embedding_.shape == (40, 4)
    with pytest.raises(ValueError, match="n_components=20 is more than 40 samples and 19 features allow"):
        RRMC(20).fit(X)


def test_scores_and_bases_are_canonical(rng):
    left = rng.normal(size=(20, 4)) @ np.diag([1.0, 5.0, 0.0, 2.0])
    right = rng.normal(size=(7, 4))
    W, bases = canonical(Factors(left, right), [4, 3])
    V = np.concatenate(bases)
    np.testing.assert_allclose(W @ V.T, left @ right.T, atol=1e-12)
    np.testing.assert_allclose(W.T @ W, np.diag(np.linalg.svd(left @ right.T)[1][:4] ** 2), atol=1e-9)
    np.testing.assert_allclose(V.T @ V, np.diag([1.0, 1.0, 1.0, 0.0]), atol=1e-12)
    assert (V[np.abs(V).argmax(axis=0), range(4)][:3] > 0).all()
    # a component that the matrix does not have could only add noise to new samples
    assert not W[:, 3].any()
    assert not V[:, 3].any()


def test_alpha_weighs_the_errors():
    _, X = corrupted(missing=0.0)
    default = RPCA(scale="none").fit(X)
    assert default.alpha_ == pytest.approx(80**-0.5)
    np.testing.assert_array_equal(RPCA(80**-0.5, scale="none").fit(X).embedding_, default.embedding_)
    np.testing.assert_allclose(fitted_matrix(RPCA(10.0, scale="none").fit(X)), X, atol=1e-5)  # no errors at this price
    nothing = RPCA(1e-6, scale="none").fit(X)  # all is error
    assert nothing.embedding_.shape == (100, 1)
    np.testing.assert_array_equal(fitted_matrix(nothing), np.zeros(X.shape))
    for alpha in (0.0, -1.0):
        with pytest.raises(ValueError, match="alpha"):
            RPCA(alpha).fit(X)


@by_name
def test_reaching_max_iter_warns_with_the_residual_and_what_to_try(method):
    X = holed("incomplete-view")
    with pytest.warns(ConvergenceWarning, match=r"in 3 rounds: the last residual is \S+ .*; increase max_iter or tol"):
        model = method(max_iter=3).fit(X)
    assert model.n_iter_ == 3
    assert not model.converged_
    assert method(max_iter=3, tol=0.0).fit(X).n_iter_ == 3  # asked for: no warning
    for name, value in (("max_iter", 0), ("tol", -1.0)):
        with pytest.raises(ValueError, match=name):
            method(**{name: value}).fit(X)


@by_name
def test_values_that_are_all_zero(method):
    X = np.zeros((12, 5))
    X[2, 3] = np.nan
    np.testing.assert_array_equal(method().fit(X).complete(X), np.zeros((12, 5)))


@by_name
def test_single_precision_converges_and_stays(method):
    X = [values.astype(np.float32) for values in holed("incomplete-view")]
    model = method().fit(X)
    assert model.converged_
    assert model.embedding_.dtype == np.float32
    assert model.transform([2 * values for values in X]).dtype == np.float32
    assert model.complete(X)[0].dtype == np.float32


@by_name
def test_other_array_libraries(method, xp):
    arrays = holed("incomplete-view")
    reference = xp.asarray(np.zeros(1))
    X = [like(values, reference) for values in arrays]
    model, plain = make(method).fit(X), make(method).fit(arrays)
    assert type(model.embedding_) is type(model.complete(X)[0]) is type(reference)
    np.testing.assert_allclose(model.objective_, plain.objective_, rtol=1e-8)
    new = model.transform([2.0 * values for values in X])
    assert type(new) is type(reference)
    np.testing.assert_allclose(to_numpy(new), plain.transform([2.0 * values for values in arrays]), atol=1e-6)
    for ours, theirs in zip(model.complete(X), plain.complete(arrays), strict=True):
        np.testing.assert_allclose(to_numpy(ours), theirs, atol=1e-6)


def test_the_score_finds_the_planted_rank_in_spite_of_errors():
    _, X = corrupted(n=90, d=60, r=3, missing=0.1, wrong=0.02)
    search = GridSearchCV(RRMC(scale="none"), {"n_components": [1, 3, 12]}, cv=3).fit(X)
    assert search.best_params_ == {"n_components": 3}
    pipeline = make_pipeline(FunctionTransformer(), RRMC(2))
    np.testing.assert_array_equal(pipeline.fit_transform(X), RRMC(2).fit(X).embedding_)


def test_the_score_of_rpca_finds_a_useful_weight():
    truth, _ = corrupted(missing=0.0, wrong=0.0)
    scores = {alpha: RPCA(alpha, scale="none").fit(truth).score(truth) for alpha in (1e-4, 80**-0.5)}
    assert scores[1e-4] < 2 * scores[80**-0.5] < 0
