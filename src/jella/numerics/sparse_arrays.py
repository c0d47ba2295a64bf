"""Sparse matrices on the device of the dense arrays: SciPy on the host, those of torch and CuPy on their devices.

For an array library without sparse matrices, SciPy's are used, with copies to the host and back at each product.
"""

from __future__ import annotations

import warnings
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, beside, cache_blocks, like, namespace, taken, to_numpy


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
    return sparse.csr_array(tuple(map(to_numpy, (data, indices, indptr))), shape=shape)


def csr_parts(matrix: Any) -> tuple[Array, Array, Array]:
    """Values, columns and starts of the rows of a matrix of compressed rows."""
    if hasattr(matrix, "crow_indices"):
        return matrix.values(), matrix.col_indices(), matrix.crow_indices()
    return matrix.data, matrix.indices, matrix.indptr


def lines_of(matrix: Any) -> Array:
    """The row of each stored value of a matrix of compressed rows, in order."""
    _, columns, indptr = csr_parts(matrix)
    if isinstance(indptr, np.ndarray):
        return np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    xp = namespace(indptr)
    entries = xp.arange(columns.shape[0], dtype=indptr.dtype, device=array_api_compat.device(indptr))
    return xp.searchsorted(indptr[1:], entries, side="right")


def sparse_beside(matrix: sparse.csr_array, reference: Array) -> Any:
    """A matrix of SciPy in the library and on the device of an array; itself where that has no sparse matrices."""
    if not has_sparse(reference) or sparse_elsewhere(matrix):
        return matrix
    parts = (beside(part, reference) for part in (matrix.data, matrix.indices, matrix.indptr))
    return make_csr(*parts, *matrix.shape)


def is_sparse(matrix: Any) -> bool:
    """Whether a matrix is sparse, in any of these libraries."""
    return bool(sparse.issparse(matrix)) or hasattr(matrix, "indptr") or "sparse" in str(getattr(matrix, "layout", ""))


def sparse_elsewhere(matrix: Any) -> bool:
    """Whether a matrix is sparse and of another library than SciPy."""
    return not isinstance(matrix, np.ndarray) and not sparse.issparse(matrix) and is_sparse(matrix)


def row_slice(matrix: Any, rows: slice) -> Any:
    """Consecutive rows of a matrix of compressed rows."""
    if not sparse_elsewhere(matrix):
        return matrix[rows]
    if rows.start == 0 and rows.stop == matrix.shape[0]:
        return matrix
    values, columns, indptr = csr_parts(matrix)
    starts = indptr[rows.start : rows.stop + 1]
    inside = slice(int(starts[0]), int(starts[-1]))
    return make_csr(values[inside], columns[inside], starts - starts[0], starts.shape[0] - 1, matrix.shape[1])


def with_entries(matrix: Any, values: Array) -> Any:
    """A square matrix of compressed rows with other values at the same places."""
    _, columns, indptr = csr_parts(matrix)
    return make_csr(values, columns, indptr, matrix.shape[0])


def stored_values(matrix: Any) -> Array:
    """The stored values of a sparse matrix, row by row."""
    return csr_parts(matrix)[0]


def sparse_times(matrix: Any, X: Array) -> Array:
    """The product of a matrix with a dense array (n, r) of any array library."""
    if not sparse.issparse(matrix):
        return matrix @ X
    return matrix @ X if isinstance(X, np.ndarray) else like(matrix @ to_numpy(X), X)


def rest_of(matrix: Any, X: Array, left: Array | None = None, small: Any = None, factor: float = 1.0) -> Array:
    """Factor · (X − matrix @ X − left @ small), in new memory and in as few steps as the library allows."""
    if array_api_compat.is_torch_array(X) and not sparse.issparse(matrix):
        made = X.addmm(matrix, X, alpha=-1)
        made = made if left is None else made.addmm_(left, small, alpha=-1)
        return made if factor == 1.0 else made.mul_(factor)
    made = sparse_times(matrix, X)
    for rows in cache_blocks(made):
        part = made[rows, :]
        part *= -1.0
        part += X[rows, :]
        if left is not None:
            part -= left[rows, :] @ small
        if factor != 1.0:
            part *= factor
    return made


def row_sums(matrix: Any, reference: Array) -> Array:
    """Sum of each row, (n,), as an array like the reference."""
    if sparse.issparse(matrix):
        return like(np.asarray(matrix.sum(axis=1)).ravel(), reference)
    xp = namespace(reference)
    return sparse_times(matrix, xp.ones((matrix.shape[1], 1), dtype=reference.dtype, device=reference.device))[:, 0]


