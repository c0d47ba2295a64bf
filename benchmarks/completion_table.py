"""Error of completed real data, of jella and of other imputers that users may choose.

Run: JELLA_DATA=<folder> python benchmarks/completion_table.py [--methods jella] [--sets Yale] [--jobs 2] [--draw]
                                                               [--python MOFA+=<python> SoftImpute=<python> ...]

Sets in their own units, the larger ones as 500 random samples (`completion_sets`). Holes by
`jella.datasets.make_incomplete` in five settings, rates .1, .3, .5, five masks each; all methods get the same holes.
jella is called as `jella.complete(views)`, with intervals where it can give them; it gets sparse sets sparse. The other
methods run in environments of their own (`other_imputers`, which also says what is done to their features), named by
--python; without one in this interpreter. `completion_scores` says what is measured. Costly methods run only on small
sets, or with fewer masks: `affordable`.

Each finished cell is appended to docs/results/completion.jsonl; a cell in the file is not computed again, and --draw
writes docs/results/completion.md (`completion_page`) from the file without computing. To replace cells, delete their
lines. One mask of all cells comes before the next. All processes (--jobs) use one thread.
"""

from __future__ import annotations

import inspect
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from completion_page import draw
from completion_scores import coverage, scores
from completion_sets import FULL_SIZE, SETTINGS, TABLE_SETS, Views, dense, read, with_holes
from measuring import append, load, machine, peak_gib
from real_sets import folder
from result_cells import RATES, RESULTS, SOURCE, arguments, failure, key

import jella

LEVEL = 0.9
#: cheap ones first
METHODS = ("mean", "KNNImputer", "jella", "MOFA+", "SoftImpute", "IterativeImputer", "MissForest")
#: a set is larger than these: features of all views, or values
MOST_FEATURES = {"IterativeImputer": 2000}
MOST_VALUES = {"MissForest": 10_000}
#: with more values, only these masks
MANY_VALUES, FEW_MASKS = 1_500_000, {"MOFA+": 1, "SoftImpute": 1}
#: at full size: what runs, once
AT_FULL_SIZE = ("mean", "KNNImputer", "jella", "SoftImpute")


@dataclass(frozen=True)
class Task:
    """A set with holes, and the methods that are to complete it."""

    set: str
    setting: str
    rate: float
    repeat: int
    methods: tuple[str, ...]

    def cell(self, method: str) -> dict[str, Any]:
        """What names the result of a method."""
        parts = {"set": self.set, "setting": self.setting, "rate": self.rate, "repeat": self.repeat}
        return {**parts, "method": method}


def tasks(names: list[str], methods: list[str], repeats: int, done: set[Any], data: Path) -> Iterator[Task]:
    """What the file lacks, one mask after the other."""
    for repeat, name, setting, rate in product(range(repeats), names, SETTINGS, RATES):
        if name in FULL_SIZE and (repeat, setting, rate) != (0, "incomplete-view", 0.3):
            continue
        task = Task(name, setting, rate, repeat, ())
        wanted = [m for m in METHODS if m in methods and affordable(m, name, repeat, data)]
        lacking = tuple(m for m in wanted if key(task.cell(m)) not in done)
        if lacking:
            yield Task(name, setting, rate, repeat, lacking)


def affordable(method: str, name: str, repeat: int, data: Path) -> bool:
    n, d = size(name, data)
    if name in FULL_SIZE:
        return method in AT_FULL_SIZE and (n * d <= MANY_VALUES or method not in FEW_MASKS)
    return (
        d <= MOST_FEATURES.get(method, d)
        and n * d <= MOST_VALUES.get(method, n * d)
        and (n * d <= MANY_VALUES or repeat < FEW_MASKS.get(method, repeat + 1))
    )


@lru_cache
def size(name: str, data: Path) -> tuple[int, int]:
    """Samples, and features of all views."""
    views = list(read(name, data).values())
    return views[0].shape[0], sum(X.shape[1] for X in views)


