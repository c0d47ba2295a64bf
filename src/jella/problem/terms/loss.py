"""What a loss must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from jella.numerics.arrays import Array
from jella.problem.residuals import Residual, ViewData
from jella.problem.terms.part import Part


class Loss(Part, ABC):
    """How far the observed entries are from the product of embedding and bases.

    It is a function of one number a view, to which every sample adds its part: `totals`. A loss that is not a sum of
    squares is bounded by one at the current residuals: `row_weights` gives the weight of every sample in every view,
    and `view_factors` what those of a view are multiplied by.
    """

    #: whether over-relaxation of the completed data makes sense for it
    allows_sor: ClassVar[bool] = True
    #: whether single entries may be missing, or whole samples of a view only
    allows_entries: ClassVar[bool] = True

    @abstractmethod
    def totals(self, residuals: Sequence[Residual]) -> np.ndarray:
        """What the samples add to every view, (V,), from its residual."""

    @abstractmethod
    def value(self, totals: np.ndarray, state: Any = None) -> float:
        """Value, from the totals of all samples."""

    @property
    def weight(self) -> float:
        """What the squared residuals are multiplied by."""
        return 1.0

    def refresh(self, totals: np.ndarray, state: Any) -> Any:
        """State of the loss's own variables, minimised at the totals."""
        return state

    def row_weights(self, residuals: Sequence[Residual]) -> list[Array] | None:
        """Weight of every sample in every view, (n, 1) each, or None where all are one."""
        return None

    def view_factors(self, state: Any) -> np.ndarray | None:
        """What the weights of the samples of every view are multiplied by, (V,), or None where all are one."""
        return None

    def choose(
        self, data: Sequence[ViewData], bases: Sequence[Array], terms: Sequence[Any], state: Any
    ) -> Array | None:
        """Embedding of samples by the loss itself, where a bound by squares would be less than exact; else None."""
        return None
