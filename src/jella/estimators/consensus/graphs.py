"""Neighbour graphs of the views on a common support, and the eigenvectors of a graph's Laplacian."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from sklearn.neighbors import NearestNeighbors

#: graphs of at most this many samples are decomposed densely
SMALL = 200
#: an edge of at most this weight is no edge
NO_EDGE = 1e-12


@dataclass(frozen=True)
class Graphs:
    """The views' graphs over the edges that any of them has, by row.

    Attributes
    ----------
    neighbours : int array (n, K)
        Where the possible edges of a sample lead; any number where there is none.
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
        graphs = [neighbour_graph(X, n_neighbors) for X in views]
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


def neighbour_graph(X: np.ndarray | sparse.csr_array, n_neighbors: int) -> sparse.csr_array:
    """Adaptive-neighbour graph: a_ij = (δ_i,m+1 − δ_ij) / Σ_h≤m (δ_i,m+1 − δ_ih) for the m nearest, δ squared distance.

    Rows sum to one, and do not depend on the unit of X. Where the m + 1 nearest are all equally far, they share alike.
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


def components(S: sparse.csr_array) -> tuple[int, np.ndarray]:
    """Number of connected components, and the component of every sample, (n,)."""
    count, labels = connected_components(S, directed=False)
    return int(count), labels.astype(np.intp)


def laplacian_eigenvectors(S: sparse.csr_array, k: int) -> tuple[np.ndarray, float]:
    """Eigenvectors (n, k) of the k lowest eigenvalues of the Laplacian of (S + Sᵀ)/2, and the sum of these eigenvalues.

    Each component by itself, so that the eigenvalue zero, which every component has once, cannot be missed. Of more
    than k components the first k stand for the others.
    """
    W = sparse.csr_array(0.5 * (S + S.T))
    L = sparse.csr_array(sparse.diags_array(W.sum(axis=1)) - W)
    count, labels = components(W)
    values, vectors = [], []
    for part in range(count):
        rows = np.flatnonzero(labels == part)
        # the other components have their zeros among the k lowest
        few, local = _lowest(L[rows][:, rows], min(max(k - count, 0) + 1, rows.size))
        spread = np.zeros((L.shape[0], few.size))
        spread[rows] = local
        values.append(few)
        vectors.append(spread)
    together = np.concatenate(values)
    lowest = np.argsort(together, kind="stable")[:k]
    return np.concatenate(vectors, axis=1)[:, lowest], float(np.maximum(together[lowest], 0.0).sum())


def _lowest(L: sparse.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k lowest eigenpairs of the Laplacian of a connected graph."""
    n = L.shape[0]
    if k == 1:
        return np.zeros(1), np.full((n, 1), 1.0 / np.sqrt(n))
    if n > max(SMALL, 4 * k):
        try:
            # a start of its own seed: the same graph always has the same eigenvectors
            return eigsh(L, k=k, which="SA", v0=np.random.default_rng(0).uniform(size=n))
        except ArpackNoConvergence:  # a gap too small for the iteration; the direct way asks for none
            return _lowest_directly(L, k)
    return _lowest_directly(L, k)


def _lowest_directly(L: sparse.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    return eigh(L.toarray(), subset_by_index=[0, k - 1])
