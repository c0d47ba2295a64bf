"""MIC and RAMC: their steps against the textbook, MIC's program replayed, and what users may rely on."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from common import holed, planted
from expected_failures import scikit_learn_checks
from scipy import io as scipy_io
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone, is_clusterer
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import jella
from jella.estimators.consensus import MIC, RAMC
from jella.estimators.consensus.filled import Filled
from jella.estimators.consensus.graph_fit import RankWeight, connected_enough, fit_graph
from jella.estimators.consensus.graphs import adaptive_graph
from jella.estimators.consensus.l1_rows import nearest_rows
from jella.estimators.consensus.mic_embed import embed_views
from jella.estimators.consensus.mic_start import chained_start
from jella.estimators.consensus.mic_steps import (
    basis_step,
    consensus,
    embedding_step,
    loss,
    mic_objective,
    refine,
    unit_columns,
)
from jella.io.stored import giving_arrays
from jella.numerics.arrays import like, to_numpy
from jella.views import read_views

loadmat = giving_arrays(scipy_io.loadmat)

by_name = pytest.mark.parametrize("method", [MIC, RAMC], ids=lambda m: m.__name__)


# fewer steps than the default: the checks ask for behaviour, not for quality
CHECKED = [
    MIC(n_steps=5, n_init=1, tol=1e-2),
    MIC(n_clusters=3, n_steps=5, n_init=1, tol=1e-2),
    RAMC(max_iter=8, n_init=1),
    RAMC(n_clusters=3, max_iter=8, n_init=1),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "check"), scikit_learn_checks(CHECKED))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# MIC: the program


@pytest.mark.parametrize("case", ["buaa_beta0.1", "buaa_beta0.001", "msrc_beta0.1"])
def test_mic_steps_replay_the_program(golden, case):
    """Whole runs: the consensus of the last round, factors after it, and the value the program logs, to 1e-10."""
    file = loadmat(golden / "MIC" / f"golden_{case}.mat")
    options, start = file["o"][0, 0], file["init"][0, 0]
    alpha, beta = (float(options[name].ravel()[0]) for name in ("alpha", "beta"))
    views = [
        Filled(X, np.zeros(len(X)), np.zeros(X.shape[1]), np.diag(C) ** 2)  # the stored X is filled already
        for X, C in zip(file["X"].ravel(), file["C"].ravel(), strict=True)
    ]
    U, V = list(start["U"].ravel()), list(start["V"].ravel())
    log = [0.0]
    for _ in range(int(options["rounds"].item())):
        target = consensus(views, U)
        # the program sums column norms where its steps descend row norms
        columns = sum(np.linalg.norm(Uv, axis=0).sum() for Uv in U)
        log.append(mic_objective(views, U, V, target, alpha, beta=0.0) + beta * columns)
        for v, view in enumerate(views):
            U[v], V[v] = refine(
                view, U[v], V[v], target, alpha=alpha, beta=beta, n_steps=int(options["maxIter"].item())
            )
    np.testing.assert_allclose(log, file["lg"].ravel(), rtol=1e-10)
    np.testing.assert_allclose(target, file["cU"], rtol=0, atol=1e-10)
    for ours, theirs in zip(U + V, [*file["U"].ravel(), *file["V"].ravel()], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)


def test_mic_fills_and_weighs_as_the_program(golden):
    """From the data with holes, our views have the program's mean-filled data and weights."""
    file = loadmat(golden / "MIC" / "golden_msrc_beta0.1.mat")
    for X, C, present in zip(file["X"].ravel(), file["C"].ravel(), file["ind"].T, strict=True):
        ours = Filled.weighted(read_views([np.where(present[:, None] > 0, X, np.nan)])[0])
        np.testing.assert_allclose(ours.times(np.eye(X.shape[1])), X, atol=1e-14)
        np.testing.assert_allclose(ours.weights, np.diag(C) ** 2, atol=1e-14)


# MIC: the steps


def mic_case(rng, n=30, widths=(8, 5), r=3, rate=0.4):
    """Views with absent samples, their textbook form (mean-filled, weights c), and blocks."""
    X = [rng.uniform(size=(n, d)) for d in widths]
    views = jella.datasets.make_incomplete(X, rate, random_state=0)
    filled = [Filled.weighted(view) for view in read_views(views)]
    dense = [np.where(np.isnan(Xv), np.nanmean(Xv, axis=0), Xv) for Xv in views]
    c = [np.where(np.isnan(Xv[:, 0]), 1 - np.isnan(Xv[:, 0]).mean(), 1.0) for Xv in views]
    U, V = [rng.uniform(size=(n, r)) for _ in widths], [rng.uniform(size=(d, r)) for d in widths]
    return filled, dense, c, U, V


