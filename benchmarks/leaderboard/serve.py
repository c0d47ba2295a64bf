"""Runs a peer in the environment that has its packages; the runner starts it.

Run: python -m leaderboard.serve PEER, then one line of JSON per request, {"source": IN.npz}; one line answers each.

IN holds `k`, `seed` and `view_0`, `view_1`, ... The answer has the labels, the seconds and CPU seconds of the peer, the
peak memory of the process so far (GiB) and the versions of the packages; or the error. One process serves many
requests, since imports take seconds; a small run at the beginning loads the packages.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
import time
import warnings
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
from measuring import peak_gib


def answer(peer: Any, source: str) -> dict[str, Any]:
    with np.load(source) as file:
        views = [file[f"view_{v}"] for v in range(sum(name.startswith("view_") for name in file))]
        k, seed = int(file["k"]), int(file["seed"])
    begin, cpu = time.perf_counter(), time.process_time()
    try:
        found = {"labels": [int(label) for label in peer.labels(views, k, seed)]}
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    spent = {"seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - cpu, "peak_gib": peak_gib()}
    versions = {"python": platform.python_version()} | {name: version(name) for name in peer.PACKAGES}
    return {**found, **{name: round(x, 3) for name, x in spent.items()}, "versions": versions}


def warm_up(peer: Any) -> None:
    """Load the packages by a small run, so that its time is not counted."""
    rng = np.random.default_rng(0)
    views = [rng.random((60, 8)) + np.repeat(3.0 * np.eye(3, 8), 20, axis=0) for _ in range(2)]
    views[0][::10] = np.nan
    with contextlib.suppress(Exception):
        peer.labels(views, 3, 0)


def main(name: str) -> None:
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")  # peers print; that goes nowhere
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    peer = import_module(f"leaderboard.peers.{name}")
    warm_up(peer)
    for line in sys.stdin:
        print(json.dumps(answer(peer, json.loads(line)["source"])), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
