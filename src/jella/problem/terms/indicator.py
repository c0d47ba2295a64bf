"""The constraint that makes an embedding a clustering: a single 1 per row, zeros elsewhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, like, namespace, to_numpy
from jella.problem.terms.base import Term


class Indicator(Term):
    """b_ij ∈ {0, 1} with Σ_j b_ij = 1: each sample belongs to one component, whose basis column is its centroid.

    The projection sets the largest entry of a row to 1 and the others to 0. The exact update is the assignment step
    of k-means: row i goes to argmin_j A_jj − 2c_ij, its squared distance to centroid j less a constant.

    References
    ----------
    .. [1] S. P. Lloyd: Least squares quantization in PCM. IEEE Trans. Information Theory 28 (1982).
    """

    def value(self, B: Array, state: Any = None) -> float:
        """Zero where satisfied, infinite elsewhere."""
        xp = namespace(B)
        binary = bool(xp.all((B == 0) | (B == 1)))
        return 0.0 if binary and bool(xp.all(xp.sum(B, axis=1) == 1)) else math.inf

    def project(self, B: Array) -> Array:
        """The largest entry of each row set to one, the others to zero."""
        return one_hot(namespace(B).argmax(B, axis=1), B)

    def repair(self, new: Array, old: Array) -> Array:
        """The new block; a component that lost all its samples gets one back, at the cost it had before."""
        now, before = to_numpy(new), to_numpy(old)
        empty = np.flatnonzero((now.sum(axis=0) == 0) & (before.sum(axis=0) > 0))
        if empty.size == 0:
            return new
        fixed = now.copy()
        for j in empty:
            # from a component that has another sample, so that no other component becomes empty
            rows = np.flatnonzero(before[:, j])
            spare = rows[fixed.sum(axis=0)[fixed[rows].argmax(axis=1)] > 1]
            if spare.size:
                fixed[spare[0]] = 0.0
                fixed[spare[0], j] = 1.0
        return like(fixed, new)


def one_hot(labels: Array, reference: Array) -> Array:
    """Indicator (m, r) of labels (m,), in the library and type of the reference (m, r)."""
    xp = namespace(reference)
    columns = xp.arange(reference.shape[1], dtype=labels.dtype, device=labels.device)
    return xp.astype(labels[:, None] == columns[None, :], reference.dtype)
