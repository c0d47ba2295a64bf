"""Clusters by features: the same differences as in the cards of the clusters, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jella.describe.compared import compare
from jella.describe.subject import Absent, Subject, feature_name

#: features of all views together, at most, and of each view, at least
MOST_FEATURES, FEWEST_PER_VIEW = 60, 6


@dataclass(frozen=True, eq=False)
class ClusterHeat:
    """Differences of features between a cluster and all other samples, in pooled standard deviations.

    Attributes
    ----------
    differences : array (k, f)
        NaN where a cluster has too few values.
    features, views : tuples of str, (f,)
    """

    differences: np.ndarray
    features: tuple[str, ...]
    views: tuple[str, ...]


def find_cluster_heat(subject: Subject) -> ClusterHeat | Absent:
    """The features that distinguish clusters most: the best of each cluster in turn, in the order of the clusters."""
    if subject.labels is None or subject.clusters.size < 2:
        return Absent("There are fewer than two clusters, so no features are compared.")
    tables = [compare(view, subject.labels, subject.clusters).difference for view in subject.views]
    most = max(MOST_FEATURES // len(tables), FEWEST_PER_VIEW)
    chosen = [best_in_turn(table, most) for table in tables]
    return ClusterHeat(
        differences=np.concatenate([table[:, js] for table, js in zip(tables, chosen, strict=True)], axis=1),
        features=tuple(feature_name(v, int(j)) for v, js in zip(subject.views, chosen, strict=True) for j in js),
        views=tuple(view.name for view, js in zip(subject.views, chosen, strict=True) for _ in js),
    )


def best_in_turn(table: np.ndarray, most: int) -> np.ndarray:
    """Columns of a table (k, d): the largest of each row, then the second of each, at most `most`; by row.

    >>> best_in_turn(np.array([[3.0, 2.0, 0.0], [2.5, -1.0, 0.0]]), 2).tolist()
    [0, 1]
    """
    size = np.nan_to_num(np.abs(table), nan=0.0)
    best = np.argsort(np.argsort(-size, axis=1, kind="stable"), axis=1).min(axis=0)
    usable = np.flatnonzero(size.max(axis=0) > 0)
    first = usable[np.lexsort((-size.max(axis=0)[usable], best[usable]))][:most]
    return np.asarray(first[np.lexsort((-size.max(axis=0)[first], size.argmax(axis=0)[first]))])
