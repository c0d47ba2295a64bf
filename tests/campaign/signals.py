"""Signals at drawn moments of a command that replaces an earlier result.

Afterwards OUT is the earlier result, the new one, or nothing while the earlier one lies beside it; never a mixture.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from campaign import results, sandbox
from campaign.attack import SEED, Attack, Finding
from campaign.files import originals, put

COMMANDS = ("cluster", "complete", "compare", "reproduce")
#: name -> signals, and exit codes besides 0; -2 and -15: before the program can handle them
KINDS = {
    "SIGINT": ((signal.SIGINT,), (130, -2)),
    "SIGTERM": ((signal.SIGTERM,), (130, 143, -15)),
    "SIGKILL": ((signal.SIGKILL,), (-9,)),
    "SIGINT twice": ((signal.SIGINT, signal.SIGINT), (130, -2)),
}
_DATA = ("data/left.csv", "data/right.csv")


def attacks(count: int = 100) -> list[Attack]:
    """Each signal to each command, `count` times; commands and signals in turn."""
    return [
        Attack("signals", f"{command}, {kind}", f"{command} {kind} {n}", partial(_strike, command, kind, n))
        for n in range(count)
        for command in COMMANDS
        for kind in KINDS
    ]


def words(command: str, seed: int, report: bool = False) -> list[str]:
    """The command line; the seed tells one run from another."""
    if command == "compare":
        own = [*_DATA, "--methods", *_methods(seed), "-o", "out"]
    elif command == "reproduce":
        return ["reproduce", "table-sor", "--quick", "-o", "out", "--quiet"]
    else:
        own = [*_DATA, "--method", "mvliv", "-o", "out"]
    own += ["-k", "2"] if command == "cluster" else []
    own += ["--no-report"] if command == "cluster" and not report else []
    return [command, *own, "--seed", str(seed), "--quiet", *(["--overwrite"] if _overwrites(command) else [])]


def _methods(seed: int) -> tuple[str, ...]:
    return ("mvliv",) if seed == 0 else ("mvliv", "daimc")


@cache
def _overwrites(command: str) -> bool:
    """Whether a command has the option --overwrite."""
    shown = subprocess.run(
        [sys.executable, "-m", "jella", command, "--help"], capture_output=True, text=True, check=True
    )
    return "--overwrite" in shown.stdout


@cache
def earlier(scratch: Path, command: str) -> Path:
    """A sandbox with data and an earlier result."""
    root = scratch / f"earlier-{command}"
    place = sandbox.make_place(root)
    put(originals(scratch) / "folder" / "data", place)
    first = sandbox.fork(partial(run_main, words(command, 0)), root, limit=300.0)
    if first.code != 0:
        raise RuntimeError(f"{command} cannot run: {first.err.decode()}")
    if command == "reproduce":
        shutil.copytree(place / "out", scratch / "reproduced")
        _forget_cells(place / "out" / "results.jsonl")
    return root


@cache
def duration(scratch: Path, command: str) -> float:
    """The seconds that the command takes over an earlier result."""
    trial = scratch / f"trial-{command}"
    shutil.copytree(earlier(scratch, command), trial)
    run = sandbox.spawn(["-m", "jella", *words(command, 1)], trial, limit=300.0)
    if run.code != 0:
        raise RuntimeError(f"{command} cannot run again: {run.err.decode()}")
    shutil.rmtree(trial)
    return run.seconds


def _forget_cells(path: Path, count: int = 3) -> None:
    """Drop the last results, so that a second run has something to compute."""
    path.write_text("".join(line + "\n" for line in path.read_text().split("\n")[: -1 - count]))


def _strike(command: str, kind: str, number: int, root: Path) -> Finding:
    rng = np.random.default_rng((SEED, number, COMMANDS.index(command), list(KINDS).index(kind)))
    after, pause = duration(root.parent, command) * rng.random(), 0.3 * rng.random()
    shutil.rmtree(root)
    shutil.copytree(earlier(root.parent, command), root)
    place = root / sandbox.WORK
    before = sandbox.snapshot(root)
    numbers, codes = KINDS[kind]
    sent = [(after + pause * at, int(one)) for at, one in enumerate(numbers)]
    run = sandbox.spawn(["-m", "jella", *words(command, 1, report=number % 5 == 4)], root, signals=sent)
    verdict = sandbox.verdict(run, (), (0, *codes))
    if run.code == sandbox.NOT_STARTED or (verdict == "traceback" and _before_main(run.err)):
        verdict, state = "ok", "before the command began"
    else:
        state = "ended" if run.code == 0 else "stopped"
    beside = _beside(place)
    changed = sandbox.changes(before, sandbox.snapshot(root), _allowed(beside, run.code == -9))
    if verdict in ("ok", "noise") and changed:
        verdict = "wrote outside"
    judged = judge(command, root, beside) if verdict == "ok" else ""
    if judged not in ("earlier", "new", ""):
        found = run.finding(judged.partition(":")[0], state)
        return replace(found, said=f"[after {after:.2f} s; {judged}] {found.said}")
    if verdict == "ok" and beside:
        verdict, state = _next_run(command, root), f"{state}, cleaned by the next run"
    found = run.finding(verdict, f"{state}: {judged}" if judged else state)
    where = f"[after {after:.2f} s; {changed[:3]}; {sandbox.noise(run) if verdict == 'noise' else ''}] "
    return replace(found, said=found.said and where + found.said)


def _beside(place: Path) -> list[str]:
    """What is in the folder of OUT besides data and OUT: leftovers of a run that was stopped."""
    return sorted(path.name for path in place.iterdir() if path.name not in ("data", "out"))


def _allowed(beside: Sequence[str], killed: bool) -> list[str]:
    """Paths that may change: OUT; and, if the run was killed, what it hid beside OUT and temporary files."""
    hidden = [str(sandbox.WORK / name) for name in beside if name.startswith((".out", ".jella"))]
    return [str(sandbox.WORK / "out"), *([*hidden, "tmp"] if killed else [])]


def _before_main(err: bytes) -> bool:
    """Whether a traceback comes from imports before the command began: no function of jella is in it."""
    frames = [line for line in err.decode(errors="replace").splitlines() if line.lstrip().startswith("File ")]
    return all("in <module>" in line for line in frames if "/jella/" in line)


def judge(command: str, root: Path, beside: Sequence[str]) -> str:
    """Which result OUT is: 'earlier' or 'new'; else a verdict, with reasons after a colon. Asked in a fork."""
    asked = sandbox.fork(lambda: _say(_which(command, root / sandbox.WORK, root.parent, beside)), root)
    return asked.out.decode() or f"harness: {asked.err.decode()[-300:]}"


def _say(text: str) -> int:
    print(text, end="")
    return 0


def _which(command: str, place: Path, scratch: Path, beside: Sequence[str]) -> str:
    out = place / "out"
    if not out.exists():
        old = [name for name in beside if ".old" in name]
        return "earlier" if old and not _problem(command, place / old[0], scratch) else "lost: OUT is not there"
    wrong = _problem(command, out, scratch)
    if wrong:
        return f"mixture: {wrong}"
    if command == "compare":
        return "earlier" if not results.table_problem(out, {"mean-fill", *_methods(0)}) else "new"
    if command == "reproduce":
        whole, now = results.cells(scratch / "reproduced/results.jsonl"), results.cells(out / "results.jsonl")
        before = results.cells(scratch / "earlier-reproduce" / sandbox.WORK / "out/results.jsonl")
        if not before <= now:
            return "lost: finished cells are gone"
        return "new" if now >= whole else "earlier"
    return "new" if results.identity(out) == "1" else "earlier"


def _problem(command: str, out: Path, scratch: Path) -> str:
    if command == "compare":
        wrong = [results.table_problem(out, {"mean-fill", *_methods(seed)}) for seed in (0, 1)]
        return "" if "" in wrong else wrong[0]
    if command == "reproduce":
        try:
            results.cells(out / "results.jsonl")
        except (OSError, json.JSONDecodeError) as error:
            return f"results.jsonl: {error}"
        return results.drawn_problem(out, scratch / "reproduced")
    return results.problem(out, command)


def _next_run(command: str, root: Path) -> str:
    """The verdict of a complete run afterwards, which must clean up what is left."""
    run = sandbox.fork(partial(run_main, words(command, 1)), root)
    verdict = sandbox.verdict(run, (), (0,))
    if verdict == "ok" and judge(command, root, ()) != "new":
        return "mixture"
    return "leftovers" if verdict == "ok" and _beside(root / sandbox.WORK) else verdict


def run_main(arguments: Sequence[str]) -> int:
    from jella.cli.main import main

    return main(arguments)
