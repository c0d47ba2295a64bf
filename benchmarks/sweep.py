"""The cost of a sweep against the cost that it cannot avoid, and PVC's block solves against n. Ratios within one run.

Run: make bench
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from measuring import fastest

from jella.problem.model import Problem
from jella.solve.plan import make_plan
from jella.solve.relaxation import SOR
from jella.solve.samples import InMemory
from jella.solve.solver import evaluate, sweep
from jella.solve.start import make_start
from jella.terms import L1, NonNegative
from jella.views import View, Views, read_views

PVC = Problem(basis=(NonNegative(),), embedding=(NonNegative(), L1(0.01)))


def data(n: int, d: int, r: int, missing: float, rowwise: bool = False) -> Views:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, r)) @ rng.uniform(size=(r, d)) + 0.1 * rng.uniform(size=(n, d))
    X[rng.random(n) < missing if rowwise else rng.random((n, d)) < missing] = np.nan
    return read_views([X, rng.uniform(size=(n, 5))] if rowwise else X)


def unavoidable(view: View, r: int) -> Callable[[], object]:
    """Three n × d × r products and one masked pass, as NumPy does them."""
    rng = np.random.default_rng(1)
    W, U = rng.normal(size=(view.n_samples, r)), rng.normal(size=(view.n_features, r))

    def work() -> None:
        product = W @ U.T
        residual = np.where(view.mask, view.X - product, 0.0)
        np.dot(residual.T, W)
        np.dot(residual, U)

    return work


def sweep_time(problem: Problem, views: Views, r: int) -> float:
    rule = SOR()
    plan = make_plan(problem, views.is_rowwise, rule)
    samples = InMemory.of(views)
    start = make_start(views, problem, "random", r, np.random.default_rng(0))
    at = sweep(problem, plan, samples, evaluate(problem, samples, problem.start_states(start)), 1.0)
    return fastest(lambda: sweep(problem, plan, samples, at, 1.2))


def main() -> None:
    n, d, r = 20_000, 500, 20
    views = data(n, d, r, 0.3)
    floor = fastest(unavoidable(views[0], r))
    ours = sweep_time(Problem(), views, r)
    print(f"MVL-IV sweep, {n} x {d}, r = {r}, 30 % of the entries missing")
    print(f"  three products and one masked pass {floor * 1e3:8.1f} ms")
    print(f"  one sweep                          {ours * 1e3:8.1f} ms   ratio {ours / floor:.2f} (target: at most 3)")
    views = data(n, d, r, 0.3, rowwise=True)
    ours = sweep_time(Problem(), views, r)
    print(f"  one sweep, 30 % of the samples     {ours * 1e3:8.1f} ms   ratio {ours / floor:.2f}")
    print("PVC sweep, d = 100, r = 10, 30 % of the entries missing: time per sample must not grow")
    for size in (1_000, 10_000, 100_000):
        seconds = sweep_time(PVC, data(size, 100, 10, 0.3), 10)
        print(f"  n = {size:7d}  {seconds * 1e3:9.1f} ms  {seconds / size * 1e6:7.2f} us per sample")


if __name__ == "__main__":
    main()
