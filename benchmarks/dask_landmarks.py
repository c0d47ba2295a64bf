"""SparseBDR on Dask: twenty million samples on two workers of 2 GiB, and the memory of the client.

Run: python benchmarks/dask_landmarks.py [--n 20000000] [--labels 500000]

Ten planted groups, two views of 25 features, single precision, 30 % of the entries missing. A chunk of 50 000 samples
is made by the worker that needs it. The program prints the seconds of the fit and of the labels of some samples by the
clock, their adjusted Rand index, and the peak memory of the client and of the workers.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np
from measuring import machine, peak_gib

CHUNK, GROUPS, WIDTH = 50_000, 10, 25


def groups_of(chunk: int) -> np.ndarray:
    return np.random.default_rng([chunk, 9]).integers(GROUPS, size=CHUNK)


def values(zeros: np.ndarray, view: int, block_id: tuple[int, int] | None = None) -> np.ndarray:
    """One chunk of a view."""
    assert block_id is not None
    chunk, fixed = block_id[0], np.random.default_rng(view)
    centres = 2.0 * fixed.standard_normal((GROUPS, 8), dtype=np.float32)
    spread = fixed.standard_normal((8, WIDTH), dtype=np.float32)
    rng = np.random.default_rng([chunk, view])
    X = (centres[groups_of(chunk)] + rng.standard_normal((CHUNK, 8), dtype=np.float32)) @ spread
    X += rng.standard_normal((CHUNK, WIDTH), dtype=np.float32)
    X[rng.random((CHUNK, WIDTH), dtype=np.float32) < 0.3] = np.nan
    return X


def peak_of_worker() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    import dask.array as da
    import distributed

    import jella

    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=20_000_000)
    parser.add_argument("--labels", type=int, default=500_000)
    chosen = parser.parse_args()
    n, wanted = chosen.n // CHUNK * CHUNK, min(chosen.labels, chosen.n) // CHUNK * CHUNK
    zeros = da.zeros((n, WIDTH), chunks=(CHUNK, WIDTH), dtype=np.float32)
    views: list[Any] = [zeros.map_blocks(values, view=v, dtype=np.float32) for v in range(2)]
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "2GiB", "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        started = time.perf_counter()
        model = jella.SparseBDR(GROUPS, evidence=False, random_state=0).fit(views)
        fitted = time.perf_counter() - started
        print(f"{machine()}: {n:,} x {2 * WIDTH}, fit {fitted:.0f} s, client {peak_gib():.2f} GiB; {model.landmarks_}")
        started = time.perf_counter()
        labels = model.labels_[:wanted].compute()
        taken = time.perf_counter() - started
        truth = np.concatenate([groups_of(chunk) for chunk in range(wanted // CHUNK)])
        found = jella.metrics.adjusted_rand(truth, labels)
        workers = max(client.run(peak_of_worker).values())
        print(
            f"labels of {wanted:,}: {taken:.0f} s, ARI {found:.3f}; client {peak_gib():.2f}, workers {workers:.2f} GiB"
        )


if __name__ == "__main__":
    main()