def textbook(dense, c, U, V, target, alpha, beta):
    """MIC's objective, with the diagonal matrices written out."""
    value = 0.0
    for X, cv, Uv, Vv in zip(dense, c, U, V, strict=True):
        C = np.diag(cv)
        value += np.linalg.norm(C @ (X - Uv @ Vv.T)) ** 2 + alpha * np.linalg.norm(C @ (Uv - target)) ** 2
        value += beta * np.linalg.norm(Uv, axis=1).sum()
    return value


def test_mic_objective_is_the_textbook_one(rng):
    filled, dense, c, U, V = mic_case(rng)
    target = rng.uniform(size=U[0].shape)
    ours = mic_objective(filled, U, V, target, 0.3, 0.2)
    assert ours == pytest.approx(textbook(dense, c, U, V, target, 0.3, 0.2), rel=1e-12)


def test_mic_consensus_minimises(rng):
    filled, dense, c, U, V = mic_case(rng)
    best = consensus(filled, U)
    value = textbook(dense, c, U, V, best, 1.0, 0.0)
    for _ in range(5):
        other = best + 1e-3 * rng.normal(size=best.shape)
        assert textbook(dense, c, U, V, other, 1.0, 0.0) > value


@pytest.mark.parametrize("beta", [0.0, 0.1, 3.0])
def test_mic_steps_never_raise_what_they_descend(rng, beta):
    filled, dense, c, U, V = mic_case(rng)
    target = rng.uniform(size=U[0].shape)
    value = textbook(dense, c, U, V, target, 0.5, beta)
    for _ in range(20):
        for v, view in enumerate(filled):
            U[v] = embedding_step(view, U[v], V[v], target, 0.5, beta)
            after_U = textbook(dense, c, U, V, target, 0.5, beta)
            V[v] = basis_step(view, U[v], V[v])
            after_V = textbook(dense, c, U, V, target, 0.5, beta)
            assert after_V <= after_U * (1 + 1e-12) <= value * (1 + 2e-12)
            value = after_V


def test_mic_rescaling_keeps_the_product(rng):
    U, V = rng.uniform(size=(6, 3)), rng.uniform(size=(4, 3))
    V[:, 1] = 0.0
    U2, V2 = unit_columns(U, V)
    np.testing.assert_allclose(V2.sum(axis=0), [1.0, 0.0, 1.0])
    np.testing.assert_allclose(U2 @ V2.T, U @ V.T)


def test_mic_zero_rows_stay_zero_and_finite(rng):
    filled, _, _, U, V = mic_case(rng)
    U[0][3] = 0.0
    for _ in range(3):
        U[0], V[0] = refine(filled[0], U[0], V[0], U[1], alpha=0.01, beta=0.1, n_steps=5)
    assert (U[0][3] == 0).all()
    assert np.isfinite(U[0]).all()
    assert np.isfinite(V[0]).all()


def test_filled_views_are_never_formed(rng):
    view = read_views([np.where(rng.random((12, 1)) < 0.3, np.nan, rng.uniform(size=(12, 5)))])[0]
    dense = Filled.weighted(view)
    thin = Filled.weighted(read_views([sparse.csr_array(view.X)], observed=[view.mask])[0])
    assert sparse.issparse(thin.X)
    explicit = np.where(view.mask, view.X, view.X.sum(axis=0) / view.mask.sum())
    V, U = rng.uniform(size=(5, 2)), rng.uniform(size=(12, 2))
    for filled in (dense, thin):
        np.testing.assert_allclose(filled.times(V), explicit @ V)
        np.testing.assert_allclose(filled.times_transposed(U), explicit.T @ U)
        assert filled.sqnorm() == pytest.approx((filled.weights[:, None] * explicit**2).sum())
        assert loss(filled, U, V) == pytest.approx((filled.weights[:, None] * (explicit - U @ V.T) ** 2).sum())


