"""What a sweep costs, from a few measured constants: predictions beside what was run, and on to a billion samples.

Run: python benchmarks/cost_model.py [--draw]

Measures the constants on this machine (one thread; the best of several runs), predicts seconds a sweep for each method
and compares with sweeps that are run here. Figures go to benchmarks/results/cost_model.json; --draw writes the table
of docs/how-big.md's results from it (docs/results/how-big.md) without measuring. Predictions are per core and add up
over chunks; a sweep over W workers takes the sum over W, and the messages of the slowest link.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scale import make_views

import jella

HERE = Path(__file__).parent
FILE, PAGE = HERE / "results" / "cost_model.json", HERE.parent / "docs" / "results" / "how-big.md"
D, R, V, Q = 100, 10, 2, 10  # features, components, views, neighbours
SIZES = (10**6, 10**8, 10**9)
#: a node of the extrapolation
CORES, NODE_GIB, NETWORK = 16, 64.0, 1.25e9  # bytes a second: ten gigabits
CHUNK = 500_000


@dataclass(frozen=True)
class Constants:
    """What was measured: operations and bytes a second of one core, seconds of a task and of small steps."""

    flops: float  # of tall products (n x d)(d x r), with the data in the cache
    bytes: float  # read from memory
    solve: float  # seconds of one r x r symmetric solve in a batch
    task: float  # seconds of the scheduler for a task


def best(function: Callable[[], Any], times: int = 7) -> float:
    seconds = []
    for _ in range(times):
        started = time.process_time()
        function()
        seconds.append(time.process_time() - started)
    return min(seconds)


def measure() -> Constants:
    from jella.arrays import solve_psd

    rng = np.random.default_rng(0)
    X, U = rng.standard_normal((2000, 50)), rng.standard_normal((50, R))
    product = best(lambda: [X @ U for _ in range(100)]) / 100
    big = np.ones(2**25)
    grams = np.eye(R) + np.zeros((20_000, 1, 1))
    right = rng.standard_normal((20_000, 1, R))
    return Constants(
        flops=2 * X.size * R / product,
        bytes=big.nbytes / best(lambda: np.add.reduce(big)),
        solve=best(lambda: solve_psd(grams, right)) / 20_000,
        task=_task_seconds(),
    )


def _task_seconds() -> float:
    """Seconds a task takes of a local cluster's scheduler, client and worker, without any work in it."""
    import dask
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        step = dask.delayed(abs, pure=False)
        dask.compute(*[step(-1) for _ in range(100)])
        started = time.perf_counter()
        dask.compute(*[step(-1) for _ in range(2000)])
        return (time.perf_counter() - started) / 2000


@dataclass(frozen=True)
class Cost:
    """Of one sweep: operations, bytes through memory, and bytes kept, all a sample."""

    flops: float
    traffic: float
    kept: float

    def seconds(self, constants: Constants, n: float) -> float:
        """Of one core."""
        return n * (self.flops / constants.flops + self.traffic / constants.bytes)


def costs(d: int, r: int) -> dict[str, Cost]:
    """A sweep in double precision with missing entries (IRMKMC: missing views): see docs/how-big.md."""
    word, mask = 8, 1
    entries = d * (word + mask)
    return {
        "MVLIV": Cost(
            3 * 2 * d * r + 4 * r * r, entries + 3 * d * word + 6 * r * word, entries + d * word + 4 * r * word
        ),
        "MVLIV, in chunks": Cost(4 * 2 * d * r + 4 * r * r, 2 * entries + 4 * r * word, entries + 2 * r * word),
        "PVC, DAIMC": Cost(3 * 2 * d * r + 10 * 4 * r * r, entries + 3 * d * word + 60 * r * word, entries + d * word),
        "IRMKMC": Cost(4 * 2 * d * r, 4 * d * word + 3 * V * r * r * word, d * word + 4 * r * word),
    }


