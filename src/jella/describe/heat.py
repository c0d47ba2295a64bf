"""Samples ordered by cluster, and the features of each view that distinguish clusters most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jella.describe.compared import compare
from jella.describe.subject import Subject, feature_name
from jella.views import View

#: columns of the table; if there are more samples, several of one cluster share a column
MOST_COLUMNS = 1200


@dataclass(frozen=True, eq=False)
class HeatTable:
    """Standardised values of some features.

    Attributes
    ----------
    values : array (f, c)
        Features by samples that have a cluster, in standard deviations from the mean of the feature; NaN if missing.
        The mean over the observed values of a column's samples.
    features, views : tuples of str, (f,)
        Names of the features, and the view of each.
    clusters : int array (c,)
        Cluster of each column, ascending.
    sizes : int array (c,)
        Samples of each column.
    """

    values: np.ndarray
    features: tuple[str, ...]
    views: tuple[str, ...]
    clusters: np.ndarray
    sizes: np.ndarray


def find_heat(subject: Subject, n_features: int = 10) -> HeatTable:
    """The table of the `n_features` features per view that distinguish the clusters most."""
    if subject.labels is None or subject.clusters.size < 2:
        raise ValueError(
            f"expected at least two clusters to compare, got {subject.clusters.size}; fit with a number of clusters"
        )
    rows = np.flatnonzero(subject.labels >= 0)
    rows = rows[np.argsort(subject.labels[rows], kind="stable")]
    starts = _starts(subject.labels[rows])
    chosen = [_distinguishing(view, subject, n_features) for view in subject.views]
    return HeatTable(
        values=np.concatenate([_binned(v, rows, js, starts) for v, js in zip(subject.views, chosen, strict=True)]),
        features=tuple(feature_name(v, int(j)) for v, js in zip(subject.views, chosen, strict=True) for j in js),
        views=tuple(view.name for view, js in zip(subject.views, chosen, strict=True) for _ in js),
        clusters=subject.labels[rows][starts],
        sizes=np.diff(starts, append=rows.size),
    )


def _distinguishing(view: View, subject: Subject, n_features: int) -> np.ndarray:
    """Features in turn: the best of each cluster, then the second of each; ordered by the cluster they belong to."""
    assert subject.labels is not None
    strength = np.nan_to_num(np.abs(compare(view, subject.labels, subject.clusters).difference), nan=0.0)
    ranks = np.argsort(np.argsort(-strength, axis=1, kind="stable"), axis=1)
    best = ranks.min(axis=0)
    usable = np.flatnonzero(strength.max(axis=0) > 0)
    first = usable[np.lexsort((-strength.max(axis=0)[usable], best[usable]))][:n_features]
    return first[np.lexsort((-strength.max(axis=0)[first], strength.argmax(axis=0)[first]))]


def _starts(labels: np.ndarray) -> np.ndarray:
    """First positions of the columns; no column has samples of two clusters."""
    even = np.linspace(0, labels.size, min(labels.size, MOST_COLUMNS), endpoint=False).astype(np.intp)
    return np.union1d(even, np.flatnonzero(np.diff(labels, prepend=labels[0])))


def _binned(view: View, rows: np.ndarray, features: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Standardised values of the features, (f, c)."""
    part = view.X[rows][:, features]
    X = np.asarray(part.toarray() if view.is_sparse else part, dtype=np.float64)
    mask = np.broadcast_to(view.mask, (view.n_samples, view.mask.shape[1]))[rows]
    seen = np.broadcast_to(mask if view.is_rowwise else mask[:, features], X.shape)
    n = np.maximum(seen.sum(axis=0), 1)
    mean = np.where(seen, X, 0.0).sum(axis=0) / n
    centred = np.where(seen, X - mean, 0.0)
    deviation = np.sqrt((centred**2).sum(axis=0) / n)
    scaled = centred / np.where(deviation > 0, deviation, 1.0)
    count = np.add.reduceat(seen.astype(np.intp), starts, axis=0)
    total = np.add.reduceat(scaled, starts, axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).T
