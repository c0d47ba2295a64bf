"""Results of the commands are not data: their tables would be read as views."""

from __future__ import annotations

import json
from pathlib import Path

from jella.io.errors import DataError

#: what a command of jella writes beside its results, at most this large, and tables that it has for sure
RUN, MOST_BYTES = "run.json", 64 * 2**20
TABLES_OF_RUN = {"command", "options", "versions", "summary", "parts", "files"}


def check_no_results(folder: Path) -> None:
    """Refuse a folder that a command of jella wrote."""
    if not _is_of_a_run(folder / RUN):
        return
    completed = folder / "completed"
    instead = f", or {str(completed)!r} for the completed values" if completed.is_dir() else ""
    raise DataError(
        f"expected data, got {str(folder)!r}, which holds the results of a command of jella; pass the data that they "
        f"were computed from{instead}"
    )


def _is_of_a_run(file: Path) -> bool:
    """Whether a file is a run.json of jella, and not one of another program."""
    try:
        if file.stat().st_size > MOST_BYTES:
            return False
        run = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(run, dict) and run.keys() >= TABLES_OF_RUN
