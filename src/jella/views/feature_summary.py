"""What the observed values of each feature say about its kind: range, total, and whether they are whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from jella.numerics.arrays import cache_blocks, namespace, to_numpy
from jella.views.model import View


@dataclass(frozen=True, eq=False)
class FeatureSummary:
    """What the observed values of each feature have in common; all arrays are (d,), in NumPy.

    Attributes
    ----------
    count : number of observed values
    low, high : smallest and largest of them; inf and -inf where there are none
    total : their sum
    whole : whether all of them are whole numbers, none so large that all numbers are
    """

    count: np.ndarray
    low: np.ndarray
    high: np.ndarray
    total: np.ndarray
    whole: np.ndarray

    @classmethod
    def of(cls, view: View) -> FeatureSummary:
        """The summary of a view in memory; a sparse view stays sparse."""
        count = to_numpy(view.count_by_feature()).astype(np.int64)
        low, high, total, odd = _of_sparse(view, count) if view.is_sparse else _of_dense(view)
        whole = ~odd & (np.maximum(np.abs(low), np.abs(high)) <= 1 / view.eps())
        return cls(count, low, high, total, whole | (count == 0))

    def __add__(self, other: FeatureSummary) -> FeatureSummary:
        """The summary of the same features over two groups of samples."""
        return FeatureSummary(
            self.count + other.count,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.total + other.total,
            self.whole & other.whole,
        )

    def take(self, features: np.ndarray) -> FeatureSummary:
        """The summary of some of the features."""
        return FeatureSummary(*(getattr(self, name)[features] for name in ("count", "low", "high", "total", "whole")))

    def pooled(self) -> FeatureSummary:
        """The summary of all features together, as that of one feature."""
        return FeatureSummary(
            self.count.sum(keepdims=True),
            self.low.min(keepdims=True, initial=np.inf),
            self.high.max(keepdims=True, initial=-np.inf),
            self.total.sum(keepdims=True),
            np.atleast_1d(self.whole.all()),
        )

    def within(self, low: float, high: float) -> np.ndarray:
        """Features without a value outside these bounds."""
        return (self.low >= low) & (self.high <= high)


def _of_dense(view: View) -> tuple[np.ndarray, ...]:
    """Smallest, largest and sum of the observed values of each feature, and whether one of them is not whole."""
    d, X, mask = view.n_features, view.X, view.mask
    low, high, total, odd = np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d), np.zeros(d, dtype=bool)
    xp = namespace(X)
    for rows in cache_blocks(X):
        values, known = X[rows, :], mask if mask.shape[0] == 1 else mask[rows, :]
        low = np.minimum(low, to_numpy(xp.min(xp.where(known, values, xp.inf), axis=0)))
        high = np.maximum(high, to_numpy(xp.max(xp.where(known, values, -xp.inf), axis=0)))
        total += to_numpy(xp.sum(values, axis=0, dtype=xp.float64))  # zero where nothing was observed
        odd |= to_numpy(xp.any(values != xp.round(values), axis=0))
    return low, high, total, odd


def _of_sparse(view: View, count: np.ndarray) -> tuple[np.ndarray, ...]:
    """As `_of_dense`; a feature with fewer stored than observed values has zeros too."""
    X: sparse.csr_array = view.X
    zeros = np.bincount(X.indices, minlength=view.n_features) < count
    low, high = np.where(zeros, 0.0, np.inf), np.where(zeros, 0.0, -np.inf)
    np.minimum.at(low, X.indices, X.data)
    np.maximum.at(high, X.indices, X.data)
    total = np.bincount(X.indices, X.data, minlength=view.n_features)
    odd = np.bincount(X.indices, X.data != np.rint(X.data), minlength=view.n_features) > 0
    return low, high, total, odd
