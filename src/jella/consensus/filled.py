"""A view with its absent samples at the mean of the present ones, and what the filled rows weigh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from jella.arrays import Array, like, namespace
from jella.start import feature_means
from jella.views import View


@dataclass(frozen=True)
class Filled:
    """X + a μᵀ with a = 1 at absent samples, never formed, so that sparse views stay sparse.

    Attributes
    ----------
    X : array (n, d) or CSR array
        Zero rows at absent samples.
    absent : array (n,)
        1 where the sample lacks the view, else 0.
    mean : array (d,)
    weights : array (n,)
        The squares c² of the weights of the samples: 1 where present, the squared share of present samples elsewhere.
    """

    X: Array
    absent: Array
    mean: Array
    weights: Array

    @classmethod
    def of(cls, view: View, mean: Array | None = None, share: float | None = None) -> Filled:
        """A view of the fit, or of new samples with the mean and the share of present samples of the fit."""
        present = view.presence()
        share = float(present.mean()) if share is None else share
        mean = like(feature_means(view), view.X) if mean is None else mean
        return cls(view.X, like(~present, mean), mean, like(np.where(present, 1.0, share**2), mean))

    def times(self, V: Array) -> Array:
        """Filled view times V, (n, r)."""
        return self.X @ V + self.absent[:, None] * (self.mean @ V)[None, :]

    def times_transposed(self, U: Array) -> Array:
        """Transpose of the filled view times U, (d, r)."""
        return self.X.T @ U + self.mean[:, None] * (self.absent @ U)[None, :]

    def sqnorm(self) -> float:
        """Σ c_i² ‖row i‖²."""
        if sparse.issparse(self.X):
            rows = self.X.multiply(self.X).sum(axis=1)
        else:
            rows = namespace(self.X).sum(self.X * self.X, axis=1)
        return float(self.weights @ (rows + self.absent * (self.mean @ self.mean)))
