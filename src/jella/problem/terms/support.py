"""The pairs of samples that an affinity may join, each held once."""

from __future__ import annotations

from copy import copy
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, namespace
from jella.numerics.sparse_arrays import has_sparse, make_csr, stored_values


class Support:
    """A symmetric pattern over n samples without diagonal, and a starting weight for each of its pairs.

    Parameters
    ----------
    weights : sparse array (n, n)
        Symmetric; what it stores is the pattern, explicit zeros too. The diagonal is left out.

    Attributes
    ----------
    n_samples : int
    rows, columns : int arrays (m,)
        The pairs, rows < columns.
    start : array (m,)
        Starting weights.
    """

    def __init__(self, weights: sparse.sparray) -> None:
        full = sparse.csr_array(weights)
        full.sum_duplicates()
        self.n_samples = int(full.shape[0])
        lines = np.repeat(np.arange(self.n_samples), np.diff(full.indptr))
        upper = lines < full.indices
        self.rows, self.columns = lines[upper].astype(np.int32), full.indices[upper].astype(np.int32)
        self.start = full.data[upper]
        m, n = self.rows.size, self.n_samples
        numbered = sparse.csr_array((np.arange(1, m + 1), (self.rows, self.columns)), shape=(n, n))
        both = sparse.csr_array(numbered + numbered.T)
        both.sort_indices()
        self._indptr, self._indices = both.indptr, both.indices
        self._pair_of_entry = (both.data - 1).astype(np.int32)
        lines = np.repeat(np.arange(n), np.diff(both.indptr))
        self._entry_of_pair = np.flatnonzero(lines < both.indices).astype(np.int32)  # pairs are numbered row by row

    @classmethod
    def averaging(cls, pattern: sparse.sparray, dtype: Any = np.float64) -> Support:
        """The support of a symmetric 0/1 graph, starting from ½(1/deg_i + 1/deg_j): averages over neighbours."""
        graph = sparse.csr_array(pattern)
        inverse = 1.0 / np.maximum(np.asarray(graph.sum(axis=1)).ravel(), 1.0)
        lines = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        weights = (0.5 * (inverse[lines] + inverse[graph.indices])).astype(dtype)
        return cls(sparse.csr_array((weights, graph.indices, graph.indptr), shape=graph.shape))

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.rows.shape[0])

    def like(self, reference: Array) -> Support:
        """The support with its arrays in the library and on the device of another, if that has sparse matrices."""
        if not has_sparse(reference):
            return self
        xp, device = namespace(reference), array_api_compat.device(reference)
        other = copy(self)
        for name in ("rows", "columns", "_indptr", "_indices", "_pair_of_entry", "_entry_of_pair"):
            setattr(other, name, xp.asarray(getattr(self, name), device=device))
        return other

    def matrix(self, values: Array) -> Any:
        """Values of the pairs (m,) as a symmetric matrix (n, n)."""
        spread = namespace(values).take(values, self._pair_of_entry, axis=0)
        return make_csr(spread, self._indices, self._indptr, self.n_samples)

    def values(self, matrix: Any) -> Array:
        """The opposite: values of the pairs (m,) in a matrix that this support made."""
        entries = stored_values(matrix)
        return namespace(entries).take(entries, self._entry_of_pair, axis=0)

    def take(self, rows: np.ndarray) -> Support:
        """The support with the samples in another order."""
        return Support(self.matrix(self.start)[rows][:, rows])

    def __repr__(self) -> str:
        return f"Support(n_samples={self.n_samples}, n_pairs={self.n_pairs})"
