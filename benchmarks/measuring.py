"""Seconds, memory, machines, and files with one line of JSON per result. Needs only Python itself."""

from __future__ import annotations

import json
import os
import platform
import resource
import time
from collections.abc import Callable, Iterable
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


def add_results(
    file: Path, results: Iterable[dict[str, Any]], page: Path, draw: Callable[[list[dict[str, Any]]], str]
) -> None:
    """Append each result to a file as soon as it is computed, then write and print the page of all results.

    Parameters
    ----------
    results : iterable of dict
        Those that the file lacks, so that a run that was stopped continues.
    draw : callable
        From all results to the page.
    """
    for result in results:
        append(file, result)
        print(result, flush=True)
    text = draw(load(file))
    page.write_text(text)
    print(text)
