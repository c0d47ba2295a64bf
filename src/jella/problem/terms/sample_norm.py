"""A robust loss: norms of samples, not their squares, with a learned weight per view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, at_least, namespace, row_sqnorms
from jella.problem.residuals import Residual, ViewData
from jella.problem.terms.indicator import Indicator, one_hot
from jella.problem.terms.loss import Loss

#: keeps the norm smooth at zero
SMOOTHING = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class RobustState:
    """View weights a_v, (V,)."""

    view_weights: np.ndarray


class SampleNorm(Loss):
    """Σ_v a_v^power Σ_i ‖x_i − U_v w_i‖ over the samples present in view v, with weights a_v ≥ 0, Σ_v a_v = 1.

    The update of a block minimises a bound that touches the loss at the current residuals e_i: squares with weight
    ½·a_v^power/‖e_i‖ (iteratively reweighted least squares). The update of the view weights is exact:
    a_v ∝ (power·h_v)^(1/(1 − power)) with h_v = Σ_i ‖e_i‖. Norms are smoothed, sqrt(‖e_i‖² + 2.2e-16).

    Parameters
    ----------
    power : float, default=2.0
        Greater than 1. A large value makes the weights of the views equal.

    References
    ----------
    .. [1] X. Cai, F. Nie, H. Huang: Multi-view k-means clustering on big data. IJCAI 2013.
    """

    allows_sor = False
    allows_entries = False

    def __init__(self, power: float = 2.0) -> None:
        if not 1 < power < np.inf:
            raise ValueError(f"SampleNorm power must be a finite number greater than 1, got {power}")
        self.power = float(power)

    def totals(self, residuals: Sequence[Residual]) -> np.ndarray:
        """Sum of the (smoothed) norms of the samples present, h_v."""
        return np.array([float(namespace(s).sum(s * m)) for s, m in map(_norms, residuals)])

    def value(self, totals: np.ndarray, state: Any = None) -> float:
        """Weighted sum of the norms."""
        weights = self._view_weights(totals) if state is None else state.view_weights
        return float(weights**self.power @ totals)

    def refresh(self, totals: np.ndarray, state: Any) -> RobustState:
        """View weights at their best."""
        return RobustState(self._view_weights(totals))

    def row_weights(self, residuals: Sequence[Residual]) -> list[Array] | None:
        """½/‖e_i‖, of the bound at these residuals."""
        return [0.5 / norms for norms, _ in map(_norms, residuals)]

    def view_factors(self, state: Any) -> np.ndarray | None:
        """a_v^power."""
        return np.asarray(state.view_weights**self.power)

    def choose(
        self, data: Sequence[ViewData], bases: Sequence[Array], terms: Sequence[Any], state: Any
    ) -> Array | None:
        """For an indicator, the component with the least sum of weighted norms itself."""
        if not any(isinstance(term, Indicator) for term in terms):
            return None
        cost: Any = 0.0
        for view, U, a in zip(data, bases, state.view_weights, strict=True):
            xp = namespace(U)
            squares = row_sqnorms(view.X)[:, None] - 2.0 * view.times(U) + xp.sum(U * U, axis=0)[None, :]
            norms = xp.sqrt(at_least(squares, 0.0) + SMOOTHING)
            cost = cost + float(a) ** self.power * view.keep_present(norms)
        return one_hot(namespace(cost).argmin(cost, axis=1), cost)

    def _view_weights(self, totals: np.ndarray) -> np.ndarray:
        """a_v ∝ (power·h_v)^(1/(1−power)), computed relative to the largest to stay in range."""
        logs = np.log(np.maximum(totals, np.finfo(float).tiny)) / (1.0 - self.power)
        shares = np.exp(logs - logs.max())
        return np.asarray(shares / shares.sum())


def _norms(residual: Residual) -> tuple[Array, Array]:
    """Smoothed norm of each row of a residual, (n, 1), and 1 where the sample is present."""
    squares, present = residual.row_sqnorms()
    xp = namespace(squares)
    return xp.sqrt(squares + SMOOTHING)[:, None], present