@pytest.mark.parametrize(("alpha", "beta"), [(0.01, 0.1), (1.0, 0.0), (0.1, 4.0), (0.1, 60.0)])
def test_mic_embedding_meets_the_optimality_conditions(rng, alpha, beta):
    """With V fixed: gradients vanish at positive entries, do not pull zeros up, and zero rows are within beta."""
    filled, dense, c, _, V = mic_case(rng)
    U = embed_views(filled, V, alpha, beta)
    target = consensus(filled, list(U))
    assert (U >= 0).all()
    if beta == 60.0:
        assert (U == 0).all()
    for X, cv, Uv, Vv in zip(dense, c, U, V, strict=True):
        smooth = 2 * cv[:, None] ** 2 * ((Uv @ Vv.T - X) @ Vv + alpha * (Uv - target))
        lengths = np.linalg.norm(Uv, axis=1)
        alive = lengths > 0
        gradient = smooth[alive] + beta * Uv[alive] / lengths[alive, None]
        np.testing.assert_allclose(np.where(Uv[alive] > 0, gradient, np.minimum(gradient, 0)), 0.0, atol=1e-6)
        assert (np.linalg.norm(np.maximum(-smooth[~alive], 0), axis=1) <= beta + 1e-9).all()
        assert 0 < alive.sum() < alive.size or beta != 4.0  # this beta has rows of both kinds


# MIC: the estimator


def mic(**options):
    return MIC(**{"n_clusters": 3, "random_state": 0, "n_steps": 20, "tol": 1e-3, **options})


def test_mic_reports_the_true_objective():
    views = holed("missing-view")
    model = mic(scale="none").fit(views)
    filled = [Filled.weighted(view) for view in read_views(views)]
    dense = [view.times(np.eye(view.X.shape[1])) for view in filled]
    c = [np.sqrt(view.weights) for view in filled]
    value = textbook(dense, c, model.view_embeddings_, model.bases_, model.embedding_, model.alpha, model.beta)
    assert model.objective_[-1] == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(model.embedding_, consensus(filled, model.view_embeddings_), rtol=1e-12)
    assert len(model.objective_) == len(model.residuals_) == model.n_iter_
    assert model.converged_ is True
    assert model.residuals_[-1] < model.tol <= model.residuals_[:-1].min()
    change = np.abs(np.diff(model.objective_[:-1])) / model.objective_[:-2]
    np.testing.assert_allclose(model.residuals_[1:-1], change, rtol=1e-9)


def test_mic_closing_step_lowers_the_objective():
    views = holed("missing-view")
    one, two = (mic(tol=0.0, max_iter=rounds).fit(views) for rounds in (1, 2))
    assert one.objective_[0] < two.objective_[0]  # the same round, with and without the closing step


def test_mic_transform_of_the_training_samples_is_the_embedding():
    views = holed("missing-view")
    model = mic().fit(views)
    np.testing.assert_allclose(model.transform(views), model.embedding_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    alone = [model.transform([X[i : i + 1] for X in views])[0] for i in (0, 5, 11)]
    np.testing.assert_allclose(alone, model.embedding_[[0, 5, 11]], atol=1e-6)
    np.testing.assert_allclose(mic().fit_transform(views), model.embedding_)


def test_mic_new_samples_without_views():
    truth = planted(n=150, widths=(20, 15, 10), noise=0.02)
    views = jella.datasets.make_incomplete(truth, 0.3, random_state=0)
    model = MIC(n_clusters=3, random_state=0).fit([X[:120] for X in views])
    labels = np.concatenate([model.labels_, model.predict([X[120:] for X in views])])
    assert adjusted_rand_score(np.arange(150) % 3, labels) > 0.9
    first_alone = model.transform([truth[0][120:], None, None])
    assert np.isfinite(first_alone).all()


def test_mic_garbage_under_the_mask_changes_nothing():
    views = holed("missing-view")
    observed = [~np.isnan(X) for X in views]
    reference = mic().fit(views)
    for garbage in (0.0, -1e300, np.inf, np.nan):
        filled = [np.where(mask, X, garbage) for X, mask in zip(views, observed, strict=True)]
        model = mic().fit(filled, observed=observed)
        np.testing.assert_array_equal(model.embedding_, reference.embedding_)
        np.testing.assert_array_equal(model.labels_, reference.labels_)
        np.testing.assert_array_equal(model.transform(filled, observed=observed), reference.transform(views))


def test_mic_permuting_samples_and_views_from_a_given_start(rng):
    views, order, turned = holed("missing-view"), rng.permutation(40), [2, 0, 1]
    U = [rng.uniform(size=(40, 3)) for _ in views]
    V = [rng.uniform(size=(X.shape[1], 3)) for X in views]
    options = {"tol": 0.0, "max_iter": 3, "beta": 0.1}
    here = mic(init={"embeddings": U, "bases": V}, **options).fit(views)
    start = {"embeddings": [U[v][order] for v in turned], "bases": [V[v] for v in turned]}
    there = mic(init=start, **options).fit([views[v][order] for v in turned])
    np.testing.assert_allclose(there.embedding_, here.embedding_[order], atol=1e-7)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-10)
    assert adjusted_rand_score(there.labels_, here.labels_[order]) == 1.0
    assert (np.concatenate(U) > 0).all()  # the start is not written to


