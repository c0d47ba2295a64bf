"""Fits on Dask: the cost of chunks and workers, and data several times as large as the workers' memory.

Run: python benchmarks/dask_scale.py [--what overhead beyond] [--n N] [--out FILE]

overhead: 2 000 000 x 100 in double precision (two views of 50 features, 30 % missing, incomplete-view), rank 10, plain
sweeps: in memory with two threads of BLAS against two worker processes of one thread each, in one run. The seconds
per sweep are medians by the clock, and means of the processor time, on which other work on the machine has less
influence; the whole fit includes reading, scaling, start and the closing step.

beyond: MVL-IV on such data with twice as many features in Parquet parts on disk, with two worker processes of 1 GiB
each. Peak memory is that of the worker processes; a restarted worker would have another process number at the end.
SparseBDR beyond memory is measured by `dask_landmarks.py`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")  # before NumPy is imported; workers are given one

import argparse
import json
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import append, machine
from scale import make_views
from threadpoolctl import threadpool_limits

import jella

RESULTS = Path(__file__).parent / "results" / "dask.jsonl"
RANK, SWEEPS, CHUNK = 10, 6, 50_000
PART, FEW_SWEEPS = 25_000, 3  # of the data on disk
#: the first is Dask's default for its workers
WORKER = {"MALLOC_TRIM_THRESHOLD_": "65536", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def timed_fit(model: Any, X: Any, cpu: Callable[[], float] = time.process_time) -> dict[str, float]:
    """Seconds of a fit, of a sweep by the clock and of all processors, and the objective."""
    sweeps = model.max_iter
    at: list[float] = []
    used: list[float] = []

    def told(progress: Any) -> None:
        at.append(time.perf_counter())
        if progress.n_iter in (1, sweeps):
            used.append(cpu())

    model.set_params(tol=0.0, callback=told)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    return {
        "fit": time.perf_counter() - started,
        "sweep": float(np.median(np.diff(at))),
        "sweep_cpu": (used[1] - used[0]) / (sweeps - 1),
        "objective": float(model.objective_[-2]),
    }


def mvliv(sweeps: int) -> Any:
    return jella.MVLIV(n_components=RANK, solver="basic", max_iter=sweeps)


def cpu_of(client: Any) -> Callable[[], float]:
    """Processor seconds that a client and its workers have used."""
    return lambda: time.process_time() + sum(client.run(time.process_time).values())


def make_part(number: int, n: int) -> list[np.ndarray]:
    """Samples of one part, in double precision."""
    views, _ = make_views(n, seed=number)
    return [view.astype(np.float64) for view in views]


def parts_of(n: int, size: int = CHUNK) -> list[int]:
    return [min(size, n - first) for first in range(0, n, size)]


def cluster(**options: Any) -> Any:
    from distributed import LocalCluster

    return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", env=WORKER, **options)


def one_thread() -> None:
    """In a worker: limit libraries that were loaded before the environment was set."""
    threadpool_limits(1)


def overhead(n: int) -> dict[str, Any]:
    """In memory against worker processes, the same data."""
    import dask
    import dask.array as da
    from distributed import Client

    sizes = parts_of(n)
    pieces = [make_part(number, size) for number, size in enumerate(sizes)]
    views = [np.concatenate([piece[v] for piece in pieces]) for v in range(2)]
    del pieces
    memory = timed_fit(mvliv(SWEEPS), views)
    del views
    make = dask.delayed(make_part, pure=False, nout=2)
    with cluster() as local, Client(local) as client:
        client.run(one_thread)
        made = [make(number, size) for number, size in enumerate(sizes)]
        X = [
            da.concatenate(
                [da.from_delayed(part[v], (size, 50), float) for part, size in zip(made, sizes, strict=True)]
            )
            for v in range(2)
        ]
        X = dask.persist(*X)
        from distributed import wait

        wait(X)
        chunked = timed_fit(mvliv(SWEEPS), list(X), cpu_of(client))
    return {
        "what": f"MVL-IV, {n} x 100, two cores",
        "in_memory": memory,
        "dask": chunked,
        "sweep_ratio": chunked["sweep"] / memory["sweep"],
        "sweep_cpu_ratio": chunked["sweep_cpu"] / memory["sweep_cpu"],
        "fit_ratio": chunked["fit"] / memory["fit"],
    }


def peak_bytes() -> tuple[int, int]:
    """Process number and peak memory of a worker since its start."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return os.getpid(), next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def twice_as_wide(number: int, n: int) -> list[np.ndarray]:
    """Samples of one part with their features and noisy copies of them."""
    rng = np.random.default_rng(number)
    halves = zip(make_part(number, n), make_part(number, n), strict=True)
    return [np.concatenate([left, right + rng.normal(size=right.shape)], axis=1) for left, right in halves]


def write_part(folder: str, number: int, first: int, size: int) -> None:
    import pandas as pd

    for v, view in enumerate(twice_as_wide(number, size)):
        index = pd.Index(np.arange(first, first + size), name="sample")  # a range would not be a column of the file
        frame = pd.DataFrame(view, index=index).add_prefix("x")
        place = Path(folder) / f"view{v}"
        place.mkdir(exist_ok=True)
        frame.to_parquet(place / f"part.{number:05d}.parquet", compression=None)


def beyond(model: Any, n: int) -> dict[str, Any]:
    """Data on disk, several times the memory of the workers."""
    import dask
    import dask.dataframe as dd
    from distributed import Client

    with tempfile.TemporaryDirectory() as folder:
        with cluster(memory_limit="4GiB") as local, Client(local):
            write = dask.delayed(write_part, pure=False)
            sizes = parts_of(n, PART)
            dask.compute(*[write(folder, number, number * PART, size) for number, size in enumerate(sizes)])
        with cluster(memory_limit="1GiB") as local, Client(local) as client:
            client.run(one_thread)
            before = {pid for pid, _ in client.run(peak_bytes).values()}
            X = {name: dd.read_parquet(f"{folder}/{name}", split_row_groups=False) for name in ("view0", "view1")}
            figures = timed_fit(model, X, cpu_of(client))
            after = dict(client.run(peak_bytes).values())
    width = sum(view.shape[1] for view in twice_as_wide(0, 1))
    return {
        "what": f"{type(model).__name__} beyond memory, {n} x {width} in Parquet, two workers of 1 GiB",
        "data_gib": n * width * 8 / 2**30,
        **figures,
        "peak_worker_gib": max(after.values()) / 2**30,
        "peak_client_gib": peak_bytes()[1] / 2**30,
        "restarted": len(before - set(after)),
    }


def run(what: str, n: int | None) -> dict[str, Any]:
    if what == "overhead":
        return overhead(n or 2_000_000)
    return beyond(mvliv(FEW_SWEEPS), n or 2_000_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = ["overhead", "beyond"]
    parser.add_argument("--what", nargs="+", default=kinds, choices=kinds)
    parser.add_argument("--n", type=int, default=None)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for what in options.what:
        found = run(what, options.n)
        found["machine"] = machine()
        print(json.dumps(found, indent=1), flush=True)
        append(options.out, found)


if __name__ == "__main__":
    main()
