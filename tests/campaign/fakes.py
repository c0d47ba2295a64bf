"""Attacks on the campaign itself: children that misbehave. Each must get its verdict."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from campaign import sandbox
from campaign.attack import Attack, Finding

#: bytes that a fake may need before it is killed; it is forked from a process that has imported much
MEMORY = 600 * 2**20


def _good() -> int:
    print("fine")
    print("jella: note: all is well", file=sys.stderr)
    return 0


def _refuses() -> int:
    print("jella: expected a file, got none; name one", file=sys.stderr)
    return 2


def _aborts() -> int:
    os.abort()


def _raises() -> int:
    raise KeyError("missing")


def _fails() -> int:
    print("jella: failed unexpectedly (KeyError: 3); --debug shows where", file=sys.stderr)
    return 1


def _writes_above() -> int:
    Path("../stolen").write_text("x")
    return 0


def _changes_input() -> int:
    Path("input.csv").write_text("other")
    return 0


def _touches_input() -> int:
    os.utime("input.csv")
    return 0


def _leaves_temporary() -> int:
    import tempfile

    tempfile.mkstemp()
    return 0


def _allocates() -> int:
    kept = []
    while len(kept) < 100:
        kept.append(b"x" * 10**7)
    time.sleep(1.0)
    return 0


def _hangs() -> int:
    time.sleep(100)
    return 0


def _colours() -> int:
    print("\x1b[31mred")
    return 0


def _chats() -> int:
    print("one\ntwo", file=sys.stderr)
    return 0


def _is_silent() -> int:
    return 2


#: what a child does, and the verdict that it must get
FAKES: tuple[tuple[Callable[[], int], str], ...] = (
    (_good, "ok"),
    (_refuses, "ok"),
    (_aborts, "crash"),
    (_raises, "traceback"),
    (_fails, "exit 1"),
    (_writes_above, "wrote outside"),
    (_changes_input, "wrote outside"),
    (_touches_input, "wrote outside"),
    (_leaves_temporary, "wrote outside"),
    (_allocates, "over 2 GiB"),
    (_hangs, "over 30 s"),
    (_colours, "noise"),
    (_chats, "noise"),
    (_is_silent, "noise"),
)


def attacks() -> list[Attack]:
    """One per fake; the name ends with the verdict that it must get."""
    return [Attack("fakes", wanted, f"{call.__name__}: {wanted}", partial(_strike, call)) for call, wanted in FAKES]


def _strike(call: Callable[[], int], root: Path) -> Finding:
    place = sandbox.make_place(root)
    (place / "input.csv").write_text("id,a\ns1,1\n")
    before = sandbox.snapshot(root)
    run = sandbox.fork(call, root, limit=1.0 if call is _hangs else 60.0, memory=MEMORY)
    return run.finding(sandbox.verdict(run, sandbox.changes(before, sandbox.snapshot(root), ["home/work/out"])))
