"""One number per sample, computed from its contents: a model recognises samples by it, and sorts them by it."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from jella.numerics.arrays import row_blocks, to_numpy
from jella.views.model import Views

# odd constants and shifts that mix bits, as in the finaliser of splitmix64
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT = np.uint64(31)
#: bytes of a block of rows; a few arrays of this size are used at the same time
BLOCK_BYTES = 2**19


def fingerprints(views: Views) -> np.ndarray:
    """A 64-bit number for each sample, (n,): equal where two samples have the same values and lack the same entries.

    It does not depend on the container, on the floating type, on values outside the mask, on the other samples or on
    their order. Two different samples have the same number with a probability of 2⁻⁶⁴.

    >>> from jella.views.read import read_views
    >>> prints = fingerprints(read_views([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [1.0, float("nan")]]))
    >>> [int((prints == one).sum()) for one in prints]
    [2, 1, 2, 1]
    """
    rng = np.random.default_rng(0)
    total = np.zeros(views.n_samples, dtype=np.uint64)
    for view in views:
        value_keys, hole_keys = rng.integers(2**64, size=(2, view.n_features), dtype=np.uint64)
        mask, blocks = to_numpy(view.mask), list(row_blocks(view.n_samples, 8 * view.n_features, BLOCK_BYTES))
        # over values that are not zero: an observed zero is known, because it is not missing
        if view.is_sparse:
            X = sparse.csr_array(view.X)
            sums = np.cumsum(_mixed(X.data, value_keys[X.indices]), dtype=np.uint64)
            sums = np.concatenate([np.zeros(1, np.uint64), sums])
            total += sums[X.indptr[1:]] - sums[X.indptr[:-1]]
        else:
            X = to_numpy(view.X)
            for rows in blocks:
                total[rows] += _mixed(X[rows], value_keys).sum(axis=1, dtype=np.uint64)
        # over features that are missing
        if view.is_rowwise:
            total += np.where(mask[:, 0], np.uint64(0), hole_keys.sum(dtype=np.uint64))
        else:
            for rows in blocks:
                total[rows] += np.where(mask[rows], np.uint64(0), hole_keys).sum(axis=1, dtype=np.uint64)
    return total


def find_prints(prints: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Position of each fingerprint among others, (m,); -1 where it is not among them.

    Equal fingerprints are found in turn: the first one at the first position, the second one at the second, and so on.

    >>> find_prints(np.array([7, 5, 5, 1, 5]), np.array([5, 7, 5])).tolist()
    [1, 0, 2, -1, 0]
    """
    order, asked = np.argsort(among, kind="stable"), np.argsort(prints, kind="stable")
    ordered, wanted = among[order], prints[asked]
    first, last = np.searchsorted(ordered, wanted, "left"), np.searchsorted(ordered, wanted, "right")
    turn = np.arange(wanted.size) - np.searchsorted(wanted, wanted, "left")
    count = last - first
    rows = np.full(prints.size, -1, dtype=np.intp)
    found = count > 0
    rows[asked[found]] = order[first[found] + turn[found] % count[found]]
    return rows


def _mixed(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """A number for each value, with the key of its feature; 0 for 0.0."""
    bits = np.array(values, dtype=np.float64, order="C").view(np.uint64)
    other = values != 0
    bits += keys
    bits ^= bits >> _SHIFT
    bits *= _FIRST
    bits ^= bits >> _SHIFT
    bits *= _SECOND
    bits ^= bits >> _SHIFT
    bits *= other
    return bits
