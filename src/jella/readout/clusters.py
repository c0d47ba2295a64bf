"""How rows of an embedding get the label of a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from jella.graphs.neighbours import dense_nearest
from jella.graphs.spectral import ClusterPath
from jella.numerics.arrays import to_numpy
from jella.numerics.kmeans import kmeans, unit_rows


class Clusters(ABC):
    """The clusters of a fit."""

    @abstractmethod
    def assign(self, W: np.ndarray) -> np.ndarray:
        """The cluster of each row of an embedding (n, r)."""

    def attributes(self) -> dict[str, Any]:
        """What a fitted estimator shows of them, by the name of the attribute."""
        return {}


@dataclass(frozen=True, eq=False)
class KMeansClusters(Clusters):
    """Nearest centres; of rows at unit norm where `unit` is True."""

    kmeans: KMeans
    unit: bool

    @classmethod
    def of(cls, W: np.ndarray, n_clusters: int, n_init: int, random_state: Any, *, unit: bool) -> KMeansClusters:
        """The best of n_init starts of k-means."""
        W = to_numpy(W)
        return cls(kmeans(unit_rows(W) if unit else W, n_clusters, n_init, random_state), unit)

    def compared(self, W: np.ndarray) -> np.ndarray:
        """Rows as k-means compares them."""
        return unit_rows(to_numpy(W)) if self.unit else to_numpy(W)

    def assign(self, W: np.ndarray) -> np.ndarray:
        """The nearest centre."""
        return self.kmeans.predict(self.compared(W)).astype(np.intp)

    def attributes(self) -> dict[str, Any]:
        """The model of scikit-learn."""
        return {"kmeans_": self.kmeans}


class IndicatorClusters(Clusters):
    """An embedding that is the clusters: the largest entry of each row."""

    def assign(self, W: np.ndarray) -> np.ndarray:
        """Position of the largest entry."""
        return to_numpy(W).argmax(axis=1)


@dataclass(frozen=True, eq=False)
class NeighbourClusters(Clusters):
    """The label that most of a row's neighbours in the fit have.

    Attributes
    ----------
    rows, labels : array (m, r) of unit rows, and int array (m,)
        Of the samples of the fit.
    n_neighbors : int
    path : ClusterPath or None
        What speaks for each number of clusters, where it was chosen.
    n_clusters : int
    """

    rows: np.ndarray
    labels: np.ndarray
    n_neighbors: int
    n_clusters: int
    path: ClusterPath | None = None

    def assign(self, W: np.ndarray) -> np.ndarray:
        """By vote."""
        _, found = dense_nearest(self.rows, self.n_neighbors, queries=unit_rows(to_numpy(W)))
        return np.eye(self.n_clusters)[self.labels[found]].sum(axis=1).argmax(axis=1)

    def attributes(self) -> dict[str, Any]:
        """The number of clusters, and how it was chosen."""
        chosen = {} if self.path is None else {"cluster_path_": self.path}
        return {"n_clusters_": self.n_clusters} | chosen
