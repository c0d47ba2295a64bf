"""A file of results: one line of JSON per finished cell, written at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jella.io.stored import replacing
from jella_experiments.cell import Cell

#: values that differ from run to run although the result is the same
MEASURED = ("seconds", "cpu_seconds", "peak_mib", "environment", "fit_seconds", "device")


class ResultsFile:
    """A file with results by cell, and the environments in which they were computed.

    A line is {"environment": id, ...} for a machine with its versions, or a cell with its scores and the id of its
    environment. A line that a killed run left unfinished is dropped at the next append.

    Parameters
    ----------
    path : path-like
        Created at the first append.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def records(self) -> Iterator[dict[str, Any]]:
        """All finished lines."""
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").split("\n")[:-1]:
                yield json.loads(line)

    def results(self) -> dict[str, dict[str, Any]]:
        """The results by the key of their cell; the last one if a cell has several."""
        return {Cell.from_dict(record).key: record for record in self.records() if "dataset" in record}

    def environments(self) -> dict[str, dict[str, Any]]:
        """Machines and versions by their id."""
        return {record["environment"]: record for record in self.records() if "dataset" not in record}

    def append(self, record: dict[str, Any]) -> None:
        """Add a line; it is on the disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            _drop_unfinished_line(file)
            file.write((json.dumps(record) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())

    def tidy(self) -> None:
        """Sort the lines by cell, so that the file does not depend on the order in which cells were finished."""
        if not self.path.exists():
            return
        results = self.results()
        lines = [json.dumps(record) for record in self.environments().values()]
        lines += [json.dumps(results[key]) for key in sorted(results)]
        with replacing(self.path) as part:
            part.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def _drop_unfinished_line(file: Any) -> None:
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    file.truncate(file.read().rfind(b"\n") + 1)


def content(record: dict[str, Any]) -> dict[str, Any]:
    """A result without the values that differ from run to run."""
    return {name: value for name, value in record.items() if name not in MEASURED}
