"""The unit of each feature: predictions are compared as distances from its mean, in standard deviations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jella.numerics.arrays import to_numpy
from jella.views import View, Views
from jella.views.scaling import feature_sums

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
    mean = feature_sums(view) / count
    if view.is_sparse:
        d, feature = view.n_features, view.X.indices
        distance, absent = np.abs(view.X.data - mean[feature]), count - np.bincount(feature, minlength=d)
        largest = np.where(absent > 0, np.abs(mean), 0.0)
        np.maximum.at(largest, feature, distance)
        unit = _unit(largest)
        squares = np.bincount(feature, (distance / unit[feature]) ** 2, minlength=d) + absent * (mean / unit) ** 2
    else:
        mean = mean + feature_sums(view, mean) / count  # without most of the rounding
        centred = to_numpy(view.map(lambda X: X - mean).X)
        unit = _unit(np.abs(centred).max(axis=0, initial=0.0))
        centred /= unit
        squares = np.einsum("ij,ij->j", centred, centred)
    spread = unit * np.sqrt(squares / count)
    varies = spread > CONSTANT * view.eps() * np.abs(mean)
    return mean, np.where(varies, spread, 1.0), varies


def _unit(largest: np.ndarray) -> np.ndarray:
    """What distances are divided by, so that no unit of the user overflows or underflows."""
    return np.where(largest > 0, largest, 1.0)
