"""Published steps written out in NumPy: sweeps of the solver agree with them block by block, and so do objectives."""

from __future__ import annotations

import numpy as np
import pytest
from common import SETTINGS, holed
from scipy.linalg import solve_sylvester
from scipy.optimize import nnls

import jella
from jella.problem.model import Blocks, Problem
from jella.problem.terms.sample_norm import RobustState
from jella.solve.plan import Plan
from jella.solve.samples import InMemory
from jella.solve.solver import evaluate, sweep
from jella.solve.updates import Assignment, CoordinateDescent, LeastSquares, Sylvester
from jella.terms import Alignment, Indicator, LearnedGraph, NonNegative, Ridge, SampleNorm, Squared
from jella.views import read_views

SWEEPS = 4


def _masked(setting):
    """Views with zeros for holes, and masks of the same shapes."""
    arrays = holed(setting, n=30)
    return [np.nan_to_num(X) for X in arrays], [~np.isnan(X) for X in arrays], read_views(arrays)


def _start(X, rng, r=3):
    return [rng.uniform(0.1, 1, (x.shape[1], r)) for x in X], rng.uniform(0.1, 1, (X[0].shape[0], r))


def _loss(X, M, U, W):
    return sum(np.sum((m * (x - W @ u.T)) ** 2) for x, m, u in zip(X, M, U, strict=True))


def _follow(problem, plan, views, blocks, step, relaxation=1.0, accuracy=1e-8):
    """Sweep the solver and the reference side by side; `step` returns blocks by name, and the objective."""
    samples = InMemory.of(views)
    at = evaluate(problem, samples, problem.start_states(blocks))
    for _ in range(SWEEPS):
        at = sweep(problem, plan, samples, at, relaxation)
        U, W, value = step()
        for ours, theirs in zip((*at.blocks.bases, at.blocks.embedding), (*U, W), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=accuracy * np.abs(theirs).max())
        assert at.value == pytest.approx(value, rel=accuracy)
    return at.blocks


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("relaxation", [1.0, 1.3])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_over_relaxed_sweeps_are_those_of_completed_data(setting, relaxation, scale, rng):
    """Z = WUᵀ + λΓ ⊙ (X − WUᵀ) is formed; both blocks are ridge regressions on the same Z."""
    X, M, views = _masked(setting)
    U, W = _start(X, rng)
    blocks = Blocks(tuple(U), W)
    weights = 0.3, 0.2

    def step():
        nonlocal U, W
        Z = [W @ u.T + relaxation * m * (x - W @ u.T) for x, m, u in zip(X, M, U, strict=True)]
        left = np.linalg.inv(scale * W.T @ W + weights[0] * np.eye(3))
        U = [scale * z.T @ W @ left for z in Z]
        gram = sum(u.T @ u for u in U)
        W = scale * sum(z @ u for z, u in zip(Z, U, strict=True)) @ np.linalg.inv(scale * gram + weights[1] * np.eye(3))
        squares = weights[0] * sum(np.sum(u**2) for u in U) + weights[1] * np.sum(W**2)
        return U, W, scale * _loss(X, M, U, W) + squares

    problem = Problem(Squared(scale), (Ridge(weights[0]),), (Ridge(weights[1]),))
    _follow(problem, Plan(LeastSquares(), LeastSquares(), True), views, blocks, step, relaxation)


def _smooth_norms(R):
    return np.sqrt(np.sum(R**2, axis=1) + 1e-10)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.3, 2.0), (4.0, 0.1)])
def test_daimc_is_its_published_steps(alpha, beta, rng):
    """Dense Sylvester equations for U, non-negative least squares for W, (UUᵀ + ½βD)⁻¹U for the regressions."""
    X, M, views = _masked("missing-view")
    U, W = _start(X, rng)
    R = [np.linalg.inv(u @ u.T + 1e-5 * np.eye(len(u))) @ u for u in U]
    blocks = Blocks(tuple(U), W)

    def value(U, W, R):
        misfit = sum(np.sum((r.T @ u - np.eye(3)) ** 2) for u, r in zip(U, R, strict=True))
        lengths = sum(_smooth_norms(r).sum() for r in R)
        return _loss(X, M, U, W) + alpha * (misfit + beta * lengths)

    def step():
        nonlocal U, W, R
        U = [
            solve_sylvester(alpha * r @ r.T, W.T @ (m[:, :1] * W), x.T @ W + alpha * r)
            for x, m, r in zip(X, M, R, strict=True)
        ]
        design, target, there = (np.concatenate(parts, axis=axis) for parts, axis in ((U, 0), (X, 1), (M, 1)))
        W = np.array([nnls(design[t], x[t])[0] for x, t in zip(target, there, strict=True)])
        R = [np.linalg.inv(u @ u.T + 0.5 * beta * np.diag(1 / _smooth_norms(r))) @ u for u, r in zip(U, R, strict=True)]
        sums = W.sum(axis=0)
        rescaled = [u * sums for u in U], W / sums, [r / sums for r in R]
        if value(*rescaled) <= value(U, W, R):
            U, W, R = rescaled
        return U, W, value(U, W, R)

    problem = Problem(basis=(Alignment(alpha, beta),), embedding=(NonNegative(),), normalise=lambda sums: sums)
    found = _follow(problem, Plan(Sylvester(), CoordinateDescent(), False), views, blocks, step, accuracy=1e-6)
    for ours, theirs in zip(found.basis_states[0], R, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6 * np.abs(theirs).max())


