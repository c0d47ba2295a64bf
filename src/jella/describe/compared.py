"""Features of each cluster compared with all other samples, over observed values only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.stats import t as student

from jella.numerics.progress import doing
from jella.views import View

#: observed values that each side of a comparison needs
FEWEST_VALUES = 3
#: the pooled standard deviation counts as at least this share of the feature's own: differences stay finite
LEAST_DEVIATION = 0.1


@dataclass(frozen=True, eq=False)
class Compared:
    """One view: each cluster against all other samples that have a cluster, by feature; arrays (k, d).

    Attributes
    ----------
    difference : array
        Difference of the means in pooled standard deviations; NaN if one side has fewer than three observed values or
        the feature is constant.
    mean, other_mean : arrays
        Means in the cluster and outside, in the user's units; NaN without values.
    count, other_count : arrays
        Numbers of observed values.
    p_value : array
        Of Welch's t-test, two-sided; NaN where the difference is.
    """

    difference: np.ndarray
    mean: np.ndarray
    other_mean: np.ndarray
    count: np.ndarray
    other_count: np.ndarray
    p_value: np.ndarray


def compare(view: View, labels: np.ndarray, clusters: np.ndarray) -> Compared:
    """Compare the clusters; samples with other labels do not count.

    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> found = compare(View("a", X, np.ones((1, 1), bool)), np.array([0, 0, 0, 1, 1, 1]), np.arange(2))
    >>> found.difference.ravel().tolist(), found.mean.ravel().tolist()
    ([-10.0, 10.0], [1.0, 11.0])
    """
    doing(f"comparing the features of view {view.name} between clusters")
    member = sparse.csr_array((labels == clusters[:, None]).astype(np.float64))  # (k, n)
    level, raw, *inside = _sums(view, member)
    outside = [part.sum(axis=0) - part for part in inside]
    (count, mean, squares), (others, other_mean, other_squares) = _moments(*inside), _moments(*outside)
    own = _moments(*(part.sum(axis=0) for part in inside))[2] / np.maximum(inside[0].sum(axis=0) - 1, 1)
    scale = np.sqrt(inside[2].sum(axis=0) / np.maximum(inside[0].sum(axis=0), 1) + level**2)
    usable = (count >= FEWEST_VALUES) & (others >= FEWEST_VALUES) & (np.sqrt(own) > 1e-7 * scale)
    pooled = np.sqrt((squares + other_squares) / np.maximum(count + others - 2, 1))
    pooled = np.where(usable, np.maximum(pooled, LEAST_DEVIATION * np.sqrt(own)), 1.0)
    difference = mean - other_mean
    return Compared(
        difference=np.where(usable, difference / pooled, np.nan),
        mean=np.where(count > 0, raw / np.maximum(count, 1), np.nan),
        other_mean=np.where(others > 0, (raw.sum(axis=0) - raw) / np.maximum(others, 1), np.nan),
        count=count.astype(np.intp),
        other_count=others.astype(np.intp),
        p_value=np.where(usable, _welch(difference, (squares, count), (other_squares, others)), np.nan),
    )


def _moments(count: np.ndarray, total: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number, mean, and sum of squares about the mean."""
    mean = total / np.maximum(count, 1)
    return count, mean, np.maximum(squares - count * mean**2, 0.0)


def _welch(
    difference: np.ndarray, one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """The p-value of the difference of two means; each side has its sum of squares about the mean, and its number."""
    parts = [(squares / np.maximum(n - 1, 1) / np.maximum(n, 1), np.maximum(n - 1, 1)) for squares, n in (one, other)]
    error = np.maximum(parts[0][0] + parts[1][0], np.finfo(np.float64).tiny)
    weight = sum((variance / error) ** 2 / freedom for variance, freedom in parts)
    freedom = 1.0 / np.maximum(weight, np.finfo(np.float64).tiny)
    return np.asarray(2.0 * student.sf(np.abs(difference) / np.sqrt(error), np.maximum(freedom, 1.0)))


def _sums(view: View, member: sparse.csr_array) -> tuple[np.ndarray, ...]:
    """A level of each feature, (d,) or 0, and sums of its values; then number, sum and sum of squares above the level.

    All but the level are by cluster, (k, d).
    """
    shape = (member.shape[0], view.n_features)
    mask = np.broadcast_to(view.mask, (view.n_samples, view.mask.shape[1])).astype(np.float64)
    count = np.broadcast_to(member @ mask, shape)
    X = view.X.astype(np.float64)
    if view.is_sparse:
        raw = (member @ X).toarray()
        return np.zeros(1), raw, count, raw, (member @ X.multiply(X)).toarray()
    raw = member @ X
    level = raw.sum(axis=0) / np.maximum(count.sum(axis=0), 1)
    X = np.where(view.mask, X - level, 0.0)  # above the mean, to avoid cancellation in the squares
    return level, raw, count, member @ X, member @ X**2
