"""What a hand-written attack is made of, and pieces that several use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from campaign.commands import Check

READ = ("info", "library")
FIT = ("info", "cluster", "complete", "library")


@dataclass(frozen=True)
class Recipe:
    """A hostile file: `write(place)` makes it in a folder and returns the name of DATA."""

    group: str
    name: str
    write: Callable[[Path], str]
    commands: tuple[str, ...] = ("info",)
    check: Check | None = None


def text(name: str, content: str | bytes) -> Callable[[Path], str]:
    """A file with this content."""

    def write(place: Path) -> str:
        (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return write


def folder(files: Mapping[str, str | bytes]) -> Callable[[Path], str]:
    """A folder `data` with these files."""

    def write(place: Path) -> str:
        (place / "data").mkdir()
        for name, content in files.items():
            text(name, content)(place / "data")
        return "data"

    return write


def table(n: int = 12, width: int = 3, ids: str = "s{}", head: str = "c{}", value: str = "{}.5") -> str:
    """A table in CSV."""
    lines = ["id," + ",".join(head.format(j) for j in range(width))]
    lines += [
        ids.format(i) + "," + ",".join(value.format((i * 7 + j * 3) % 11) for j in range(width)) for i in range(n)
    ]
    return "\n".join(lines) + "\n"


def mtx(
    rows: int, columns: int, entries: list[tuple[int, int, str]], *, kind: str = "real general", n: int = -1
) -> str:
    """A Matrix Market file that declares what it likes."""
    lines = [f"%%MatrixMarket matrix coordinate {kind}", f"{rows} {columns} {len(entries) if n < 0 else n}"]
    return "\n".join([*lines, *(f"{i} {j} {v}" for i, j, v in entries)]) + "\n"


#: entries of a matrix of 3 terms and 12 documents
ENTRIES = [(i + 1, j + 1, f"{(i * 5 + j) % 7}.5") for i in range(3) for j in range(12)]
