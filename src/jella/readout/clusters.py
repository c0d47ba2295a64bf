"""The clusters of a fit, and how a new sample gets one of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from jella.graphs.cluster_path import ClusterPath
from jella.numerics.arrays import Array, row_blocks, to_numpy
from jella.numerics.kmeans import unit_rows
from jella.views import Views


class Clusters:
    """The clusters of a fit."""

    def attributes(self) -> dict[str, Any]:
        """Attributes that the clusters give to a fitted estimator, by name."""
        return {}


class EmbeddingClusters(Clusters, ABC):
    """Clusters of which a sample gets one by its row of the embedding alone."""

    @abstractmethod
    def assign(self, W: np.ndarray) -> np.ndarray:
        """The cluster of each row of an embedding (n, r)."""

    def label(self, views: Views, W: Array) -> np.ndarray:
        """The cluster of each sample, (n,), for functions that pass the views of samples and their embedding (n, r)."""
        return self.assign(to_numpy(W))


@dataclass(frozen=True, eq=False)
class KMeansClusters(EmbeddingClusters):
    """A cluster is its centre; rows are compared at unit norm where `unit` is True."""

    kmeans: KMeans
    unit: bool

    def compared(self, W: np.ndarray) -> np.ndarray:
        """The rows as k-means compares them."""
        return unit_rows(to_numpy(W)) if self.unit else to_numpy(W)

    def assign(self, W: np.ndarray) -> np.ndarray:
        """The cluster with the nearest centre."""
        return self.kmeans.predict(self.compared(W)).astype(np.intp)

    def attributes(self) -> dict[str, Any]:
        """The fitted k-means of scikit-learn."""
        return {"kmeans_": self.kmeans}


class IndicatorClusters(EmbeddingClusters):
    """Clusters of an embedding whose components are the clusters: the largest entry of each row."""

    def assign(self, W: np.ndarray) -> np.ndarray:
        """The position of the largest entry of each row."""
        return to_numpy(W).argmax(axis=1)


@dataclass(frozen=True, eq=False)
class NeighbourClusters(Clusters):
    """Clusters of which a sample gets the one that most of its neighbours in the fit have (`rank_votes`).

    Attributes
    ----------
    n_clusters : int
    path : ClusterPath or None
        What supports each number of clusters, if the number was chosen from the data.
    """

    n_clusters: int
    path: ClusterPath | None = None

    def attributes(self) -> dict[str, Any]:
        """The number of clusters and, if it was chosen from the data, what supports each number."""
        chosen = {} if self.path is None else {"cluster_path_": self.path}
        return {"n_clusters_": self.n_clusters} | chosen


def rank_votes(near: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Votes (n, k) of neighbours (n, q), the nearest first, for their labels; rank r has 1/r votes, -1 means none.

    >>> rank_votes(np.array([[0, 1, 2]]), np.array([1, 0, 0]), 2).round(2).tolist()
    [[0.83, 1.0]]
    """
    votes, by_rank = np.empty((len(near), n_clusters)), 1.0 / np.arange(1, near.shape[1] + 1)
    for block in row_blocks(len(near), 8 * near.shape[1]):
        some, count = near[block], block.stop - block.start
        places = n_clusters * np.arange(count)[:, None] + labels[some]
        weights = np.where(some >= 0, by_rank, 0.0)  # the last label gets nothing for a place of -1
        found = np.bincount(places.ravel(), weights.ravel(), count * n_clusters)
        votes[block] = found.reshape(count, n_clusters)
    return votes
