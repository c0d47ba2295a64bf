"""Packages that are not needed by all users."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, extra: str) -> Any:
    """The optional package, imported; an ImportError says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(
            f"expected the package {package!r}, got no such package; run pip install 'jella[{extra}]'"
        ) from None