def symmetric_sum(rows: Array, columns: Array, values: Array, n: int) -> Any:
    """A + Aᵀ in the library of the arrays, where A (n, n) has these positive entries, a few of them at the same place.

    They are sorted and added where the arrays lie, always in the same order.
    """
    xp = namespace(values)
    i, j = (xp.astype(one, xp.int64) for one in (rows, columns))
    keys = xp.concat([i * n + j, j * n + i])
    order = xp.argsort(keys, stable=True)
    keys, values = taken(keys, order), taken(xp.concat([values, values]), order)
    edge = xp.ones_like(keys[:1], dtype=xp.bool)
    starts = xp.nonzero(xp.concat([edge, keys[1:] != keys[:-1]]))[0]
    lengths = xp.concat([starts[1:], xp.zeros_like(starts[:1]) + keys.shape[0]]) - starts
    sums = taken(values, starts)
    for turn in range(1, int(xp.max(lengths))):
        more = xp.where(lengths > turn, starts + turn, starts)
        sums = sums + xp.where(lengths > turn, taken(values, more), xp.zeros_like(sums))
    return _of_keys(taken(keys, starts), sums, n)


def _of_keys(keys: Array, values: Array, n: int) -> Any:
    """The matrix (n, n) with these values at the places row · n + column, ascending."""
    xp = namespace(keys)
    firsts = n * xp.arange(n + 1, dtype=keys.dtype, device=array_api_compat.device(keys))
    indptr, columns = xp.searchsorted(keys, firsts), keys % n
    short = xp.int32 if keys.shape[0] < 2**31 else xp.int64
    return make_csr(values, xp.astype(columns, short), xp.astype(indptr, short), n)


def reordered(matrix: Any, rows: np.ndarray) -> Any:
    """A square matrix of compressed rows with its rows and columns in another order; columns of a row ascend."""
    if not sparse_elsewhere(matrix):
        made = matrix[rows][:, rows]
        made.sort_indices()
        return made
    values, columns, _ = csr_parts(matrix)
    xp, n = namespace(values), matrix.shape[0]
    place = beside(np.argsort(rows), values)
    keys = taken(place, lines_of(matrix)) * n + taken(place, columns)
    order = xp.argsort(keys)
    return _of_keys(taken(keys, order), taken(values, order), n)


def to_scipy(matrix: Any) -> Any:
    """A sparse matrix in SciPy, on the host; any other matrix as it is."""
    if sparse.issparse(matrix) or not is_sparse(matrix):
        return matrix
    return sparse.csr_array(tuple(map(to_numpy, csr_parts(matrix))), shape=tuple(matrix.shape))


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
    if weights is None:  # sorted in half the time that the matrix takes
        indices = np.sort(indices, axis=1)
    keep = indices >= 0
    indptr = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
    columns = indices.ravel() if keep.all() else np.asarray(indices[keep])
    shape = (n, n if n_columns is None else n_columns)
    small = max(*shape, columns.size) < 2**31
    kind = np.int32 if small else np.int64
    values = np.ones(columns.size) if weights is None else np.broadcast_to(weights, indices.shape)[keep]
    A = sparse.csr_array((values, columns.astype(kind), indptr.astype(kind)), shape=shape)
    A.sort_indices()
    return A


def joined_neighbours(near: np.ndarray, place: Array) -> Any:
    """A + Aᵀ for the adjacency matrix A of neighbours (n, q), in the library and on the device of an array.

    >>> joined_neighbours(np.array([[1], [0], [-1]]), np.ones(1)).toarray()
    array([[0., 2., 0.],
           [2., 0., 0.],
           [0., 0., 0.]])
    """
    directed = neighbours_beside(near, place)
    if sparse.issparse(directed):
        return sparse.csr_array(directed + directed.T)
    values, columns, _ = csr_parts(directed)
    return symmetric_sum(lines_of(directed), columns, values, len(near))


def neighbours_beside(near: np.ndarray, place: Array) -> Any:
    """`neighbour_graph`, in the library and on the device of an array, where columns of a row may have any order."""
    if not has_sparse(place):
        return neighbour_graph(near)
    xp, n = namespace(place), len(near)
    there = xp.astype(beside(near, place), xp.int32)
    keep, columns = there >= 0, xp.reshape(there, (-1,))
    counts = xp.sum(xp.astype(keep, xp.int32), axis=1, dtype=xp.int32)
    columns = taken(columns, xp.nonzero(xp.reshape(keep, (-1,)))[0])
    indptr = xp.concat([xp.zeros_like(counts[:1]), xp.cumulative_sum(counts, dtype=xp.int32)])
    return make_csr(xp.ones_like(columns, dtype=xp.float64), columns, indptr, n)
