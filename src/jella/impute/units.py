"""The unit of each feature: predictions are compared as distances from its mean, in standard deviations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jella.numerics.arrays import to_numpy
from jella.views import View, Views

#: a feature that varies by less than this share of its mean, times the precision of its type, is constant
CONSTANT = 10.0


@dataclass(frozen=True, eq=False)
class Units:
    """Mean and standard deviation of each feature over its observed values.

    Attributes
    ----------
    means, spreads : tuples of arrays (d_v,)
        The spread is 1 where a feature is constant.
    varies : tuple of boolean arrays (d_v,)
    """

    means: tuple[np.ndarray, ...]
    spreads: tuple[np.ndarray, ...]
    varies: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, views: Views) -> Units:
        """The units of views in memory.

        >>> from jella.views import read_views
        >>> units = Units.of(read_views([[1.0, 5.0], [3.0, 5.0], [float("nan"), 5.0]]))
        >>> units.means[0].tolist(), units.spreads[0].tolist(), units.varies[0].tolist()
        ([2.0, 5.0], [1.0, 1.0], [True, False])
        """
        found = [_moments(view) for view in views]
        means, spreads, varies = zip(*found, strict=True)
        return cls(means, spreads, varies)

    def relative(self, values: np.ndarray, v: int, features: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Values of some features of a view, (..., d), as distances from their means in standard deviations."""
        return (values - self.means[v][features]) / self.spreads[v][features]


def _moments(view: View) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, spread and whether it varies, of each feature."""
    count = np.maximum(to_numpy(view.count_by_feature()), 1).astype(np.float64)
    if view.is_sparse:
        total = np.asarray(view.X.sum(axis=0), dtype=np.float64).ravel()
        mean = total / count
        stored = np.bincount(view.X.indices, minlength=view.n_features)
        centred = (view.X.data - mean[view.X.indices]) ** 2
        squares = np.bincount(view.X.indices, centred, minlength=view.n_features) + (count - stored) * mean**2
    else:
        X, mask = to_numpy(view.X).astype(np.float64, copy=False), to_numpy(view.mask)
        mean = X.sum(axis=0) / count
        centred = X - mean
        centred *= mask
        mean = mean + centred.sum(axis=0) / count  # without most of the rounding
        np.subtract(X, mean, out=centred)
        centred *= mask
        squares = np.einsum("ij,ij->j", centred, centred)
    spread = np.sqrt(np.maximum(squares, 0.0) / count)
    varies = spread > CONSTANT * view.eps() * np.abs(mean)
    return mean, np.where(varies, spread, 1.0), varies
