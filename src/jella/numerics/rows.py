"""Walking over the samples in blocks that fit the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, to_numpy

TARGET_BYTES = 2**20
DEVICE_BYTES = 2**30


def row_blocks(n_rows: int, bytes_per_row: float, target: int = TARGET_BYTES) -> Iterator[slice]:
    """Consecutive slices of n_rows rows, each of about `target` bytes and at least one row.

    >>> list(row_blocks(5, 10, target=20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = max(1, int(target / max(bytes_per_row, 1)))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def target_bytes(X: Any, on_host: int = TARGET_BYTES) -> int:
    """Size of the blocks of an array: as told on the host, large on a device, where the number of calls counts."""
    device = getattr(X, "device", "cpu")  # sparse matrices of SciPy have none
    return on_host if "cpu" in str(device).lower() else DEVICE_BYTES


def cache_blocks(X: Any) -> Iterator[slice]:
    """Blocks of rows for arithmetic in place: nothing of the size of X is made, and what is made stays in the cache.

    Memory for large temporaries comes fresh from the system every time, which costs more than the arithmetic.

    >>> import numpy as np
    >>> list(cache_blocks(np.ones((5, 2))))
    [slice(0, 5, None)]
    """
    yield from row_blocks(X.shape[0], 8 * X.shape[1], target_bytes(X))


def dense_rows(X: Array, rows: np.ndarray | slice) -> np.ndarray:
    """Some rows of a dense or sparse array, dense in NumPy and in double precision."""
    chosen = X[rows].toarray() if sparse.issparse(X) else to_numpy(X)[rows]
    return chosen.astype(np.float64, copy=False)
