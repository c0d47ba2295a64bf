"""Groups with a gap around them: hardly an edge of the neighbour graph leaves them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from jella.graphs.cluster_path import partitions_of
from jella.graphs.spectral import Graph, components
from jella.numerics.arrays import Array, beside, namespace, to_numpy
from jella.numerics.sparse_arrays import csr_parts, sparse_elsewhere, sparse_times

#: largest share of the edges of a group that leave it
LEAVING = 0.01
#: a group with a smaller share of the samples of the largest one may be a burst of near-duplicates
CRUMB = 0.1
#: a graph of log2(n) neighbours and this many more falls apart by chance with a probability below 2 to the minus this
SPARE = 6


def groups_apart(graph: Graph, n_clusters: int) -> np.ndarray | None:
    """Labels (n,) of groups that hardly an edge of a neighbour graph leaves; None if it has no such groups.

    A graph of wide neighbourhoods reaches over the gaps around groups that are curved, or smaller than others, and
    may cut a large group instead. Where narrow neighbourhoods stay inside groups of some size, no others are needed.
    A graph of more connected components than groups says nothing about which of them belong together.

    Parameters
    ----------
    graph : sparse array (n, n)
        Symmetric, of any library.

    >>> two = np.kron(np.eye(2), np.ones((3, 3)))
    >>> groups_apart(two, 2).tolist(), groups_apart(two, 3)
    ([0, 0, 0, 1, 1, 1], None)
    """
    if not 1 < n_clusters < graph.shape[0] or components(graph)[0] > n_clusters:
        return None
    labels = partitions_of(graph, [n_clusters]).labels[n_clusters]
    sizes = np.bincount(labels, minlength=n_clusters)
    if is_crumb(sizes) or leaving(graph, labels).max() > LEAVING:
        return None
    return labels


def surely_joining(n_samples: int) -> int:
    """How many neighbours make the graph of a cloud connected, also if it is as thin as a line.

    Samples on a line have a gap between the i-th and the next if the q nearest neighbours of each lie on its own side.
    This happens by chance with a probability below 2 to the minus q, at one of n places with n times that.

    >>> surely_joining(100), surely_joining(4000)
    (13, 18)
    """
    return int(np.ceil(np.log2(max(n_samples, 2)))) + SPARE


def pairs_with_edges(graph: Graph, labels: np.ndarray) -> list[tuple[int, int]]:
    """The pairs of groups with an edge between them.

    >>> pairs_with_edges(np.array([[0, 2, 1, 0], [2, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]), np.array([0, 0, 1, 2]))
    [(0, 1)]
    """
    return [(int(a), int(b)) for a, b in np.argwhere(np.triu(between(graph, labels), 1) > 0)]


def is_crumb(sizes: np.ndarray) -> bool:
    """Whether the smallest of some groups is a crumb beside the largest one."""
    return bool(sizes.min() < CRUMB * sizes.max())


def leaving(graph: Graph, labels: np.ndarray) -> np.ndarray:
    """The share (k,) of the edge weight of each group that leaves it.

    >>> leaving(np.array([[0, 2, 1], [2, 0, 0], [1, 0, 0]]), np.array([0, 0, 1])).round(2).tolist()
    [0.2, 1.0]
    """
    weights = between(graph, labels)
    return np.asarray(1.0 - np.diagonal(weights) / weights.sum(axis=1))


def between(graph: Graph, labels: np.ndarray) -> np.ndarray:
    """The edge weight (k, k) between the groups of a symmetric graph of any library; inside a group it counts twice.

    >>> between(np.array([[0, 2, 1], [2, 0, 0], [1, 0, 0]]), np.array([0, 0, 1])).tolist()
    [[4.0, 1.0], [1.0, 0.0]]
    """
    if sparse_elsewhere(graph):
        members = members_there(labels, csr_parts(graph)[0])
        return to_numpy(members.T @ sparse_times(graph, members)).astype(np.float64)
    members = members_of(labels)
    return np.asarray((members.T @ sparse.csr_array(graph @ members)).toarray())


def members_of(labels: np.ndarray) -> sparse.csr_array:
    """Which samples (n, k) are in which group, as ones."""
    n = labels.size
    return sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, int(labels.max()) + 1))


def members_there(labels: np.ndarray, entries: Array) -> Array:
    """The same where the entries of a graph of another library lie, dense."""
    groups = beside(np.arange(int(labels.max()) + 1), entries)
    return namespace(entries).astype(beside(labels, entries)[:, None] == groups, entries.dtype)
