"""What a stored array is, judged by its shape and values: a matrix, labels, a mask, folds, index triplets."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse

_LABEL_NAMES = {
    *("y", "gt", "gnd", "truth", "label", "labels", "class", "classes", "classlabel", "classlabels", "cls"),
    *("target", "targets", "groundtruth", "truelabel", "truelabels", "truthlabels", "ytrue", "clusters"),
}
_MOST_VIEWS = 20  # a table of zeros and ones with more columns than this is not a mask


def is_label_name(name: str) -> bool:
    """Whether a variable, column or file has a usual name of labels."""
    return re.sub(r"[^a-z]", "", name.lower()) in _LABEL_NAMES


def is_matrix(value: Any) -> bool:
    """Whether a value is a matrix of numbers, real or complex, with more than one row and column."""
    if sparse.issparse(value):
        return value.dtype.kind in "biufc"
    return isinstance(value, np.ndarray) and value.dtype.kind in "biufc" and value.ndim == 2 and min(value.shape) > 1


def words_in(value: Any) -> str | None:
    """What a table that is no matrix of numbers holds, 'text' or 'dates'; None for other values."""
    if not isinstance(value, np.ndarray) or value.ndim != 2 or min(value.shape) < 2:
        return None
    kinds = {np.asarray(e).dtype.kind for e in value.ravel()} if value.dtype == object else {value.dtype.kind}
    return "text" if kinds & {*"US"} else "dates" if kinds & {*"mM"} else None


def matrices_in(value: Any) -> list[Any]:
    """The matrices of a cell array; none if an entry is not a matrix."""
    if not isinstance(value, np.ndarray) or value.dtype != object or value.size == 0:
        return []
    entries = list(value.ravel())
    two_dimensional = all(
        sparse.issparse(e) or (isinstance(e, np.ndarray) and e.ndim == 2 and e.size > 0 and e.dtype.kind in "biufc")
        for e in entries
    )
    return entries if two_dimensional and any(min(e.shape) > 1 for e in entries) else []


def as_vector(value: Any) -> np.ndarray | None:
    """Labels or names: whole numbers as int64, or text; None if the value is neither."""
    if sparse.issparse(value):
        value = value.toarray() if min(value.shape) == 1 else None
    if not isinstance(value, np.ndarray) or value.size < 2 or value.size != max(value.shape):
        return None
    flat = value.ravel()
    if flat.dtype == object:
        return _texts(flat)
    if flat.dtype.kind in "US":
        return np.char.strip(flat.astype(str))
    if flat.dtype.kind not in "biuf" or not np.isfinite(flat).all() or (flat != np.round(flat)).any():
        return None
    return flat.astype(np.int64)


def classes_of_one_hot(value: Any) -> np.ndarray | None:
    """The classes, from 1, of a matrix with a single 1 in each row, or in each column; None for other matrices."""
    if not is_matrix(value) or value.dtype.kind == "c":
        return None
    entries = value.data if sparse.issparse(value) else value
    if not np.isin(entries, (0, 1)).all():
        return None
    for axis in (1, 0):
        counts = np.asarray(value.sum(axis=axis)).ravel()
        sizes = np.asarray(value.sum(axis=1 - axis)).ravel()
        if (counts == 1).all() and (sizes > 0).all() and sizes.size < counts.size:
            dense = value.toarray() if sparse.issparse(value) else value
            return np.argmax(dense, axis=axis).astype(np.int64) + 1
    return None


def same_groups(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two labellings agree up to the names of the classes."""
    if a.size != b.size:
        return False
    _, a = np.unique(a, return_inverse=True)
    _, b = np.unique(b, return_inverse=True)
    pairs = np.unique(np.stack([a, b]), axis=1).shape[1]
    return bool(pairs == a.max() + 1 == b.max() + 1)


def are_masks(matrices: list[Any]) -> bool:
    """Whether matrices are masks (samples x views) of a data set that is in another file."""
    if len({m.shape for m in matrices}) != 1 or min(matrices[0].shape) > _MOST_VIEWS:
        return False
    return all(not sparse.issparse(m) and np.isin(m, (0, 1)).all() for m in matrices)


def are_permutations(value: Any) -> bool:
    """Whether each row of a matrix is a permutation of 1..n (folds), or of 0..n - 1."""
    if sparse.issparse(value):
        return False
    ordered = np.sort(value, axis=1)
    return any(bool((ordered == np.arange(value.shape[1]) + start).all()) for start in (0, 1))


def is_triplets(value: Any) -> bool:
    """Whether a matrix of three columns lists (row, column, value), after a first row (rows, columns, entries)."""
    if sparse.issparse(value) or value.shape[1] != 3 or value.dtype.kind == "c":
        return False
    head, body = value[0], value[1:]
    if head[2] != body.shape[0] or body.shape[0] == 0:
        return False
    whole = (body[:, :2] == np.round(body[:, :2])).all()
    return bool(whole and body[:, :2].min() >= 1 and (body[:, :2] <= head[:2]).all())


def from_triplets(value: np.ndarray) -> sparse.csr_array:
    """The matrix that index triplets describe."""
    rows, columns, entries = value[1:].astype(np.float64).T
    places = (rows.astype(int) - 1, columns.astype(int) - 1)
    return sparse.csr_array((entries, places), shape=tuple(value[0, :2].astype(int)))


def to_triplets(matrix: Any) -> np.ndarray:
    """Index triplets of a matrix, column by column as in MATLAB."""
    stored = sparse.coo_array(sparse.csc_array(matrix))
    body = np.column_stack([stored.row + 1.0, stored.col + 1.0, stored.data])
    return np.vstack([[*matrix.shape, stored.nnz], body])


def _texts(cell: np.ndarray) -> np.ndarray | None:
    """The texts of a cell array of strings."""
    texts = []
    for entry in cell:
        entry = np.asarray(entry)
        if entry.dtype.kind not in "US" or entry.size > 1:
            return None
        texts.append(str(entry.ravel()[0]) if entry.size else "")
    return np.array(texts)
