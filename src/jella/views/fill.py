"""New values for some entries of the containers of users; all other entries stay the same, bit for bit."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, is_floating, like, namespace, to_numpy


def fill(raw: Any, keep: Array, values: Array) -> Any:
    """A copy of an array with `values` where `keep`, (n, 1) or (n, d) booleans, is False.

    The kind of array and its floating type stay; types that are not floating become float64.
    """
    if sparse.issparse(raw):
        return _fill_sparse(raw, to_numpy(keep), to_numpy(values))
    if isinstance(raw, np.ma.MaskedArray):
        return np.ma.array(fill(raw.data, keep, values), mask=np.ma.getmaskarray(raw) & keep)
    raw = raw if array_api_compat.is_array_api_obj(raw) else np.asarray(raw)
    xp = namespace(raw)
    raw = raw if is_floating(raw) else xp.astype(raw, xp.float64)
    return xp.where(xp.asarray(keep, device=array_api_compat.device(raw)), raw, like(values, raw))


def fill_frame(raw: Any, index: Any, keep: np.ndarray, values: np.ndarray) -> Any:
    """A DataFrame on `index`, its own rows first, with `values` where `keep` is False and in the rows it lacked.

    Columns without a gap are not changed. Others keep a floating type, also one that is nullable or sparse; integers
    and booleans become floats.

    Parameters
    ----------
    keep, values : (n, d) arrays, n the length of `index`
    """
    import pandas as pd

    gaps = np.logical_not(keep.all(axis=0))  # (d,)
    if not gaps.any():
        return raw.copy()
    whole = np.flatnonzero(~gaps)
    parts, order = ([raw.iloc[:, whole]], [whole]) if whole.size else ([], [])
    for dtype in dict.fromkeys(raw.dtypes[gaps]):
        chosen = np.flatnonzero([gap and other == dtype for gap, other in zip(gaps, raw.dtypes, strict=True)])
        target, plain = _floating(dtype)
        padded = np.empty((len(index), chosen.size), dtype=plain)
        padded[: len(raw)] = raw.iloc[:, chosen].to_numpy(dtype=plain, na_value=np.nan)
        filled = np.where(keep[:, chosen], padded, values[:, chosen].astype(plain))
        parts.append(pd.DataFrame(filled, index=index).astype(target))
        order.append(chosen)
    out = pd.concat(parts, axis=1).iloc[:, np.argsort(np.concatenate(order))]
    out.columns = raw.columns
    return out


def _floating(dtype: Any) -> tuple[Any, Any]:
    """The floating type of a column with gaps after filling, and the corresponding NumPy type."""
    import pandas as pd

    if isinstance(dtype, pd.SparseDtype):
        plain = dtype.subtype if dtype.kind == "f" else np.dtype(np.float64)
        background: Any = dtype.fill_value
        return pd.SparseDtype(plain, float(background)), plain
    if isinstance(dtype, np.dtype):
        plain = dtype if dtype.kind == "f" else np.dtype(np.float64)
        return plain, plain
    target: Any = dtype if dtype.kind == "f" else pd.Float64Dtype()
    return target, target.numpy_dtype


def _fill_sparse(raw: Any, keep: np.ndarray, values: np.ndarray) -> Any:
    """`fill` for a sparse array; where whole rows are replaced, only these become dense."""
    dtype = raw.dtype if raw.dtype.kind == "f" else np.float64
    own, values = sparse.csr_array(raw, dtype=dtype), np.broadcast_to(values, raw.shape)
    if keep.shape[1] > 1:
        return type(raw)(np.where(keep, own.toarray(), values.astype(dtype)))
    gaps = np.flatnonzero(~keep[:, 0])
    return fill_sparse_rows(raw, gaps, values[gaps])


def fill_sparse_rows(raw: Any, gaps: np.ndarray, values: np.ndarray) -> Any:
    """A sparse array with the rows `gaps` replaced by the dense rows `values`, (len(gaps), d)."""
    dtype = raw.dtype if raw.dtype.kind == "f" else np.float64
    rows = np.arange(raw.shape[0])
    rows[gaps] = raw.shape[0] + np.arange(gaps.size)
    both = sparse.vstack([sparse.csr_array(raw, dtype=dtype), sparse.csr_array(values.astype(dtype))], format="csr")
    return type(raw)(both[rows])
