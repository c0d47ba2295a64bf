"""What a loss must offer, and the squared loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from jella.numerics.arrays import Array
from jella.problem.residuals import Residual, ViewData
from jella.problem.terms.base import Part, positive


class Loss(Part, ABC):
    """How far the observed entries are from the product of embedding and bases.

    It is a function of one number per view, `totals`, which is a sum over samples. A loss that is not a sum of squares
    is bounded by one at the current residuals: `row_weights` gives the weight of each sample in each view, and
    `view_factors` gives a factor per view for these weights.
    """

    #: whether over-relaxation of the completed data makes sense for it
    allows_sor: ClassVar[bool] = True
    #: whether single entries may be missing, or whole samples of a view only
    allows_entries: ClassVar[bool] = True

    @abstractmethod
    def totals(self, residuals: Sequence[Residual]) -> np.ndarray:
        """Sum over the samples per view, (V,), from its residual."""

    @abstractmethod
    def value(self, totals: np.ndarray, state: Any = None) -> float:
        """Value, from the totals of all samples."""

    @property
    def weight(self) -> float:
        """Factor of the squared residuals."""
        return 1.0

    def refresh(self, totals: np.ndarray, state: Any) -> Any:
        """State with the loss's own variables minimised for these totals."""
        return state

    def row_weights(self, residuals: Sequence[Residual]) -> list[Array] | None:
        """Weight of each sample in each view, (n, 1) each, or None where all are one."""
        return None

    def view_factors(self, state: Any) -> np.ndarray | None:
        """Factor per view of the weights of its samples, (V,), or None where all are one."""
        return None

    def choose(
        self, data: Sequence[ViewData], bases: Sequence[Array], terms: Sequence[Any], state: Any
    ) -> Array | None:
        """Embedding that minimises the loss itself, for a loss whose bound by squares is not exact; else None."""
        return None


class Squared(Loss):
    """scale · Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖²: the squared residuals of the observed entries.

    Γ_v is 1 where view v is observed and 0 elsewhere. The loss is quadratic in a block when the others are
    fixed, so the update of a block without terms is least squares: row i of it solves A_i b_i = c_i, with A_i and c_i
    from the observed entries (Algorithm 2) or from the view completed with the current W U_vᵀ (Algorithm 1).

    Parameters
    ----------
    scale : float, default=1.0
        1, or 0.5 for methods that are published with it.

    References
    ----------
    .. [1] C. Xu, D. Tao, C. Xu: Multi-view learning with incomplete views. IEEE Trans. Image Processing 24 (2015).
    .. [2] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics 51 (2021).
    """

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = positive(scale, "Squared scale")

    @property
    def weight(self) -> float:
        """The scale."""
        return self.scale

    def totals(self, residuals: Sequence[Residual]) -> np.ndarray:
        """Squared residuals over the observed entries of each view."""
        return np.array([residual.sqnorm() for residual in residuals])

    def value(self, totals: np.ndarray, state: Any = None) -> float:
        """Scaled sum over all views."""
        return self.scale * sum(totals.tolist())
