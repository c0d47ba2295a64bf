"""Features that distinguish each cluster from all other samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from jella.describe.subject import Absent, Subject, feature_name
from jella.views import View

#: features named for a cluster and view
N_FEATURES = 8
#: observed values that each side of a comparison needs
FEWEST_VALUES = 3


@dataclass(frozen=True)
class Marker:
    """A feature, and the difference of its mean in the cluster and elsewhere, in pooled standard deviations."""

    feature: str
    difference: float


@dataclass(frozen=True)
class Markers:
    """Features of every cluster, by view, the largest difference first.

    Attributes
    ----------
    clusters : tuple of int
    views : tuple of str
    found : tuple of tuples of tuples of Marker
        By cluster and by view.
    """

    clusters: tuple[int, ...]
    views: tuple[str, ...]
    found: tuple[tuple[tuple[Marker, ...], ...], ...]


def find_markers(subject: Subject) -> Markers | Absent:
    """The largest standardised mean differences over observed entries."""
    if subject.labels is None:
        return Absent("There are no clusters to compare.")
    if subject.clusters.size < 2:
        return Absent("There is one cluster only: nothing to compare it with.")
    by_view = [differences(view, subject.labels, subject.clusters) for view in subject.views]
    found = tuple(
        tuple(_largest(view, table[c]) for view, table in zip(subject.views, by_view, strict=True))
        for c in range(subject.clusters.size)
    )
    return Markers(tuple(subject.clusters.tolist()), subject.views.names, found)


def differences(view: View, labels: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Standardised mean difference of each cluster and feature against all other clusters, (k, d).

    NaN if one side has fewer than three observed values or the feature is constant.
    """
    member = sparse.csr_array((labels == clusters[:, None]).astype(np.float64))  # (k, n)
    count, total, squares = _sums(view, member)
    rest = [part.sum(axis=0) - part for part in (count, total, squares)]
    enough = (count >= FEWEST_VALUES) & (rest[0] >= FEWEST_VALUES)
    means = [part[1] / np.maximum(part[0], 1) for part in ((count, total), rest)]
    spread = squares - count * means[0] ** 2 + rest[2] - rest[0] * means[1] ** 2
    deviation = np.sqrt(np.maximum(spread, 0.0) / np.maximum(count + rest[0] - 2, 1))
    noise = 1e-7 * np.sqrt(squares.sum(axis=0) / np.maximum(count.sum(axis=0), 1))
    usable = enough & (deviation > noise)
    return np.where(usable, (means[0] - means[1]) / np.where(usable, deviation, 1.0), np.nan)


def _sums(view: View, member: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number, sum and sum of squares of the observed values of each cluster and feature, (k, d) each."""
    shape = (member.shape[0], view.n_features)
    mask = np.broadcast_to(view.mask, (view.n_samples, view.mask.shape[1])).astype(np.float64)
    count = np.broadcast_to(member @ mask, shape)
    if view.is_sparse:
        X = view.X.astype(np.float64)
        return count, (member @ X).toarray(), (member @ X.multiply(X)).toarray()
    # minus the mean, to avoid cancellation in the squares; the differences do not change
    X = view.X.astype(np.float64)
    mean = X.sum(axis=0) / np.maximum(count.sum(axis=0), 1)
    X = np.where(view.mask, X - mean, 0.0)
    return count, member @ X, member @ X**2


def _largest(view: View, row: np.ndarray) -> tuple[Marker, ...]:
    known = np.flatnonzero(np.isfinite(row))
    first = known[np.argsort(-np.abs(row[known]), kind="stable")[:N_FEATURES]]
    return tuple(Marker(feature_name(view, int(j)), float(row[j])) for j in first)
