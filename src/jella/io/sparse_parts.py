"""Checks of sparse matrices from files: compiled code trusts their indices, so wrong ones would end the program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from jella.io.errors import DataError
from jella.io.guard import check_size

#: bytes per row and column of a sparse matrix: its index, and what a fit keeps of each
_SIDE_BYTES, _ENTRY_BYTES = 100, 16


def sparse_bytes(shape: Sequence[int], n_stored: int) -> int:
    """Bytes that a sparse matrix needs in memory."""
    return _SIDE_BYTES * sum(map(int, shape)) + _ENTRY_BYTES * n_stored


def checked_sparse(matrix: Any, path: Path) -> Any:
    """A sparse matrix of a library, after a check of its size and of all its indices."""
    check_size(path, sparse_bytes(matrix.shape, int(np.size(matrix.data))))
    if matrix.format in ("csr", "csc", "bsr"):
        block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
        major, minor = (n // b for n, b in zip(matrix.shape, block, strict=True))
        if matrix.format == "csc":
            major, minor = minor, major
        check_indices(matrix.indptr, matrix.indices, len(matrix.data), (major, minor), path)
    elif matrix.format == "coo":
        for side, places in zip(matrix.shape, matrix.coords, strict=True):
            _check_range(places, side, path)
    return matrix


def check_indices(indptr: Any, indices: Any, n_data: int, sides: tuple[int, int], path: Path) -> None:
    """Refuse wrong indices of compressed rows (sides: rows, columns) or columns (sides: columns, rows)."""
    major, minor = sides
    if indptr.ndim != 1 or indices.ndim != 1 or indptr.size != major + 1 or indptr.dtype.kind not in "iu":
        raise _wrong(f"{indptr.size} starts for {major} rows or columns", path)
    if indices.dtype.kind not in "iu" or int(indptr[0]) != 0 or int(indptr[-1]) != n_data or indices.size != n_data:
        raise _wrong(f"{indices.size} indices, {n_data} values and starts up to {int(indptr[-1])}", path)
    if (indptr[1:] < indptr[:-1]).any():
        raise _wrong("starts that go back", path)
    _check_range(indices, minor, path)


def _check_range(indices: Any, side: int, path: Path) -> None:
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= side):
        raise _wrong(f"indices from {int(indices.min())} to {int(indices.max())} for a side of {side}", path)


def _wrong(got: str, path: Path) -> DataError:
    return DataError(
        f"expected a sparse matrix with indices that fit its shape in {path.name}, got {got}; write it again"
    )


def as_csr(matrix: Any, path: Path, dtype: Any = None) -> sparse.csr_array:
    """A checked sparse matrix as CSR."""
    return sparse.csr_array(checked_sparse(matrix, path), dtype=dtype)