def work(task: Task, data: Path, pythons: dict[str, str]) -> list[dict[str, Any]]:
    """The results of all methods of a task."""
    warnings.simplefilter("ignore")
    for method in task.methods:
        if method != "jella":
            server(pythons.get(method, sys.executable))  # first: a child inherits the peak memory of its parent
    views = read(task.set, data)
    holed = with_holes(views, task.setting, task.rate, task.repeat)
    truth, holes = dense(views), dense(holed)
    results = []
    for method in task.methods:
        try:
            if method == "jella":
                result = our_scores(holed, truth, holes, task.repeat)
            else:
                result = other_scores(method, pythons.get(method, sys.executable), truth, holes, task.repeat)
        except Exception as error:
            result = failure(error)
        rounded = {name: round(x, 6) if isinstance(x, float) else x for name, x in result.items()}
        results.append({**task.cell(method), **rounded, "machine": machine()})
    return results


def our_scores(holed: Views, truth: list[np.ndarray], holes: list[np.ndarray], seed: int) -> dict[str, Any]:
    options = {"interval": LEVEL} if "interval" in inspect.signature(jella.complete).parameters else {}
    begin, cpu = time.perf_counter(), time.process_time()
    found = jella.complete(holed, random_state=seed, **options)
    result = {"seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - cpu, "peak_gib": peak_gib()}
    result |= {"versions": {"jella": jella.__version__, "source": SOURCE}, **scores(truth, holes, dense(found.views))}
    ends = getattr(found, "lower", None), getattr(found, "upper", None)
    if ends[0] is not None and ends[1] is not None:
        result["coverage"] = coverage(truth, holes, dense(ends[0]), dense(ends[1]))
    return result


def other_scores(
    method: str, python: str, truth: list[np.ndarray], holes: list[np.ndarray], seed: int
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        source, target = Path(scratch) / "in.npz", Path(scratch) / "out.npz"
        np.savez(source, seed=seed, **{f"view_{v}": X for v, X in enumerate(holes)})
        asked = server(python)
        asked.stdin.write(json.dumps({"method": method, "source": str(source), "target": str(target)}) + "\n")
        asked.stdin.flush()
        line = asked.stdout.readline()
        if not line:
            server.cache_clear()
            raise RuntimeError("the process of the method ended")
        answer = json.loads(line)
        if "error" in answer:
            return answer
        with np.load(target) as file:
            return {**answer, **scores(truth, holes, [file[f"view_{v}"] for v in range(len(truth))])}


@lru_cache
def server(python: str) -> Any:
    """A process of that interpreter that answers requests until this process ends."""
    script = Path(__file__).with_name("other_imputers.py")
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen([python, str(script)], stdin=pipe, stdout=pipe, stderr=nowhere, text=True)


def _work(given: tuple[Task, Path, dict[str, str]]) -> list[dict[str, Any]]:
    return work(*given)


def compute(todo: list[Task], data: Path, pythons: dict[str, str], jobs: int, fresh: bool) -> Iterator[dict[str, Any]]:
    """All results, as they come; with `fresh` from a new process per task, so that its peak memory is its own."""
    os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")})
    given = [(task, data, pythons) for task in todo]
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=1 if fresh else None) as pool:
        for results in pool.imap_unordered(_work, given):
            yield from results


def main() -> None:
    parser = arguments([*TABLE_SETS, *FULL_SIZE], METHODS)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--python", nargs="*", default=[], metavar="METHOD=PATH", help="interpreter of a method")
    chosen = parser.parse_args()
    file, data = RESULTS / "completion.jsonl", folder()
    if data is not None and not chosen.draw:
        done = {key(result) for result in load(file)}
        todo = list(tasks(chosen.sets, chosen.methods, chosen.repeats, done, data))
        parts = [[t for t in todo if t.set not in FULL_SIZE]]
        parts += [[replace(t, methods=(m,)) for t in todo if t.set in FULL_SIZE for m in t.methods]]
        pythons, count = dict(pair.split("=", 1) for pair in chosen.python), sum(len(task.methods) for task in todo)
        results = chain.from_iterable(
            compute(part, data, pythons, chosen.jobs, fresh) for part, fresh in zip(parts, (False, True), strict=True)
        )
        for number, result in enumerate(results, 1):
            append(file, result)
            shown = result.get("error") or f"{result['rmse']:.3f} in {result['seconds']:.1f} s"
            print(f"{number}/{count}", *key(result), shown, flush=True)
    (RESULTS / "completion.md").write_text(draw(load(file)))


if __name__ == "__main__":
    main()