@pytest.mark.parametrize("power", [1.5, 2.0, 5.0])
def test_irmkmc_is_its_published_steps(power, rng):
    """Means weighted by 1/‖e‖, the nearest weighted centroid over the views present, weights h^(1/(1 − power))."""
    X, M, _ = _masked("missing-view")
    X[2], M[2] = 0.4 * X[2][::-1], M[2][::-1]  # a view that groups otherwise, and is easier to fit in its units
    views = read_views(X, M)
    M = [m[:, 0] for m in M]
    eps = np.finfo(float).eps
    G = np.eye(3)[np.where(np.arange(30) < 15, np.arange(30) % 3, rng.integers(0, 3, 30))]
    U = [rng.uniform(0.1, 1, (x.shape[1], 3)) for x in X]
    a = np.array([0.2, 0.5, 0.3])
    blocks = Blocks(tuple(U), G, loss_state=RobustState(a))

    def norms(U, G):
        return [np.sqrt(np.sum((x - G @ u.T) ** 2, axis=1) + eps) for x, u in zip(X, U, strict=True)]

    def weights(U, G):
        h = np.array([e @ m for e, m in zip(norms(U, G), M, strict=True)])
        a = (power * h) ** (1 / (1 - power))
        return a / a.sum(), h

    def step():
        nonlocal U, G
        a, _ = weights(U, G)
        D = [m / (2 * e) for e, m in zip(norms(U, G), M, strict=True)]
        U = [x.T @ (d[:, None] * G) / (d @ G) for x, d in zip(X, D, strict=True)]
        cost = 0.0
        for x, d, u, weight in zip(X, D, U, a, strict=True):
            cost = cost + weight**power * d[:, None] * np.sum((x[:, None] - u.T[None]) ** 2, axis=2)
        G = np.eye(3)[cost.argmin(axis=1)]
        assert np.all(G.sum(axis=0) > 0)  # nothing to repair in this case
        a, h = weights(U, G)
        return U, G, a**power @ h

    problem = Problem(loss=SampleNorm(power), embedding=(Indicator(),))
    found = _follow(problem, Plan(LeastSquares(), Assignment(), False), views, blocks, step)
    np.testing.assert_allclose(found.loss_state.view_weights, weights(U, G)[0], rtol=1e-9)
    assert np.ptp(found.loss_state.view_weights) > 0.02


def test_irmkmc_sends_new_samples_to_the_least_weighted_sum_of_norms(rng):
    X, M, _ = _masked("missing-view")
    model = jella.IRMKMC(3, gamma=3.0, scale="none", random_state=0).fit(X, observed=M)
    new = [rng.uniform(0, 1.5, (300, x.shape[1])) for x in X]

    def nearest(weights):
        pairs = zip(weights, new, model.bases_, strict=True)
        return sum(w * np.linalg.norm(x[:, None] - u.T, axis=2) for w, x, u in pairs).argmin(axis=1)

    assert np.mean(nearest(model.view_weights_**3) != nearest(model.view_weights_)) > 0.01
    np.testing.assert_array_equal(model.predict(new), nearest(model.view_weights_**3))


def test_the_squares_that_bound_norms_have_their_slope(rng):
    """Σ_v a_v^power Σ_i ‖e_i‖ and Σ_v f_v Σ_i d_i‖e_i‖² change alike at the residuals where the weights are taken."""
    loss = SampleNorm(3.0)
    X, M, views = _masked("missing-view")
    U, W = _start(X, rng)
    samples, problem = InMemory.of(views), Problem(loss=loss)
    state = RobustState(np.array([0.2, 0.5, 0.3]))

    def residuals(t):
        return samples.at(problem, Blocks(tuple(u + t for u in U), W)).residuals

    def value(t):
        return loss.value(loss.totals(residuals(t)), state)

    weights, factors = loss.row_weights(residuals(0.0)), loss.view_factors(state)

    def bound(t):
        pairs = zip(factors, weights, X, M, U, strict=True)
        return sum(f * np.sum(d * (m * (x - W @ (u + t).T)) ** 2) for f, d, x, m, u in pairs)

    assert value(1e-5) - value(-1e-5) == pytest.approx(bound(1e-5) - bound(-1e-5), rel=1e-6)


