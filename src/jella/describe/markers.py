"""Features that distinguish each cluster from all other samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jella.describe.compared import Compared, compare
from jella.describe.q_values import q_values
from jella.describe.subject import Absent, Subject, feature_name
from jella.views import View

#: features named for a cluster and view
N_FEATURES = 8
#: what holds for every p-value of a feature of a cluster
SAME_DATA = (
    "the clusters were found in the same data, so p-values and q-values are too small: they rank features and prove "
    "nothing"
)


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
    by_view = [compare(view, subject.labels, subject.clusters) for view in subject.views]
    found = tuple(
        tuple(_largest(view, table.difference[c]) for view, table in zip(subject.views, by_view, strict=True))
        for c in range(subject.clusters.size)
    )
    return Markers(tuple(subject.clusters.tolist()), subject.views.names, found)


def marker_columns(subject: Subject, most: int | None = None) -> dict[str, np.ndarray]:
    """Columns of a table of features: by cluster, then by view, the largest difference first.

    Parameters
    ----------
    subject : Subject
    most : int, optional
        Features per cluster and view; by default all that could be compared. q-values are for all comparisons.
    """
    if subject.labels is None or subject.clusters.size < 2:
        raise ValueError(
            f"expected at least two clusters to compare, got {subject.clusters.size}; fit with a number of clusters"
        )
    clusters, sizes = subject.clusters, subject.sizes()
    tables = [compare(view, subject.labels, clusters) for view in subject.views]
    adjusted = _adjusted([table.p_value for table in tables])
    parts = [
        _rows(subject, c, v, tables[v], adjusted[v], sizes, most)
        for c in range(clusters.size)
        for v in range(len(tables))
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _adjusted(p_values: list[np.ndarray]) -> list[np.ndarray]:
    """The q-values of p-values, over all tests of all arrays."""
    q = q_values(np.concatenate([one.ravel() for one in p_values]))
    ends = np.cumsum([one.size for one in p_values])[:-1]
    return [part.reshape(one.shape) for part, one in zip(np.split(q, ends), p_values, strict=True)]


def _rows(
    subject: Subject, c: int, v: int, table: Compared, adjusted: np.ndarray, sizes: np.ndarray, most: int | None
) -> dict[str, np.ndarray]:
    """The rows of one cluster and view."""
    view, size = subject.views[v], int(sizes[c])
    first = _order(table.difference[c])[:most]
    difference = table.difference[c, first]
    return {
        "cluster": np.full(first.size, subject.clusters[c]),
        "view": np.full(first.size, view.name, dtype=object),
        "feature": np.array([feature_name(view, int(j)) for j in first], dtype=object),
        "effect": difference,
        "direction": np.where(difference > 0, "higher", "lower").astype(object),
        "mean": table.mean[c, first],
        "other_mean": table.other_mean[c, first],
        "p_value": table.p_value[c, first],
        "q_value": adjusted[c, first],
        "share_observed": table.count[c, first] / size,
        "other_share_observed": table.other_count[c, first] / max(int(sizes.sum()) - size, 1),
    }


def _order(row: np.ndarray) -> np.ndarray:
    """Positions of the known differences, the largest first."""
    known = np.flatnonzero(np.isfinite(row))
    return known[np.argsort(-np.abs(row[known]), kind="stable")]


def _largest(view: View, row: np.ndarray) -> tuple[Marker, ...]:
    return tuple(Marker(feature_name(view, int(j)), float(row[j])) for j in _order(row)[:N_FEATURES])
