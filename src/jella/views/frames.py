"""DataFrames among the views: their columns, and their alignment by index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from jella.arrays import Array, namespace


@dataclass(frozen=True)
class Frame:
    """Values of one view on their way in: with the names they came with, and where aligned rows came from."""

    values: Array  # (n, d) or CSR
    index: Any = None
    columns: tuple[str, ...] | None = None
    rows: np.ndarray | None = None  # position of each of the frame's own rows among all samples
    absent: np.ndarray | None = None  # (n,) samples that the frame did not have

    def take_columns(self, columns: tuple[str, ...]) -> Frame:
        """The frame with its columns in the order asked for."""
        assert self.columns is not None
        position = {column: j for j, column in enumerate(self.columns)}
        return replace(self, values=self.values[:, [position[column] for column in columns]], columns=columns)

    def place_mask(self, observed: Any, name: str) -> Array:
        """A user's mask as (n, 1) or (n, d) booleans, its rows where the frame's rows went."""
        mask = observed.to_numpy() if hasattr(observed, "to_numpy") else observed
        mask = mask.toarray() if sparse.issparse(mask) else mask
        if not hasattr(mask, "ndim"):
            mask = np.asarray(mask)
        mask = mask[:, None] if mask.ndim == 1 else mask
        n_own = self.values.shape[0] if self.rows is None else self.rows.size
        if mask.ndim != 2 or mask.shape[0] not in (1, n_own) or mask.shape[1] not in (1, self.values.shape[1]):
            raise ValueError(
                f"the mask of view {name!r} must have shape ({n_own},) or {(n_own, self.values.shape[1])}, "
                f"got {tuple(mask.shape)}"
            )
        if self.rows is None:
            return mask
        placed = np.zeros((self.values.shape[0], mask.shape[1]), dtype=bool)
        placed[self.rows] = mask
        return placed


def is_frame(raw: Any) -> bool:
    """Whether raw is a pandas DataFrame (or walks like one), told without importing pandas."""
    return hasattr(raw, "iloc") and hasattr(raw, "columns") and hasattr(raw, "index")


def read_frame(raw: Any, name: str) -> Frame:
    """Numbers, index and column names of a DataFrame; what is not numeric is named in the error."""
    import pandas as pd

    wrong = [str(c) for c, dtype in zip(raw.columns, raw.dtypes, strict=True) if not _is_number(dtype)]
    if wrong:
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise ValueError(
            f"view {name!r} must hold real numbers, got non-numeric columns {wrong[:5]}{more}; encode or drop them"
        )
    if raw.index.has_duplicates:
        twice = raw.index[raw.index.duplicated()][0]
        raise ValueError(f"view {name!r} has the sample {twice!r} more than once; keep one row a sample")
    columns = tuple(str(c) for c in raw.columns)
    if raw.shape[1] and all(isinstance(dtype, pd.SparseDtype) and dtype.fill_value == 0 for dtype in raw.dtypes):
        return Frame(sparse.csr_array(raw.sparse.to_coo(), dtype=np.float64), raw.index, columns)
    dtype = np.float32 if all(dtype == np.float32 for dtype in raw.dtypes) else np.float64
    return Frame(raw.to_numpy(dtype=dtype, na_value=np.nan), raw.index, columns)


def align(frames: Sequence[Frame | None], names: Sequence[str]) -> tuple[list[Frame | None], Any]:
    """Frames with an index: every view on the union of the samples. Plain arrays: equal lengths."""
    there = [frame for frame in frames if frame is not None]
    indexed = [frame.index is not None for frame in there]
    if not any(indexed):
        _check_lengths(frames, names)
        return list(frames), None
    if not all(indexed):
        plain = [name for name, f in zip(names, frames, strict=True) if f is not None and f.index is None]
        raise ValueError(
            f"view {plain[0]!r} has no index while others are DataFrames; pass all views as DataFrames, or none"
        )
    union = there[0].index
    for frame in there[1:]:
        union = union.append(frame.index[~frame.index.isin(union)])
    return [None if frame is None else _place(frame, union) for frame in frames], union


def _check_lengths(frames: Sequence[Frame | None], names: Sequence[str]) -> None:
    lengths = {name: frame.values.shape[0] for name, frame in zip(names, frames, strict=True) if frame is not None}
    (first, n), *rest = lengths.items()
    for name, m in rest:
        if m != n:
            raise ValueError(
                f"view {name!r} has {m} samples, {first!r} has {n}; pass the missing ones as NaN rows or use "
                "DataFrames with an index"
            )


def _place(frame: Frame, union: Any) -> Frame:
    rows = union.get_indexer(frame.index)
    n = len(union)
    absent = np.ones(n, dtype=bool)
    absent[rows] = False
    if sparse.issparse(frame.values):
        move = sparse.csr_array((np.ones(rows.size), (rows, np.arange(rows.size))), shape=(n, rows.size))
        values = sparse.csr_array(move @ frame.values)
    else:
        values = namespace(frame.values).full((n, frame.values.shape[1]), np.nan, dtype=frame.values.dtype)
        values[rows] = frame.values
    return replace(frame, values=values, rows=rows, absent=absent if absent.any() else None)


def _is_number(dtype: Any) -> bool:
    import pandas as pd

    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype)
