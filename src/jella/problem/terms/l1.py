"""The ℓ1 norm of a block."""

from __future__ import annotations

from typing import Any

from jella.numerics.arrays import Array, namespace
from jella.problem.terms.base import Proximable, positive


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
        xp = namespace(B)
        shrunk = xp.abs(B) - step * self.weight
        shrunk = xp.where(shrunk > 0, shrunk, 0.0)
        return xp.where(B > 0, shrunk, -shrunk)
