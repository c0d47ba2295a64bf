"""Views with what is missing at the mean of its feature, without forming them where whole samples are missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from jella.arrays import Array, like, namespace, to_numpy
from jella.views import View


@dataclass(frozen=True)
class MeanFilled:
    """X + a μᵀ with a = 1 at absent samples: a sparse view stays sparse.

    Attributes
    ----------
    X : array (n, d) or CSR array
        Zero rows at absent samples; single missing entries are at their mean already.
    absent : array (n,)
        1 where the sample lacks the view, else 0.
    mean : array (d,)
    """

    X: Array
    absent: Array
    mean: Array

    @classmethod
    def of(cls, view: View, mean: Array | None = None) -> MeanFilled:
        """A view filled with its own means, or with given ones."""
        mean = feature_means(view) if mean is None else mean
        if view.is_rowwise:
            return MeanFilled(view.X, like(~view.presence(), mean), mean)
        return MeanFilled(namespace(mean).where(view.mask, view.X, mean), like(np.zeros(view.n_samples), mean), mean)

    def times(self, V: Array) -> Array:
        """Filled view times V, (n, r)."""
        return self.X @ V + self.absent[:, None] * (self.mean @ V)[None, :]

    def times_transposed(self, U: Array) -> Array:
        """Transpose of the filled view times U, (d, r)."""
        return self.X.T @ U + self.mean[:, None] * (self.absent @ U)[None, :]

    def dense(self) -> Array:
        """The filled view itself, (n, d)."""
        X = self.X.toarray() if sparse.issparse(self.X) else self.X
        return X + self.absent[:, None] * self.mean[None, :]


def feature_means(view: View) -> Array:
    """Mean of every feature over its observed entries, (d,)."""
    total = view.X.sum(axis=0) if view.is_sparse else namespace(view.X).sum(view.X, axis=0)
    return like(total, view.X) / like(np.maximum(to_numpy(view.count_by_feature()), 1), view.X)
