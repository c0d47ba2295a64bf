"""The ℓ2,1 norm: whole rows of a block switch off together."""

from __future__ import annotations

from typing import Any

from jella.numerics.arrays import Array, namespace
from jella.problem.terms.base import Proximable, positive


class L21(Proximable):
    """weight · Σ_i ‖b_i‖₂ over the rows b_i: on a basis, features that no component needs become zero as a whole.

    Its prox shortens each row, prox(b_i) = max(1 − step·weight/‖b_i‖, 0)·b_i.

    Parameters
    ----------
    weight : float, default=1.0
        Positive.

    References
    ----------
    .. [1] M. Yuan, Y. Lin: Model selection and estimation in regression with grouped variables. J. Royal Statistical
       Society B 68 (2006).
    .. [2] F. Nie, H. Huang, X. Cai, C. Ding: Efficient and robust feature selection via joint l2,1-norms minimization.
       NIPS 2010.
    """

    homogeneous, order = True, 3

    def __init__(self, weight: float = 1.0) -> None:
        self.weight = positive(weight, "L21 weight")

    def value(self, B: Array, state: Any = None) -> float:
        """Weighted sum of the row norms."""
        xp = namespace(B)
        return self.weight * float(xp.sum(xp.sqrt(xp.sum(B * B, axis=1))))

    def prox(self, B: Array, step: Any) -> Array:
        """Each row shortened by step·weight, or zero where it is shorter than that."""
        xp = namespace(B)
        norms = xp.sqrt(xp.sum(B * B, axis=1, keepdims=True))
        keep = norms > step * self.weight
        factor = 1.0 - step * self.weight / xp.where(keep, norms, xp.ones_like(norms))
        return B * xp.where(keep, factor, xp.zeros_like(norms))
