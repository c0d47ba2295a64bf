"""Hostile files: valid ones of every format, damaged with a seed, and what is done with them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from campaign import commands, sandbox, valid
from campaign.attack import SEED, Attack, Finding
from campaign.mutate import damage

COMMANDS = ("info", "info json", "cluster", "cluster bdr", "complete", "library", "library")


def attacks(count: int = 1080) -> list[Attack]:
    """Damaged files, the formats in turn."""
    kinds = list(valid.FORMATS)
    return [
        Attack(
            "files", kinds[n % len(kinds)], f"{kinds[n % len(kinds)]}-{n}", partial(_strike, n, kinds[n % len(kinds)])
        )
        for n in range(count)
    ]


@cache
def originals(scratch: Path) -> Path:
    """The folder of valid files; made once, in a fork, since some libraries start threads."""
    place = scratch / "valid"
    if not place.exists():
        work = scratch / "making"
        sandbox.make_place(work)
        made = sandbox.fork(partial(valid.make_valid, place), work)
        if made.code != 0:
            shutil.rmtree(place, ignore_errors=True)
            raise RuntimeError(f"cannot make valid files: {made.err.decode()}")
        shutil.rmtree(work)
    return place


def _strike(number: int, kind: str, root: Path) -> Finding:
    rng = np.random.default_rng((SEED, number))
    place = sandbox.make_place(root)
    source, name = originals(root.parent), valid.FORMATS[kind][0]
    data = put(source / kind / name, place)
    files = [data] if data.is_file() else sorted(path for path in data.iterdir() if path.is_file())
    target = data / "study.toml" if kind == "toml" else files[int(rng.integers(len(files)))]
    others = [
        path.read_bytes() for path in sorted(source.rglob("*")) if path.is_file() and path.suffix == target.suffix
    ]
    how, content = damage(target.read_bytes(), others, rng)
    target.write_bytes(content)
    command = "config" if kind == "toml" else COMMANDS[int(rng.integers(len(COMMANDS)))]
    words = str((target if kind == "toml" else data).relative_to(place))
    found = commands.strike(root, place, words, command)
    return replace(found, said=found.said and f"[{command}; {how}] {found.said}")


def put(source: Path, place: Path) -> Path:
    """A copy of a file or folder in the folder of an attack."""
    target = place / source.name
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)
    return target
