"""What the completion methods share: the views as one matrix, the answers, and the interface of scikit-learn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from jella.estimators.base import Prepared
from jella.estimators.capabilities import Capabilities
from jella.estimators.completion.lagrangian import Factors, Formulation, PenaltySchedule, Separation, separate
from jella.estimators.needs import Needs, Size, by_dense_rounds
from jella.estimators.rounds import RoundsMixin
from jella.estimators.transformer import BaseEmbedding
from jella.numerics.arrays import Array, namespace, row_blocks, to_numpy
from jella.readout.base import Readout
from jella.saving.rules import check_readout, check_record, require
from jella.solve.solver import canonical_bases, split_rows
from jella.views import AnyViews, Views, collect


@dataclass(frozen=True, eq=False)
class CompletionReadout(Readout):
    """The answers of a low-rank matrix: a new sample goes through the rounds of the fit, with its row space fixed.

    Attributes
    ----------
    penalty : PenaltySchedule
        Penalties of the fit.
    """

    penalty: PenaltySchedule = field(default_factory=lambda: PenaltySchedule(1.0, 1.0, 1.0))

    #: number of rounds for new samples
    rounds: ClassVar[int]

    @abstractmethod
    def formulate(self, observed: Array, V: Array) -> Formulation:
        """The problem of new samples, each by itself, with the learned row space V (d, r) fixed."""

    def _embed(self, views: Views) -> Array:
        """A sample of the fit keeps its row of the matrix."""
        return self._present(views)

    def solve(self, views: Views) -> Array:
        """The embedding (n, r) of new samples, in blocks of samples."""
        xp = namespace(*self.bases)
        V = xp.astype(xp.concat(list(self.bases), axis=0), xp.float64)
        pieces = [
            separate(X, self.formulate(observed, V), tol=0.0, max_iter=self.rounds).factors.left
            for X, observed in dense_blocks(views)
        ]
        return xp.astype(xp.concat(pieces, axis=0), self.bases[0].dtype)


@check_record.register
def check_completion(readout: CompletionReadout) -> None:
    """Refuse what no fit gives: see `jella.saving.rules`."""
    check_readout(readout)
    penalty = readout.penalty
    require(0 < penalty.start <= penalty.most < np.inf and 1 <= penalty.growth < np.inf, "penalties that grow")


class BaseCompletion(RoundsMixin, BaseEmbedding):
    """A low-rank matrix fitted to all views together; a method adds parameters, its formulation and its readout."""

    #: rounds after which penalties have grown so far that fits have ended
    _usual_rounds: int
    # no labels: shared checks read the number of clusters
    n_clusters = None

    singular_values_: np.ndarray
    objective_: np.ndarray

    @abstractmethod
    def _formulate(self, D: Array, observed: Array, views: Views) -> Formulation:
        """The problem of a fit to the scaled values (n, d) of all views, zero where not observed."""

    @abstractmethod
    def _make_readout(self, *shared: Any) -> CompletionReadout:
        """The readout, from the fields that all readouts share, up to the samples of the fit."""

    @property
    def capabilities(self) -> Capabilities:
        """Views and entries may be missing; all samples are fitted together."""
        return Capabilities(memory="n·d")

    def _needs(self, views: Views) -> Needs:
        return by_dense_rounds(Size.of(views, 0), min(self.max_iter, self._usual_rounds), self._rank(views))

    def _prepare(self, views: AnyViews, y: Any = None) -> Prepared:
        """The views of a fit, scaled in double precision: rounds that raise a penalty multiply errors of rounding."""
        prepared: Any = super()._prepare(views, y)
        if "float64" in str(prepared.used.dtype):
            return prepared
        double = in_double(prepared.used)
        scaling = self._learn_scaling(double)
        return replace(prepared, scaling=scaling, scaled=scaling.apply(double))

    def _fit_views(self, views: AnyViews, X: Any, y: Any) -> None:
        prepared = self._prepare(views)
        scaled: Any = prepared.scaled
        D, counted = as_one_matrix(scaled)
        method = self._formulate(D, counted, scaled)
        separation = separate(D, method, tol=self.tol, max_iter=self.max_iter)
        self._remember(X, prepared)
        self._set_fitted(X, prepared, separation, method.penalty)
        self._warn_unless_converged(f"the last residual is {self.residuals_[-1]:.1e}")

    def _set_fitted(self, X: Any, prepared: Prepared, separation: Separation, penalty: PenaltySchedule) -> None:
        views: Any = prepared.scaled
        xp = views.xp
        W, bases = canonical(separation.factors, [view.n_features for view in views])
        self.singular_values_ = np.sqrt(np.sum(to_numpy(W) ** 2, axis=0))
        dtype = prepared.views.dtype
        W, bases = xp.astype(W, dtype), tuple(xp.astype(U, dtype) for U in bases)
        shared = (type(self).__name__, prepared.scaling, bases, self.on_empty, prepared.fit_samples(W))
        readout = self._make_readout(*shared)
        self.readout_ = replace(readout, penalty=penalty)
        self.embedding_ = prepared.views.place(W, prepared.rows)
        self.bases_ = collect(bases, X, self.view_names_in_)
        self.objective_ = separation.objective
        self._set_rounds(separation.residuals, separation.converged)


def in_double(views: Views) -> Views:
    """The views in double precision."""
    xp = views.xp
    items = (replace(v, X=v.X.astype(np.float64) if v.is_sparse else xp.astype(v.X, xp.float64)) for v in views)
    return replace(views, items=tuple(items))


def as_one_matrix(views: Views) -> tuple[Array, Array]:
    """The dense values (n, d) of all views in float64, zero where not observed, and the mask (n, d)."""
    xp = views.xp
    values = [view.X.toarray() if view.is_sparse else view.X for view in views]
    masks = [xp.broadcast_to(view.mask, (view.n_samples, view.n_features)) for view in views]
    return xp.concat([xp.astype(X, xp.float64) for X in values], axis=1), xp.concat(masks, axis=1)


def dense_blocks(views: Any) -> Iterator[tuple[Array, Array]]:
    """Blocks of samples from `as_one_matrix`, so that a wide sparse view is never dense as a whole."""
    for rows in row_blocks(views.n_samples, 8 * views.n_features):
        yield as_one_matrix(views.take(np.arange(rows.start, rows.stop)))


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
    kept = strengths > xp.max(strengths) * (max(W.shape[0], V.shape[0]) * float(xp.finfo(W.dtype).eps))
    kept = xp.astype(kept, W.dtype)
    return W * kept, split_rows(V * kept, widths)
