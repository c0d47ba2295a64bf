"""Sentences and tables for people."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def one_sentence(error: BaseException) -> str:
    """What an error says, on one line; file errors name the file."""
    if isinstance(error, OSError) and error.strerror:
        name = f" {error.filename!r}" if error.filename else ""
        return f"cannot use{name}: {error.strerror.lower()}"
    return " ".join(str(error).split()) or type(error).__name__


def say(options: argparse.Namespace, what: str) -> None:
    """Tell on a terminal what is being done, where that may take long."""
    if not options.quiet and sys.stderr.isatty():
        print(f"{what} ...", file=sys.stderr, flush=True)


def table(rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Lines of aligned columns; align is '<' or '>' for each."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(align))]
    return ["  ".join(f"{cell:{a}{w}}" for cell, a, w in zip(row, align, widths, strict=True)).rstrip() for row in rows]


def percent(part: float, whole: float) -> str:
    """A share in percent, with a digit more where it is small."""
    share = part / whole if whole else 0.0
    if share == 0:
        return "0 %"
    return f"{share:.1%}".replace("%", " %") if share < 0.1 else f"{share:.0%}".replace("%", " %")
