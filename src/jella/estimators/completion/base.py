"""What the completion methods share: the views side by side, and scikit-learn's face."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar

from jella.estimators.base import BaseEmbedding, Prepared
from jella.estimators.capabilities import Capabilities
from jella.estimators.completion.lagrangian import LowRank, Penalty, Separation
from jella.numerics.arrays import Array, namespace, to_numpy
from jella.numerics.rows import row_blocks
from jella.readout.base import Readout
from jella.solve.solver import canonical_bases, split_rows
from jella.views import AnyViews, Views, collect


@dataclass(frozen=True, eq=False)
class CompletionReadout(Readout):
    """The answers of a low-rank matrix: a new sample goes through the rounds of the fit, with its row space fixed.

    Attributes
    ----------
    penalty : Penalty
        Of the fit.
    """

    penalty: Penalty = field(default_factory=lambda: Penalty(1.0, 1.0, 1.0))

    @abstractmethod
    def coordinates(self, X: Array, observed: Array, V: Array) -> Array:
        """Coordinates (n, r) of scaled samples in the learned space V (d, r), each sample by itself."""

    def solve(self, views: AnyViews) -> Array:
        """Block by block of samples."""
        xp = namespace(*self.bases)
        V = xp.astype(xp.concat(list(self.bases), axis=0), xp.float64)
        pieces = [self.coordinates(X, observed, V) for X, observed in dense_blocks(views)]
        return xp.astype(xp.concat(pieces, axis=0), self.bases[0].dtype)


class BaseCompletion(BaseEmbedding):
    """A low-rank matrix fitted to the views side by side; a method adds parameters, `_separate`, `_make_readout`."""

    # no labels: shared checks ask for the number of clusters, and find none
    n_clusters = None

    max_iter: int
    tol: float

    @abstractmethod
    def _separate(self, D: Array, observed: Array, views: Views) -> Separation:
        """Fit the scaled values (n, d) of all views, zero where not observed."""

    @abstractmethod
    def _make_readout(self, *shared: Any) -> CompletionReadout:
        """How the fitted model answers, from what all readouts have: up to the samples of the fit."""

    @property
    def capabilities(self) -> Capabilities:
        """Views and entries may be missing; all samples are fitted together."""
        return Capabilities()

    def _fit_views(self, views: AnyViews, X: Any, y: Any) -> None:
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        check_scalar(self.tol, "tol", Real, min_val=0)
        prepared = self._prepare(views)
        scaled: Any = prepared.scaled
        separation = self._separate(*side_by_side(scaled), scaled)
        self._remember(X, prepared)
        self._set_fitted(X, prepared, separation)
        self._warn()

    def _set_fitted(self, X: Any, prepared: Prepared, separation: Separation) -> None:
        views: Any = prepared.scaled
        xp = views.xp
        W, bases = canonical(separation.factors, [view.n_features for view in views])
        self.singular_values_ = np.sqrt(np.sum(to_numpy(W) ** 2, axis=0))
        W, bases = xp.astype(W, views.dtype), tuple(xp.astype(U, views.dtype) for U in bases)
        shared = (type(self).__name__, prepared.scaling, bases, self.on_empty, prepared.fit_samples(W))
        readout = self._make_readout(*shared)
        self.readout_ = replace(readout, penalty=separation.penalty)
        self.embedding_ = prepared.place(W)
        self.bases_ = collect(bases, X, self.view_names_in_)
        self.residuals_ = separation.residuals
        self.objective_ = separation.objective
        self.n_iter_ = separation.n_iter
        self.converged_ = separation.converged

    def _warn(self) -> None:
        if not self.converged_ and self.tol > 0:
            warnings.warn(
                f"{type(self).__name__} did not converge in {self.max_iter} rounds: the last residual is "
                f"{self.residuals_[-1]:.1e} (tol={self.tol:g}); increase max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )


def side_by_side(views: Views) -> tuple[Array, Array]:
    """Dense values (n, d) of all views in float64, zero where not observed, and where they were observed."""
    xp = views.xp
    values = [view.X.toarray() if view.is_sparse else view.X for view in views]
    masks = [xp.broadcast_to(view.mask, (view.n_samples, view.n_features)) for view in views]
    return xp.concat([xp.astype(X, xp.float64) for X in values], axis=1), xp.concat(masks, axis=1)


def dense_blocks(views: Any) -> Iterator[tuple[Array, Array]]:
    """side_by_side in blocks of samples, so that a wide sparse view is never dense as a whole."""
    for rows in row_blocks(views.n_samples, 8 * views.n_features):
        yield side_by_side(views.take(np.arange(rows.start, rows.stop)))


def canonical(factors: LowRank, widths: list[int]) -> tuple[Array, tuple[Array, ...]]:
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
