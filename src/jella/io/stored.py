"""The stored type of values, SciPy readers that return arrays, and files that are written completely or not at all."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
from scipy import sparse

from jella.io.errors import some
from jella.views.containers import is_frame
from jella.views.exact import filled_dtype, is_exact, rounded
from jella.views.fill import integers


def stored_like(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Values in the type that they had in the file, if that changes no value."""
    if values.dtype == dtype or dtype.kind not in "biuf":
        return values
    if dtype.kind in "biu" and not np.isfinite(values).all():
        return values
    with np.errstate(all="ignore"):
        cast = values.astype(dtype)
    return cast if np.array_equal(cast.astype(values.dtype), values, equal_nan=values.dtype.kind == "f") else values


def restored(stored: Any, new: Any) -> Any:
    """The stored values, dense or sparse, with those of `new` where they differ from what was read of them.

    Other entries stay as they are stored, bit for bit. Rows of `new` that are not stored come last. The type stays if
    it can hold the new values; otherwise it becomes a floating type, or stays integers and new values are rounded,
    where floats would change a stored integer.
    """
    if sparse.issparse(stored):
        return _restored_sparse(sparse.csr_array(stored), sparse.csr_array(new))
    new = new.toarray() if sparse.issparse(new) else np.asarray(new)
    own = _padded(stored, new.shape[0] - stored.shape[0])
    with np.errstate(all="ignore"):
        read = own.astype(new.dtype, copy=False)
    changed = (read != new) & ~((read != read) & (new != new))
    changed[stored.shape[0] :] = True
    if not changed.any():
        return stored
    dtype = _held(own[~changed], new[changed])
    out = own.astype(dtype)
    out[changed] = rounded(new[changed], dtype)
    return out


def rounding(stored: Mapping[str, Any]) -> tuple[str, ...]:
    """A note on the views, as stored, that have more digits than the doubles of a model."""
    long = [name for name, values in stored.items() if values is not None and _has_more_digits(values)]
    return (f"Rounded to doubles for the model, but completed files keep all digits: {some(long)}.",) if long else ()


def _has_more_digits(values: Any) -> bool:
    if is_frame(values):
        return any(not is_exact(integers(column)) for _, column in values.items() if column.dtype.kind in "iu")
    return not is_exact(values.data if sparse.issparse(values) else np.asarray(values))


def _restored_sparse(own: sparse.csr_array, new: sparse.csr_array) -> sparse.csr_array:
    n_stored, width = own.shape
    own = sparse.csr_array(sparse.vstack([own, sparse.csr_array((new.shape[0] - n_stored, width), dtype=own.dtype)]))
    changed = sparse.coo_array(own.astype(new.dtype) != new)
    if new.shape[0] == n_stored and not changed.nnz:
        return own
    ours, theirs = own.tocoo(), new.tocoo()
    places = [entries.row.astype(np.int64) * width + entries.col for entries in (ours, theirs, changed)]
    kept, put = ~np.isin(places[0], places[2]), np.isin(places[1], places[2])
    dtype = _held(ours.data[kept], theirs.data[put])
    values = np.concatenate([ours.data[kept].astype(dtype), rounded(theirs.data[put], dtype)])
    rows, columns = (np.concatenate([a[kept], b[put]]) for a, b in ((ours.row, theirs.row), (ours.col, theirs.col)))
    return sparse.csr_array((values, (rows, columns)), shape=new.shape)


def _held(known: np.ndarray, new: np.ndarray) -> np.dtype[Any]:
    """The type for stored and new values: that of the stored ones if it changes no new value."""
    if stored_like(new, known.dtype).dtype == known.dtype:
        return known.dtype
    return np.result_type(known.dtype, new.dtype) if known.dtype.kind == "f" else filled_dtype(known, new)


def _padded(stored: np.ndarray, n_more: int) -> np.ndarray:
    return np.concatenate([stored, np.zeros((n_more, *stored.shape[1:]), dtype=stored.dtype)]) if n_more else stored


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
