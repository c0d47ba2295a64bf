"""Run the cells that a results file lacks, in parallel; each is written when it ends."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from jella.estimators.on_device import Device
from jella.numerics.environment import describe_environment
from jella.numerics.progress import ProgressLine
from jella_experiments.cell import Cell
from jella_experiments.contenders import CONTENDERS
from jella_experiments.measuring import forget_peak_memory, peak_memory
from jella_experiments.protocol import compute_cell
from jella_experiments.results_file import ResultsFile

Load = Callable[[str], tuple[Mapping[str, Any], Any]]


def run(
    cells: Iterable[Cell],
    results: str | os.PathLike[str],
    *,
    load: Load | None = None,
    n_jobs: int = 1,
    device: Device | None = None,
    progress: bool = True,
) -> dict[str, dict[str, Any]]:
    """Compute the cells that the file lacks, and return the results of all cells.

    Parameters
    ----------
    cells : iterable of Cell
        A grid; its order is the order of the work.
    results : path
        A file of results, new or existing. Each finished cell is appended at once, failures with their message;
        a cell in the file is not computed again, unless it failed.
    load : callable name -> (views, labels), optional
        Loads a data set; by default `jella.datasets.load`.
    n_jobs : int, default=1
        Number of cells at a time, as in joblib.
    device : jella.estimators.on_device.Device, optional
        The device for methods that can run on one; their results name it. The others are fitted on the host.
    progress : bool, default=True
        Print on standard error what is done and how long the rest may take.

    Returns
    -------
    dict of key to result
        For each cell, in the order of the cells.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from jella_experiments import Cell, run
    >>> cell = Cell("digits-150", "missing-view", 0.3, 0, "MVL-IV")
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "results.jsonl"
    >>> result = run([cell], file, progress=False)[cell.key]
    >>> bool(0.3 < result["nmi"] <= 1)
    True
    """
    from sklearn.utils.parallel import Parallel, delayed

    wanted = list(dict.fromkeys(cells))
    unknown = sorted({cell.method for cell in wanted} - set(CONTENDERS))
    if unknown:
        raise ValueError(f"expected methods among {tuple(CONTENDERS)}, got {unknown}; pass some of these")
    file = ResultsFile(results)
    done = file.results()
    todo = [cell for cell in wanted if "failed" in done.get(cell.key, {"failed": ""})]
    environment = describe_environment(device)
    if todo and environment["environment"] not in file.environments():
        file.append(environment)
    with ProgressLine(len(todo), "cells", enabled=progress) as line:
        jobs = (delayed(measure)(cell, load or load_dataset, device) for cell in todo)
        for record in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
            file.append({**record, "environment": environment["environment"]})
            line.step(f"{record['dataset']} {record['method']}", failed="failed" in record)
    file.tidy()
    found = file.results()
    return {cell.key: found[cell.key] for cell in wanted}


@lru_cache(maxsize=2)
def load_dataset(name: str, folder: str | None = None) -> tuple[Mapping[str, Any], Any]:
    """Views and labels of a data set, read once per process; 'digits-150' are the first 150 of the embedded digits."""
    from jella import datasets

    base, _, first = name.partition("-") if name.startswith("digits") else (name, "", "")
    data = datasets.load(base, folder)
    stop = int(first) if first else None
    return {view: X[:stop] for view, X in data.views.items()}, data.labels[:stop]


def measure(cell: Cell, load: Load, device: Device | None = None) -> dict[str, Any]:
    """The result of a cell, or why it failed, with its time and memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # hundreds of fits would each warn that they stopped at max_iter
        forget_peak_memory()
        started, cpu = time.perf_counter(), time.process_time()
        try:
            views, labels = load(cell.dataset)
            found = compute_cell(cell, views, labels, device)
        except Exception as error:  # a failure is a result too, and is shown
            found = {"failed": f"{type(error).__name__}: {error}"}
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    took = {"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_mib": peak_memory() / 2**20}
    return {**cell.as_dict(), **_rounded(found), **_rounded(took)}


def _rounded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers rounded to six digits, which is enough for scores and times and keeps files small."""

    def short(value: Any) -> Any:
        if isinstance(value, list):
            return [short(one) for one in value]
        return float(f"{value:.6g}") if isinstance(value, float | np.floating) else value

    return {name: short(value) for name, value in record.items()}
