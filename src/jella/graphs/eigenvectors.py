"""Eigenvectors of graphs, found component by component.

Every connected component has the trivial eigenvalue once. An iteration over the whole graph can miss copies of it; the
components, one at a time, cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

#: graphs of at most this many samples are decomposed directly
DIRECT = 600
#: relative accuracy of the leading eigenvectors of larger graphs: k-means sees no more
EIGEN_TOL = 1e-4

Graph: TypeAlias = np.ndarray | sparse.csr_array
#: eigenvalues (m,) and eigenvectors (n, m)
Pairs: TypeAlias = tuple[np.ndarray, np.ndarray]


def leading_eigenvectors(graph: Graph, k: int) -> Pairs:
    """The k largest eigenvalues of D^(−½) A D^(−½), descending, and their eigenvectors (n, k).

    A large graph is taken component by component.
    """
    n = graph.shape[0]
    degree = np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()
    root = np.sqrt(np.where(degree > 0, degree, 1.0))
    if not sparse.issparse(graph) or n <= max(DIRECT, 4 * k):
        dense = sparse.csr_array(graph).toarray() if sparse.issparse(graph) else graph
        values, vectors = _directly(dense * (1.0 / root)[:, None] * (1.0 / root), k, "LA")
        return values[::-1], vectors[:, ::-1]
    scale = sparse.diags_array(1.0 / root)

    def highest(inside: sparse.csr_array, rows: np.ndarray, m: int) -> Pairs:
        # a start that depends on a sample, not on its position, and is no eigenvector unless all degrees are equal
        start = 1.0 + degree[rows] ** 2 + inside @ degree[rows]
        return _of_connected(inside, m, "LA", 1.0, root[rows], start, EIGEN_TOL)

    values, vectors = _by_component(graph, sparse.csr_array(scale @ graph @ scale), k, highest)
    first = np.argsort(-values, kind="stable")[:k]
    return values[first], vectors[:, first]


def laplacian_eigenvectors(S: sparse.csr_array, k: int) -> Pairs:
    """The k lowest eigenvalues of the Laplacian of (S + Sᵀ)/2, ascending, and their eigenvectors (n, k).

    To all digits. Of more than k components the k largest stand for the others.
    """
    W = sparse.csr_array(0.5 * (S + S.T))

    def lowest(inside: sparse.csr_array, rows: np.ndarray, m: int) -> Pairs:
        # a start of its own seed: the same graph always has the same eigenvectors
        start = np.random.default_rng(0).uniform(size=rows.size)
        return _of_connected(inside, m, "SA", 0.0, np.ones(rows.size), start, 0.0)

    values, vectors = _by_component(W, sparse.csr_array(sparse.diags_array(W.sum(axis=1)) - W), k, lowest)
    first = np.argsort(values, kind="stable")[:k]
    return values[first], vectors[:, first]


def components(graph: Graph) -> tuple[int, np.ndarray]:
    """Number of connected components, and the component of every sample, (n,)."""
    count, labels = connected_components(graph, directed=False)
    return int(count), labels.astype(np.intp)


def _by_component(
    graph: sparse.csr_array,
    matrix: sparse.csr_array,
    k: int,
    solve: Callable[[sparse.csr_array, np.ndarray, int], Pairs],
) -> Pairs:
    """Eigenpairs of a matrix without entries between components: all that may be among the first k, in no order.

    Parameters
    ----------
    solve : callable
        The part of the matrix, the samples of the component, m -> the first m eigenpairs of this part.
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
        The first eigenvalue and its eigenvector, of any length.
    start : array (n,)
        First vector of the iteration.
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
