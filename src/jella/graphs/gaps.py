"""Groups with a gap around them: hardly an edge of the neighbour graph leaves them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from jella.graphs.cluster_path import partitions_of
from jella.graphs.spectral import Graph
from jella.numerics.arrays import Array

#: largest share of the edges of a group that leave it
LEAVING = 0.01
#: fewest samples of a group, as a share of an average one; smaller ones may be bursts of near-duplicates
SHARE = 0.2


def groups_apart(graph: Graph, n_clusters: int, place: Array | None = None) -> np.ndarray | None:
    """Labels (n,) of groups that hardly an edge of a neighbour graph leaves; None if it has no such groups.

    A graph of wide neighbourhoods reaches over the gaps around groups that are curved, or smaller than others, and
    may cut a large group instead. Where narrow neighbourhoods stay inside groups of some size, no others are needed.

    Parameters
    ----------
    graph : sparse array (n, n)
        Symmetric.
    place : array, optional
        As in `jella.graphs.spectral.leading_eigenvectors`.

    >>> two = np.kron(np.eye(2), np.ones((3, 3)))
    >>> groups_apart(two, 2).tolist(), groups_apart(two, 3)
    ([0, 0, 0, 1, 1, 1], None)
    """
    n = graph.shape[0]
    if not 1 < n_clusters < n:
        return None
    labels = partitions_of(graph, [n_clusters], place=place).labels[n_clusters]
    sizes = np.bincount(labels, minlength=n_clusters)
    if sizes.min() < SHARE * n / n_clusters or leaving(graph, labels).max() > LEAVING:
        return None
    return labels


def leaving(graph: Graph, labels: np.ndarray) -> np.ndarray:
    """The share (k,) of the edge weight of each group that leaves it.

    >>> leaving(np.array([[0, 2, 1], [2, 0, 0], [1, 0, 0]]), np.array([0, 0, 1])).round(2).tolist()
    [0.2, 1.0]
    """
    n = labels.size
    members = sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, int(labels.max()) + 1))
    within = members.multiply(sparse.csr_array(graph @ members)).sum(axis=0)
    return np.asarray(1.0 - within / (members.T @ np.asarray(graph.sum(axis=1))))
