"""The ℓ1 norm of a block."""

from __future__ import annotations

import math
from typing import Any

from jella.numerics.arrays import Array, clipped, namespace
from jella.problem.terms.base import Piece, Proximable, positive


class L1(Proximable):
    """`weight · Σ_ij |b_ij|`: most entries of the block become zero.

    Its prox is soft thresholding, `prox(b) = sign(b)·max(|b| − step·weight, 0)`, entry by entry.

    Parameters
    ----------
    weight : float, default=1.0
        Positive.

    References
    ----------
    .. [1] R. Tibshirani: Regression shrinkage and selection via the lasso. J. Royal Statistical Society B 58 (1996).
    .. [2] D. L. Donoho: De-noising by soft-thresholding. IEEE Trans. Information Theory 41 (1995).
    """

    elementwise, homogeneous, order = True, True, 0

    def __init__(self, weight: float = 1.0) -> None:
        self.weight = positive(weight, "L1 weight")

    def value(self, B: Array, state: Any = None) -> float:
        """Weighted sum of the absolute values."""
        xp = namespace(B)
        return self.weight * float(xp.sum(xp.abs(B)))

    def prox(self, B: Array, step: Any) -> Array:
        """Soft thresholding: `sign(b)·max(|b| − step·weight, 0)`."""
        shift = step * self.weight
        return B - clipped(B, -shift, shift)

    def piece(self, B: Array) -> Piece:
        """The half-line on the side of the entry; a kink at zero."""
        xp = namespace(B)
        return Piece(self.weight * xp.sign(B), xp.where(B < 0, -math.inf, 0.0 * B), xp.where(B > 0, math.inf, 0.0 * B))
