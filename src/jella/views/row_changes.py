"""Raw views with other sample ids, with more samples, or without the values of some samples; in their container."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.numerics.arrays import namespace
from jella.views.annotated import padded, with_more_samples, with_values
from jella.views.categories import expanded_names
from jella.views.containers import is_annotated, is_data_array, is_frame, is_other_frame
from jella.views.frames import is_sparse_frame
from jella.views.ids import IdRule
from jella.views.named import columns_of, fill_named, names_of, renamed_samples
from jella.views.other_frames import other_categories


def renamed(raw: Any, rule: IdRule, name: str) -> Any:
    """A raw view with matched ids."""
    index = None if raw is None else names_of(raw)
    if index is None or not rule.steps:
        return raw
    return renamed_samples(raw, rule.index(index, name))


def on_all_samples(raws: list[Any]) -> list[Any]:
    """Raw views on the samples of all views; rows of NaN for samples that a view lacks."""
    indices = [names_of(raw) for raw in raws]
    union = indices[0]
    for index in indices[1:]:
        union = union.append(index[~index.isin(union)])
    return [extended(raw, union) for raw in raws]


def extended(raw: Any, union: Any) -> Any:
    """A raw view with its own samples, and then those of an index that it lacks, as rows of NaN."""
    lacked = union[~union.isin(names_of(raw))]
    if not len(lacked):
        return raw
    gaps = np.arange(len(names_of(raw)), len(union))
    if is_annotated(raw):
        X = blanked(padded(raw.X, len(lacked)), np.isin(np.arange(len(union)), gaps))
        return with_more_samples(raw, X, lacked)
    if not is_frame(raw):
        return _with_gaps(raw, lacked, np.isin(np.arange(len(union)), gaps))
    longer = raw.index.append(lacked)
    if is_sparse_frame(raw):
        rows = np.isin(np.arange(len(union)), gaps)
        return _sparse_frame(blanked(padded(_csr(raw), len(lacked)), rows), longer, raw.columns)
    return raw.reindex(longer)


def blanked(raw: Any, rows: np.ndarray) -> Any:
    """A raw view with NaN in some rows; integers become floating point."""
    if is_annotated(raw):
        return with_values(raw, blanked(raw.X, rows))
    if is_frame(raw):
        if is_sparse_frame(raw):
            return _sparse_frame(blanked(_csr(raw), rows), raw.index, raw.columns)
        return raw.mask(np.broadcast_to(rows[:, None], raw.shape))
    if is_data_array(raw) or is_other_frame(raw):
        return _with_gaps(raw, (), rows)
    if sparse.issparse(raw):
        return _blank_sparse(raw, rows)
    if isinstance(raw, np.ma.MaskedArray):
        return np.ma.array(raw, mask=np.ma.getmaskarray(raw) | rows[:, None])
    if not array_api_compat.is_array_api_obj(raw) or isinstance(raw, np.ndarray):
        values = np.asarray(raw)
        values = values.astype(values.dtype if values.dtype.kind == "f" else np.float64)
        values[rows] = np.nan
        return values
    xp, device = namespace(raw), array_api_compat.device(raw)
    values = raw if xp.isdtype(raw.dtype, "real floating") else xp.astype(raw, xp.float64)
    return xp.where(xp.asarray(rows[:, None], device=device), xp.asarray(np.nan, dtype=values.dtype), values)


def _with_gaps(raw: Any, lacked: Any, rows: np.ndarray) -> Any:
    categories = () if is_data_array(raw) else other_categories(raw, "")
    width = raw.shape[1] if is_data_array(raw) else len(expanded_names(columns_of(raw), categories))
    keep = np.broadcast_to(~rows[:, None], (rows.size, width))
    return fill_named(raw, lacked, keep, np.full(keep.shape, np.nan), categories)


def _blank_sparse(raw: Any, rows: np.ndarray) -> Any:
    values = sparse.csr_array(raw, dtype=np.float32 if raw.dtype == np.float32 else np.float64)
    nothing = sparse.csr_array(np.full((1, raw.shape[1]), np.nan, dtype=values.dtype))
    order = np.where(rows, raw.shape[0], np.arange(raw.shape[0]))
    return type(raw)(sparse.vstack([values, nothing], format="csr")[order])


def _csr(raw: Any) -> Any:
    return sparse.csr_array(raw.sparse.to_coo())


def _sparse_frame(values: Any, index: Any, columns: Any) -> Any:
    import pandas as pd

    frames: Any = pd.DataFrame
    return frames.sparse.from_spmatrix(values, index=index, columns=columns)