def test_mic_planted_groups_are_recovered():
    views = jella.datasets.make_incomplete(planted(n=120, widths=(20, 15, 10), noise=0.02), 0.3, random_state=1)
    model = MIC(n_clusters=3, random_state=0).fit(views)
    assert adjusted_rand_score(np.arange(120) % 3, model.labels_) > 0.9


def test_mic_random_state_is_honoured():
    views = holed("missing-view")
    options = {"n_init": 1, "max_iter": 2, "tol": 0.0}
    one, same, other = (mic(random_state=s, **options).fit(views) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.embedding_, same.embedding_)
    assert not np.allclose(one.embedding_, other.embedding_)


def test_mic_starts_from_factors_of_every_view():
    views = [Filled.weighted(view) for view in read_views(holed("missing-view"))]
    plain = [replace(view, weights=np.ones(40)) for view in views]
    U, V = chained_start(views, 3, np.random.default_rng(0), n_init=3, n_steps=100)
    for view, Uv, Vv in zip(plain, U, V, strict=True):
        assert loss(view, Uv, Vv) < 0.02 * view.sqnorm()
        np.testing.assert_allclose(Vv.sum(axis=0), 1.0)


def test_mic_views_hand_their_embedding_on():
    """Two copies of a view end with the same components in the same order: the second did not start at random."""
    view = Filled.weighted(read_views([planted(noise=0.0)[0]])[0])
    (first, second), _ = chained_start([view, view], 3, np.random.default_rng(0), n_init=1, n_steps=100)
    alike = np.corrcoef(first.T, second.T)[:3, 3:]
    assert alike.diagonal().min() > 0.99
    other = chained_start([view], 3, np.random.default_rng(1), n_init=1, n_steps=300)[0][0]
    assert np.corrcoef(first.T, other.T)[:3, 3:].diagonal().min() < 0.9


def test_mic_goes_on_from_the_best_of_several_runs():
    view = Filled.weighted(read_views([planted()[0]])[0])
    losses = []
    for n_init in (1, 2, 5, 50):  # the first runs are the same ones
        (U,), (V,) = chained_start([view], 3, np.random.default_rng(0), n_init=n_init, n_steps=1)
        losses.append(loss(view, U, V))
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.9 * losses[0]


def test_mic_sparse_views_stay_sparse_and_agree(rng):
    views = [np.where(X > 0.5, X, 0.0) for X in planted()]
    present = [rng.random(40) < 0.8 for _ in views[1:]]
    observed = [np.ones(40, bool), *present]
    dense = mic().fit(views, observed=observed)
    thin = mic().fit([sparse.csr_array(X) for X in views], observed=observed)
    np.testing.assert_allclose(thin.embedding_, dense.embedding_, atol=1e-8)
    for ours, theirs in zip(thin.bases_, dense.bases_, strict=True):
        assert type(ours) is np.ndarray
        np.testing.assert_allclose(ours, theirs, atol=1e-8)


def test_mic_takes_other_array_libraries(xp):
    arrays = holed("missing-view")
    reference = xp.asarray(np.zeros(1))
    views = [like(X, reference) for X in arrays]
    model, plain = (mic(max_iter=3, tol=0.0).fit(data) for data in (views, arrays))
    assert type(model.embedding_) is type(reference)
    np.testing.assert_allclose(model.objective_, plain.objective_, rtol=1e-8)
    np.testing.assert_allclose(to_numpy(model.transform(views)), plain.embedding_, atol=1e-6)


def test_mic_single_precision():
    views = [X.astype(np.float32) for X in holed("missing-view")]
    model = mic().fit(views)
    assert model.embedding_.dtype == np.float32
    np.testing.assert_allclose(model.transform(views), model.embedding_, atol=1e-5)


