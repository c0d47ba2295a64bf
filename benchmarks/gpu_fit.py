"""Whole fits of SparseBDR on a GPU against the cores of the same machine: seconds from views to labels, and on what.

Run on a machine with CUDA: python benchmarks/gpu_fit.py [--sizes 100000 1000000] [--landmarks auto 20000] [--out FILE]

Synthetic data of benchmarks/scale.py, single precision, 30 % missing, ten clusters, default settings otherwise. On the
card the views are tensors there, and the fitted model stays there; on the cores they are NumPy arrays, with as many
threads of BLAS as there are cores. A small fit on the card comes before, so that loading its libraries is not timed;
each time on the card is the best of three. Beyond 100 000 samples landmarks are chosen anyway. `card_computes_seconds`
are those in which a kernel or a copy ran on the card, by PyTorch's profiler: the rest of a fit is the host, computing
or starting kernels. `from_host_seconds` is the fit of NumPy arrays on the card, with all copies: the way of
`--device cuda`.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from measuring import fastest
from scale import K, make_views

import jella
from jella.estimators.landmarks import MOST_RELATED

SEED = 0


def timed(views: list[Any], landmarks: Any, groups: np.ndarray) -> dict[str, Any]:
    """Seconds of a whole fit, what it found, and of what it was a fit."""
    model = jella.SparseBDR(K, landmarks=landmarks, random_state=SEED)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(views)
    seconds = time.perf_counter() - started
    ari = jella.metrics.adjusted_rand(groups, model.labels_)
    return {"seconds": round(seconds, 3), "ari": round(float(ari), 4), "fit": str(model.landmarks_)}


def on_card(views: list[np.ndarray], landmarks: Any, groups: np.ndarray) -> dict[str, Any]:
    """The best of three fits on the card, and its memory."""
    import torch

    there = [torch.asarray(X, device="cuda") for X in views]
    torch.cuda.reset_peak_memory_stats()
    best = min((timed(there, landmarks, groups) for _ in range(3)), key=lambda one: one["seconds"])
    return best | {"gib": round(torch.cuda.max_memory_allocated() / 2**30, 2)}


def computing_seconds(views: list[np.ndarray], landmarks: Any, groups: np.ndarray) -> float:
    """Seconds that the card computes and copies in a fit: the sum over its kernels, which follow each other."""
    import torch

    there = [torch.asarray(X, device="cuda") for X in views]
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        timed(there, landmarks, groups)
        torch.cuda.synchronize()
    return round(sum(event.self_device_time_total for event in profile.key_averages()) / 1e6, 3)


def from_host(views: list[np.ndarray]) -> float:
    """Seconds of the best of three fits of arrays of the host on the card, whose model comes back to the host."""
    from jella.estimators.on_device import Device

    device, model = Device.named("cuda"), jella.SparseBDR(K, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return round(fastest(lambda: device.fit(model, views), 3), 3)


def profiled(views: list[np.ndarray], landmarks: Any, groups: np.ndarray, count: int) -> None:
    """Print what a fit on the card spends its time on."""
    import torch

    there = [torch.asarray(X, device="cuda") for X in views]
    profile = cProfile.Profile()
    profile.enable()
    timed(there, landmarks, groups)
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(count)
    pstats.Stats(profile).sort_stats("cumtime").print_stats("jella", count)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--landmarks", nargs="*", default=["auto", "20000"])
    parser.add_argument("--no-cores", action="store_true")
    parser.add_argument("--profile", type=int, default=0, help="print this many lines of a profile per fit")
    parser.add_argument("--out", default=str(Path(__file__).parent / "results" / "gpu_fit.jsonl"))
    chosen = parser.parse_args()
    small, groups = make_views(5000)
    on_card(small, "auto", groups)
    lines = []
    for n in chosen.sizes:
        views, groups = make_views(n)
        for name in chosen.landmarks if n <= MOST_RELATED else ["auto"]:
            landmarks = name if name == "auto" else int(name)
            line: dict[str, Any] = {"n": n, "landmarks": name, "card": on_card(views, landmarks, groups)}
            line["card_computes_seconds"] = computing_seconds(views, landmarks, groups)
            if landmarks == "auto":
                line["from_host_seconds"] = from_host(views)
            if chosen.profile:
                profiled(views, landmarks, groups, chosen.profile)
            if not chosen.no_cores:
                line["cores"] = timed(views, landmarks, groups) | {"cores": os.cpu_count()}
                line["ratio"] = round(line["cores"]["seconds"] / line["card"]["seconds"], 1)
            print(json.dumps(line), flush=True)
            lines.append(line)
            Path(chosen.out).write_text("".join(json.dumps(one) + "\n" for one in lines))


if __name__ == "__main__":
    main()
