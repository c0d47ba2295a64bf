"""The squared loss on observed entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jella.problem.residuals import Residual
from jella.problem.terms.checks import positive
from jella.problem.terms.loss import Loss


class Squared(Loss):
    """scale · Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖², the loss of most published methods.

    Parameters
    ----------
    scale : float
        1, or 1/2 for methods that are published so.
    """

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = positive(scale, "Squared scale")

    @property
    def weight(self) -> float:
        """The scale."""
        return self.scale

    def totals(self, residuals: Sequence[Residual]) -> np.ndarray:
        """Squared residuals over the observed entries of every view."""
        return np.array([residual.sqnorm() for residual in residuals])

    def value(self, totals: np.ndarray, state: Any = None) -> float:
        """Scaled sum over all views."""
        return self.scale * sum(totals.tolist())
