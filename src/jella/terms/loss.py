"""What a loss must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from jella.residuals import Residual


class Loss(ABC):
    """How far the observed entries are from the product of embedding and bases."""

    #: whether over-relaxation of the completed data makes sense for it
    allows_sor: ClassVar[bool] = True

    @abstractmethod
    def value(self, residuals: Sequence[Residual]) -> float:
        """Value, from the residual of every view."""

    @property
    def name(self) -> str:
        """Name in messages and histories."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"{self.name}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))
