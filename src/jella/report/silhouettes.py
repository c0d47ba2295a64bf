"""How well samples lie within their clusters: silhouettes in the coordinates that labels are seen in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jella.describe.subject import Absent, Subject
from jella.numerics.kmeans import unit_rows
from jella.report.sampling import SILHOUETTE_SAMPLES, some_rows


@dataclass(frozen=True, eq=False)
class Silhouettes:
    """Silhouettes by cluster, from −1 (closer to another cluster) to 1.

    Attributes
    ----------
    low, middle, high : arrays (k,)
        Quartiles of the samples of each cluster; NaN if none of them was drawn.
    mean : float
        Over all samples that were drawn.
    n_drawn, n_samples : int
    """

    low: np.ndarray
    middle: np.ndarray
    high: np.ndarray
    mean: float
    n_drawn: int
    n_samples: int


def find_silhouettes(subject: Subject) -> Silhouettes | Absent:
    """The silhouettes of the rows of the embedding at unit length, of some samples if there are many."""
    if subject.labels is None or subject.clusters.size < 2:
        return Absent("There are fewer than two clusters, so there are no silhouettes.")
    if subject.embedding is None:
        return Absent(f"{subject.method} has no embedding, so there are no silhouettes.")
    from sklearn.metrics import silhouette_samples

    with_label = np.flatnonzero(subject.labels >= 0)
    rows = with_label[some_rows(with_label.size, SILHOUETTE_SAMPLES, subject.seed)]
    labels = subject.labels[rows]
    if not 1 < np.unique(labels).size < rows.size:
        return Absent("There are too few samples for silhouettes.")
    values = silhouette_samples(unit_rows(subject.embedding[rows].astype(np.float64)), labels)
    parts = [values[labels == cluster] for cluster in subject.clusters]
    quartiles = np.array([np.quantile(part, [0.25, 0.5, 0.75]) if part.size else np.full(3, np.nan) for part in parts])
    low, middle, high = quartiles.T
    return Silhouettes(low, middle, high, float(values.mean()), rows.size, with_label.size)
