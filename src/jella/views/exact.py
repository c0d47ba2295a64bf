"""Types that hold known values exactly next to new ones: an observed value is never rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

#: digits of a double, and whole numbers up to 2**53 need no more of them
DOUBLE_BITS = 53


def is_exact(values: np.ndarray, bits: int = DOUBLE_BITS) -> bool:
    """Whether floating point numbers with this many binary digits can hold all of the values.

    >>> is_exact(np.array([2**53, 2**60])), is_exact(np.array([2**53 + 1]))
    (True, False)
    """
    if values.dtype.kind == "O":
        return all(value is None or value != value or float(value) == value for value in values.ravel())
    if values.dtype.kind == "f":
        changes = (values.astype(np.float64) != values) & (values == values)
        return np.finfo(values.dtype).nmant < bits or not changes.any()
    if values.dtype.kind == "b" or values.dtype.itemsize * 8 <= bits:
        return True
    size = np.abs(values).astype(np.uint64)  # the smallest int64 has no positive counterpart, but its bits are right
    if size.max(initial=0) <= 2**bits - 1:
        return True
    size = size[size > 2**bits - 1]
    return bool((size // (size & (~size + np.uint64(1))) < np.uint64(2 ** min(bits, 63))).all())


def filled_dtype(known: np.ndarray, new: np.ndarray) -> np.dtype[Any]:
    """The type of an array with known and new values: a floating type stays, others become float64 if that is exact.

    If it is not, integers stay integers and new values must be `rounded`; if a new value is NaN, long doubles hold all.
    """
    if known.dtype.kind == "f":
        return known.dtype
    if is_exact(known):
        return np.dtype(np.float64)
    if known.dtype.kind == "O" or not np.isnan(new).any():
        return known.dtype
    if is_exact(known, np.finfo(np.longdouble).nmant + 1):
        return np.dtype(np.longdouble)
    raise ValueError(
        "expected integers that floating point numbers can hold next to NaN, got larger ones; pass a DataFrame with "
        "columns of the type Int64"
    )


def rounded(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Values in a type; whole numbers for a type of integers, within its range.

    >>> rounded(np.array([1.6, 1e30]), np.dtype(np.int8))
    array([  2, 127], dtype=int8)
    """
    if dtype.kind not in "iu" or values.dtype.kind != "f":
        return values.astype(dtype)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    whole = np.rint(values)
    low, high = whole <= float(least), whole >= float(most)
    inside = np.where(low | high | np.isnan(whole), 0, whole).astype(dtype)
    return np.where(low, dtype.type(least), np.where(high, dtype.type(most), inside))
