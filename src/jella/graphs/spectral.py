"""Spectra of graphs of samples: their eigenvectors, the groups that these show, and how clear a partition is.

Eigenvectors are found component by component. Each connected component has the trivial eigenvalue once. An iteration
over the whole graph, as in SciPy's `eigsh`, can miss copies of it; an iteration over one component cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from jella.numerics.arrays import Array, beside, namespace, taken, to_numpy
from jella.numerics.kmeans import kmeans_labels, unit_rows
from jella.numerics.lanczos import largest_eigenpairs
from jella.numerics.sparse_arrays import (
    csr_parts,
    lines_of,
    row_sums,
    sparse_elsewhere,
    sparse_times,
    to_scipy,
    with_entries,
)

#: graphs of at most this many samples are decomposed as dense matrices
DIRECT = 600
#: relative accuracy of the leading eigenvectors of larger graphs; k-means needs no more
EIGEN_TOL = 1e-4

#: steps through a graph between two looks at how many samples were reached
STEPS = 4

#: how long a diffusion lasts; in one unit of time the k-th eigenvector fades to 1/e, where k is the number of clusters
DIFFUSION = 2.0
#: eigenvectors beyond the number of clusters that may still count after the diffusion
SPARE = 10

#: of NumPy or SciPy, or sparse and of another library, on its device
Graph: TypeAlias = Any
#: eigenvalues (m,) in NumPy, and eigenvectors (n, m), which lie where the graph lies
Pairs: TypeAlias = tuple[np.ndarray, Array]


def spectral_labels(graph: Graph, n_clusters: int, n_init: int = 10, random_state: Any = None) -> np.ndarray:
    """Labels (n,) of a symmetric affinity: k-means on row-normalised eigenvectors of its normalised Laplacian."""
    _, vectors = leading_eigenvectors(graph, n_clusters)
    return kmeans_labels(unit_rows(vectors), n_clusters, n_init, random_state)


def diffused_vectors(graph: Graph, n_clusters: int) -> Array:
    """Row-normalised leading eigenvectors of a symmetric affinity, faded by a diffusion over the graph."""
    return faded_rows(*leading_eigenvectors(graph, min(n_clusters + SPARE, graph.shape[0])), n_clusters)


def faded_rows(values: np.ndarray, vectors: Array, n_clusters: int) -> Array:
    """Rows at unit norm of leading eigenvectors (n, m) that a diffusion over the graph has faded.

    Spectral clustering takes exactly as many eigenvectors as clusters. The diffusion fades them gradually instead. If
    the graph has fewer clear groups than clusters, the eigenvectors after the clear ones fade and do not split a clear
    group at random. If it has more, the next eigenvectors still count.
    """
    rates = 1.0 - values
    left = np.exp(-DIFFUSION * rates / max(rates[n_clusters - 1], EIGEN_TOL))
    return unit_rows(vectors * beside(left, vectors))


def modularity(graph: Graph, labels: np.ndarray) -> float:
    """The share of edge weight inside groups, minus the share expected of random edges with the same degrees."""
    n = labels.size
    members = sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, int(labels.max()) + 1))
    total = float(graph.sum())
    if total <= 0:
        return 0.0
    inside = float((members * sparse.csr_array(graph @ members)).sum())
    degree = members.T @ np.asarray(graph.sum(axis=1)).ravel()
    return inside / total - float(np.sum(degree**2)) / total**2


def leading_eigenvectors(graph: Graph, k: int) -> Pairs:
    """The k largest eigenvalues of D^(−½) A D^(−½), descending, and their eigenvectors (n, k).

    A large sparse graph is decomposed component by component, where it lies.
    """
    n = graph.shape[0]
    if sparse_elsewhere(graph):
        if n > max(DIRECT, 4 * k):
            return _leading_there(graph, k)
        values, vectors = leading_eigenvectors(to_scipy(graph), k)
        return values, beside(vectors.copy(), csr_parts(graph)[0])
    degree = np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()
    root = np.sqrt(np.where(degree > 0, degree, 1.0))
    if not sparse.issparse(graph) or n <= max(DIRECT, 4 * k):
        dense = sparse.csr_array(graph).toarray() if sparse.issparse(graph) else graph
        dense = dense * (1.0 / root)[:, None] * (1.0 / root)
        values, vectors = eigh(dense, subset_by_index=[max(n - k, 0), n - 1])
        return values[::-1], vectors[:, ::-1]
    scaled = sparse.csr_array(graph, dtype=np.float64, copy=True)
    scaled.data *= np.repeat(1.0 / root, np.diff(scaled.indptr))
    scaled.data *= (1.0 / root)[scaled.indices]

    def highest(inside: sparse.csr_array, rows: np.ndarray, m: int) -> Pairs:
        # this start follows the samples, not their positions, and is no eigenvector unless all degrees are equal
        start = 1.0 + degree[rows] ** 2 + inside @ degree[rows]
        return _of_connected(inside, m, "LA", 1.0, root[rows], start, EIGEN_TOL)

    values, vectors = _by_component(graph, scaled, k, highest)
    first = np.argsort(-values, kind="stable")[:k]
    return values[first], vectors[:, first]


def _leading_there(graph: Any, k: int) -> Pairs:
    """The same for a large graph of another library than SciPy.

    An iteration that starts in a component stays there, so that products are those of the whole graph. Small
    components, and those where the iteration ends early, are decomposed on the host.
    """
    entries, columns, _ = csr_parts(graph)
    xp, degree = namespace(entries), row_sums(graph, entries)
    root = xp.sqrt(xp.where(degree > 0, degree, xp.ones_like(degree)))
    inverse = 1.0 / root
    scaled = with_entries(graph, entries * taken(inverse, lines_of(graph)) * taken(inverse, columns))
    start = 1.0 + degree**2 + sparse_times(scaled, degree)  # as on the host
    count, component = components(graph)
    sizes = np.bincount(component)
    values, vectors, host = [], [], None
    for part in np.argsort(-sizes, kind="stable")[:k]:
        size = int(sizes[part])
        m = min(max(k - count, 0) + 1, size)
        inside = beside((component == part).astype(float), entries)
        if m == 1:
            found = np.ones(1), (root * inside / xp.linalg.vector_norm(root * inside))[:, None]
        else:
            large = size > max(DIRECT, 4 * m)
            pair = largest_eigenpairs(partial(sparse_times, scaled), start * inside, m, EIGEN_TOL) if large else None
            host = to_scipy(scaled) if pair is None and host is None else host
            found = _on_host(host, start, np.flatnonzero(component == part), m) if pair is None else pair
        values.append(found[0])
        vectors.append(found[1])
    together = np.concatenate(values)
    first = np.argsort(-together, kind="stable")[:k]
    return together[first], xp.take(xp.concat(vectors, axis=1), beside(first, entries), axis=1)


def _on_host(scaled: sparse.csr_array, start: Array, rows: np.ndarray, m: int) -> Pairs:
    """The m largest eigenpairs of a connected component with these samples; the vectors (n, m) lie beside the start."""
    trivial, first = np.ones(rows.size), to_numpy(start)[rows]
    values, local = _of_connected(scaled[rows][:, rows], m, "LA", 1.0, trivial, first, EIGEN_TOL)
    spread = np.zeros((scaled.shape[0], m))
    spread[rows] = local
    return values, beside(spread, start)


def laplacian_eigenvectors(S: sparse.csr_array, k: int) -> Pairs:
    """The k lowest eigenvalues of the Laplacian of (S + Sᵀ)/2, ascending, and their eigenvectors (n, k).

    They are accurate to all digits. With more than k components, only the k largest components are decomposed.
    """
    W = sparse.csr_array(0.5 * (S + S.T))

    def lowest(inside: sparse.csr_array, rows: np.ndarray, m: int) -> Pairs:
        # a fixed seed: the same graph always has the same eigenvectors
        start = np.random.default_rng(0).uniform(size=rows.size)
        return _of_connected(inside, m, "SA", 0.0, np.ones(rows.size), start, 0.0)

    values, vectors = _by_component(W, sparse.csr_array(sparse.diags_array(W.sum(axis=1)) - W), k, lowest)
    first = np.argsort(values, kind="stable")[:k]
    return values[first], vectors[:, first]


def components(graph: Graph) -> tuple[int, np.ndarray]:
    """The number of connected components, and the component of each sample, (n,)."""
    n = graph.shape[0]
    if sparse_elsewhere(graph):
        if _is_connected(graph):
            return 1, np.zeros(n, dtype=np.intp)
        graph = to_scipy(graph)
    if n and breadth_first_order(graph, 0, return_predecessors=False).size == n:
        return 1, np.zeros(n, dtype=np.intp)  # known in a tenth of the time
    count, labels = connected_components(graph, directed=False)
    return int(count), labels.astype(np.intp)


def _is_connected(graph: Any) -> bool:
    """Whether the first sample reaches all others in a graph of another library, by products with it."""
    entries = csr_parts(graph)[0]
    xp, n = namespace(entries), graph.shape[0]
    reached = beside((np.arange(n) == 0).astype(float), entries)
    count, last = 1, 0
    while last < count < n:
        for _ in range(STEPS):
            reached = xp.astype(reached + sparse_times(graph, reached) > 0, entries.dtype)
        count, last = int(xp.sum(reached)), count
    return count == n


def _by_component(
    graph: sparse.csr_array,
    matrix: sparse.csr_array,
    k: int,
    solve: Callable[[sparse.csr_array, np.ndarray, int], Pairs],
) -> Pairs:
    """All eigenpairs of a matrix that may be among the first k, unordered; it has no entries between components.

    Parameters
    ----------
    solve : callable
        Takes the matrix of one component, its samples and m; returns its first m eigenpairs.
    """
    n = graph.shape[0]
    count, component = components(graph)
    each = max(k - count, 0) + 1  # the other components have their trivial eigenvalues among the first k
    values, vectors = [], []
    for part in np.argsort(-np.bincount(component), kind="stable")[:k]:
        rows = np.flatnonzero(component == part)
        few, local = solve(matrix if count == 1 else matrix[rows][:, rows], rows, min(each, rows.size))
        spread = np.zeros((n, few.size))
        spread[rows] = local
        values.append(few)
        vectors.append(spread)
    return np.concatenate(values), np.concatenate(vectors, axis=1)


def _of_connected(
    matrix: sparse.csr_array, k: int, which: str, value: float, trivial: np.ndarray, start: np.ndarray, tol: float
) -> Pairs:
    """The k lowest ('SA') or highest ('LA') eigenpairs of the matrix of a connected graph.

    Parameters
    ----------
    value, trivial : float and array (n,)
        The first eigenvalue, and its eigenvector with any norm.
    start : array (n,)
        The first vector of the iteration.
    tol : float
        Relative accuracy; 0 for all digits.
    """
    if k == 1:
        return np.array([value]), (trivial / np.linalg.norm(trivial))[:, None]
    if matrix.shape[0] <= max(DIRECT, 4 * k):
        return _directly(matrix.toarray(), k, which)
    try:
        return eigsh(matrix, k=k, which=which, v0=start, tol=tol)
    except ArpackNoConvergence as stopped:  # the gap is too small for the iteration
        if tol == 0.0:
            return _directly(matrix.toarray(), k, which)
        if stopped.eigenvalues.size == k:
            return stopped.eigenvalues, stopped.eigenvectors
        return eigsh(matrix, k=k, which=which, v0=start, tol=1e-2, ncv=4 * k + 20)


def _directly(matrix: np.ndarray, k: int, which: str) -> Pairs:
    n = matrix.shape[0]
    return eigh(matrix, subset_by_index=[0, min(k, n) - 1] if which == "SA" else [max(n - k, 0), n - 1])
