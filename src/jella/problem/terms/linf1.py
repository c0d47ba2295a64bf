"""The ℓ∞,1 norm over components: the largest entry of each column counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.numerics.arrays import Array, like, namespace
from jella.problem.terms.base import Proximable, positive


class Linf1(Proximable):
    """`weight · Σ_j max_i |b_ij|`, that is ‖Bᵀ‖_{∞,1}: on a basis, components that a view does not need become zero.

    Its prox follows from Moreau's identity: each column b_j less its projection onto the ℓ1 ball,
    prox(b_j) = b_j − P(b_j), with P the projection onto {x : ‖x‖₁ ≤ step·weight}, found by sorting.

    Parameters
    ----------
    weight : float, default=1.0
        Positive.

    References
    ----------
    .. [1] Z. Guan, L. Zhang, J. Peng, J. Fan: Multi-view concept learning for data representation. IEEE Trans.
       Knowledge and Data Engineering 27 (2015).
    .. [2] J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra: Efficient projections onto the l1-ball for learning in
       high dimensions. ICML 2008.
    .. [3] N. Parikh, S. Boyd: Proximal algorithms. Foundations and Trends in Optimization 1 (2014).
    """

    separable = False  # a column runs over all rows
    homogeneous, order = True, 3

    def __init__(self, weight: float = 1.0) -> None:
        self.weight = positive(weight, "Linf1 weight")

    def value(self, B: Array, state: Any = None) -> float:
        """Weighted sum over the columns of their largest absolute value."""
        xp = namespace(B)
        return self.weight * float(xp.sum(xp.max(xp.abs(B), axis=0)))

    def prox(self, B: Array, step: Any) -> Array:
        """By Moreau's identity: each column less its projection onto the ℓ1 ball of radius step·weight."""
        return B - project_l1_columns(B, step * self.weight)


def project_l1_columns(B: Array, radius: Any) -> Array:
    """Euclidean projection of each column of B (m, r) onto the ℓ1 ball of the given radius, by sorting."""
    xp = namespace(B)
    size = xp.abs(B)
    ordered = xp.sort(size, axis=0, descending=True)
    ranks = like(np.arange(1, B.shape[0] + 1), B)[:, None]
    surplus = (xp.cumulative_sum(ordered, axis=0) - radius) / ranks
    active = xp.sum(xp.astype(ordered > surplus, xp.int64), axis=0, keepdims=True)
    threshold = xp.take_along_axis(surplus, xp.where(active > 0, active - 1, xp.zeros_like(active)), axis=0)
    inside = xp.sum(size, axis=0, keepdims=True) <= radius
    threshold = xp.where(inside, xp.zeros_like(threshold), threshold)
    shrunk = size - threshold
    return xp.sign(B) * xp.where(shrunk > 0, shrunk, xp.zeros_like(shrunk))
