"""Whole fits of the methods with coordinate descent, and MVL-IV where units differ: this version beside another.

Run: python benchmarks/descent.py [--before PATH] [--repeats 2] [--cases NAME ...]

PATH is the `src` folder of another version, for example of a worktree. Both versions fit the same planted data in turn,
each fit in a process of its own with one thread; the fastest of the repeats counts, in processor seconds. Fits have no
labels, so that no k-means is timed.

Data: `faces` has 2856 samples of 68 groups in views of 50 and 256 features, 30 % missing in the incomplete-view
setting, so that samples have fewer values than components; `large` has 100 000 samples of 10 groups in two views of 50
features, 30 % missing in the missing-view setting. `units` has 500 samples of rank 4 in views of 30, 20 and 25 features
with the units 1, 100 and 0.01, 30 % missing in the missing-view setting, and no scaling.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")


def grouped(n: int, k: int, widths: tuple[int, ...], setting: str) -> list[np.ndarray]:
    """Non-negative views of samples in k groups, with holes."""
    from jella.datasets import make_incomplete

    rng = np.random.default_rng(0)
    W = rng.gamma(0.3, 0.3, size=(n, k))
    W[np.arange(n), rng.integers(k, size=n)] += 1.0
    views = [W @ rng.gamma(0.5, 1.0, size=(k, d)) + 0.1 * rng.uniform(size=(n, d)) for d in widths]
    return make_incomplete(views, 0.3, setting, random_state=0)


def faces() -> list[np.ndarray]:
    return grouped(2856, 68, (50, 256), "incomplete-view")


def large() -> list[np.ndarray]:
    return grouped(100_000, 10, (50, 50), "missing-view")


def some_classes(views: list[np.ndarray], k: int) -> np.ndarray:
    """A class for each tenth sample."""
    n = views[0].shape[0]
    return np.where(np.arange(n) % 10 == 0, np.arange(n) // 10 % k, -1)


def fit(name: str, make: Callable[[], list[np.ndarray]], sweeps: int, rank: int) -> dict[str, Any]:
    """Seconds and objective of one fit, and the seconds of its closing step."""
    import jella
    from jella.solve import solver

    views, closing, close = make(), [], solver._close

    def timed(*arguments: Any) -> Any:
        started = time.process_time()
        try:
            return close(*arguments)
        finally:
            closing.append(time.process_time() - started)

    solver._close = timed
    model = getattr(jella, name)(n_components=rank, max_iter=sweeps, random_state=0)
    known = some_classes(views, rank) if name == "IMCL" else None
    started = time.process_time()
    model.fit(views, known)
    seconds = time.process_time() - started
    return {"seconds": seconds, "closing": sum(closing), "objective": model.objective_[-1], "sweeps": model.n_iter_}


def units(solver: str) -> dict[str, Any]:
    """MVL-IV on views whose units differ, without scaling: objective, sweeps and error of the completion."""
    import jella
    from jella.datasets import make_incomplete

    rng = np.random.default_rng(0)
    W, widths = rng.normal(size=(500, 4)), zip((30, 20, 25), (1.0, 100.0, 0.01), strict=True)
    whole = [unit * (W @ rng.normal(size=(4, d)) + 0.002 * rng.normal(size=(500, d))) for d, unit in widths]
    views = make_incomplete(whole, 0.3, "missing-view", random_state=0)
    started = time.process_time()
    model = jella.MVLIV(n_components=4, scale="none", solver=solver).fit(views)
    seconds, filled = time.process_time() - started, model.complete(views)
    errors = [
        np.linalg.norm((Z - X)[np.isnan(Y)]) / np.linalg.norm(X[np.isnan(Y)])
        for X, Y, Z in zip(whole, views, filled, strict=True)
    ]
    return {
        "seconds": seconds,
        "closing": 0.0,
        "objective": model.objective_[-1],
        "sweeps": model.n_iter_,
        "error": float(np.mean(errors)),
    }


CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "PVC faces": lambda: fit("PVC", faces, 30, 68),
    "DAIMC faces": lambda: fit("DAIMC", faces, 10, 68),
    "IMCL faces": lambda: fit("IMCL", faces, 10, 68),
    "PVC large": lambda: fit("PVC", large, 20, 10),
    "DAIMC large": lambda: fit("DAIMC", large, 10, 10),
    "IMCL large": lambda: fit("IMCL", large, 10, 10),
    "MVLIV units, sor": lambda: units("sor"),
    "MVLIV units, basic": lambda: units("basic"),
}


def in_process(case: str, source: str) -> dict[str, Any]:
    """The result of a case with the version in this folder."""
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, os.path.abspath(__file__), "--one", case]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **one, "PYTHONPATH": source}
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", help="the src folder of another version")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    parser.add_argument("--one", help="run this case in this process and print JSON")
    chosen = parser.parse_args()
    if chosen.one:
        warnings.simplefilter("ignore")
        print(json.dumps(CASES[chosen.one]()))
        return
    versions = {"before": chosen.before, "now": SOURCE} if chosen.before else {"now": SOURCE}
    for case in chosen.cases:
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in versions}
        for _ in range(chosen.repeats):
            for name, source in versions.items():
                runs[name].append(in_process(case, source))
        best = {name: min(found, key=lambda run: run["seconds"]) for name, found in runs.items()}
        for name, run in best.items():
            ratio = f", {best['before']['seconds'] / run['seconds']:.2f} times as fast" if "before" in best else ""
            error = f", error of completion {run['error']:.4f}" if "error" in run else ""
            times = f"{run['seconds']:7.2f} s, closing step {run['closing']:6.2f} s, {run['sweeps']:3d} sweeps"
            print(f"{case:20s} {name:7s} {times}, objective {run['objective']:.8g}{error}{ratio}", flush=True)


if __name__ == "__main__":
    main()
