"""From values and the mask of the user to the smallest mask, with zeros where it is False."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, namespace, to_numpy
from jella.views.categories import cell_names, cell_places, on_features
from jella.views.containers import is_data_array, is_frame, is_other_frame
from jella.views.data_arrays import mask_of_data_array
from jella.views.frames import Frame, column_names, column_order, label
from jella.views.other_frames import mask_of_other_frame


def read_mask(raw: Any, frame: Frame, name: str) -> np.ndarray:
    """The mask of a user as (n, 1) or (n, d) booleans in the order of the frame; named masks are aligned by names.

    A mask may have one column per column of the table, or one per feature.
    """
    mask = _plain(raw, frame, name)
    mask = mask[:, None] if mask.ndim == 1 else mask
    n, d = frame.values.shape
    n_columns = cell_places(d, frame.categories)[0].size
    if mask.ndim != 2 or mask.shape[0] != n or mask.shape[1] not in (1, n_columns, d):
        raise ValueError(f"the mask of view {name!r} must have shape ({n},) or {(n, n_columns)}, got {mask.shape}")
    if not np.all((mask == 0) | (mask == 1)):
        raise ValueError(f"the mask of view {name!r} must hold booleans, got other values of type {mask.dtype}")
    return on_features(mask.astype(bool), d, frame.categories)


def zero_filled(frame: Frame, name: str, dtype: str | None = None) -> tuple[Array, Array]:
    """Values with zeros where nothing was observed, and the smallest mask: (1, 1), (n, 1) or (n, d).

    A sparse view stays sparse where only whole samples are missing, and becomes dense otherwise.

    Parameters
    ----------
    dtype : {'float32', 'float64'}, optional
        Floating type of the values; their own by default.
    """
    if sparse.issparse(frame.values):
        return _sparse(frame if dtype is None else replace(frame, values=frame.values.astype(dtype, copy=False)), name)
    xp, device = namespace(frame.values), array_api_compat.device(frame.values)
    values = frame.values if dtype is None else xp.astype(frame.values, getattr(xp, dtype), copy=False)
    missing = xp.isnan(values)
    if frame.observed is not None:
        observed = xp.broadcast_to(xp.asarray(frame.observed, device=device), values.shape)
        if bool(xp.any(missing & observed)):
            raise ValueError(_contradiction(frame, name, *_first(missing & observed)))
        missing = ~observed
    infinite = xp.isinf(values) & ~missing
    if bool(xp.any(infinite)):
        raise ValueError(_infinite(frame, name, *_first(infinite)))
    if not bool(xp.any(missing)):
        return values, xp.ones((1, 1), dtype=xp.bool, device=device)
    mask = ~missing
    values = xp.where(mask, values, xp.zeros_like(values))
    whole = xp.all(mask, axis=1)
    if bool(xp.all(whole == xp.any(mask, axis=1))):
        mask = whole[:, None]
    return values, mask


def _sparse(frame: Frame, name: str) -> tuple[Array, Array]:
    """`zero_filled` for sparse values."""
    n, d = frame.values.shape
    present = np.ones(n, dtype=bool) if frame.absent is None else ~frame.absent
    if frame.observed is not None:
        if not np.array_equal(frame.observed.all(axis=1), frame.observed.any(axis=1)):
            return zero_filled(_dense(frame, present), name)
        present = present & frame.observed.all(axis=1)
    values = _blank_rows(frame.values, present)
    values.sum_duplicates()
    rows, nan = _row_of_entry(values), np.isnan(values.data)
    if frame.observed is not None and nan.any():
        raise ValueError(_contradiction(frame, name, rows[nan][0], values.indices[nan][0]))
    count = np.bincount(rows[nan], minlength=n)
    if np.any((count > 0) & (count < d)):
        return zero_filled(_dense(frame, present), name)
    infinite = np.isinf(values.data)
    if infinite.any():
        raise ValueError(_infinite(frame, name, rows[infinite][0], values.indices[infinite][0]))
    present = present & (count == 0)
    return _blank_rows(values, present), np.ones((1, 1), dtype=bool) if present.all() else present[:, None]


def _blank_rows(values: sparse.csr_array, present: np.ndarray) -> sparse.csr_array:
    """A copy of the sparse array in which the rows of absent samples are empty."""
    if present.all():
        return values.copy()
    keep = present[_row_of_entry(values)]
    indptr = np.concatenate([[0], np.cumsum(np.where(present, np.diff(values.indptr), 0))])
    return sparse.csr_array((values.data[keep], values.indices[keep], indptr), shape=values.shape)


def _plain(raw: Any, frame: Frame, name: str) -> np.ndarray:
    named = True
    if is_data_array(raw):
        raw, named = mask_of_data_array(raw, frame)
    elif is_other_frame(raw):
        raw, named = mask_of_other_frame(raw, name)
    if hasattr(raw, "iloc"):
        raw = _in_columns(_in_rows(raw, frame, name) if named else raw, frame, name).to_numpy(na_value=False)
    if sparse.issparse(raw):
        raw = raw.toarray()
    return to_numpy(raw) if array_api_compat.is_array_api_obj(raw) else np.asarray(raw)


def _in_rows(raw: Any, frame: Frame, name: str) -> Any:
    """A Series or DataFrame of booleans with the samples of the frame, in its order."""
    if frame.index is None:
        return raw
    wrong = ~frame.index.isin(raw.index[~raw.index.duplicated(keep=False)])
    if wrong.any():
        sample = label(frame.index, int(wrong.argmax()))
        raise ValueError(f"the mask of view {name!r} must have each sample of the view once; see the sample {sample}")
    raw = raw[raw.index.isin(frame.index)]
    return raw.iloc[raw.index.get_indexer(frame.index)]


def _in_columns(raw: Any, frame: Frame, name: str) -> Any:
    """A Series or DataFrame of booleans with the columns of the frame, in its order."""
    if frame.columns is None or not is_frame(raw) or raw.shape[1] == 1:
        return raw
    order = column_order(column_names(raw), cell_names(frame.columns, frame.categories))
    if order is None:
        raise ValueError(f"the mask of view {name!r} must have the columns of the view, got {list(raw.columns)[:5]}")
    return raw.iloc[:, order]


def _row_of_entry(values: sparse.csr_array) -> np.ndarray:
    return np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))


def _dense(frame: Frame, present: np.ndarray) -> Frame:
    values = frame.values.toarray()
    values[~present] = np.nan
    return replace(frame, values=values)


def _first(where: Array) -> tuple[int, int]:
    row, column = np.argwhere(to_numpy(where))[0]
    return int(row), int(column)


def _contradiction(frame: Frame, name: str, row: int, column: int) -> str:
    return f"view {name!r} has NaN at {frame.locate(row, column)}, where `observed` says True"


def _infinite(frame: Frame, name: str, row: int, column: int) -> str:
    return f"view {name!r} has an infinite value at {frame.locate(row, column)}; mark it as NaN if it is missing"
