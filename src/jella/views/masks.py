"""From values and what the user says of them to the smallest mask, with zeros under it."""

from __future__ import annotations

import array_api_compat
import numpy as np
from scipy import sparse

from jella.arrays import Array, namespace, to_numpy


def dense_mask(values: Array, observed: Array | None, absent: np.ndarray | None, name: str) -> tuple[Array, Array]:
    """Zero-filled values and their mask, (1, 1), (n, 1) or (n, d)."""
    xp, device = namespace(values), array_api_compat.device(values)
    missing = xp.isnan(values)
    if observed is not None:
        observed = xp.broadcast_to(xp.asarray(observed, dtype=xp.bool, device=device), values.shape)
        contradiction = missing & observed
        if absent is not None:
            contradiction = contradiction & ~xp.asarray(absent, device=device)[:, None]
        if bool(xp.any(contradiction)):
            raise ValueError(f"view {name!r} has NaN at {_first(contradiction)}, where `observed` says True")
        missing = missing | ~observed
    infinite = xp.isinf(values) & ~missing
    if bool(xp.any(infinite)):
        raise ValueError(f"view {name!r} has an infinite value at {_first(infinite)}; mark it as NaN if it is missing")
    if not bool(xp.any(missing)):
        return values, xp.ones((1, 1), dtype=xp.bool, device=device)
    mask = ~missing
    values = xp.where(mask, values, xp.zeros_like(values))
    whole = xp.all(mask, axis=1)
    if bool(xp.all(whole == xp.any(mask, axis=1))):
        mask = whole[:, None]
    return values, mask


def sparse_mask(
    values: sparse.csr_array, observed: np.ndarray | None, absent: np.ndarray | None, name: str
) -> tuple[Array, Array]:
    """As dense_mask; stays sparse where only whole samples are missing, else the view becomes dense."""
    n, d = values.shape
    present = np.ones(n, dtype=bool) if absent is None else ~absent
    if observed is not None:
        observed = np.broadcast_to(np.asarray(observed, dtype=bool), (n, observed.shape[1]))
        if not np.array_equal(observed.all(axis=1), observed.any(axis=1)):
            return _dense_without(values, present), observed
        present = present & observed.all(axis=1)
    values = blank_rows(values, present)
    nan_count = np.bincount(_row_of_entry(values)[np.isnan(values.data)], minlength=n)
    if observed is not None and nan_count.any():
        raise ValueError(f"view {name!r} has NaN in sample {int(nan_count.argmax())}, where `observed` says True")
    values.sum_duplicates()
    if np.any((nan_count > 0) & (nan_count < d)):
        return _dense_without(values, present), None
    present = present & (nan_count == 0)
    values = blank_rows(values, present)
    if np.isinf(values.data).any():
        raise ValueError(f"view {name!r} has an infinite value; remove it, or mark it as NaN if it is missing")
    return values, np.ones((1, 1), dtype=bool) if present.all() else present[:, None]


def blank_rows(values: sparse.csr_array, present: np.ndarray) -> sparse.csr_array:
    """The sparse array with the rows of absent samples emptied, whatever they held."""
    if present.all():
        return values.copy()
    keep = present[_row_of_entry(values)]
    indptr = np.concatenate([[0], np.cumsum(np.where(present, np.diff(values.indptr), 0))])
    return sparse.csr_array((values.data[keep], values.indices[keep], indptr), shape=values.shape)


def _row_of_entry(values: sparse.csr_array) -> np.ndarray:
    return np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))


def _dense_without(values: sparse.csr_array, present: np.ndarray) -> np.ndarray:
    dense: np.ndarray = values.toarray()
    dense[~present] = np.nan
    return dense


def _first(where: Array) -> str:
    row, column = np.argwhere(to_numpy(where))[0]
    return f"row {int(row)}, column {int(column)}"
