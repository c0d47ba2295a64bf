"""IML-BDR: our sweep against the paper's dense algorithm in the same run; sweeps of basic against SOR; a large fit.

Run: python benchmarks/block_diagonal.py [--large]      (JELLA_DATA adds the sweep counts on real data)
--large fits n = 11554, the size of the paper's PIE, 30 sweeps, and states the peak memory.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from measuring import fastest, peak_gib
from real_sets import SETS, folder, unit_samples
from scipy.linalg import eigh, solve_sylvester

import jella
from jella.problem.model import Problem
from jella.solve.plan import make_plan
from jella.solve.relaxation import Basic
from jella.solve.samples import InMemory
from jella.solve.solver import Iterate, evaluate, sweep
from jella.solve.start import make_start
from jella.terms import BlockDiagonal, Orthonormal
from jella.views import Views, read_views

K, WEIGHTS = 10, (1.0, 10.0, 0.1)


def grouped(n: int, d: int = 100, missing: float = 0.3, seed: int = 0) -> list[np.ndarray]:
    """Two views of K groups on subspaces of dimension three, samples at unit norm, entries missing."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(K, size=n)
    views = []
    for _ in range(2):
        frames = rng.normal(size=(K, 3, d))
        X = np.einsum("ni,nij->nj", rng.normal(size=(n, 3)) + 1.0, frames[labels]) + 0.1 * rng.normal(size=(n, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        X[rng.random(X.shape) < missing] = np.nan
        views.append(X)
    return views


def dense_sweep(views: Views, at: Iterate, P: np.ndarray) -> tuple[float, float]:
    """Seconds and objective of one sweep with a Sylvester solver, a dense inverse and a full eigendecomposition."""
    alpha, beta, gamma = WEIGHTS
    U, W, state = at.blocks.bases, at.blocks.embedding, at.blocks.embedding_states[0]
    n, c, B, F = W.shape[0], beta / alpha, state.affinity, state.indicator
    started = time.perf_counter()
    Z = [np.where(view.mask, view.X, W @ u.T) for view, u in zip(views, U, strict=True)]
    left, _, right = np.linalg.svd(np.concatenate([z.T @ W for z in Z]), full_matrices=False)
    U = np.split(left @ right, np.cumsum([z.shape[1] for z in Z])[:-1])
    E = np.eye(n) - P
    W = solve_sylvester(alpha * E @ E.T, sum(u.T @ u for u in U), sum(z @ u for z, u in zip(Z, U, strict=True)))
    P = np.linalg.inv(W @ W.T + c * np.eye(n)) @ (W @ W.T + c * B)
    Q = P - gamma / (2 * beta) * (np.sum(F**2, axis=1)[:, None] - F @ F.T)
    B = np.maximum((Q + Q.T) / 2, 0.0)
    np.fill_diagonal(B, 0.0)
    L = np.diag(B.sum(axis=1)) - B
    F = eigh(L)[1][:, :K]
    loss = sum(np.sum(np.where(view.mask, view.X - W @ u.T, 0.0) ** 2) for view, u in zip(views, U, strict=True))
    value = loss + alpha * np.sum((W - P.T @ W) ** 2) + beta * np.sum((P - B) ** 2) + gamma * np.trace(F.T @ L @ F)
    return time.perf_counter() - started, value


def compare(n: int, target: float) -> None:
    views = read_views(grouped(n))
    alpha, beta, gamma = WEIGHTS
    term = BlockDiagonal(K, alpha, beta, gamma=gamma)
    problem = Problem(basis=(Orthonormal(),), embedding=(term,))
    plan, samples = make_plan(problem, views.is_rowwise, Basic()), InMemory.of(views)
    start = make_start(views, problem, "svd", K, np.random.default_rng(0))
    at = evaluate(problem, samples, problem.start_states(start))
    for _ in range(5):
        at = sweep(problem, plan, samples, at, 1.0)
    ours = fastest(lambda: sweep(problem, plan, samples, at, 1.0), 3)
    after = sweep(problem, plan, samples, at, 1.0)
    state = at.blocks.embedding_states[0]
    P = state.previous + state.W @ state.M @ state.T.T
    dense, value = min(dense_sweep(views, at, P) for _ in range(2))
    gap = abs(after.value - value) / value
    print(
        f"  n = {n:5d}: dense {dense:8.3f} s, ours {ours:7.3f} s per sweep, ratio {dense / ours:6.1f} "
        f"(target {target:g}), objectives differ by {gap:.0e}",
        flush=True,
    )


def sweep_counts() -> None:
    data = folder()
    if data is None:
        print("  skipped: JELLA_DATA is not set")
        return
    for name in ("Caltech7", "Handwritten"):
        views, y = SETS[name](data)
        for basis in ("free", "orthonormal"):
            counts = {}
            for solver in ("basic", "sor"):
                holed = jella.datasets.make_incomplete(unit_samples(views), 0.3, "incomplete-view", random_state=0)
                model = jella.IMLBDR(
                    len(np.unique(y)), basis=basis, solver=solver, max_iter=500, n_init=1, random_state=0
                )
                started = time.perf_counter()
                model.fit(holed)
                counts[solver] = model.n_iter_, time.perf_counter() - started, model.objective_[-1]
            text = ", ".join(f"{s} {c[0]} sweeps {c[1]:.1f} s objective {c[2]:.4f}" for s, c in counts.items())
            print(f"  {name:12} {basis:12} {text}", flush=True)


def large(n: int = 11_554, sweeps: int = 30) -> None:
    model = jella.IMLBDR(K, basis="orthonormal", max_iter=sweeps, tol=0.0, n_init=1, random_state=0)
    started = time.perf_counter()
    model.fit(grouped(n))
    seconds = time.perf_counter() - started
    print(f"  n = {n}, {model.n_iter_} sweeps: {seconds:.0f} s, peak memory {peak_gib():.1f} GiB (target 12)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.large:
        print("IML-BDR at the size of the paper's PIE, two views of 100 features, 30 % of the entries missing")
        large()
        return
    print("IML-BDR sweep against the dense algorithm, orthonormal basis, k = r = 10, 30 % of the entries missing")
    for n, target in ((441, 3), (1078, 10), (2000, 20)):
        compare(n, target)
    print("IML-BDR, sweeps to tolerance 1e-4, 30 % incomplete-view, the paper's weights for free bases")
    sweep_counts()


if __name__ == "__main__":
    main()
