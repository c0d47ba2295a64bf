"""Taking values away from the user's own containers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.arrays import is_floating, namespace
from jella.views.frames import is_frame
from jella.views.masks import blank_rows
from jella.views.model import Views
from jella.views.read import is_single, split
from jella.views.write import collect


def hide_values(X: Any, views: Views, hidden: Sequence[np.ndarray]) -> Any:
    """A copy of X with NaN where hidden, (n, 1) or (n, d) booleans a view, is True."""
    names, raws = split(X)
    out = [_hide_one(raw, where, views.sample_names) for raw, where in zip(raws, hidden, strict=True)]
    return out[0] if is_single(X) else collect(out, X, names)


def _hide_one(raw: Any, where: np.ndarray, sample_names: Any) -> Any:
    if is_frame(raw):
        own = where[sample_names.get_indexer(raw.index)]
        return raw.mask(np.broadcast_to(own, raw.shape))
    if sparse.issparse(raw):
        return _hide_sparse(raw, where)
    if array_api_compat.is_array_api_obj(raw) and not isinstance(raw, np.ndarray):
        xp = namespace(raw)
        values = raw if is_floating(raw) else xp.astype(raw, xp.float64)
        mask = xp.asarray(where, device=array_api_compat.device(raw))
        return xp.where(mask, xp.asarray(float("nan"), dtype=values.dtype), values)
    values = np.asarray(raw)
    values = values if values.dtype.kind == "f" else values.astype(np.float64)
    return np.where(where, np.asarray(np.nan, dtype=values.dtype), values)


def _hide_sparse(raw: Any, where: np.ndarray) -> Any:
    if where.shape[1] != 1:
        return np.where(where, np.nan, raw.toarray().astype(np.float64))
    kept = blank_rows(sparse.csr_array(raw, dtype=np.float64), ~where[:, 0])
    rows = np.flatnonzero(where[:, 0])
    d = raw.shape[1]
    gone = sparse.csr_array(
        (np.full(rows.size * d, np.nan), (np.repeat(rows, d), np.tile(np.arange(d), rows.size))), shape=raw.shape
    )
    return type(raw)(kept + gone)