def test_mic_refuses_what_it_cannot_take():
    with pytest.raises(ValueError, match=r"sample \d+ lacks \d+ of the \d entries of view .*; use jella.MVLIV, or"):
        mic().fit(holed("incomplete-view"))
    frames = [pd.DataFrame(X, index=[f"s{i}" for i in range(40)]) for X in planted()]
    model = mic().fit(frames)
    frames[1].iloc[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"sample 's7' lacks 1 of the 6 entries of view 'view1'"):
        model.transform(frames)
    with pytest.raises(ValueError, match="Negative values in data passed to MIC"):
        mic().fit([X - 1 for X in planted()])
    with pytest.raises(ValueError, match="non-negative data"):
        mic(scale="standardize").fit(planted())
    for init, message in [
        ("svd", "init must be 'nmf' or a dict"),
        ({"embeddings": [], "bases": []}, "must have shapes"),
        ({"embeddings": [-np.ones((40, 3))] * 3, "bases": [np.ones((d, 3)) for d in (9, 6, 4)]}, "not be negative"),
    ]:
        with pytest.raises(ValueError, match=message):
            mic(init=init).fit(planted())
    for option in ("alpha", "beta", "tol", "n_steps", "max_iter", "n_init"):
        with pytest.raises(ValueError, match=option):
            mic(**{option: -1}).fit(planted())


def test_mic_says_when_it_did_not_converge():
    with pytest.warns(ConvergenceWarning, match=r"MIC did not converge in 1 rounds: .* \(tol=1e-09\); increase"):
        mic(max_iter=1, tol=1e-9).fit(planted())


def test_mic_samples_without_anything_keep_their_place():
    views = planted()
    for X in views:
        X[4] = np.nan
    with pytest.raises(ValueError, match="sample 4 is missing in every view"):
        mic().fit(views)
    model = mic(on_empty="drop").fit(views)
    assert np.isnan(model.embedding_[4]).all()
    assert np.isnan(model.view_embeddings_[0][4]).all()
    assert model.labels_[4] == -1
    plain = mic().fit([np.delete(X, 4, axis=0) for X in views])
    np.testing.assert_array_equal(np.delete(model.labels_, 4), plain.labels_)
    np.testing.assert_array_equal(np.delete(model.embedding_, 4, axis=0), plain.embedding_)
    assert [str(name) for name in model.dropped_] == ["4"]


def test_mic_labels_need_a_number_of_clusters():
    model = mic(n_clusters=None, n_components=2).fit(planted())
    for name in ("labels_", "predict", "fit_predict", "complete", "score"):
        assert not hasattr(model, name)
    assert model.embedding_.shape == (40, 2)
    model = mic()
    np.testing.assert_array_equal(model.fit_predict(planted()), model.labels_)
    assert not is_clusterer(model)


def test_mic_names_and_containers():
    views = {
        name: pd.DataFrame(X, index=[f"s{i}" for i in range(40)], columns=[f"{name}{j}" for j in range(X.shape[1])])
        for name, X in zip("abc", planted(), strict=True)
    }
    views["b"] = views["b"].iloc[:30]  # ten samples lack this view
    model = mic().set_output(transform="pandas").fit(views)
    assert {name: V.shape for name, V in model.bases_.items()} == {"a": (9, 3), "b": (6, 3), "c": (4, 3)}
    assert {name: U.shape for name, U in model.view_embeddings_.items()} == dict.fromkeys("abc", (40, 3))
    table = model.transform(views)
    assert list(table.columns) == ["mic0", "mic1", "mic2"]
    assert list(table.index[:2]) == ["s0", "s1"]
    assert model.feature_names_in_[0] == "a0"


# RAMC: the steps


def by_linear_programming(A, w, cost):
    """One row: min Σ_v w_v ‖s − a_v‖₁ + costᵀs over the simplex, with a slack for every absolute value."""
    V, K = A.shape
    c = np.concatenate([cost, np.repeat(w, K)])
    eye, blocks = np.eye(K), np.eye(V * K)
    tall = np.tile(eye, (V, 1))
    A_ub = np.block([[tall, -blocks], [-tall, -blocks]])
    b_ub = np.concatenate([A.ravel(), -A.ravel()])
    A_eq = np.concatenate([np.ones(K), np.zeros(V * K)])[None]
    return linprog(c, A_ub=A_ub, b_ub=b_ub, A_eq=A_eq, b_eq=[1.0]).fun