def _on_simplex(row):
    """Euclidean projection by bisection on the shift."""
    low, high = row.min() - 1, row.max()
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(row - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(row - low, 0)


@pytest.mark.parametrize("setting", SETTINGS)
def test_img_is_its_published_steps(setting, rng):
    """Ridge regressions for U, a dense Sylvester equation with the Laplacian of (A + Aᵀ)/2 for W, simplex rows of A."""
    X, M, views = _masked(setting)
    U, W = _start(X, rng)
    blocks = Blocks(tuple(U), W)
    alpha, beta, gamma = 0.3, 0.8, 0.1

    def graph(W):
        return np.array([_on_simplex(-beta / (4 * gamma) * np.sum((W - w) ** 2, axis=1)) for w in W])

    def laplacian(A):
        S = (A + A.T) / 2
        return np.diag(S.sum(axis=1)) - S

    A = graph(W)

    def step():
        nonlocal U, W, A
        Z = [W @ u.T + m * (x - W @ u.T) for x, m, u in zip(X, M, U, strict=True)]
        U = [z.T @ W @ np.linalg.inv(W.T @ W + alpha * np.eye(3)) for z in Z]
        W = solve_sylvester(beta * laplacian(A), sum(u.T @ u for u in U), sum(z @ u for z, u in zip(Z, U, strict=True)))
        A = graph(W)
        assert np.abs(A - A.T).max() > 0.01
        smooth = beta * np.trace(W.T @ laplacian(A) @ W) + gamma * np.sum(A**2)
        return U, W, _loss(X, M, U, W) + alpha * sum(np.sum(u**2) for u in U) + smooth

    problem = Problem(basis=(Ridge(alpha),), embedding=(LearnedGraph(beta, gamma),))
    found = _follow(problem, Plan(LeastSquares(), Sylvester(), True), views, blocks, step)
    np.testing.assert_allclose(found.embedding_states[0], A, atol=1e-6)


# objectives: what a fit reports is the published sum at the blocks it returns


def _mvliv(model, W, U, y):
    return 1.0, {}


def _pvc(model, W, U, y):
    return 1.0, {"embedding.L1": 0.2 * np.abs(W).sum()}


def _imcl(model, W, U, y):
    known = y >= 0
    W, y = W[known], y[known]
    same = y[:, None] == y
    within = np.where(same, 1 / same.sum(axis=1) - 1 / y.size, 0.0)
    difference = within - np.where(same, 0.0, 1 / y.size)
    label = 0.2 / 2 * np.trace(W.T @ (np.diag(difference.sum(axis=1)) - difference) @ W)
    return 0.5, {
        "basis.Linf1": 0.3 * sum(np.abs(u).max(axis=0).sum() for u in U),
        "embedding.LabelGraph": label,
        "embedding.L1": 0.1 * np.abs(model.embedding_).sum(),
    }


def _img(model, W, U, y):
    A = model.result_.blocks.embedding_states[0]
    pairs = np.sum((W[:, None] - W[None]) ** 2, axis=2)
    np.testing.assert_allclose(model.affinity_, (A + A.T) / 2)
    return 1.0, {
        "basis.Ridge": 0.3 * sum(np.sum(u**2) for u in U),
        "embedding.LearnedGraph": 0.2 / 2 * np.sum(A * pairs) + 0.1 * np.sum(A**2),
    }


def _daimc(model, W, U, y):
    R = model.regressors_
    misfit = sum(np.sum((r.T @ u - np.eye(3)) ** 2) for u, r in zip(U, R, strict=True))
    return 1.0, {"basis.Alignment": 0.3 * (misfit + 0.2 * sum(_smooth_norms(r).sum() for r in R))}


OBJECTIVES = [
    (jella.MVLIV(), _mvliv),
    (jella.PVC(alpha=0.2), _pvc),
    (jella.IMCL(alpha=0.3, beta=0.2, gamma=0.1), _imcl),
    (jella.IMG(alpha=0.3, beta=0.2, gamma=0.1), _img),
    (jella.DAIMC(alpha=0.3, beta=0.2), _daimc),
]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(("model", "published"), OBJECTIVES, ids=lambda part: type(part).__name__)
def test_the_objective_of_a_fit_is_the_published_one(model, published, setting):
    X, M, _ = _masked(setting)
    y = np.where(np.arange(30) < 20, np.arange(30) % 3, -1)
    model.set_params(n_components=3, scale="none", max_iter=20, tol=0.0, solver="basic")
    model.fit([np.where(m, x, np.nan) for x, m in zip(X, M, strict=True)], y)
    W, U = model.embedding_, model.bases_
    factor, terms = published(model, W, U, y)
    terms = {"loss": factor * _loss(X, M, U, W), **terms}
    for name, values in model.history_.items():
        assert values[-1] == pytest.approx(terms.get(name, 0.0), rel=1e-5, abs=1e-9), name
    assert terms.keys() <= model.history_.keys()
    assert model.objective_[-1] == pytest.approx(sum(terms.values()), rel=1e-5)


def test_the_objective_of_irmkmc_is_the_published_one():
    X, M, _ = _masked("missing-view")
    data = [np.where(m, x, np.nan) for x, m in zip(X, M, strict=True)]
    model = jella.IRMKMC(3, gamma=3.0, scale="none", random_state=0).fit(data)
    h = [
        np.linalg.norm(x - model.embedding_ @ u.T, axis=1)[m[:, 0]].sum()
        for x, m, u in zip(X, M, model.bases_, strict=True)
    ]
    assert model.objective_[-1] == pytest.approx(model.view_weights_**3 @ h, rel=1e-6)
    assert model.view_weights_.sum() == pytest.approx(1.0)
