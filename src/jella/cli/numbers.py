"""Numbers of the command line: what an option accepts, and the sentence about what it does not."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def share(text: str) -> float:
    """A number between 0 and 1, both excluded."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a share between 0 and 1, got {text!r}")
    return value


def whole(least: int, most: int | None = None, **words: Any) -> Callable[[str], Any]:
    """The type of a whole number in a range, or of one of some words that stand for other values.

    >>> read = whole(1, 9, auto=None)
    >>> read("3"), read("auto")
    (3, None)
    """
    upto = "" if most is None else f" to {most}"
    wanted = " or ".join([f"a whole number from {least}{upto}", *words])

    def read(text: str) -> Any:
        if text in words:
            return words[text]
        value = int(text) if text.isdecimal() and len(text) < 20 else -1
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"expected {wanted}, got {text!r}")
        return value

    return read
