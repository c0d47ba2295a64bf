"""Walking over the samples in blocks that fit the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

TARGET_BYTES = 2**20


def row_blocks(n_rows: int, bytes_per_row: float, target: int = TARGET_BYTES) -> Iterator[slice]:
    """Consecutive slices of n_rows rows, each of about `target` bytes and at least one row.

    >>> list(row_blocks(5, 10, target=20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = max(1, int(target / max(bytes_per_row, 1)))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def cache_blocks(X: Any) -> Iterator[slice]:
    """Blocks of rows for arithmetic in place: nothing of the size of X is made, and what is made stays in the cache.

    Memory for large temporaries comes fresh from the system every time, which costs more than the arithmetic. On a
    device there is one block: there the calls would cost.

    >>> list(cache_blocks(np.ones((5, 2))))
    [slice(0, 5, None)]
    """
    if isinstance(X, np.ndarray):
        yield from row_blocks(X.shape[0], X.itemsize * X[:1].size)
    else:
        yield slice(0, X.shape[0])
