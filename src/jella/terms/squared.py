"""The squared loss on observed entries."""

from __future__ import annotations

from collections.abc import Sequence

from jella.residuals import Residual
from jella.terms.loss import Loss


class Squared(Loss):
    """Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖², the loss of most published methods."""

    def value(self, residuals: Sequence[Residual]) -> float:
        """Sum of the squared residuals over the observed entries of all views."""
        return sum(residual.sqnorm() for residual in residuals)
