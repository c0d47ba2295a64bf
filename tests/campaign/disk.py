"""Disks that are full or read-only, paths that cannot be written, and outputs that nobody reads.

The program under attack may be wrong, and may run as root: an OUT never names something real outside the folder of the
attack. Devices and mounts are made inside it. In /proc and /sys nobody can make a file.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from campaign import sandbox, signals
from campaign.attack import Attack, Finding

SIZES = (0, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
COMMANDS = ("cluster", "complete", "compare", "reproduce")
SPACES = ("24k", "32k", "64k", "128k")
#: a place for OUT at which nothing can be written
NOWHERE = {
    "/proc": "/proc/jella-out",
    "/sys": "/sys/jella-out",
    "below a file": "data/left.csv/out",
    "a pipe": "pipe",
    "a device": "device",
    "the data": "data",
    "a broken link": "broken",
    "a link to itself": "loop",
    "an empty name": "",
    "a NUL": "a\x00b",
    "300 letters": "o" * 300,
    "this folder": ".",
    "escape codes below a file": "data/left.csv/\x1b[31m",
}


def attacks() -> list[Attack]:
    """Limits of file sizes, small disks, read-only folders, places that are none, outputs that nobody reads."""
    made = [
        Attack("disk", f"{command}, file size limited", f"{command} {size} bytes", partial(_limited, command, size))
        for command in COMMANDS
        for size in SIZES
    ]
    made += [
        Attack("disk", f"{command}, disk full", f"{command} {space}", partial(_full, command, space))
        for command in COMMANDS
        for space in SPACES
    ]
    made += [
        Attack("disk", "read-only", f"{command} {how}", partial(_read_only, command, how))
        for command in COMMANDS
        for how in ("chattr", "mount")
    ]
    made += [
        Attack("disk", "OUT is no place", f"{command} {word}", partial(_nowhere, command, place))
        for command in COMMANDS
        for word, place in NOWHERE.items()
    ]
    made += [
        Attack("disk", "standard output", f"{' '.join(words)} to {target}", partial(_output, words, target))
        for words in (
            ["info", "data/left.csv"],
            ["info", "data/left.csv", "--json"],
            ["methods"],
            ["--help"],
            ["--version"],
        )
        for target in ("/dev/full", "-")
    ]
    return made


def _fresh(root: Path, command: str) -> Path:
    shutil.rmtree(root)
    shutil.copytree(signals.earlier(root.parent, command), root)
    return root / sandbox.WORK


def _judged(command: str, root: Path, run: sandbox.Run, changed: Sequence[str]) -> Finding:
    """OUT must be the earlier result, or the new one if the run ended well; and nothing may be left beside it."""
    verdict, why = sandbox.verdict(run, changed), f"{changed[:3]}"
    if verdict == "ok":
        judged = signals.judge(command, root, ())
        if judged not in ("earlier", "new"):
            verdict, _, why = judged.partition(":")
    found = run.finding(verdict, {0: "done", 2: "refused"}.get(run.code, ""))
    return replace(found, said=found.said and f"[{why}] {found.said}")


def _limited(command: str, size: int, root: Path) -> Finding:
    _fresh(root, command)
    before = sandbox.snapshot(root)
    run = sandbox.fork(partial(signals.run_main, signals.words(command, 1)), root, file_size=size)
    return _judged(command, root, run, sandbox.changes(before, sandbox.snapshot(root), [str(sandbox.WORK / "out")]))


def _full(command: str, space: str, root: Path) -> Finding:
    """OUT on a small disk that is nearly full already."""
    place = _fresh(root, command)
    with _mounted(place, f"size={space}") as why:
        if why:
            return Finding("ok", state=f"not tried: {why}")
        shutil.copytree(signals.earlier(root.parent, command) / sandbox.WORK / "data", place / "data")
        before = sandbox.snapshot(root)
        run = sandbox.fork(partial(signals.run_main, signals.words(command, 0)), root)
        changed = sandbox.changes(before, sandbox.snapshot(root), [str(sandbox.WORK / "out")])
        verdict = sandbox.verdict(run, changed)
        if verdict == "ok" and run.code == 2 and (place / "out").exists() and command != "reproduce":
            verdict = "mixture"
        return run.finding(verdict, {0: "done", 2: "refused"}.get(run.code, ""))


def _read_only(command: str, how: str, root: Path) -> Finding:
    place = _fresh(root, command)
    shutil.rmtree(place / "out") if (place / "out").is_dir() else (place / "out").unlink()
    with _unchangeable(place) if how == "chattr" else _mounted(place, "ro", bind=True) as why:
        if why:
            return Finding("ok", state=f"not tried: {why}")
        before = sandbox.snapshot(root)
        run = sandbox.fork(partial(signals.run_main, signals.words(command, 1)), root)
        changed = sandbox.changes(before, sandbox.snapshot(root))
        return run.finding(sandbox.verdict(run, changed, (2,)), "refused" if run.code == 2 else "done")


def _nowhere(command: str, out: str, root: Path) -> Finding:
    place = _fresh(root, command)
    if out == "device":
        try:
            os.mknod(place / out, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        except PermissionError:
            return Finding("ok", state="not tried: mknod is not allowed here")
    os.mkfifo(place / "pipe")
    (place / "broken").symlink_to("nowhere/at/all")
    (place / "loop").symlink_to("loop")
    before = sandbox.snapshot(root)
    words = [out if word == "out" else word for word in signals.words(command, 1)]
    run = sandbox.fork(partial(signals.run_main, words), root)
    changed = sandbox.changes(before, sandbox.snapshot(root))
    return run.finding(sandbox.verdict(run, changed, (2,)), "refused" if run.code == 2 else "done")


def _output(words: Sequence[str], target: str, root: Path) -> Finding:
    """Standard output that is full must be an error, one that is closed need not."""
    if target != "-" and not stat.S_ISCHR(os.stat(target).st_mode):
        return Finding("ok", state=f"not tried: {target} is no device here")
    _fresh(root, "cluster")
    before = sandbox.snapshot(root)
    run = sandbox.spawn(["-m", "jella", *words], root, stdout=target)
    changed = sandbox.changes(before, sandbox.snapshot(root))
    return run.finding(sandbox.verdict(run, changed, (0, 2) if target == "-" else (2,)), f"exit code {run.code}")


@contextmanager
def _mounted(place: Path, options: str, *, bind: bool = False) -> Iterator[str]:
    """A mount at a folder; gives the reason if it cannot be done here."""
    kind = ["--bind", str(place)] if bind else ["-t", "tmpfs", "-o", options, "tmpfs"]
    why = _tried(["mount", *kind, str(place)])
    if why:
        yield why
        return
    try:
        yield _tried(["mount", "-o", f"remount,bind,{options}", str(place)]) if bind else ""
    finally:
        if _tried(["umount", str(place)]):
            raise RuntimeError(f"cannot unmount {place}; do it by hand")


@contextmanager
def _unchangeable(place: Path) -> Iterator[str]:
    """A folder in which nothing can be made or removed, even by root; or the reason why that cannot be done here."""
    why = _tried(["chattr", "+i", str(place)])
    try:
        yield why
    finally:
        _tried(["chattr", "-i", str(place)])


def _tried(words: Sequence[str]) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else f"{words[0]} is not allowed here"
