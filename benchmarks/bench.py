"""The main tasks, each in a process of its own, and one table at the end: seconds, memory, and how good the result is.

Run: make bench        (or: python benchmarks/bench.py [--only NAME ...]); some minutes on two cores

Seconds are processor time on one thread of BLAS, so that other work on the machine has little influence. The table is
written to benchmarks/results/bench.md with date, machine and the state of the source. Data are synthetic, or the digits
that come with scikit-learn. `make bench-long` runs the longer benchmarks.
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
from pathlib import Path
from typing import Any

import numpy as np
from measuring import machine, peak_gib

PAGE = Path(__file__).parent / "results" / "bench.md"
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
Row = dict[str, Any]


def digits() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray]:
    """Views, views with 30 % of them and of the entries missing, and classes."""
    import jella

    found = jella.datasets.load_digits_views()
    return found.data, jella.datasets.make_incomplete(found.data, 0.3, "incomplete-view", random_state=0), found.target


def cluster_digits() -> str:
    import jella

    _, views, target = digits()
    model = jella.SparseBDR(n_clusters=10, random_state=0).fit(views)
    return f"NMI {jella.metrics.nmi(target, model.labels_):.3f}"


def neighbours_digits() -> str:
    from sklearn.cluster import SpectralClustering
    from sklearn.impute import KNNImputer

    import jella

    _, views, target = digits()
    filled = KNNImputer().fit_transform(np.hstack(list(views.values())))
    labels = SpectralClustering(10, affinity="nearest_neighbors", random_state=0).fit_predict(filled)
    return f"NMI {jella.metrics.nmi(target, labels):.3f}"


def evidence_digits() -> str:
    import jella

    _, views, _ = digits()
    found = jella.cluster({name: X[:600] for name, X in views.items()})
    return f"{found.n_clusters} clusters found"


def complete_digits() -> str:
    import jella

    _, views, _ = digits()
    done = jella.complete({name: X[:600] for name, X in views.items()}, interval=0.9)
    return f"error {done.error:.3f}, of the mean {done.mean_error:.3f}"


def planted(n: int) -> str:
    from scale import make_views

    import jella

    views, groups = make_views(n)
    model = jella.SparseBDR(n_clusters=10, random_state=0, evidence=False).fit(views)
    return f"ARI {jella.metrics.adjusted_rand(groups, model.labels_):.3f}"


def low_rank(chunked: bool) -> str:
    import jella

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 10)) @ rng.normal(size=(10, 100)) + rng.normal(size=(200_000, 100))
    X[rng.random(X.shape) < 0.3] = np.nan
    if chunked:
        import dask
        import dask.array as da

        dask.config.set(scheduler="threads", num_workers=1)
        X = da.from_array(X, chunks=(25_000, 100))
    model = jella.MVLIV(n_components=10, init="random", max_iter=20, tol=0, random_state=0).fit(X)
    return f"objective {model.objective_[-1]:.6g}"


def dense() -> str:
    import jella

    _, views, target = digits()
    model = jella.IMLBDR(n_clusters=10, random_state=0, max_iter=30).fit(views)
    return f"NMI {jella.metrics.nmi(target, model.labels_):.3f}"


TASKS: dict[str, Callable[[], str]] = {
    "cluster 1797 digits in 3 views (SparseBDR)": cluster_digits,
    "the same by KNNImputer + SpectralClustering": neighbours_digits,
    "choose the number of clusters of 600 digits": evidence_digits,
    "complete 600 digits, with intervals": complete_digits,
    "cluster 10,000 x 100, ten groups": lambda: planted(10_000),
    "cluster 100,000 x 100, ten groups": lambda: planted(100_000),
    "MVL-IV, 200,000 x 100, 20 sweeps": lambda: low_rank(False),
    "the same in chunks on Dask": lambda: low_rank(True),
    "IML-BDR (dense) of 1797 digits, 30 sweeps": dense,
}


def measure(name: str) -> Row:
    """Run a task in this process."""
    warnings.simplefilter("ignore")
    import jella

    jella.SparseBDR, jella.MVLIV  # noqa: B018 - imports are not part of the task
    started = time.process_time()
    result = TASKS[name]()
    return {"task": name, "seconds": time.process_time() - started, "peak_gib": peak_gib(), "result": result}


def table(rows: list[Row]) -> str:
    lines = ["| task | CPU seconds | peak memory (GiB) | result |", "|---|---|---|---|"]
    lines += [f"| {row['task']} | {row['seconds']:.1f} | {row['peak_gib']:.2f} | {row['result']} |" for row in rows]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=TASKS, default=list(TASKS), metavar="NAME")
    parser.add_argument("--row", choices=TASKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        print(json.dumps(measure(options.row)))
        return
    rows = []
    for name in options.only:
        print(f"{name} ...", flush=True)
        command = [sys.executable, __file__, "--row", name]
        answer = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=True)
        rows.append(json.loads(answer.stdout.splitlines()[-1]))
    from jella.numerics.environment import describe_environment

    state = describe_environment()
    versions = ", ".join(f"{name} {state[name]}" for name in ("jella", "python", "numpy", "scipy", "scikit-learn"))
    where = f"{state['date']}, {machine()}, {versions}, state of the source {state['source']}."
    print(f"\n{table(rows)}\n\n{where}")
    if list(TASKS) == options.only:
        PAGE.write_text(f"# make bench\n\n{table(rows)}\n\nProcessor time on one thread. {where}\n")
        print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
