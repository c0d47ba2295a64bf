"""Errors for files that cannot be read."""

from __future__ import annotations

from jella.numerics.optional import need

__all__ = ["DataError", "need", "some"]

#: names that a message lists
SHOWN = 5


class DataError(ValueError):
    """A file does not hold the expected data.

    Examples
    --------
    >>> from jella.io import DataError
    >>> issubclass(DataError, ValueError)
    True
    """


def some(names: list[str]) -> str:
    """Text with the first few names and the number of the others."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name) for name in names[:SHOWN]) + more
