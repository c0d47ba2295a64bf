"""The cost of a sweep from a few measured constants: predictions beside runs, and extrapolations to a billion samples.

Run: python benchmarks/cost_model.py [--draw]

Measures the constants on this machine (one thread; the best of several runs), predicts the seconds per sweep of each
method and those of the search for neighbours, and compares both with runs on this machine. How many steps conjugate
gradients and the eigensolver take, and how many pairs a graph has, only a run can show: they are counted in the sweep
that is compared. Numbers are written to benchmarks/results/cost_model.json; --draw writes the tables of
docs/results/how-big.md from it without measuring. Predictions are per core and add up over chunks; a sweep over several
workers takes the sum over them, and the messages of the slowest link.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import math
import time
import warnings
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from cost_formulas import Constants, D, K, Q, R, Steps, V, costs, search_cost, tying_cost
from cost_page import FIT, SEARCH, TYING, draw
from measuring import fastest, machine
from scale import Clock, make_views
from scipy import sparse

import jella
from jella.estimators.landmarks import LANDMARKS
from jella.graphs.neighbours import nearest
from jella.numerics import eigen
from jella.problem.terms.block_diagonal import SelfExpression
from jella.problem.terms.learned_graph import Laplacian
from jella.views.read import read_views

HERE = Path(__file__).parent
FILE, PAGE = HERE / "results" / "cost_model.json", HERE.parent / "docs" / "results" / "how-big.md"
SWEEPS = 6
#: what is run, and at which sizes
RUNS = {
    **dict.fromkeys(("MVLIV", "PVC, DAIMC", "IRMKMC"), (20_000, 200_000)),
    "SparseBDR": (20_000, 100_000),
    **dict.fromkeys(("IMLBDR", "IMG"), (1000, 4000)),
}
SEARCHED = (20_000, 100_000)
#: samples that are tied to landmarks
TIED = 50_000


#: processor seconds of the fastest of several runs
best = partial(fastest, clock=time.process_time)


def measure() -> Constants:
    rng = np.random.default_rng(0)
    big, row = np.ones(2**25), rng.standard_normal((500, 4000))
    left, candidates = rng.standard_normal((170, 4 * D)), rng.standard_normal((6000, 4 * D))
    left32, candidates32 = left.astype(np.float32), candidates.astype(np.float32)
    graph, W = _near_graph(rng, 100_000), rng.standard_normal((100_000, R))
    return Constants(
        flops=_rate_of_products(rng),
        large=2 * left.size * len(candidates) / best(lambda: left @ candidates.T),
        single=2 * left.size * len(candidates) / best(lambda: left32 @ candidates32.T),
        bytes=big.nbytes / best(lambda: np.add.reduce(big)),
        fresh=8 * 2**24 / best(lambda: np.ones(2**24)),
        gathered=graph.nnz * R / best(lambda: graph @ W),
        sorted=row.size * math.log2(row.shape[1]) / best(lambda: np.sort(row, axis=1, kind="stable")),
        task=_task_seconds(),
    )


def _rate_of_products(rng: np.random.Generator) -> float:
    """Operations per second of X U, Xᵀ W and W Uᵀ, one of each, with more data than the cache holds."""
    X, U, W = (rng.standard_normal(shape) for shape in ((100_000, D // V), (D // V, R), (100_000, R)))
    room = np.empty_like(X)
    return 3 * 2 * X.size * R / best(lambda: (X @ U, X.T @ W, np.matmul(W, U.T, out=room)))


def _near_graph(rng: np.random.Generator, n: int) -> sparse.csr_array:
    """Neighbours among the nearest two thousand rows, as in sweeps where near samples are next to each other."""
    columns = (np.arange(n)[:, None] + rng.integers(-1000, 1000, size=(n, 17))) % n
    starts = np.arange(0, columns.size + 1, 17, dtype=np.int32)
    return sparse.csr_array((np.ones(columns.size), columns.ravel().astype(np.int32), starts), shape=(n, n))


def _task_seconds() -> float:
    """Seconds per empty task, of a local cluster's scheduler, client and worker."""
    import dask
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        step = dask.delayed(abs, pure=False)
        dask.compute(*[step(-1) for _ in range(100)])
        started = time.perf_counter()
        dask.compute(*[step(-1) for _ in range(2000)])
        return (time.perf_counter() - started) / 2000


