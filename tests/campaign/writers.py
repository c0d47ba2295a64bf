"""Two runs that write to the same OUT at the same time."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from campaign import sandbox, signals
from campaign.attack import SEED, Attack, Finding

COMMANDS = ("cluster", "complete")


def attacks(count: int = 20) -> list[Attack]:
    """Pairs over an earlier result with --overwrite, and pairs without."""
    made = []
    for n in range(count):
        command, over = COMMANDS[n % 2], n % 4 < 2
        group = f"{command}, {'--overwrite over a result' if over else 'a new OUT'}"
        made.append(Attack("writers", group, f"pair {n}", partial(_strike, command, over, n)))
    return made


def _strike(command: str, over: bool, number: int, root: Path) -> Finding:
    rng = np.random.default_rng((SEED, number))
    shutil.rmtree(root)
    shutil.copytree(signals.earlier(root.parent, command), root)
    place = root / sandbox.WORK
    given = [word for word in signals.words(command, 1) if over or word != "--overwrite"]
    if not over:
        shutil.rmtree(place / "out")
    before = sandbox.snapshot(root)
    runs: dict[int, sandbox.Run] = {}

    def start(which: int, wait: float) -> None:
        threading.Event().wait(wait)
        runs[which] = sandbox.spawn(["-m", "jella", *given], root)

    pair = [threading.Thread(target=start, args=(0, 0.0)), threading.Thread(target=start, args=(1, 0.1 * rng.random()))]
    for one in pair:
        one.start()
    for one in pair:
        one.join()
    changed = sandbox.changes(before, sandbox.snapshot(root), [str(sandbox.WORK / "out")])
    verdicts = [sandbox.verdict(run, changed) for run in runs.values()]
    verdict = next((one for one in verdicts if one != "ok"), "ok")
    codes = sorted(run.code for run in runs.values())
    state = f"exit codes {codes[0]} and {codes[1]}"
    worst = max(runs.values(), key=lambda run: run.code)
    if verdict == "ok" and codes[0] != 0:
        verdict = "lost"
    if verdict == "ok":
        judged = signals.judge(command, root, ())
        verdict = "ok" if judged == "new" else judged.partition(":")[0]
    found = worst.finding(verdict, state)
    return replace(found, said=found.said and f"{changed[:3]} {found.said}")
