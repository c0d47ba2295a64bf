"""Keeping the stored type of values, readers of SciPy that give arrays, and never leaving half a file behind."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np


def stored_like(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Values in the type that the file had them in, where that changes none of them."""
    if values.dtype == dtype or dtype.kind not in "biuf":
        return values
    if dtype.kind in "biu" and not np.isfinite(values).all():
        return values
    with np.errstate(all="ignore"):
        cast = values.astype(dtype)
    return cast if np.array_equal(cast.astype(values.dtype), values, equal_nan=values.dtype.kind == "f") else values


def giving_arrays(reader: Callable[..., Any]) -> Callable[..., Any]:
    """A reader of SciPy that gives sparse arrays; an older one that cannot be asked gives sparse matrices."""
    return partial(reader, spmatrix=False) if "spmatrix" in inspect.signature(reader).parameters else reader


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside the path, renamed to it when all went well and removed when not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
