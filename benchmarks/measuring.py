"""Seconds, memory, machines, and files with one line of JSON per result. Needs only Python itself."""

from __future__ import annotations

import json
import os
import platform
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def fastest(work: Callable[[], Any], repeats: int = 7, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of the fastest of several runs."""
    seconds = []
    for _ in range(repeats):
        started = clock()
        work()
        seconds.append(clock() - started)
    return min(seconds)


def peak_gib() -> float:
    """Peak memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def load(path: Path) -> list[dict[str, Any]]:
    """The results in a file; none if there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append(path: Path, result: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(result) + "\n")
