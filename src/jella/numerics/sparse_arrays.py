"""Sparse matrices on the device of the dense arrays: SciPy on the host, those of torch and CuPy on their devices.

For an array library without sparse matrices, SciPy's are used, with copies to the host and back at each product.
"""

from __future__ import annotations

import warnings
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, beside, like, namespace, taken, to_numpy


def has_sparse(X: Array) -> bool:
    """Whether the library of the array has its own sparse matrices on the device of the array."""
    return bool(array_api_compat.is_torch_array(X) or array_api_compat.is_cupy_array(X))


def make_csr(data: Array, indices: Array, indptr: Array, n: int, n_columns: int | None = None) -> Any:
    """A matrix of compressed rows (CSR), with the library and the device of its three arrays; square by default."""
    shape = n, n if n_columns is None else n_columns
    if array_api_compat.is_torch_array(data):
        import torch

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # these tensors are in beta
            return torch.sparse_csr_tensor(indptr, indices, data, size=shape)
    if array_api_compat.is_cupy_array(data):
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix((data, indices, indptr), shape=shape)
    return sparse.csr_array((data, indices, indptr), shape=shape)


def sparse_beside(matrix: sparse.csr_array, reference: Array) -> Any:
    """A matrix of SciPy in the library and on the device of an array; itself where that has no sparse matrices."""
    if not has_sparse(reference):
        return matrix
    parts = (beside(part, reference) for part in (matrix.data, matrix.indices, matrix.indptr))
    return make_csr(*parts, *matrix.shape)


def is_sparse(matrix: Any) -> bool:
    """Whether a matrix is sparse, in any of these libraries."""
    return bool(sparse.issparse(matrix)) or hasattr(matrix, "indptr") or "sparse" in str(getattr(matrix, "layout", ""))


def stored_values(matrix: Any) -> Array:
    """The stored values of a sparse matrix, row by row."""
    return matrix.values() if hasattr(matrix, "crow_indices") else matrix.data


def sparse_times(matrix: Any, X: Array) -> Array:
    """The product of a matrix with a dense array (n, r) of any array library."""
    if not sparse.issparse(matrix):
        return matrix @ X
    return matrix @ X if isinstance(X, np.ndarray) else like(matrix @ to_numpy(X), X)


def row_sums(matrix: Any, reference: Array) -> Array:
    """Sum of each row, (n,), as an array like the reference."""
    if sparse.issparse(matrix):
        return like(np.asarray(matrix.sum(axis=1)).ravel(), reference)
    xp = namespace(reference)
    return sparse_times(matrix, xp.ones((matrix.shape[1], 1), dtype=reference.dtype, device=reference.device))[:, 0]


def symmetric_sum(rows: Array, columns: Array, values: Array, n: int) -> sparse.csr_array:
    """A + Aᵀ in SciPy, where A (n, n) has these positive entries, of which a few are at the same place.

    They are sorted and added on the device of the arrays, always in the same order.
    """
    xp = namespace(values)
    keys = xp.concat([rows * n + columns, columns * n + rows])
    order = xp.argsort(keys, stable=True)
    keys, values = taken(keys, order), taken(xp.concat([values, values]), order)
    edge = xp.ones_like(keys[:1], dtype=xp.bool)
    starts = xp.nonzero(xp.concat([edge, keys[1:] != keys[:-1]]))[0]
    lengths = xp.concat([starts[1:], xp.zeros_like(starts[:1]) + keys.shape[0]]) - starts
    sums = taken(values, starts)
    for turn in range(1, int(xp.max(lengths))):
        more = xp.where(lengths > turn, starts + turn, starts)
        sums = sums + xp.where(lengths > turn, taken(values, more), xp.zeros_like(sums))
    found = to_numpy(taken(keys, starts))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(found // n, minlength=n))])
    return sparse.csr_array((to_numpy(sums), (found % n).astype(np.int32), indptr.astype(np.int32)), shape=(n, n))


def to_scipy(matrix: Any) -> Any:
    """A sparse matrix in SciPy, on the host; any other matrix as it is."""
    if sparse.issparse(matrix) or not is_sparse(matrix):
        return matrix
    if hasattr(matrix, "crow_indices"):
        parts = matrix.values(), matrix.col_indices(), matrix.crow_indices()
        return sparse.csr_array(tuple(to_numpy(part) for part in parts), shape=tuple(matrix.shape))
    return sparse.csr_array(matrix.get())


def neighbour_graph(
    indices: np.ndarray, n_columns: int | None = None, weights: np.ndarray | None = None
) -> sparse.csr_array:
    """Adjacency matrix (n, n), or (n, n_columns), from the indices (n, q) of neighbours, where -1 means none.

    Parameters
    ----------
    weights : array (q,), optional
        Weight of an edge by the column of its neighbour; ones by default.

    >>> neighbour_graph(np.array([[1], [0], [-1]])).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    n = len(indices)
    keep = indices >= 0
    indptr = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
    columns = np.asarray(indices[keep])
    shape = (n, n if n_columns is None else n_columns)
    small = max(*shape, columns.size) < 2**31
    kind = np.int32 if small else np.int64
    values = np.ones(columns.size) if weights is None else np.broadcast_to(weights, indices.shape)[keep]
    A = sparse.csr_array((values, columns.astype(kind), indptr.astype(kind)), shape=shape)
    A.sort_indices()
    return A
