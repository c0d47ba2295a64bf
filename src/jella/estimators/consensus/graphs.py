"""Adaptive-neighbour graphs of the views, on a common support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

#: an edge of at most this weight is no edge
NO_EDGE = 1e-12


@dataclass(frozen=True)
class Graphs:
    """The graphs of the views, row by row, over the edges that at least one of them has.

    Attributes
    ----------
    neighbours : int array (n, K)
        The samples to which the possible edges of a sample lead; any number where it has fewer than K.
    possible : bool array (n, K)
    values : array (V, n, K)
        Rows of each view's graph, summing to one; 0 where a view has no such edge.
    """

    neighbours: np.ndarray
    possible: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, views: Sequence[np.ndarray | sparse.csr_array], n_neighbors: int) -> Graphs:
        """Adaptive-neighbour graphs of the views, (n, d_v) each."""
        graphs = [adaptive_graph(X, n_neighbors) for X in views]
        union = sparse.csr_array(sum(sparse.csr_array(graph.astype(bool).astype(float)) for graph in graphs))
        union.sort_indices()
        n = union.shape[0]
        degree = np.diff(union.indptr)
        rows = np.repeat(np.arange(n), degree)
        columns = np.arange(union.nnz) - np.repeat(union.indptr[:-1], degree)
        shape = n, int(degree.max())
        neighbours, possible, values = np.zeros(shape, np.intp), np.zeros(shape, bool), np.zeros((len(graphs), *shape))
        neighbours[rows, columns], possible[rows, columns] = union.indices, True
        edges = rows * n + union.indices  # ascending
        for value, graph in zip(values, graphs, strict=True):
            ends = graph.tocoo()
            at = np.searchsorted(edges, ends.coords[0].astype(np.intp) * n + ends.coords[1])
            value[rows[at], columns[at]] = ends.data
        return cls(neighbours, possible, values)

    def as_sparse(self, S: np.ndarray) -> sparse.csr_array:
        """Values on the support, (n, K), as an n × n graph."""
        n = S.shape[0]
        keep = self.possible & (S > NO_EDGE)
        rows = np.broadcast_to(np.arange(n)[:, None], S.shape)
        return sparse.csr_array((S[keep], (rows[keep], self.neighbours[keep])), shape=(n, n))


def adaptive_graph(X: np.ndarray | sparse.csr_array, n_neighbors: int) -> sparse.csr_array:
    """Graph (n, n) with a_ij = (δ_i,m+1 − δ_ij) / Σ_h≤m (δ_i,m+1 − δ_ih) for the m nearest, δ squared distances.

    Rows sum to one, and do not depend on the unit of X. Where the m + 1 nearest are equally far, all have the same
    weight.
    """
    n = X.shape[0]
    m = min(n_neighbors, max(n - 2, 1))
    distances, neighbours = NearestNeighbors(n_neighbors=min(m + 1, n - 1)).fit(X).kneighbors()
    squares = distances**2
    nearer = squares[:, -1:] - squares[:, :m]
    total = nearer.sum(axis=1, keepdims=True)
    weights = np.where(total > 0, nearer / np.where(total > 0, total, 1.0), 1.0 / m)
    rows = np.repeat(np.arange(n), m)
    graph = sparse.csr_array((weights.ravel(), (rows, neighbours[:, :m].ravel())), shape=(n, n))
    graph.eliminate_zeros()
    return graph
