"""The stored type of values, SciPy readers that return arrays, and files that are written completely or not at all."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np


def stored_like(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Values in the type that they had in the file, if that changes no value."""
    if values.dtype == dtype or dtype.kind not in "biuf":
        return values
    if dtype.kind in "biu" and not np.isfinite(values).all():
        return values
    with np.errstate(all="ignore"):
        cast = values.astype(dtype)
    return cast if np.array_equal(cast.astype(values.dtype), values, equal_nan=values.dtype.kind == "f") else values


def giving_arrays(reader: Callable[..., Any]) -> Callable[..., Any]:
    """A SciPy reader that returns sparse arrays; an older SciPy without that option returns sparse matrices."""
    return partial(reader, spmatrix=False) if "spmatrix" in inspect.signature(reader).parameters else reader


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new name in the same folder; on the disk and renamed to the path after success, removed after an error."""
    if path.exists() and not path.is_file():
        raise ValueError(f"expected a file to write, got {str(path)!r}, which is a folder or a device; name another")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".jella-{token_hex(8)}.part{path.suffix}")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
