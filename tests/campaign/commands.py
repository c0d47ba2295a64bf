"""What is done with a hostile file: commands of `jella`, or calls of the library, in a fork."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from campaign import results, sandbox
from campaign.attack import Finding

Check = Callable[[sandbox.Run, Path], str]
#: command -> words before and after DATA; results go to `out`
WORDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "info": (("info",), ()),
    "info json": (("info",), ("--json",)),
    "cluster": (("cluster",), ("-k", "2", "--method", "mvliv", "-o", "out", "--no-report", "--quiet")),
    "cluster bdr": (("cluster",), ("-k", "2", "-o", "out", "--no-report", "--quiet")),
    "cluster report": (("cluster",), ("-k", "2", "--method", "mvliv", "-o", "out", "--quiet")),
    "complete": (("complete",), ("--method", "mvliv", "-o", "out", "--quiet")),
    "compare": (("compare",), ("--methods", "mvliv", "--quiet", "-o", "out")),
    "config": (("cluster", "--config"), ("--quiet",)),
}


def strike(root: Path, place: Path, data: str, command: str, check: Check | None = None) -> Finding:
    """Run a command, or the library, on DATA in the folder `place`; judge what it did and what it wrote.

    Parameters
    ----------
    root, place : Path
        The folder of the attack and, in it, the folder in which the child works.
    data : str
        Relative to `place`.
    command : str
        One of WORDS, or 'library'.
    check : callable, optional
        A further check of the run and of `place` after it; returns a verdict, or an empty text.
    """
    before = sandbox.snapshot(root)
    run = sandbox.fork(lambda: _library(data) if command == "library" else _command(data, command), root)
    changed = sandbox.changes(before, sandbox.snapshot(root), [str(sandbox.WORK / "out")])
    verdict = sandbox.verdict(run, changed, (0, 2))
    state = {0: "done", 2: "refused"}.get(run.code, "")
    said = ""
    if verdict == "ok" and run.code == 2 and (place / "out").exists():
        verdict = "mixture"
    if verdict == "ok" and check is not None:
        verdict = check(run, place) or "ok"
    if verdict == "ok" and run.code == 0 and (place / "out").is_dir():
        asked = sandbox.fork(lambda: _say(_written_problem(place, data, command)), root)
        said = (asked.out or asked.err[-300:]).decode(errors="replace")
        verdict = "lost" if said else "ok"
    found = run.finding(verdict, state)
    if not said and verdict in ("wrote outside", "noise"):
        said = f"{changed[:3] if changed else sandbox.noise(run)}; {found.said or run.out[-300:]!r}"
    return replace(found, said=said or found.said)


def _command(data: str, command: str) -> int:
    from jella.cli.main import main

    before, after = WORDS[command]
    return main([*before, data, *after])


def _library(data: str) -> int:
    """Read, fit and complete as a user of the library does; errors of bad input are the refusals."""
    import warnings

    import jella

    warnings.simplefilter("ignore")
    try:
        read = jella.io.read(data)
        model = jella.SparseBDR(n_clusters=2, random_state=0).fit(read.views)
        model.complete(read.views)
        model.transform(read.views)
        repr(read), repr(model)
    except (ValueError, OSError, ImportError) as error:
        print(str(error).splitlines()[0] if str(error) else type(error).__name__, file=sys.stderr)
        return 2
    return 0


def _say(text: str) -> int:
    print(text, end="")
    return 0


def _written_problem(place: Path, data: str, command: str) -> str:
    """What is wrong with the results: not complete, or observed values that are not those of the data."""
    wrong = results.problem(place / "out", "complete" if command == "complete" else "cluster")
    if wrong or command == "config":
        return wrong
    import jella

    given = jella.io.read(data).views
    completed = [path for path in (place / "out" / "completed").iterdir() if not path.name.startswith(".")]
    again = jella.io.read(completed[0] if len(completed) == 1 else place / "out" / "completed").views
    for name in set(given) & set(again):
        if _observed_differ(given[name], again[name]):
            return f"observed values of {name!r} differ"
    return ""


def _observed_differ(given: Any, again: Any) -> bool:
    """Whether a table or an array was changed where it had values; other shapes of data are not compared."""
    if hasattr(given, "loc"):
        if not hasattr(again, "loc") or not given.index.isin(again.index).all() or again.index.has_duplicates:
            return False
        if list(map(str, given.columns)) != list(map(str, again.columns)) or hasattr(given.dtypes.iloc[0], "subtype"):
            return False
        given, again = given.to_numpy(), again.loc[given.index].to_numpy()
    if not isinstance(given, np.ndarray) or not isinstance(again, np.ndarray) or given.shape != again.shape:
        return False
    there = ~np.isnan(given)
    return not np.array_equal(given[there], again[there])