@pytest.mark.parametrize("n_views", [1, 2, 3, 4])
def test_rows_are_exact_minimisers(rng, n_views):
    n, K = 12, 6
    A = rng.dirichlet(np.full(K, 0.4), size=(n_views, n)) * 1.0
    A[:, :, 1] = 0.0  # an edge that no view has
    A /= A.sum(axis=2, keepdims=True)
    w = rng.uniform(0.2, 1.0, n_views)
    for strength in (0.0, 0.5, 5.0):
        cost = strength * rng.uniform(size=(n, K))
        S = nearest_rows(A, w, cost, np.ones((n, K), bool))
        np.testing.assert_allclose(S.sum(axis=1), 1.0)
        assert (S >= 0).all()
        for i in range(n):
            value = (w[:, None] * np.abs(S[i] - A[:, i])).sum() + cost[i] @ S[i]
            assert value == pytest.approx(by_linear_programming(A[:, i], w, cost[i]), abs=1e-9)


def test_rows_keep_to_possible_edges_and_share_ties():
    A = np.array([[[0.6, 0.4, 0.0, 0.0]], [[0.0, 0.4, 0.6, 0.0]]])
    possible = np.array([[True, True, True, False]])
    S = nearest_rows(A, np.array([1.0, 1.0]), np.zeros((1, 4)), possible)
    np.testing.assert_allclose(S, [[0.3, 0.4, 0.3, 0.0]])  # between two views of equal weight: the mean
    S = nearest_rows(A, np.array([1.0, 1.0 + 1e-13]), np.zeros((1, 4)), possible)
    np.testing.assert_allclose(S, [[0.3, 0.4, 0.3, 0.0]])  # rounding does not choose
    S = nearest_rows(A, np.array([1.0, 1.1]), np.zeros((1, 4)), possible)
    np.testing.assert_allclose(S, [[0.0, 0.4, 0.6, 0.0]])  # the heavier one
    S = nearest_rows(A, np.array([1.0, 1.0]), np.array([[0.0, 5.0, 5.0, -9.0]]), possible)
    np.testing.assert_allclose(S, [[1.0, 0.0, 0.0, 0.0]])


def test_adaptive_graph_is_the_closed_form(rng):
    X, m = rng.normal(size=(15, 3)), 4
    A = adaptive_graph(X, m).toarray()
    for i in range(15):
        squares = ((X - X[i]) ** 2).sum(axis=1)
        order = np.argsort(squares)[1:]  # itself comes first
        far = squares[order[m]]
        weights = np.zeros(15)
        weights[order[:m]] = far - squares[order[:m]]
        np.testing.assert_allclose(A[i], weights / weights.sum(), atol=1e-12)
    np.testing.assert_allclose(adaptive_graph(1e-3 * X, m).toarray(), A, atol=1e-9)


def test_adaptive_graph_of_few_or_equal_samples():
    np.testing.assert_array_equal(adaptive_graph(np.array([[0.0], [1.0]]), 15).toarray(), [[0, 1], [1, 0]])
    same = adaptive_graph(np.zeros((6, 2)), 3)
    np.testing.assert_allclose(same.sum(axis=1), 1.0)
    assert same.diagonal().sum() == 0


def test_the_weight_of_the_rank_goes_by_two_and_nears_what_lies_between():
    weight = RankWeight(1.0)
    for up in (True, True, True):
        weight.move(up)
    assert weight.value == 8.0
    for _ in range(40):
        weight.move(up=weight.value < 5.0)
    assert weight.value == pytest.approx(5.0, rel=1e-3)


def test_a_cut_keeps_the_last_graph_with_k_components():
    """Noise on which round 7 has three components and later ones have fewer."""
    views = list(np.random.default_rng(758).normal(size=(3, 30, 2)))
    graphs, S, _ = connected_enough(views, 3, 3)
    counts = []
    for rounds in (7, 30):
        cut = fit_graph(graphs, S, 3, max_iter=rounds, tol=1e-6)
        assert cut.reached
        assert cut.residuals.size == rounds
        counts.append(connected_components(cut.graph, directed=False)[0])
    assert counts == [3, 3]
    assert cut.residuals[-1] > 1e-3  # the last round had fewer


# RAMC: the estimator