class Enough(Exception):
    """All sweeps were seen; labels are not of interest."""


def make_model(name: str) -> Any:
    options: dict[str, Any] = {"max_iter": SWEEPS, "tol": 0.0, "random_state": 0}
    if name == "IRMKMC":
        return jella.IRMKMC(R, **options)
    options |= {"n_components": R, "solver": "basic"}
    if name in ("MVLIV", "PVC, DAIMC"):
        return jella.MVLIV(**options) if name == "MVLIV" else jella.DAIMC(**options)
    if name == "SparseBDR":
        return jella.SparseBDR(K, n_neighbors=Q, scale="standardize", view_weights=None, landmarks=None, **options)
    return jella.IMG(K, **options) if name == "IMG" else jella.IMLBDR(K, basis="orthonormal", **options)


def run_sweeps(name: str, n: int) -> tuple[float, Steps]:
    """Seconds of the fastest sweep on one core, in memory, and its steps."""
    X = [view.astype(np.float64) for view in make_views(n)[0]]
    if name == "IRMKMC":
        X = [np.where(np.isnan(view).all(axis=1, keepdims=True), np.nan, np.nan_to_num(view)) for view in X]
    if name == "PVC, DAIMC":
        X = [np.abs(view) for view in X]
    model, clock, at, problems = make_model(name), Clock(), [], []
    declare = model.declare

    def declared(data: Any) -> Any:
        problems.append(declare(data))
        return problems[-1]

    def told(progress: Any) -> None:
        at.append((time.process_time(), clock.calls["products"], clock.calls["eigen"]))
        if progress.n_iter == SWEEPS:
            raise Enough

    counted = (SelfExpression, "matmul", "products"), (Laplacian, "matmul", "products"), (eigen, "_complement", "eigen")
    model.set_params(callback=told)
    model.declare = declared
    with warnings.catch_warnings(), clock.watch(*counted), suppress(Enough):
        warnings.simplefilter("ignore")
        model.fit(X)
    seconds, products, steps = min(np.diff(at, axis=0).tolist())
    pairs = problems[-1].embedding[-1].support.n_pairs / n if name == "SparseBDR" else 0.0
    return seconds, Steps(products, steps, pairs)


def run_search(n: int) -> float:
    views = read_views([view.astype(np.float64) for view in make_views(n)[0]])
    return best(lambda: nearest(views, Q), 1)


def run_landmarks() -> tuple[float, float]:
    """Seconds of a fit to as many samples as there are landmarks, with labels, and of tying others to them."""
    X = [view.astype(np.float64) for view in make_views(LANDMARKS + TIED)[0]]
    model = jella.SparseBDR(K, n_components=R, random_state=0)
    fit = best(lambda: model.fit([view[:LANDMARKS] for view in X]), 1)
    return fit, best(lambda: model.predict([view[LANDMARKS:] for view in X]), 1)


def compare(constants: Constants) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, sizes in RUNS.items():
        for n in sizes:
            ran, steps = run_sweeps(name, n)
            predicted = costs(n, steps)[name].seconds(constants, n)
            rows.append({"method": name, "n": n, "run": ran, "predicted": predicted, "steps": asdict(steps)})
            print(rows[-1], flush=True)
    for n in SEARCHED:
        rows.append({"method": SEARCH, "n": n, "run": run_search(n), "steps": asdict(Steps())})
        rows[-1]["predicted"] = search_cost(n).seconds(constants, n)
        print(rows[-1], flush=True)
    fit, tied = run_landmarks()
    nothing = asdict(Steps())
    rows.append({"method": FIT, "n": LANDMARKS, "run": fit, "predicted": 0.0, "steps": nothing})
    predicted = tying_cost().seconds(constants, TIED)
    rows.append({"method": TYING, "n": TIED, "run": tied, "predicted": predicted, "steps": nothing})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", action="store_true")
    options = parser.parse_args()
    if not options.draw:
        constants = measure()
        print(constants, flush=True)
        stored = {
            "constants": asdict(constants),
            "rows": compare(constants),
            "machine": machine(),
            "date": time.strftime("%Y-%m-%d"),
        }
        FILE.write_text(json.dumps(stored, indent=1) + "\n")
    PAGE.write_text(draw(json.loads(FILE.read_text())))
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
