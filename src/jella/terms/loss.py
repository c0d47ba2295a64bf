"""What a loss must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from jella.arrays import Array
from jella.residuals import Residual, ViewData
from jella.terms.part import Part


class Loss(Part, ABC):
    """How far the observed entries are from the product of embedding and bases.

    A loss that is not a sum of squares is bounded by one at the current residuals: `row_weights` gives the weight of
    every sample in every view, and `refresh` what it is computed from.
    """

    #: whether over-relaxation of the completed data makes sense for it
    allows_sor: ClassVar[bool] = True
    #: whether single entries may be missing, or whole samples of a view only
    allows_entries: ClassVar[bool] = True

    @abstractmethod
    def value(self, residuals: Sequence[Residual], state: Any = None) -> float:
        """Value, from the residual of every view."""

    @property
    def weight(self) -> float:
        """What the squared residuals are multiplied by."""
        return 1.0

    def refresh(self, residuals: Sequence[Residual], state: Any) -> Any:
        """State of the loss's own variables, minimised at the residuals."""
        return state

    def row_weights(self, state: Any) -> list[Array] | None:
        """Weight of every sample in every view, (n, 1) each, or None where all are one."""
        return None

    def choose(
        self, data: Sequence[ViewData], bases: Sequence[Array], terms: Sequence[Any], state: Any
    ) -> Array | None:
        """Embedding of samples by the loss itself, where a bound by squares would be less than exact; else None."""
        return None
