"""The squared norm of a block."""

from __future__ import annotations

from typing import Any

from jella.numerics.arrays import Array, sqnorm
from jella.problem.terms.base import Proximable, positive


class Ridge(Proximable):
    """weight · ‖B‖²: keeps a block small.

    Its prox is shrinkage, prox(B) = B / (1 + 2·step·weight). Updates do not need it: the weight is added to the
    diagonal of the quadratic, A + weight·I, so that each exact update stays exact.

    Parameters
    ----------
    weight : float, default=1.0
        Positive.

    References
    ----------
    .. [1] A. E. Hoerl, R. W. Kennard: Ridge regression: biased estimation for nonorthogonal problems. Technometrics 12
       (1970).
    """

    elementwise = True

    def __init__(self, weight: float = 1.0) -> None:
        self.weight = positive(weight, "Ridge weight")

    @property
    def ridge(self) -> float:  # type: ignore[override]
        """The weight."""
        return self.weight

    def value(self, B: Array, state: Any = None) -> float:
        """Weighted squared norm."""
        return self.weight * sqnorm(B)

    def prox(self, B: Array, step: Any) -> Array:
        """Shrinking by 1 / (1 + 2·step·weight)."""
        return B / (1.0 + 2.0 * step * self.weight)
