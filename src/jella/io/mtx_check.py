"""A check of Matrix Market files before SciPy opens them: its parser trusts that all declared entries are there."""

from __future__ import annotations

import re
from pathlib import Path

from jella.io.errors import DataError
from jella.io.guard import check_size, damaged
from jella.io.sparse_parts import sparse_bytes

_NUMBER = rb"[+-]?+(?:\d++\.?+\d*+|\.\d++|(?i:nan|inf(?:inity)?+))(?:[eE][+-]?+\d++)?+"
#: one entry per line: kind of file, whether it is a pattern -> what a line holds
_LINES = {
    ("array", False): _NUMBER,
    ("coordinate", False): rb"\d++[ \t]++\d++[ \t]++" + _NUMBER,
    ("coordinate", True): rb"\d++[ \t]++\d++",
}
_HEAD = re.compile(rb"%%MatrixMarket[ \t]+matrix[ \t]+(\w+)[ \t]+([\w-]+)[ \t]+([\w-]+)[ \t\r]*\n", re.IGNORECASE)
_SIZES = re.compile(rb"(?:[ \t]*+(?:%[^\n]*+|\r)?+\n)*+[ \t]*+((?:\d{1,18}[ \t]*+)++)\r?+(?:\n|\Z)")


def check_matrix_market(file: Path) -> None:
    """Refuse complex numbers, entries that are no numbers or not there, and shapes that need far too much memory."""
    content = file.read_bytes()
    head = _HEAD.match(content)
    sizes = _SIZES.match(content, head.end()) if head else None
    if head is None or sizes is None:
        raise damaged(file, "no first line %%MatrixMarket matrix ..., or no line of sizes")
    kind, field, symmetry = (word.decode().lower() for word in head.groups())
    if field == "complex":
        raise DataError(f"expected real numbers in {file.name}, got complex ones; write real and imaginary parts apart")
    numbers = [int(word) for word in sizes[1].split()]
    entry = _LINES.get((kind, field == "pattern"))
    if entry is None or len(numbers) != (2 if kind == "array" else 3):
        raise damaged(file, f"a matrix of the kind {kind} {field}")
    declared = _n_in_array(numbers, symmetry) if kind == "array" else numbers[2]
    if declared > len(content):
        raise damaged(file, f"{declared} entries declared in {len(content)} bytes")
    check_size(file, sparse_bytes(numbers[:2], declared))
    _check_entries(content[sizes.end() :], entry, declared, file)


def _n_in_array(shape: list[int], symmetry: str) -> int:
    """The number of entries of a dense matrix: only the lower triangle if it is symmetric."""
    rows, columns = shape
    if symmetry == "general":
        return rows * columns
    return rows * (rows - 1) // 2 if symmetry.startswith("skew") else rows * (rows + 1) // 2


def _check_entries(body: bytes, entry: bytes, declared: int, file: Path) -> None:
    lines = re.compile(rb"(?:[ \t\r]*+(?:" + entry + rb")?+[ \t\r]*+(?:\n|\Z))*+").match(body)
    if lines is None or lines.end() < len(body):
        raise damaged(file, "a line that is no entry")
    stripped = re.sub(rb"\n[ \t\r\n]*", b"\n", body.strip())
    found = stripped.count(b"\n") + bool(stripped)
    if found != declared:
        raise damaged(file, f"{found} entries where {declared} are declared")
