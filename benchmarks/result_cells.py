"""Cells of the tables of results: what names one, and where results are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "docs" / "results"
SETTINGS, RATES = ("missing-view", "incomplete-view"), (0.1, 0.3, 0.5)


def key(cell: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(cell[part] for part in ("set", "setting", "rate", "repeat", "method"))


def load(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append(path: Path, result: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(result) + "\n")
