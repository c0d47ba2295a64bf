"""Sparse matrices where the dense arrays live: SciPy on the host, torch's and CuPy's own kinds on their devices.

An array library without sparse matrices gets SciPy's, with copies to the host and back at every product.
"""

from __future__ import annotations

import warnings
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, like, namespace, to_numpy


def has_sparse(X: Array) -> bool:
    """Whether the array's library has sparse matrices of its own on the array's device."""
    return bool(array_api_compat.is_torch_array(X) or array_api_compat.is_cupy_array(X))


def make_csr(data: Array, indices: Array, indptr: Array, n: int) -> Any:
    """A square matrix of compressed rows, of the library and on the device of its three arrays."""
    if array_api_compat.is_torch_array(data):
        import torch

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that these tensors are in beta
            return torch.sparse_csr_tensor(indptr, indices, data, size=(n, n))
    if array_api_compat.is_cupy_array(data):
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix((data, indices, indptr), shape=(n, n))
    return sparse.csr_array((data, indices, indptr), shape=(n, n))


def is_sparse(matrix: Any) -> bool:
    """Whether a matrix is one of these."""
    return bool(sparse.issparse(matrix)) or hasattr(matrix, "indptr") or "sparse" in str(getattr(matrix, "layout", ""))


def stored_values(matrix: Any) -> Array:
    """The values that a matrix stores, row by row."""
    return matrix.values() if hasattr(matrix, "crow_indices") else matrix.data


def sparse_times(matrix: Any, X: Array) -> Array:
    """Product with a block (n, r) of any array library."""
    if not sparse.issparse(matrix):
        return matrix @ X
    return matrix @ X if isinstance(X, np.ndarray) else like(matrix @ to_numpy(X), X)


def row_sums(matrix: Any, reference: Array) -> Array:
    """Sum of every row, (n,), as an array like the reference."""
    if sparse.issparse(matrix):
        return like(np.asarray(matrix.sum(axis=1)).ravel(), reference)
    xp = namespace(reference)
    return sparse_times(matrix, xp.ones((matrix.shape[1], 1), dtype=reference.dtype, device=reference.device))[:, 0]


def to_scipy(matrix: Any) -> Any:
    """The matrix on the host."""
    if sparse.issparse(matrix) or not is_sparse(matrix):
        return matrix
    if hasattr(matrix, "crow_indices"):
        parts = matrix.values(), matrix.col_indices(), matrix.crow_indices()
        return sparse.csr_array(tuple(to_numpy(part) for part in parts), shape=tuple(matrix.shape))
    return sparse.csr_array(matrix.get())


def neighbour_graph(indices: np.ndarray) -> sparse.csr_array:
    """Adjacency (n, n) of ones from the indices (n, q) of neighbours, -1 for none.

    >>> neighbour_graph(np.array([[1], [0], [-1]])).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    n = len(indices)
    keep = indices >= 0
    indptr = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
    columns = np.asarray(indices[keep])
    small = max(n, columns.size) < 2**31
    kind = np.int32 if small else np.int64
    A = sparse.csr_array((np.ones(columns.size), columns.astype(kind), indptr.astype(kind)), shape=(n, n))
    A.sort_indices()
    return A