def blobs(seed=0, n=90, spread=1.0):
    """Three groups in five dimensions."""
    centers = np.random.default_rng(seed).normal(scale=6.0, size=(3, 5))
    return make_blobs([n // 3] * 3, centers=centers, cluster_std=spread, random_state=seed, shuffle=False)


def rings(n=240):
    """Moons in one view, circles in the other: two groups that k-means cannot tell apart."""
    moons, y = make_moons(n, noise=0.06, random_state=0, shuffle=False)
    circles, _ = make_circles((n // 2, n // 2), noise=0.04, factor=0.5, random_state=1, shuffle=False)
    return [moons, circles], y


@pytest.mark.parametrize("scale", ["none", "sample", "feature", "standardize"])
def test_ramc_finds_planted_groups(scale):
    views = [blobs(seed)[0] for seed in (0, 1, 2)]
    model = RAMC(n_clusters=3, scale=scale).fit(views)
    assert adjusted_rand_score(np.arange(90) // 30, model.labels_) == 1.0


def test_ramc_graph_has_exactly_k_components_which_are_the_labels():
    views = [blobs(seed, spread=4.0)[0] for seed in (0, 1, 2)]
    model = RAMC(n_clusters=3).fit(views)
    assert model.converged_ is True
    count, labels = connected_components(model.affinity_, directed=False)
    assert count == 3
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_allclose(model.affinity_.sum(axis=1), 1.0, atol=1e-9)
    assert model.affinity_.data.min() > 0
    assert model.affinity_.diagonal().sum() == 0
    assert model.residuals_.shape == (model.n_iter_,)
    assert model.residuals_[0] > 1e-3  # there was something to cut
    assert model.residuals_[-1] == 0.0
    W = 0.5 * (model.affinity_ + model.affinity_.T).toarray()
    values = np.linalg.eigvalsh(np.diag(W.sum(axis=1)) - W)
    assert values[2] < 1e-9 < 1e-3 < values[3]  # rank n − 3
    away = np.array(
        [abs(model.affinity_ - adaptive_graph(X / np.linalg.norm(X, axis=1, keepdims=True), 15)).sum() for X in views]
    )
    np.testing.assert_allclose(model.view_weights_, away**-0.5 / (away**-0.5).sum(), rtol=1e-6)


def test_ramc_cuts_where_k_means_fails():
    views, y = rings()
    joined = KMeans(2, n_init=5, random_state=0).fit_predict(np.hstack(views))
    assert adjusted_rand_score(y, joined) < 0.6
    assert adjusted_rand_score(y, RAMC(n_clusters=2, scale="none").fit_predict(views)) == 1.0
    for view in views:
        assert adjusted_rand_score(y, RAMC(n_clusters=2, scale="none").fit_predict(view)) == 1.0


def test_ramc_gives_noise_a_small_weight(rng):
    views, y = rings()
    model = RAMC(n_clusters=2, scale="none").fit([*views, rng.normal(size=(240, 5))])
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.view_weights_[2] < 0.6 * model.view_weights_[:2].min()


def test_ramc_neither_order_matters(rng):
    views = [blobs(seed, spread=3.5)[0] for seed in (0, 1, 2)]
    order, turned = rng.permutation(90), [2, 0, 1]
    here = RAMC(n_clusters=3).fit(views)
    there = RAMC(n_clusters=3).fit([views[v][order] for v in turned])
    assert here.n_iter_ > 2
    assert adjusted_rand_score(there.labels_, here.labels_[order]) == 1.0
    np.testing.assert_allclose(there.view_weights_, here.view_weights_[turned], rtol=1e-6)
    np.testing.assert_allclose(there.affinity_.toarray(), here.affinity_.toarray()[order][:, order], atol=1e-6)


def test_ramc_does_not_depend_on_the_seed_where_it_converges():
    views = [blobs(seed, spread=3.5)[0] for seed in (0, 1)]
    one, other = (RAMC(n_clusters=3, random_state=s).fit(views) for s in (0, 1))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.affinity_.toarray(), other.affinity_.toarray())


def test_ramc_takes_more_neighbours_to_join_groups():
    X = np.concatenate([np.random.default_rng(0).normal(size=(20, 2)), [[50.0, 50.0]] * np.ones((20, 1))])
    X[20:] += np.random.default_rng(1).normal(size=(20, 2))
    assert RAMC(n_clusters=2, n_neighbors=5, scale="none").fit(X).n_neighbors_ == 5
    joined = RAMC(n_clusters=1, n_neighbors=5, scale="none").fit(X)
    assert joined.n_neighbors_ > 19
    assert joined.converged_
    assert (joined.labels_ == 0).all()


def test_ramc_without_a_graph_says_so_and_labels_all_the_same():
    X = np.random.default_rng(0).normal(size=(9, 3))
    model = RAMC(n_clusters=6, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"no graph with exactly 6 components in 100 rounds: the last has \d"):
        labels = model.fit_predict(X)  # a component has two samples at least
    assert model.converged_ is False
    assert set(labels) == set(range(6))
    copies = np.repeat([[0.0, 1.0], [1.0, 0.0]], 10, axis=0)  # two points: no distance joins them
    with pytest.warns(ConvergenceWarning, match="exactly 1 components"):
        assert (RAMC(n_clusters=1).fit_predict(copies) == 0).all()


def test_ramc_default_number_of_clusters(rng):
    X = np.concatenate([rng.normal(size=(20, 4)) * 0.1 + 5 * centre for centre in rng.normal(size=(8, 4))])
    assert set(RAMC(scale="none").fit_predict(X)) == set(range(8))


def test_ramc_sparse_views_and_frames_agree_with_arrays(rng):
    views = [np.where(X > 0.3, X, 0.0) for X in planted(n=60)]
    plain = RAMC(n_clusters=3).fit(views)
    thin = RAMC(n_clusters=3).fit([sparse.csr_array(X) for X in views])
    np.testing.assert_array_equal(thin.labels_, plain.labels_)
    names = [f"s{i}" for i in range(60)]
    frames = {name: pd.DataFrame(X, index=names) for name, X in zip("abc", views, strict=True)}
    frames["b"] = frames["b"].iloc[rng.permutation(60)]
    by_frame = RAMC(n_clusters=3).fit(frames)
    np.testing.assert_array_equal(by_frame.labels_, plain.labels_)
    assert by_frame.view_names_in_ == ["a", "b", "c"]
    assert by_frame.n_features_in_ == 19


def test_ramc_takes_other_array_libraries(xp):
    arrays = [blobs(seed)[0] for seed in (0, 1)]
    views = [like(X, xp.asarray(np.zeros(1))) for X in arrays]
    np.testing.assert_array_equal(RAMC(3).fit_predict(views), RAMC(3).fit_predict(arrays))


def test_ramc_refuses_incomplete_data():
    for setting in ("missing-view", "incomplete-view"):
        with pytest.raises(
            ValueError, match=r"view 'view0' lacks \d+ values \(NaN .*complete the data first, e.g. with"
        ):
            RAMC(n_clusters=3).fit(holed(setting))
    with pytest.raises(ValueError, match="n_samples=1"):
        RAMC(n_clusters=1).fit([np.ones((1, 3))])
    views = holed("missing-view")
    completed = jella.MVLIV(n_components=3).fit(views).complete(views)
    assert set(RAMC(n_clusters=3).fit_predict(completed)) == {0, 1, 2}
    for option in ("tol", "n_neighbors", "max_iter", "n_init"):
        with pytest.raises(ValueError, match=option):
            RAMC(3, **{option: -1}).fit(planted())


def test_ramc_samples_without_anything_keep_their_place():
    views = planted()
    plain = RAMC(n_clusters=3).fit([np.delete(X, 4, axis=0) for X in views])
    for X in views:
        X[4] = np.nan
    model = RAMC(n_clusters=3, on_empty="drop").fit(views)
    assert model.labels_[4] == -1
    np.testing.assert_array_equal(np.delete(model.labels_, 4), plain.labels_)
    assert model.affinity_.shape == (40, 40)
    assert model.affinity_[[4]].nnz == model.affinity_[:, [4]].nnz == 0
    others = np.delete(np.arange(40), 4)
    np.testing.assert_array_equal(model.affinity_.toarray()[np.ix_(others, others)], plain.affinity_.toarray())


def test_ramc_has_no_place_for_new_samples():
    model = RAMC(n_clusters=3).fit(planted())
    for name in ("transform", "predict", "complete", "score", "fit_transform"):
        assert not hasattr(model, name)
    assert is_clusterer(model)


# both


@by_name
def test_inputs_are_never_modified(method):
    views = planted()
    copies = [X.copy() for X in views]
    for X in views:
        X.flags.writeable = False
    method(n_clusters=3, random_state=0).fit(views)
    for X, copy in zip(views, copies, strict=True):
        np.testing.assert_array_equal(X, copy)


@by_name
def test_cloning_pickling_and_signatures(method):
    model = method(n_clusters=3, random_state=0, tol=1e-2).fit(planted())
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "labels_")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).labels_, model.labels_)
    np.testing.assert_array_equal(copy.fit(planted()).labels_, model.labels_)
    first, *others = inspect.signature(method).parameters.values()
    assert first.name == "n_clusters"
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in others)
    for p in (first, *others):
        assert f"\n{p.name} :" in inspect.getdoc(method)
