"""What the completion methods share: the views as one matrix, their samples recognised, and scikit-learn's face."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from jella.estimators.base import Prepared, spread
from jella.estimators.completion.lagrangian import Factors, Formulation, PenaltySchedule, Separation, separate
from jella.estimators.embedding import BaseEmbedding
from jella.estimators.rounds import RoundsMixin
from jella.numerics.arrays import Array, like, namespace, to_numpy
from jella.numerics.rows import row_blocks
from jella.solve.solver import canonical_bases, split_rows
from jella.views import Views, collect


class BaseCompletion(RoundsMixin, BaseEmbedding):
    """A low-rank matrix fitted to all views together; a method adds its parameters and its two formulations."""

    # no labels: shared checks ask for the number of clusters, and find none
    n_clusters = None

    #: rounds for new samples
    _rounds_for_new: int
    _penalty: PenaltySchedule

    @abstractmethod
    def _formulate(self, D: Array, observed: Array, views: Views) -> Formulation:
        """The problem of a fit to the scaled values (n, d) of all views, zero where not observed."""

    @abstractmethod
    def _formulate_new(self, observed: Array, V: Array) -> Formulation:
        """The problem of new samples, each by itself, with the learned row space V (d, r) fixed."""

    def fit(self, X: Any, y: Any = None, *, observed: Any = None) -> BaseCompletion:
        """Learn the low-rank matrix.

        Parameters
        ----------
        X : 2-D array, list or tuple of 2-D arrays, dict of name -> array, or DataFrames or SciPy sparse arrays
            The views, samples in rows. NaN marks a missing entry, a row of NaN a missing view. DataFrames are aligned
            by their index.
        y : ignored
        observed : as X, of booleans, optional
            True where a value was observed, instead of NaN: (n,), (n, 1) or (n, d) per view.

        Returns
        -------
        self
        """
        self._check_parameters()
        prepared = self._prepare(X, observed)
        D, counted = as_one_matrix(prepared.scaled)
        method = self._formulate(D, counted, prepared.scaled)
        self._penalty = method.penalty
        separation = separate(D, method, tol=self.tol, max_iter=self.max_iter)
        self._remember(X, prepared)
        self._set_fitted(X, prepared, separation)
        self._warn_unless_converged(f"the last residual is {self.residuals_[-1]:.1e}")
        return self

    def _set_fitted(self, X: Any, prepared: Prepared, separation: Separation) -> None:
        views = prepared.scaled
        xp = views.xp
        W, bases = canonical(separation.factors, [view.n_features for view in views])
        self.singular_values_ = np.sqrt(np.sum(to_numpy(W) ** 2, axis=0))
        self._fitted = xp.astype(W, views.dtype)
        self._known = {mark: row for row, mark in enumerate(fingerprints(prepared.used))}
        self.embedding_ = spread(self._fitted, prepared.kept)
        self._bases = tuple(xp.astype(U, views.dtype) for U in bases)
        self.bases_ = collect(self._bases, X, self.view_names_in_)
        self.objective_ = separation.objective
        self._set_rounds(separation.residuals, separation.converged)

    def _embed(self, views: Views) -> Array:
        """Coordinates of the samples: those of the fit as fitted, others solved; NaN where nothing was observed."""
        kept = self._kept(views)
        used = views if kept.all() else views.take(kept)
        rows = np.array([self._known.get(mark, -1) for mark in fingerprints(used)], dtype=np.intp)
        new = rows < 0
        W = to_numpy(self._fitted)[rows]
        if new.any():
            W[new] = to_numpy(self._embed_scaled(self.scaling_.apply(used.take(new))))
        return spread(like(W, self._bases[0]), kept)

    def _embed_scaled(self, views: Views) -> Array:
        """Coordinates of samples that the fit did not see."""
        xp = namespace(*self._bases)
        V = xp.astype(xp.concat(list(self._bases), axis=0), xp.float64)
        pieces = [
            separate(X, self._formulate_new(observed, V), tol=0.0, max_iter=self._rounds_for_new).factors.left
            for X, observed in dense_blocks(views)
        ]
        return xp.astype(xp.concat(pieces, axis=0), self._bases[0].dtype)


def as_one_matrix(views: Views) -> tuple[Array, Array]:
    """Dense values (n, d) of all views in float64, zero where not observed, and where they were observed."""
    xp = views.xp
    values = [view.X.toarray() if view.is_sparse else view.X for view in views]
    masks = [xp.broadcast_to(view.mask, (view.n_samples, view.n_features)) for view in views]
    return xp.concat([xp.astype(X, xp.float64) for X in values], axis=1), xp.concat(masks, axis=1)


def dense_blocks(views: Views) -> Iterator[tuple[Array, Array]]:
    """as_one_matrix in blocks of samples, so that a wide sparse view is never dense as a whole."""
    for rows in row_blocks(views.n_samples, 8 * views.n_features):
        yield as_one_matrix(views.take(np.arange(rows.start, rows.stop)))


def fingerprints(views: Views) -> Iterator[bytes]:
    """A mark of every sample that two share only if they have the same values and the same holes."""
    for X, observed in dense_blocks(views):
        values = to_numpy(X) + 0.0  # -0.0 is 0.0
        holes = np.packbits(to_numpy(observed), axis=1)
        for row, where in zip(values, holes, strict=True):
            yield hashlib.blake2b(row.tobytes() + where.tobytes(), digest_size=16).digest()


def canonical(factors: Factors, widths: list[int]) -> tuple[Array, tuple[Array, ...]]:
    """Scores (n, r) and bases (d_v, r) of the matrix: bases orthonormal as a stack, strongest component first.

    A component that the matrix does not have has a basis of zeros; there is always one component.
    """
    xp = namespace(factors.left)
    if factors.left.shape[1] == 0:
        n, d = factors.left.shape[0], factors.right.shape[0]
        return xp.zeros((n, 1), dtype=xp.float64), split_rows(xp.zeros((d, 1), dtype=xp.float64), widths)
    V = xp.concat(list(canonical_bases(split_rows(factors.right, widths), factors.left.T @ factors.left)), axis=0)
    W = factors.left @ (factors.right.T @ V)
    strengths = xp.sqrt(xp.sum(W * W, axis=0))
    there = strengths > xp.max(strengths) * (max(W.shape[0], V.shape[0]) * float(xp.finfo(W.dtype).eps))
    there = xp.astype(there, W.dtype)
    return W * there, split_rows(V * there, widths)
