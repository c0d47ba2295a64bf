"""Giving completed views back as they came: same container, names, index, order and types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.arrays import Array, is_floating, like, namespace, to_numpy
from jella.views.frames import is_frame
from jella.views.masks import blank_rows
from jella.views.model import View, Views
from jella.views.read import Schema, is_single, split


def collect(values: Sequence[Any], X: Any, names: Sequence[str]) -> Any:
    """One value a view in the container of X: a dict by name, else a tuple or list."""
    if isinstance(X, Mapping):
        keys = {str(key): key for key in X}
        return {keys.get(name, name): value for name, value in zip(names, values, strict=True)}
    return tuple(values) if isinstance(X, tuple) and not is_single(X) else list(values)


def write_views(X: Any, views: Views, estimate: Callable[[int], Array], schema: Schema | None = None) -> Any:
    """X with every missing entry replaced by its estimate, and every observed one bit for bit as it was.

    Parameters
    ----------
    X : the user's data, as given to read_views
    views : Views
        What read_views made of X; only the masks are used.
    estimate : callable
        Position of a view -> its estimated values, (n, d) in the user's units.
    """
    names, raws = split(X, schema)
    written = [
        _write_one(raw, view, _lazy(estimate, position), views.sample_names)
        for position, (raw, view) in enumerate(zip(raws, views, strict=True))
    ]
    return written[0] if is_single(X) else collect(written, X, names)


def _lazy(estimate: Callable[[int], Array], position: int) -> Callable[[], Array]:
    return lambda: estimate(position)


def _write_one(raw: Any, view: View, estimate: Callable[[], Array], sample_names: Any) -> Any:
    if raw is None:
        return _named(to_numpy(estimate()), view, sample_names)
    if is_frame(raw):
        return _write_frame(raw, view, estimate, sample_names)
    if sparse.issparse(raw):
        return raw.copy() if view.is_complete else _write_sparse(raw, view, to_numpy(estimate()))
    if array_api_compat.is_array_api_obj(raw) and not isinstance(raw, np.ndarray):
        return _write_array(raw, view, estimate)
    values = np.asarray(raw)
    if view.is_complete:
        return values.copy()
    values = values if values.dtype.kind == "f" else values.astype(np.float64)
    return np.where(view.mask, values, to_numpy(estimate()).astype(values.dtype))


def _write_array(raw: Array, view: View, estimate: Callable[[], Array]) -> Array:
    xp = namespace(raw)
    if view.is_complete:
        return xp.asarray(raw, copy=True)
    raw = raw if is_floating(raw) else xp.astype(raw, xp.float64)
    return xp.where(view.mask, raw, like(estimate(), raw))


def _write_sparse(raw: Any, view: View, estimate: np.ndarray) -> Any:
    """The observed rows as they are stored, the missing ones filled: only those become dense."""
    if not view.is_rowwise:
        return _as_type(np.where(view.mask, raw.toarray(), estimate), raw)
    present = view.mask[:, 0]
    blank = np.flatnonzero(~present)
    rows = sparse.csr_array(estimate[blank].astype(raw.dtype if raw.dtype.kind == "f" else np.float64))
    ones = np.ones(blank.size, dtype=rows.dtype)
    place = sparse.csr_array((ones, (blank, np.arange(blank.size))), shape=(raw.shape[0], blank.size))
    return _as_type(blank_rows(sparse.csr_array(raw), present) + place @ rows, raw)


def _as_type(values: Any, raw: Any) -> Any:
    return type(raw)(values)


def _write_frame(raw: Any, view: View, estimate: Callable[[], Array], sample_names: Any) -> Any:
    """The frame's own rows in their order, then the samples it lacked; columns without a gap keep their type."""
    if view.is_complete:
        return raw.copy()
    rows = sample_names.get_indexer(raw.index)
    lacked = np.setdiff1d(np.arange(len(sample_names)), rows)
    order = np.concatenate([rows, lacked])
    mask = np.broadcast_to(to_numpy(view.mask), (view.n_samples, view.n_features))[order]
    estimated = to_numpy(estimate())[order]
    out = raw.copy()
    if lacked.size:
        out = raw.reindex(raw.index.append(sample_names[lacked]))
        out.index.name = raw.index.name
    for j in np.flatnonzero(~mask.all(axis=0)):
        out.isetitem(j, _fill_column(out.iloc[:, j], mask[:, j], estimated[:, j]))
    return out


def _fill_column(column: Any, mask: np.ndarray, estimated: np.ndarray) -> Any:
    """A column with its gaps filled, in its own floating type; integers become floats."""
    import pandas as pd

    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    if column.dtype.kind != "f":
        nullable = isinstance(column.dtype, pd.api.extensions.ExtensionDtype)
        column = column.astype("Float64" if nullable else np.float64)
    dtype = getattr(column.dtype, "numpy_dtype", column.dtype)
    return column.where(mask, pd.Series(estimated.astype(dtype), index=column.index, dtype=column.dtype))


def _named(values: np.ndarray, view: View, sample_names: Any) -> Any:
    if sample_names is None:
        return values
    import pandas as pd

    return pd.DataFrame(values, index=sample_names, columns=view.feature_names)
