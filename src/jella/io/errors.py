"""What is said of files that cannot be read, and of packages that are not installed."""

from __future__ import annotations

import importlib
from typing import Any


class DataError(ValueError):
    """A file does not hold what was expected of it.

    Examples
    --------
    >>> from jella.io import DataError
    >>> issubclass(DataError, ValueError)
    True
    """


def need(module: str, extra: str) -> Any:
    """Import an optional package, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(
            f"expected the package {package!r} for this kind of file, got no such package; "
            f"run pip install 'jella[{extra}]'"
        ) from None


def some(names: list[str], limit: int = 5) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(repr(name) for name in names[:limit]) + more
