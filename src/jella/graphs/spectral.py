"""Groups in a graph of samples: their labels, how clear a partition is, and how many groups there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from jella.graphs.eigenvectors import EIGEN_TOL, Graph, leading_eigenvectors
from jella.numerics.kmeans import kmeans, unit_rows

#: how long a diffusion lasts, in the time in which the last of as many eigenvectors as clusters fades to 1/e
DIFFUSION = 2.0
#: eigenvectors beyond the number of clusters that may still count after it
SPARE = 10
#: a number of groups is in question while its modularity is at least this share of the best
NEAR_BEST = 0.95


def spectral_labels(graph: Graph, n_clusters: int, n_init: int = 10, random_state: Any = None) -> np.ndarray:
    """Labels (n,) of a symmetric affinity: k-means on row-normalised eigenvectors of its normalised Laplacian."""
    _, vectors = leading_eigenvectors(graph, n_clusters)
    return np.asarray(kmeans(unit_rows(vectors), n_clusters, n_init, random_state).labels_)


def diffused_labels(graph: Graph, n_clusters: int, n_init: int = 10, random_state: Any = None) -> np.ndarray:
    """Labels (n,) of a symmetric affinity: k-means on rows of what a diffusion over it leaves of its eigenvectors.

    The diffusion replaces the cut after as many eigenvectors as clusters. Where fewer groups are clear than are asked
    for, the eigenvectors beyond the clear ones fade, instead of splitting a clear group at will; where more are, the
    next eigenvector still counts.
    """
    values, vectors = leading_eigenvectors(graph, min(n_clusters + SPARE, graph.shape[0]))
    rates = 1.0 - values
    left = np.exp(-DIFFUSION * rates / max(rates[n_clusters - 1], EIGEN_TOL))
    return np.asarray(kmeans(unit_rows(vectors * left), n_clusters, n_init, random_state).labels_)


def modularity(graph: Graph, labels: np.ndarray) -> float:
    """Share of the edge weight inside groups, less what it would be if edges fell at random between these degrees."""
    n = labels.size
    members = sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, int(labels.max()) + 1))
    total = float(graph.sum())
    if total <= 0:
        return 0.0
    inside = float((members * sparse.csr_array(graph @ members)).sum())
    degree = members.T @ np.asarray(graph.sum(axis=1)).ravel()
    return inside / total - float(np.sum(degree**2)) / total**2


@dataclass(frozen=True, repr=False)
class ClusterPath:
    """What speaks for each number of clusters.

    Attributes
    ----------
    n_clusters : int
        The number chosen.
    numbers : int array (m,)
        Numbers in question: two and more.
    modularity : array (m,)
        How clear the partition into that many clusters is; between the rungs of a ladder, interpolated.
    gap : array (m,)
        How far the next eigenvalue of the graph's Laplacian is, relative to its root.
    """

    n_clusters: int
    numbers: np.ndarray
    modularity: np.ndarray
    gap: np.ndarray

    def __repr__(self) -> str:
        rows = [
            f"  {k:4d}  modularity {m:.3f}  gap {g:.3f}" + ("  <- chosen" if k == self.n_clusters else "")
            for k, m, g in zip(self.numbers, self.modularity, self.gap, strict=True)
            if m >= _nearly(self.modularity.max())
        ]
        return f"ClusterPath(n_clusters={self.n_clusters}); in question:\n" + "\n".join(rows)


def choose_n_clusters(graph: Graph, largest: int | None = None, random_state: Any = 0) -> ClusterPath:
    """The number of groups of a graph: of those with nearly the best modularity, the one with the widest gap after it.

    Modularity alone is flat about its best; the gap alone is widest at two or three groups, or at hundreds.

    Parameters
    ----------
    largest : int, optional
        Most clusters to look for; a quarter of the samples and at most 150 by default.
    """
    n = graph.shape[0]
    most = max(min(n // 4, 150) if largest is None else min(largest, n - 1), 1)
    values, vectors = leading_eigenvectors(graph, min(most + 1, n))
    distance = np.maximum(1.0 - values, 0.0)
    gaps = np.append(np.diff(distance) / np.sqrt(np.maximum(distance[1:], 1e-12)), 0.0)
    ladder = _ladder(most)
    numbers = np.arange(ladder[0], most + 1)
    clear = np.interp(numbers, ladder, [_modularity_at(graph, vectors, k, random_state) for k in ladder])
    width = gaps[numbers - 1]
    chosen = numbers[np.argmax(np.where(clear >= _nearly(clear.max()), width, -np.inf))]
    return ClusterPath(int(chosen), numbers, clear, width)


def _nearly(best: float) -> float:
    """The least modularity that counts as nearly the best, which may be negative."""
    return best - (1.0 - NEAR_BEST) * abs(best)


def _modularity_at(graph: Graph, vectors: np.ndarray, k: int, random_state: Any) -> float:
    return modularity(graph, np.asarray(kmeans(unit_rows(vectors[:, :k]), k, 2, random_state).labels_))


def _ladder(most: int) -> list[int]:
    """Two to twelve, then in steps of about an eighth."""
    numbers = list(range(min(2, most), min(most, 12) + 1))
    while numbers[-1] < most:
        numbers.append(min(most, numbers[-1] + max(1, numbers[-1] // 8)))
    return numbers
