"""A view imputed with means, and the weights of its samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jella.numerics.arrays import Array, like, row_sqnorms
from jella.solve.start import MeanFilled
from jella.views import View


@dataclass(frozen=True)
class Filled(MeanFilled):
    """A view imputed with means, with weights.

    Attributes
    ----------
    weights : array (n,)
        The squares c² of the weights of the samples: 1 where present, the squared share of present samples elsewhere.
    """

    weights: Array

    @classmethod
    def weighted(cls, view: View, mean: Array | None = None, share: float | None = None) -> Filled:
        """A view of the fit; or of new samples, with the mean and the share of present samples from the fit."""
        present = view.presence()
        share = float(present.mean()) if share is None else share
        filled = MeanFilled.of(view, mean)
        weights = like(np.where(present, 1.0, share**2), filled.mean)
        return cls(filled.X, filled.absent, filled.mean, weights)

    def sqnorm(self) -> float:
        """Σ c_i² ‖row i‖²."""
        return float(self.weights @ (row_sqnorms(self.X) + self.absent * (self.mean @ self.mean)))
