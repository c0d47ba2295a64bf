"""What a sample holds as one number: samples are recognised by it, and put into an order of their own."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from jella.numerics.arrays import to_numpy
from jella.numerics.rows import row_blocks
from jella.views.model import View, Views

# odd constants and shifts that mix bits, as in the finaliser of splitmix64
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT = np.uint64(31)
#: bytes of a block of rows; a few arrays of this size are in use at once
BLOCK_BYTES = 2**19


def fingerprints(views: Views) -> np.ndarray:
    """A 64-bit number for each sample, (n,): equal where two samples have the same values and the same holes.

    It does not depend on the container, on the floating type, on what stands under the mask, on the other samples or
    on their order. Two different samples share a number with a chance of 2⁻⁶⁴.

    >>> from jella.views.read import read_views
    >>> prints = fingerprints(read_views([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [1.0, float("nan")]]))
    >>> [int((prints == one).sum()) for one in prints]
    [2, 1, 2, 1]
    """
    rng = np.random.default_rng(0)
    total = np.zeros(views.n_samples, dtype=np.uint64)
    for view in views:
        value_keys, hole_keys = rng.integers(2**64, size=(2, view.n_features), dtype=np.uint64)
        total += _of_values(view, value_keys) + _of_holes(view, hole_keys)
    return total


def content_order(prints: np.ndarray) -> np.ndarray:
    """The samples in the order of their fingerprints, (n,): the same samples in the same order, however they came."""
    return np.argsort(prints, kind="stable")


def find_prints(prints: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Where each fingerprint stands among others, (m,); -1 where it does not.

    Equal ones are found in turn: the first of them at the first place, the second at the second, and so on.

    >>> find_prints(np.array([7, 5, 5, 1, 5]), np.array([5, 7, 5])).tolist()
    [1, 0, 2, -1, 0]
    """
    order, asked = np.argsort(among, kind="stable"), np.argsort(prints, kind="stable")
    ordered, wanted = among[order], prints[asked]
    first, last = np.searchsorted(ordered, wanted, "left"), np.searchsorted(ordered, wanted, "right")
    turn = np.arange(wanted.size) - np.searchsorted(wanted, wanted, "left")
    count = last - first
    rows = np.full(prints.size, -1, dtype=np.intp)
    there = count > 0
    rows[asked[there]] = order[first[there] + turn[there] % count[there]]
    return rows


def _of_values(view: View, keys: np.ndarray) -> np.ndarray:
    """Sums over the values that are not zero; zeros are known by not being holes."""
    if view.is_sparse:
        X = sparse.csr_array(view.X)
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(X.data, keys[X.indices]), dtype=np.uint64)])
        return ends[X.indptr[1:]] - ends[X.indptr[:-1]]
    X, total = to_numpy(view.X), np.empty(view.n_samples, dtype=np.uint64)
    for rows in row_blocks(view.n_samples, 8 * view.n_features, BLOCK_BYTES):
        total[rows] = _mixed(X[rows], keys).sum(axis=1, dtype=np.uint64)
    return total


def _mixed(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """A number for each value at its feature; 0 for 0.0."""
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


def _of_holes(view: View, keys: np.ndarray) -> np.ndarray:
    """Sums over the features that are missing."""
    mask = to_numpy(view.mask)
    if view.is_rowwise:
        return np.where(np.broadcast_to(mask[:, 0], (view.n_samples,)), np.uint64(0), keys.sum(dtype=np.uint64))
    total = np.empty(view.n_samples, dtype=np.uint64)
    for rows in row_blocks(view.n_samples, 8 * view.n_features, BLOCK_BYTES):
        total[rows] = np.where(mask[rows], np.uint64(0), keys).sum(axis=1, dtype=np.uint64)
    return total
