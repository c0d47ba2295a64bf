"""run.json: what was run, which files were written, which parts are still missing. It marks a folder of results."""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

RUN = "run.json"
#: the state of a part that is added after the results are in place
PENDING, WRITTEN, LEFT_OUT = "pending", "written", "left out"
_MOST_BYTES = 64 * 2**20
#: what a process that was killed leaves in a folder of results
_TEMPORARY = re.compile(r"\.jella-[0-9a-f]{16}\.part(\.\w+)?")
#: options that are not part of what was run
_NOT_KEPT = ("command_line", "json", "quiet", "debug")


def new_run(options: argparse.Namespace, record: Mapping[str, Any], parts: Iterable[str] = ()) -> dict[str, Any]:
    """The content of run.json: command, options, versions, summary, and parts that will be added."""
    from jella.numerics.environment import describe_environment

    return {
        "command": options.command_line,
        "options": {name: value for name, value in vars(options).items() if name not in _NOT_KEPT},
        "finished": time.strftime("%Y-%m-%d %H:%M:%S"),
        "versions": describe_environment(),
        "summary": dict(record),
        "parts": dict.fromkeys(parts, PENDING),
        "files": [],
    }


def write_run(folder: Path, run: Mapping[str, Any]) -> None:
    """Write run.json; an earlier one is replaced at once."""
    from jella.io.stored import replacing

    with replacing(folder / RUN) as part:
        part.write_text(json.dumps(run, indent=2, default=str) + "\n", encoding="utf-8")


def read_run(folder: Path) -> dict[str, Any]:
    """The content of run.json, with the types that it must have."""
    path = folder / RUN
    if not path.is_file():
        raise ValueError(f"expected a folder that jella wrote, got {str(folder)!r}, without a run.json; name one")
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"expected a run.json of jella in {str(folder)!r}, got a much larger file; run again")
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise ValueError(f"expected JSON in {str(path)!r}, got a damaged file; run the command again") from None
    kinds = {"command": str, "options": dict, "summary": dict, "parts": dict, "files": list}
    for name, kind in kinds.items():
        found = run.get(name) if isinstance(run, dict) else None
        if not isinstance(found, kind):
            raise ValueError(
                f"expected a {kind.__name__} as {name!r} in {str(path)!r}, got {type(found).__name__}; run the command "
                "again"
            )
    return dict(run)


def update_run(folder: Path, run: dict[str, Any], **changes: Mapping[str, Any]) -> None:
    """Change tables of run.json, in place."""
    for name, change in changes.items():
        run[name] = {**run[name], **change}
    write_run(folder, run)


def files_in(folder: Path) -> list[str]:
    """The relative paths of all files in a folder, links included; folders only if they are empty."""
    found = []
    for where, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(where, name))]
        found += [os.path.relpath(os.path.join(where, name), folder) for name in (*files, *links)]
        if not files and not folders and Path(where) != folder:
            found.append(os.path.relpath(where, folder))
    return sorted(path.replace(os.sep, "/") for path in found)


def stranger_in(folder: Path) -> str | None:
    """The first file of a folder of results that jella did not write, or None."""
    known = {RUN, *(name for name in read_run(folder)["files"] if isinstance(name, str))}
    for name in files_in(folder):
        link = (folder / name).is_symlink()
        if link or (name not in known and not _TEMPORARY.fullmatch(name.rpartition("/")[2])):
            return name
    return None
