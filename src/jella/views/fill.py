"""New values for some entries of the containers of users; all other entries stay the same, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, beside, is_floating, like, namespace, to_numpy
from jella.views.categories import (
    Category,
    cell_places,
    level_shares,
    most_probable,
    on_features,
    placed,
    probabilities,
)
from jella.views.category_columns import fill_levels, level_codes
from jella.views.exact import filled_dtype, is_exact, rounded
from jella.views.frames import column_names, numpy_dtype


def fill(raw: Any, keep: Array, values: Array) -> Any:
    """A copy of an array with `values` where `keep`, (n, 1) or (n, d) booleans, is False.

    The kind of array and its floating type stay. Other types become float64; where that would change a kept integer,
    they stay and the values are rounded.
    """
    if sparse.issparse(raw):
        return _fill_sparse(raw, to_numpy(keep), to_numpy(values))
    if isinstance(raw, np.ma.MaskedArray):
        return np.ma.array(fill(raw.data, keep, values), mask=np.ma.getmaskarray(raw) & keep)
    raw = raw if array_api_compat.is_array_api_obj(raw) else np.asarray(raw)
    xp = namespace(raw)
    if not is_floating(raw):
        plain, new = to_numpy(raw), np.broadcast_to(to_numpy(values), raw.shape)
        kept = np.broadcast_to(to_numpy(keep), raw.shape)
        dtype = filled_dtype(plain[kept], new[~kept])
        target = raw.dtype if dtype == plain.dtype else getattr(xp, dtype.name)
        raw, values = xp.astype(raw, target), rounded(new, dtype)
    return xp.where(beside(to_numpy(keep), raw), raw, like(values, raw))


def fill_frame(raw: Any, index: Any, keep: np.ndarray, values: np.ndarray) -> Any:
    """A DataFrame on `index`, its own rows first, with `values` where `keep` is False and in the rows it lacked.

    Columns without a gap are not changed. Others keep a floating type, also one that is nullable or sparse; integers
    and booleans become floats, unless that would change a kept integer: such a column keeps its type, and its new
    values are rounded.

    Parameters
    ----------
    keep, values : (n, d) arrays, n the length of `index`
    """
    import pandas as pd

    gaps = np.flatnonzero(np.logical_not(keep.all(axis=0)))
    if not gaps.size:
        return raw.copy()
    whole = np.setdiff1d(np.arange(raw.shape[1]), gaps)
    parts, order = ([raw.iloc[:, whole]], [whole]) if whole.size else ([], [])
    kinds = [_filled_kind(raw.iloc[:, j], keep[: len(raw), j], values[~keep[:, j], j]) for j in gaps]
    for kind in dict.fromkeys(kinds):
        chosen = gaps[[other == kind for other in kinds]]
        target, plain = kind
        if plain.kind == "f":
            own = raw.iloc[:, chosen].to_numpy(dtype=plain, na_value=np.nan)
        else:
            own = np.column_stack([integers(raw.iloc[:, j]) for j in chosen])
        new = values[:, chosen]
        filled = rounded(new, plain)
        filled[: len(raw)] = np.where(keep[: len(raw), chosen], own, filled[: len(raw)])
        part = pd.DataFrame(filled, index=index).astype(target)
        if plain.kind != "f" and np.isnan(new).any():
            part = part.mask(~keep[:, chosen] & np.isnan(new))
        parts.append(part)
        order.append(chosen)
    out = pd.concat(parts, axis=1).iloc[:, np.argsort(np.concatenate(order))]
    out.columns = raw.columns
    return out


def fill_table(raw: Any, index: Any, keep: np.ndarray, values: np.ndarray, categories: Sequence[Category] = ()) -> Any:
    """As `fill_frame`, for a DataFrame with columns of categories, which get the most probable level.

    Parameters
    ----------
    keep, values : (n, d) arrays
        In the order of the columns, with the indicators of a category in the place of its column.
    """
    import pandas as pd

    if not categories:
        return fill_frame(raw, index, keep, values)
    found = [category for _, category in placed(column_names(raw), categories)]
    here = [category for category in found if category is not None]
    keep, starts = on_features(keep, values.shape[1], here), cell_places(values.shape[1], here)[0]
    parts = []
    for j, (category, first) in enumerate(zip(found, starts.tolist(), strict=True)):
        column, kept = raw.iloc[:, j], keep[:, first]
        if kept.all():
            parts.append(column)
        elif category is None:
            parts.append(fill_frame(column.to_frame(), index, kept[:, None], values[:, [first]]).iloc[:, 0])
        else:
            parts.append(fill_category(column, index, category, kept, values[:, category.features]))
    out = pd.concat(parts, axis=1)
    out.columns = raw.columns
    return out


def fill_category(column: Any, index: Any, category: Category, keep: np.ndarray, values: np.ndarray) -> Any:
    """A column on `index`, its own rows first, with the most probable level where `keep` is False.

    Parameters
    ----------
    keep : array (n,)
    values : array (n, L)
        Estimates of the indicators; the cell is missing where they are NaN.
    """
    codes = level_codes(column, category, "")[keep[: len(column)]]
    counts = np.bincount(codes[codes >= 0], minlength=len(category.levels)).astype(np.float64)
    return fill_levels(column, index, category, keep, most_probable(probabilities(values, level_shares(counts))))


def _filled_kind(column: Any, keep: np.ndarray, new: np.ndarray) -> tuple[Any, np.dtype[Any]]:
    """The type of a column with gaps after filling, and the corresponding NumPy type."""
    import pandas as pd

    dtype = column.dtype
    plain = numpy_dtype(dtype)
    if plain.kind in "iu" and not is_exact(integers(column)[keep]):
        if np.isnan(new).any() and isinstance(dtype, np.dtype | pd.SparseDtype):
            return nullable(plain), plain
        return dtype, plain
    return _floating(dtype)


def nullable(plain: np.dtype[Any]) -> Any:
    """The type of pandas for integers that may be missing."""
    import pandas as pd

    return pd.api.types.pandas_dtype(plain.name.replace("u", "U").replace("i", "I", 1))


def integers(column: Any) -> np.ndarray:
    """The values of a column of integers of any type of pandas, 0 where it has none."""
    plain = numpy_dtype(column.dtype)
    return column.to_numpy(dtype=plain, na_value=0) if column.hasnans else np.asarray(column, dtype=plain)


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
    values = np.broadcast_to(values, raw.shape)
    if keep.shape[1] > 1:
        return type(raw)(fill(sparse.csr_array(raw).toarray(), keep, values))
    gaps = np.flatnonzero(~keep[:, 0])
    return fill_sparse_rows(raw, gaps, values[gaps])


def fill_sparse_rows(raw: Any, gaps: np.ndarray, values: np.ndarray) -> Any:
    """A sparse array with the rows `gaps` replaced by the dense rows `values`, (len(gaps), d)."""
    own, rows = sparse.csr_array(raw), np.arange(raw.shape[0])
    dtype = filled_dtype(own[np.delete(rows, gaps)].data, values)
    rows[gaps] = raw.shape[0] + np.arange(gaps.size)
    both = sparse.vstack([own.astype(dtype), sparse.csr_array(rounded(values, dtype))], format="csr")
    return type(raw)(both[rows])
