"""Errors for files that cannot be read."""

from __future__ import annotations

from jella.numerics.optional import need

__all__ = ["DataError", "need", "some"]


class DataError(ValueError):
    """A file does not hold the expected data.

    Examples
    --------
    >>> from jella.io import DataError
    >>> issubclass(DataError, ValueError)
    True
    """


def some(names: list[str], limit: int = 5) -> str:
    """Text with the first few names and the number of the others."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(repr(name) for name in names[:limit]) + more
