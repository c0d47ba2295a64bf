"""Views with what is missing filled in, without forming them where whole samples are missing: where fits start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, like, namespace, row_blocks, to_numpy
from jella.numerics.sparse_arrays import sparse_times
from jella.views import View


@dataclass(frozen=True)
class MeanFilled:
    """X + a μᵀ with a = 1 at absent samples: a sparse view stays sparse.

    Attributes
    ----------
    X : array (n, d) or CSR array
        Zero rows at absent samples; single missing entries are at their mean already.
    absent : array (n,)
        1 where the sample lacks the view, else 0.
    mean : array (d,)
    """

    X: Array
    absent: Array
    mean: Array

    @classmethod
    def of(cls, view: View, mean: Array | None = None) -> MeanFilled:
        """A view filled with its own means, or with given ones."""
        mean = feature_means(view) if mean is None else mean
        if view.is_rowwise:
            return MeanFilled(view.X, like(~view.presence(), mean), mean)
        return MeanFilled(namespace(mean).where(view.mask, view.X, mean), like(np.zeros(view.n_samples), mean), mean)

    def times(self, V: Array) -> Array:
        """Filled view times V, (n, r)."""
        return self.X @ V + self.absent[:, None] * (self.mean @ V)[None, :]

    def times_transposed(self, U: Array) -> Array:
        """Transpose of the filled view times U, (d, r)."""
        return self.X.T @ U + self.mean[:, None] * (self.absent @ U)[None, :]

    def dense(self) -> Array:
        """The filled view itself, (n, d)."""
        X = self.X.toarray() if sparse.issparse(self.X) else self.X
        return X + self.absent[:, None] * self.mean[None, :]


@dataclass(frozen=True)
class NeighbourFilled(MeanFilled):
    """X + D X + a μᵀ: an absent sample is the mean of its neighbours that have the view, which D averages.

    Attributes
    ----------
    donors : CSR array (n, n)
        D; empty rows at the samples that have the view, and at those without a neighbour that has it.
    """

    donors: sparse.csr_array

    @classmethod
    def by(cls, view: View, graph: sparse.csr_array, mean: Array | None = None) -> MeanFilled:
        """A view filled from the neighbours that a 0/1 graph (n, n) gives; with means where none has a value."""
        mean = feature_means(view) if mean is None else mean
        if not view.is_rowwise:
            return MeanFilled(_entries_from(view, graph, mean), like(np.zeros(view.n_samples), mean), mean)
        present = view.presence()
        donors = sparse.csr_array(
            sparse.diags_array((~present).astype(float)) @ graph @ sparse.diags_array(present * 1.0)
        )
        donors.eliminate_zeros()
        count = np.diff(donors.indptr)
        donors.data = np.repeat(1.0 / np.maximum(count, 1), count).astype(np.dtype(str(mean.dtype).split(".")[-1]))
        return cls(view.X, like(~present & (count == 0), mean), mean, donors)

    def times(self, V: Array) -> Array:
        """Filled view times V, (n, r)."""
        product = self.X @ V
        return product + sparse_times(self.donors, product) + self.absent[:, None] * (self.mean @ V)[None, :]

    def times_transposed(self, U: Array) -> Array:
        """Transpose of the filled view times U, (d, r)."""
        spread = U + sparse_times(sparse.csr_array(self.donors.T), U)
        return self.X.T @ spread + self.mean[:, None] * (self.absent @ U)[None, :]

    def dense(self) -> Array:
        """The filled view itself, (n, d)."""
        X = self.X.toarray() if sparse.issparse(self.X) else self.X
        return X + sparse_times(self.donors, X) + self.absent[:, None] * self.mean[None, :]


def _entries_from(view: View, graph: sparse.csr_array, mean: Array) -> Array:
    """Values with every missing entry at the mean of its neighbours' observed ones, else at that of its feature."""
    X, mask = to_numpy(view.X), to_numpy(view.mask).astype(view.X.dtype if isinstance(view.X, np.ndarray) else float)
    filled, fallback = X.copy(), to_numpy(mean)
    for rows in row_blocks(view.n_samples, view.n_features * 8, target=2**24):
        total, count = graph[rows] @ X, graph[rows] @ mask
        guess = np.where(count > 0, total / np.maximum(count, 1.0), fallback)
        filled[rows] = np.where(mask[rows] > 0, X[rows], guess)
    return like(filled, view.X)


def feature_means(view: View) -> Array:
    """Mean of every feature over its observed entries, (d,)."""
    total = view.X.sum(axis=0) if view.is_sparse else namespace(view.X).sum(view.X, axis=0)
    return like(total, view.X) / like(np.maximum(to_numpy(view.count_by_feature()), 1), view.X)
