"""Errors for files that cannot be read and for packages that are not installed."""

from __future__ import annotations

import importlib
from typing import Any


class DataError(ValueError):
    """A file does not hold the expected data.

    Examples
    --------
    >>> from jella.io import DataError
    >>> issubclass(DataError, ValueError)
    True
    """


def need(module: str, extra: str) -> Any:
    """The optional package, imported; an ImportError says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(
            f"expected the package {package!r} for this kind of file, got no such package; "
            f"run pip install 'jella[{extra}]'"
        ) from None


def some(names: list[str], limit: int = 5) -> str:
    """Text with the first few names and the number of the others."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(repr(name) for name in names[:limit]) + more
