"""Labels of a graph in which some samples have known classes."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from jella.graphs.spectral import Graph, diffused_vectors
from jella.numerics.sparse_arrays import to_scipy

#: weight of the edges of a sample to others of its class, all together, relative to the median degree
TIES = 2.0
MOST_STEPS = 100


def seeded_labels(graph: Graph, labels: np.ndarray, classes: np.ndarray, n_clusters: int) -> np.ndarray:
    """Labels (n,) of a symmetric affinity; a sample with a known class has it as its label.

    Edges between samples of different classes are removed, and samples of one class are tied together. Then k-means
    on the diffused eigenvectors keeps known samples in their class. It starts twice: from the clusters that were found
    without known classes, and from the means of the known classes. The labels with the lower sum of squared distances
    count. A sample that is the only known one of its class is left out of this sum: it may lie at the edge of its
    class, and nothing confirms what it says against a cluster.

    Parameters
    ----------
    graph : array (n, n)
        The one in which the clusters were found.
    labels : int array (n,)
        These clusters.
    classes : int array (n,)
        Known classes, from 0 to n_clusters − 1; negative where unknown.
    """
    has, rows = classes >= 0, diffused_vectors(_with_ties(sparse.csr_array(to_scipy(graph)), classes), n_clusters)
    distance = cdist(rows, _means(rows, labels, n_clusters), "sqeuclidean")
    centres = _means(rows, np.where(has, classes, _names(distance, classes)[labels]), n_clusters)
    counts = np.bincount(classes[has], minlength=n_clusters)
    of_known = np.where(counts[:, None] > 0, _means(rows[has], classes[has], n_clusters), centres)
    judges = ~has | (counts[np.maximum(classes, 0)] > 1)
    ends = [_k_means(rows, start, classes) for start in (centres, of_known)]
    return min(ends, key=lambda end: float(end[1][judges].sum()))[0]


def _names(distance: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The class (k,) that each cluster stands for: known samples are as near as can be to the clusters of their class.

    Parameters
    ----------
    distance : array (n, k)
        Squared distances of the samples to the centres of the clusters.
    """
    cost = np.zeros((distance.shape[1],) * 2)
    np.add.at(cost, classes[classes >= 0], distance[classes >= 0])
    named, clusters = linear_sum_assignment(cost)
    return np.asarray(named[np.argsort(clusters)])


def _with_ties(graph: sparse.csr_array, classes: np.ndarray) -> sparse.csr_array:
    """The graph without edges between classes, and with ties inside them."""
    edges = sparse.coo_array(graph)
    one, other = classes[edges.row], classes[edges.col]
    keep = (one < 0) | (other < 0) | (one == other)
    strength = TIES * float(np.median(np.asarray(graph.sum(axis=1))))
    rows, columns, values = [edges.row[keep]], [edges.col[keep]], [edges.data[keep]]
    for c in np.unique(classes[classes >= 0]):
        members = np.flatnonzero(classes == c)
        if members.size > 1:  # a ring with chords: each member has few ties, however large the class is
            for step in {1, *(int(s) for s in np.geomspace(1, members.size // 2, 5) if s >= 1)}:
                there = np.roll(members, step)
                for a, b in ((members, there), (there, members)):
                    rows.append(a)
                    columns.append(b)
                    values.append(np.full(members.size, strength / 10))
    parts = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array(sparse.coo_array(parts, shape=graph.shape))


def _means(rows: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Means (k, r) of the rows of each cluster; zero where there are none."""
    sums = np.zeros((n_clusters, rows.shape[1]))
    np.add.at(sums, labels, rows)
    return np.asarray(sums / np.maximum(np.bincount(labels, minlength=n_clusters), 1)[:, None])


def _k_means(rows: np.ndarray, centres: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels (n,), with known samples in their class, and the squared distances (n,) to the centres of these."""
    labels, known = np.full(len(rows), -1), classes >= 0
    for _ in range(MOST_STEPS):
        distance = cdist(rows, centres, "sqeuclidean")
        last, labels = labels, np.where(known, classes, distance.argmin(axis=1))
        if np.array_equal(last, labels):
            break
        is_used = np.bincount(labels, minlength=len(centres))[:, None] > 0
        centres = np.where(is_used, _means(rows, labels, len(centres)), centres)
    return labels, distance[np.arange(len(rows)), labels]