def run_sweeps(name: str, n: int) -> float:
    """Seconds a sweep of one core, in memory."""
    views, _ = make_views(n)
    X = [view.astype(np.float64) for view in views]
    if name == "IRMKMC":
        X = [np.where(np.isnan(view).all(axis=1, keepdims=True), np.nan, np.nan_to_num(view)) for view in X]
    if name == "PVC, DAIMC":
        X = [np.abs(view) for view in X]
    make = {"MVLIV": jella.MVLIV, "PVC, DAIMC": jella.DAIMC, "IRMKMC": jella.IRMKMC}[name]
    at: list[float] = []
    options: dict[str, Any] = {} if name == "IRMKMC" else {"n_components": R, "solver": "basic"}
    model = make(R if name == "IRMKMC" else None, max_iter=6, tol=0.0, **options)
    model.set_params(callback=lambda progress: bool(at.append(time.process_time())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    return float(np.min(np.diff(at)))


def compare(constants: Constants) -> list[dict[str, Any]]:
    rows = []
    for name in ("MVLIV", "PVC, DAIMC", "IRMKMC"):
        for n in (20_000, 200_000):
            ran, predicted = run_sweeps(name, n), costs(D, R)[name].seconds(constants, n)
            rows.append({"method": name, "n": n, "run": ran, "predicted": predicted})
            print(rows[-1], flush=True)
    return rows


def extrapolated(constants: Constants, name: str, n: int) -> dict[str, float]:
    """Nodes that hold the data, and seconds a sweep on them, the messages of chunks included."""
    cost = costs(D, R)[name]
    nodes = max(1, int(np.ceil(cost.kept * n / 2**30 / (0.5 * NODE_GIB))))
    chunks = n / CHUNK
    message = 8 * (2 * D * R + R * R) * nodes * CORES
    seconds = cost.seconds(constants, n) / (nodes * CORES) + 3 * chunks * constants.task + message / NETWORK
    return {"nodes": nodes, "gib": cost.kept * n / 2**30, "seconds": seconds, "tasks": 3 * chunks}


def draw(stored: dict[str, Any]) -> str:
    constants = Constants(**stored["constants"])
    lines = [
        "# How big: constants, what was run, what follows",
        "",
        f"Written by `python benchmarks/cost_model.py` ({stored['machine']}, {stored['date']}). Two views of {D // 2}",
        f"features, rank {R}, double precision, 30 % missing.",
        "",
        "| constant of one core | measured |",
        "|---|---|",
        f"| products (n × d)(d × r) | {constants.flops / 1e9:.1f} GFLOP/s |",
        f"| reading memory | {constants.bytes / 1e9:.1f} GB/s |",
        f"| a batched {R} × {R} solve | {constants.solve * 1e6:.1f} µs |",
        f"| a task of the scheduler | {constants.task * 1e3:.2f} ms |",
        "",
        "Run: one core, in memory, seconds a sweep.",
        "",
        "| method | n | run | predicted | ratio |",
        "|---|---|---|---|---|",
    ]
    for row in stored["rows"]:
        ratio = row["run"] / row["predicted"]
        lines.append(f"| {row['method']} | {row['n']:,} | {row['run']:.4f} | {row['predicted']:.4f} | {ratio:.2f} |")
    lines += [
        "",
        f"**Extrapolated**, not run: nodes of {CORES} cores and {NODE_GIB:.0f} GiB, half of it for data, ten gigabits",
        f"between them, chunks of {CHUNK:,} samples, three tasks a chunk and sweep. Predictions are multiplied by the",
        "largest ratio of the table above for the method.",
        "",
        "| method | samples | data and model | nodes | seconds a sweep | of it scheduling |",
        "|---|---|---|---|---|---|",
    ]
    slack = {row["method"]: 0.0 for row in stored["rows"]}
    for row in stored["rows"]:
        slack[row["method"]] = max(slack[row["method"]], row["run"] / row["predicted"])
    for name in ("MVLIV, in chunks", "PVC, DAIMC", "IRMKMC"):
        factor = slack[name.split(", in")[0]]
        for n in SIZES:
            found = extrapolated(constants, name, n)
            scheduling = found["tasks"] * constants.task
            seconds = factor * (found["seconds"] - scheduling) + scheduling
            lines.append(
                f"| {name} | 10^{int(np.log10(n))} | {found['gib']:,.1f} GiB | {found['nodes']:.0f} | {seconds:,.1f} | "
                f"{scheduling:,.1f} |"
            )
    return "\n".join(lines) + "\n"


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
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
            "date": time.strftime("%Y-%m-%d"),
        }
        FILE.write_text(json.dumps(stored, indent=1) + "\n")
    PAGE.write_text(draw(json.loads(FILE.read_text())))
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
