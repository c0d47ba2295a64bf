"""A GPU against the cores of the same machine: dense IML-BDR, MVL-IV and SparseBDR, seconds per sweep.

Run on a machine with CUDA: python benchmarks/gpu.py [--what ceilings dense mvliv sparse] [--out FILE]

Synthetic data of benchmarks/scale.py, single precision, 30 % missing. Everything from the start of the sweeps on is
timed, sweep by sweep, and the median is reported; a sweep ends with the objective on the host, so all work is done.
Times on the cores are with two threads of BLAS and with all. Ceilings are measured on the same card: a product of two
matrices of 8192 in single precision (TF32 off), and a copy. Shares of the ceilings count the products and bytes that a
sweep cannot avoid.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measuring import fastest
from scale import RANK, K, make_views
from threadpoolctl import threadpool_limits

import jella

SEED = 0
MOST_ON_CORES = 20_000  # samples of the dense form beyond which only the card is timed


def sweep_seconds(model: Any, views: list[Any]) -> float:
    """Median seconds of a sweep after the first."""
    from jella.estimators import framework

    at: list[float] = []
    model.set_params(callback=lambda progress: bool(at.append(time.perf_counter())))
    solve = framework.solve
    framework.solve = partial(solve, close=False)  # the closing step is no sweep
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(views)
    finally:
        framework.solve = solve
    return float(np.median(np.diff(at)))


def compare(
    name: str,
    make: Any,
    views: list[np.ndarray],
    work: dict[str, float],
    peaks: dict[str, float],
    cores: bool = True,
) -> dict[str, Any]:
    """Seconds per sweep on the card and on the cores."""
    import torch

    on_card = [torch.asarray(X, device="cuda") for X in views]
    torch.cuda.reset_peak_memory_stats()
    result: dict[str, Any] = {"what": name, "gpu": sweep_seconds(make(), on_card)}
    result["gpu_gib"] = torch.cuda.max_memory_allocated() / 2**30
    del on_card
    torch.cuda.empty_cache()
    for label, threads in (("all_cores", os.cpu_count()), ("two_cores", 2)) if cores else ():
        with threadpool_limits(threads):
            result[label] = sweep_seconds(make(max_iter=3), views)
        result[f"{label}_ratio"] = result[label] / result["gpu"]
    result["share_of_flops"] = work["flops"] / result["gpu"] / peaks["flops"]
    result["share_of_bytes"] = work["bytes"] / result["gpu"] / peaks["bytes"]
    print(json.dumps(result), flush=True)
    return result


def ceilings() -> dict[str, float]:
    """Floating point operations and bytes per second that this card reaches."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    A = torch.randn(8192, 8192, device="cuda")
    large = torch.empty(2**30, device="cuda")

    torch.cuda.synchronize()

    def best(function: Callable[[], Any]) -> float:
        return fastest(lambda: (function(), torch.cuda.synchronize()), 5)

    found = {"flops": 2 * 8192**3 / best(lambda: A @ A), "bytes": 2 * large.numel() * 4 / best(large.clone)}
    print(json.dumps({"what": "ceilings", "card": torch.cuda.get_device_name(), **found}), flush=True)
    return found


def dense(n: int, peaks: dict[str, float]) -> dict[str, Any]:
    """IML-BDR in the orthonormal form; its n × n matrices are read and written a few times per sweep."""
    views, _ = make_views(n)

    def make(max_iter: int = 8) -> Any:
        return jella.IMLBDR(
            K, n_components=RANK, basis="orthonormal", alpha=0.1, scale="standardize", solver="basic",
            max_iter=max_iter, tol=0.0, random_state=SEED,
        )  # fmt: skip

    products = 2 * 7 + 4 + 20  # conjugate gradients, refresh, eigenvectors: products of n × n with rank r or k
    work = {"flops": products * 2.0 * n * n * RANK, "bytes": (products + 6) * 4.0 * n * n}
    return compare(f"IMLBDR, n = {n}", make, views, work, peaks, cores=n <= MOST_ON_CORES)


def mvliv(n: int, d: int, peaks: dict[str, float]) -> dict[str, Any]:
    """MVL-IV: three products of the data's size, and one masked pass."""
    rng = np.random.default_rng(SEED)
    views = []
    for _ in range(2):
        X = rng.standard_normal((n, 8), dtype=np.float32) @ rng.standard_normal((8, d // 2), dtype=np.float32)
        X += rng.standard_normal((n, d // 2), dtype=np.float32)
        X[rng.random((n, d // 2), dtype=np.float32) < 0.3] = np.nan
        views.append(X)

    def make(max_iter: int = 12) -> Any:
        return jella.MVLIV(
            n_components=RANK,
            scale="none",
            solver="basic",
            init="random",
            n_init=1,
            max_iter=max_iter,
            tol=0.0,
            random_state=SEED,
        )

    return compare(
        f"MVLIV, {n} x {d}", make, views, {"flops": 3 * 2.0 * n * d * RANK, "bytes": (4 * 4.0 + 1) * n * d}, peaks
    )


def sparse(n: int, peaks: dict[str, float], neighbours: str | None) -> dict[str, Any]:
    """SparseBDR; the neighbour search, on the host, is done once and is not part of a sweep."""
    from jella.estimators.methods import sparse_bdr

    views, _ = make_views(n)
    search = sparse_bdr.nearest
    found = {} if neighbours is None else {"neighbours": (None, np.load(neighbours))}

    def once(scaled: Any, count: int, **options: Any) -> Any:
        if not found:
            found["neighbours"] = search(scaled, count)
        return found["neighbours"]

    sparse_bdr.nearest = once  # type: ignore[assignment]

    class Sweeps(jella.SparseBDR):
        """Skip the steps after the sweeps, which run on the host."""

        def _set_fitted(self, *args: Any) -> None:
            pass

        def _warn(self, *args: Any) -> None:
            pass

    def make(max_iter: int = 12) -> Any:
        return Sweeps(
            K, n_components=RANK, scale="standardize", view_weights=None, solver="basic", max_iter=max_iter, tol=0.0,
            random_state=SEED,
        )  # fmt: skip

    pairs = 17.0 * n
    gathered = (2 * 7 + 4) * pairs * 4 * RANK + 12 * n * RANK * 4 * 7 + 17.0 * n * 100
    return compare(
        f"SparseBDR, n = {n}", make, views, {"flops": (2 * 7 + 4) * 2 * pairs * RANK, "bytes": gathered}, peaks
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--what", nargs="*", default=["dense", "mvliv", "sparse"])
    parser.add_argument("--dense-sizes", type=int, nargs="*", default=[5000, 20_000, 80_000])
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--neighbours", help="file of neighbours (n, 10) of these data, to save the search")
    parser.add_argument("--out", default=str(Path(__file__).parent / "results" / "gpu.jsonl"))
    chosen = parser.parse_args()
    peaks = ceilings()
    results: list[dict[str, Any]] = [{"what": "ceilings", **peaks}]
    if "dense" in chosen.what:
        results += [dense(n, peaks) for n in chosen.dense_sizes]
    if "mvliv" in chosen.what:
        results.append(mvliv(chosen.n, 1000, peaks))
    if "sparse" in chosen.what:
        results.append(sparse(chosen.n, peaks, chosen.neighbours))
    Path(chosen.out).write_text("".join(json.dumps(result) + "\n" for result in results))


if __name__ == "__main__":
    main()
