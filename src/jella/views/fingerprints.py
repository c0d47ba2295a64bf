"""One number per sample, computed from its contents: a model recognises samples by it, and sorts them by it."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, beside, is_numpy, namespace, row_blocks, target_bytes, to_numpy
from jella.numerics.sparse_arrays import has_sparse
from jella.views.model import View, Views

# odd constants and shifts that mix bits, as in the finaliser of splitmix64
_FIRST, _SECOND, _SHIFT = 0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64, 31
#: the bits that a shift by 31 leaves of 64
_LOW = 2**33 - 1
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
        value_keys, hole_keys = rng.integers(2**64, size=(2, view.n_features), dtype=np.uint64).view(np.int64)
        total += (_of_values(view, value_keys) + _of_holes(view, hole_keys)).view(np.uint64)
    return total


def _of_values(view: View, keys: np.ndarray) -> np.ndarray:
    """The part of the values that are not zero, (n,): an observed zero is known, because it is not missing.

    Values on a device stay there, if its library can look at their bits.
    """
    if view.is_sparse:
        X = sparse.csr_array(view.X)
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(_mixed(X.data.astype(np.float64), keys[X.indices]))])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    X = view.X if is_numpy(view.X) or has_sparse(view.X) else to_numpy(view.X)
    xp, total, keys = namespace(X), np.zeros(view.n_samples, dtype=np.int64), beside(keys, X)
    for rows in row_blocks(view.n_samples, 8 * view.n_features, target_bytes(X, BLOCK_BYTES)):
        total[rows] = to_numpy(xp.sum(_mixed(xp.astype(X[rows, :], xp.float64), keys), axis=1, dtype=xp.int64))
    return total


def _of_holes(view: View, keys: np.ndarray) -> np.ndarray:
    """The part of the features that are missing, (n,)."""
    mask, total = view.mask, np.zeros(view.n_samples, dtype=np.int64)
    if view.is_rowwise:
        return total + np.where(to_numpy(mask)[:, 0], 0, keys.sum())
    xp, keys = namespace(mask), beside(keys, mask)
    for rows in row_blocks(view.n_samples, 8 * view.n_features, target_bytes(mask, BLOCK_BYTES)):
        lost = xp.where(mask[rows, :], xp.zeros_like(keys), keys)
        total[rows] = to_numpy(xp.sum(lost, axis=1, dtype=xp.int64))
    return total


def order_of(prints: np.ndarray) -> np.ndarray:
    """The order (n,) of fingerprints, ascending, equal ones as they come.

    >>> order_of(np.array([7, 5, 9, 5])).tolist()
    [1, 3, 0, 2]
    """
    order = np.argsort(prints)  # a third of the time of a stable sort
    ordered = prints[order]
    return np.argsort(prints, kind="stable") if (ordered[1:] == ordered[:-1]).any() else order


def find_prints(prints: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Position of each fingerprint among others, (m,); -1 where it is not among them.

    Equal fingerprints are found in turn: the first one at the first position, the second one at the second, and so on.

    >>> find_prints(np.array([7, 5, 5, 1, 5]), np.array([5, 7, 5])).tolist()
    [1, 0, 2, -1, 0]
    """
    rows = np.full(prints.size, -1, dtype=np.intp)
    if among.size == 0:
        return rows
    order = order_of(among)
    ordered = among[order]
    near = np.flatnonzero((prints >= ordered[0]) & (prints <= ordered[-1]))  # few if those of landmarks are the lowest
    known = near[ordered[np.searchsorted(ordered, prints[near])] == prints[near]]
    asked = known[order_of(prints[known])]
    wanted = prints[asked]
    first, last = np.searchsorted(ordered, wanted, "left"), np.searchsorted(ordered, wanted, "right")
    turn = np.arange(wanted.size) - np.searchsorted(wanted, wanted, "left")
    rows[asked] = order[first + turn % (last - first)]
    return rows


def _mixed(values: Array, keys: Array) -> Array:
    """A number for each value in double precision, which is overwritten, with the key of its feature; 0 for 0.0."""
    other = values != 0
    bits = values.view(getattr(namespace(values), str(keys.dtype).rpartition(".")[2]))
    bits += keys
    _fold(bits)
    bits *= _FIRST
    _fold(bits)
    bits *= _SECOND
    _fold(bits)
    bits *= other
    return bits


def _fold(bits: Array) -> None:
    """Mix the high bits of 64 into the low ones, in place."""
    high = bits >> _SHIFT
    high &= _LOW  # signed integers are shifted with their sign
    bits ^= high
