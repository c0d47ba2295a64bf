"""IML-BDR's fast steps against textbook dense ones: Sylvester solver, dense inverse, full eigendecomposition."""

from __future__ import annotations

import numpy as np
import pytest
from common import SETTINGS
from scipy.linalg import eigh, solve_sylvester
from sklearn.metrics import adjusted_rand_score

import jella
from jella.estimators.capabilities import probe
from jella.graphs.spectral import spectral_labels
from jella.numerics.arrays import like, to_numpy
from jella.numerics.eigen import lowest_eigenvectors
from jella.problem.model import Problem
from jella.solve.plan import make_plan
from jella.solve.relaxation import SOR, Basic
from jella.solve.solver import solve
from jella.solve.start import make_start
from jella.terms import BlockDiagonal, Orthonormal
from jella.views import read_views

K = 3


def grouped(n: int, seed: int = 0) -> list[np.ndarray]:
    """Samples on K subspaces that meet at the origin: a clear eigengap in the affinity."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % K
    W = np.zeros((n, 2 * K))
    for j in range(K):
        W[labels == j, 2 * j : 2 * j + 2] = rng.normal(size=((labels == j).sum(), 2)) + 1.0
    return [W @ rng.normal(size=(2 * K, d)) + 0.02 * rng.normal(size=(n, d)) for d in (12, 9)]


def dense_imlbdr(views, start, alpha, beta, gamma, *, orthonormal, rule, max_iter):
    """Algorithm 3 of the paper as printed, its slips put right, with dense n × n solves. Returns the objectives."""
    X = [view.X for view in views]
    M = [np.broadcast_to(view.mask, view.X.shape) for view in views]
    n, c = X[0].shape[0], beta / alpha
    state = (list(start.bases), start.embedding, np.zeros((n, n)), np.zeros((n, n)), None)
    pace, value, values = rule.first, np.inf, []
    for _ in range(max_iter):
        U, W, P, B, F = state
        R = [np.where(m, x - W @ u.T, 0.0) for x, m, u in zip(X, M, U, strict=True)]
        Z = [W @ u.T + pace.factor * r for u, r in zip(U, R, strict=True)]
        if orthonormal:
            left, _, right = np.linalg.svd(np.concatenate([z.T @ W for z in Z]), full_matrices=False)
            U = np.split(left @ right, np.cumsum([x.shape[1] for x in X])[:-1])
        else:
            U = [z.T @ W @ np.linalg.pinv(W.T @ W) for z in Z]
        E = np.eye(n) - P
        W = solve_sylvester(alpha * E @ E.T, sum(u.T @ u for u in U), sum(z @ u for z, u in zip(Z, U, strict=True)))
        P = np.linalg.inv(W @ W.T + c * np.eye(n)) @ (W @ W.T + c * B)
        shift = 0.0 if F is None else np.sum(F**2, axis=1)[:, None] - F @ F.T
        Q = P - gamma / (2 * beta) * shift
        B = np.maximum((Q + Q.T) / 2, 0.0)
        np.fill_diagonal(B, 0.0)
        L = np.diag(B.sum(axis=1)) - B
        F = eigh(L, subset_by_index=[0, K - 1])[1]
        loss = sum(np.sum(np.where(m, x - W @ u.T, 0.0) ** 2) for x, m, u in zip(X, M, U, strict=True))
        new = loss + alpha * np.sum((W - P.T @ W) ** 2) + beta * np.sum((P - B) ** 2) + gamma * np.trace(F.T @ L @ F)
        ratio = 0.0 if value == np.inf else new / value
        accepted, pace = rule.judge(pace, ratio)
        if accepted:
            state, value = (U, W, P, B, F), new
            values.append(new)
    return np.array(values)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("rule", [Basic(), SOR()], ids=["basic", "sor"])
@pytest.mark.parametrize(
    ("basis", "weights"), [("free", (1.0, 100.0, 1.0)), ("orthonormal", (1.0, 10.0, 0.1))], ids=["free", "orthonormal"]
)
def test_fast_steps_are_the_dense_ones(setting, rule, basis, weights, monkeypatch):
    monkeypatch.setattr("jella.problem.terms.block_diagonal.DIRECT", 0)  # the iterative eigensolver, small as n is
    alpha, beta, gamma = weights
    arrays = jella.datasets.make_incomplete(grouped(300), 0.2, setting, random_state=0)
    views = read_views([X / 10 for X in arrays])
    term = BlockDiagonal(K, alpha, beta, gamma=gamma, eigen_tol=1e-7, eigen_steps=300)
    problem = Problem(basis=(Orthonormal(),) if basis == "orthonormal" else (), embedding=(term,))
    start = make_start(views, problem, "svd", 2 * K, np.random.default_rng(0))
    plan = make_plan(problem, views.is_rowwise, rule)
    assert plan.completes
    ours = solve(problem, plan, views, start=start, relaxation=rule, max_iter=12, tol=0.0)
    dense = dense_imlbdr(views, start, alpha, beta, gamma, orthonormal=basis == "orthonormal", rule=rule, max_iter=12)
    np.testing.assert_allclose(ours.objective, dense, rtol=1e-6)
    assert len(dense) > 8


def test_the_affinity_and_its_eigenvectors_are_what_they_say(rng):
    W = rng.normal(size=(60, 4))
    term = BlockDiagonal(K, 2.0, 5.0, gamma=0.3)
    state = term.refresh(W, term.refresh(W, term.start(W)))
    c = 5.0 / 2.0
    P = np.linalg.solve(W @ W.T + c * np.eye(60), W @ W.T + c * state.previous)
    np.testing.assert_allclose(state.previous + state.W @ state.M @ state.T.T, P, atol=1e-10)
    B, F = state.affinity, state.indicator
    np.testing.assert_array_equal(np.diag(B), 0.0)
    np.testing.assert_allclose(B, B.T, atol=1e-15)
    assert B.min() >= 0
    assert state.distance == pytest.approx(np.sum((P - B) ** 2))
    lowest = np.linalg.eigvalsh(np.diag(B.sum(axis=1)) - B)[:K].sum()
    assert state.spread == pytest.approx(lowest, abs=1e-9)
    value = 2.0 * np.sum((W - P.T @ W) ** 2) + 5.0 * np.sum((P - B) ** 2) + 0.3 * lowest
    assert term.value(W, state) == pytest.approx(value)
    assert term.value(W.copy(), state) == pytest.approx(value)  # not the very block: through the operator
    np.testing.assert_allclose(F.T @ F, np.eye(K), atol=1e-10)
    E = np.eye(60) - P
    np.testing.assert_allclose(term.coupling(W, state).matmul(W), 2.0 * E @ E.T @ W, atol=1e-9)


@pytest.mark.parametrize("n", [40, 400])
def test_lowest_eigenvectors(xp, n, rng):
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = Q @ np.diag(np.concatenate([[0.0, 0.1, 0.2], np.linspace(1, 5, n - 3)])) @ Q.T
    start = rng.normal(size=(n, 3))
    there = like(A, xp.asarray(np.zeros(1)))
    X, values = lowest_eigenvectors(
        lambda V: there @ V, like(start, there), diagonal=like(np.diag(A), there), tol=1e-9, max_iter=500
    )
    np.testing.assert_allclose(to_numpy(values), [0.0, 0.1, 0.2], atol=1e-10)
    np.testing.assert_allclose(np.abs(to_numpy(X).T @ Q[:, :3]), np.eye(3), atol=1e-6)


def test_eigenvectors_stopped_early_are_never_worse_than_the_start(rng):
    A = rng.normal(size=(200, 200))
    A = A @ A.T
    start = np.linalg.qr(rng.normal(size=(200, 4)))[0]
    before = np.trace(start.T @ A @ start)
    for steps in range(4):
        X, values = lowest_eigenvectors(lambda V: A @ V, start, diagonal=np.diag(A), tol=0.0, max_iter=steps)
        after = values.sum()
        assert after <= before + 1e-9
        assert after == pytest.approx(np.trace(X.T @ A @ X))
        before = after


@pytest.mark.parametrize("basis", ["free", "orthonormal"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_planted_subspaces_are_found(basis, setting):
    views = jella.datasets.make_incomplete(grouped(150), 0.2, setting, random_state=0)
    model = jella.IMLBDR(
        n_clusters=K, n_components=2 * K, basis=basis, beta=10.0, gamma=0.1, labels_from="affinity", random_state=0
    )
    assert adjusted_rand_score(np.arange(150) % K, model.fit_predict(views)) > 0.8
    assert not hasattr(model, "predict")


def test_spectral_labels_of_a_block_matrix():
    affinity = np.kron(np.eye(3), np.ones((5, 5)))
    labels = spectral_labels(affinity, 3, 5, 0)
    assert adjusted_rand_score(np.arange(15) // 5, labels) == 1.0


def test_weights_follow_the_form_unless_given():
    assert jella.IMLBDR().declare(probe()).embedding[0].beta == 1e4
    assert jella.IMLBDR(basis="orthonormal").declare(probe()).embedding[0].beta == 10.0
    assert jella.IMLBDR(gamma=3.0).declare(probe()).embedding[0].gamma == 3.0
    for options, message in [({"basis": "tight"}, "basis must be"), ({"labels_from": "W"}, "labels_from must be")]:
        with pytest.raises(ValueError, match=message):
            jella.IMLBDR(**options).fit(grouped(30))
