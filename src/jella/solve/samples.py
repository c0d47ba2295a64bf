"""The samples of a solve: sums over them for the bases, and the step of their embedding, by itself where possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from typing import Any, Protocol

import numpy as np

from jella.numerics.arrays import Array, like, namespace, taken
from jella.problem.model import Blocks, Problem
from jella.problem.residuals import ViewData
from jella.solve.plan import Plan, choose_update
from jella.solve.quadratic import Quadratic, by_availability, by_sample, embedding_with_completion, fitted_cross
from jella.solve.updates import Update
from jella.views import Views


class SamplesLostError(RuntimeError):
    """Samples that other processes hold can no longer be reached."""


class SamplesAt(Protocol):
    """Samples at given blocks: their sums for the bases and the objective, and their next embedding."""

    @property
    def embedding(self) -> Array:
        """W, (n, r), computed."""

    def totals(self) -> np.ndarray:
        """Sums of the loss over the samples, per view, (V,)."""

    def term_values(self) -> tuple[float, ...]:
        """Values of the terms on the embedding."""

    def gram(self) -> Array:
        """WᵀW, (r, r)."""

    def column_sums(self) -> Array:
        """Sums of the columns of W, (r,)."""

    def basis_sums(self, completes: bool) -> list[Quadratic]:
        """Per view WᵀW and RᵀW where data are completed; else WᵀDW and XᵀDW over the samples present, weights in D."""

    def next_embedding(self, plan: Plan, blocks: Blocks, bases: Sequence[Array], relaxation: float) -> Array:
        """The embedding after its step from these blocks, with the new bases."""

    def rescaled(self, blocks: Blocks, divisors: Array) -> SamplesAt:
        """The samples at blocks with the same product, where the columns of the embedding are divided."""


class Samples(Protocol):
    """All samples of a solve."""

    def total(self) -> float:
        """Sum of the squares of all observed entries."""

    def at(self, problem: Problem, blocks: Blocks) -> SamplesAt:
        """The samples at blocks."""

    def embed(self, problem: Problem, blocks: Blocks, start: Array | None) -> Array:
        """Each sample's exact embedding with the bases fixed."""

    def repaired(self, problem: Problem, new: Array, old: Array) -> Array:
        """The new embedding, corrected by the terms."""


@singledispatch
def samples_of(views: Any, plan: Plan) -> Samples:
    """The samples of views in memory; other kinds of views register their own version."""
    return InMemory.of(views)


@dataclass(frozen=True)
class InMemory:
    """Samples in one piece, in memory."""

    data: tuple[ViewData, ...]

    @classmethod
    def of(cls, views: Views, *, keeps: bool = True) -> InMemory:
        """The samples of these views; `keeps` as in ViewData."""
        return cls(tuple(ViewData(view, keeps=keeps) for view in views))

    def total(self) -> float:
        """Sum of the squares of all observed entries."""
        return sum(view.total for view in self.data)

    def at(self, problem: Problem, blocks: Blocks) -> RowsAt:
        """The samples at blocks."""
        pairs = zip(self.data, blocks.bases, strict=True)
        residuals = tuple(view.residual(U, blocks.embedding) for view, U in pairs)
        return RowsAt(self.data, problem, blocks, residuals)

    def embed(self, problem: Problem, blocks: Blocks, start: Array | None) -> Array:
        """Each sample's exact embedding with the bases fixed."""
        return embed(self.data, blocks.bases, problem, blocks.loss_state, start)

    def repaired(self, problem: Problem, new: Array, old: Array) -> Array:
        """The new embedding, corrected by each term."""
        for term in problem.embedding:
            new = term.repair(new, old)
        return new


@dataclass(frozen=True)
class RowsAt:
    """Some samples at blocks, in memory: all of a solve, or a chunk of them."""

    data: tuple[ViewData, ...]
    problem: Problem
    blocks: Blocks
    residuals: tuple[Any, ...]

    @property
    def embedding(self) -> Array:
        """W, (n, r)."""
        return self.blocks.embedding

    def totals(self) -> np.ndarray:
        """Sums of the loss, from the residuals."""
        return self.problem.loss.totals(self.residuals)

    def term_values(self) -> tuple[float, ...]:
        """Value of each term on the embedding."""
        states = self.blocks.embedding_states or (None,) * len(self.problem.embedding)
        pairs = zip(self.problem.embedding, states, strict=True)
        return tuple(term.value(self.blocks.embedding, state) for term, state in pairs)

    def gram(self) -> Array:
        """WᵀW."""
        return self.blocks.embedding.T @ self.blocks.embedding

    def column_sums(self) -> Array:
        """Sums of the columns of W."""
        return namespace(self.blocks.embedding).sum(self.blocks.embedding, axis=0)

    @cached_property
    def row_weights(self) -> list[Array] | None:
        """Weight of each sample in each view, without the factor of the view."""
        return self.problem.loss.row_weights(self.residuals)

    def basis_sums(self, completes: bool) -> list[Quadratic]:
        """Sums for the bases, from the residuals or from the samples present."""
        W = self.blocks.embedding
        if completes:
            gram = self.gram()
            return [Quadratic(gram, residual.rmatmul(W)) for residual in self.residuals]
        weighted = [W] * len(self.data) if self.row_weights is None else [W * D for D in self.row_weights]
        pairs = zip(self.data, weighted, strict=True)
        return [Quadratic(view.keep_present(DW).T @ W, view.X.T @ DW) for view, DW in pairs]

    def next_embedding(self, plan: Plan, blocks: Blocks, bases: Sequence[Array], relaxation: float) -> Array:
        """The next embedding: Algorithm 1 has one gram for all samples, Algorithm 2 one per set of views present."""
        problem, old, W = self.problem, blocks.bases, blocks.embedding
        if plan.completes:
            quadratic = embedding_with_completion(self.residuals, old, W, bases, relaxation).scaled(problem.loss.weight)
            return plan.embedding.apply(quadratic, problem.embedding, W, blocks.embedding_states)
        weights, factors = self.row_weights, problem.loss.view_factors(blocks.loss_state)
        if weights is not None and factors is not None:
            weights = [float(factor) * D for factor, D in zip(factors, weights, strict=True)]
        fitted = None if relaxation == 1.0 else fitted_cross(self.data, old, W, bases)
        return update_by_parts(
            plan.embedding, self.data, bases, problem, W, weights, relaxation=relaxation, fitted=fitted
        )

    def rescaled(self, blocks: Blocks, divisors: Array) -> RowsAt:
        """The samples at the rescaled blocks; the product is the same, so the residuals are too."""
        return RowsAt(self.data, self.problem, blocks, self.residuals)


def embed(
    data: Sequence[ViewData],
    bases: Sequence[Array],
    problem: Problem,
    loss_state: Any = None,
    start: Array | None = None,
    *,
    towards: Array | None = None,
) -> Array:
    """Each sample's exact embedding (n, r) from what was observed of it.

    Terms that couple samples are left out, since they concern the samples of the fit only. `towards` (n, r), if given,
    adds −2 tr(towardsᵀW): with a ridge, each sample is pulled towards a point of its own.
    """
    alone = replace(problem, embedding=tuple(term for term in problem.embedding if term.separable))
    chosen = problem.loss.choose(data, bases, alone.embedding, loss_state)
    if chosen is not None:
        return chosen
    update = choose_update(alone.embedding, "embedding")
    if start is None:
        start = like(np.zeros((data[0].X.shape[0], bases[0].shape[1])), bases[0])
    return update_by_parts(update, data, bases, alone, start, towards=towards)


def embed_pulled(
    data: Sequence[ViewData], bases: Sequence[Array], problem: Problem, weight: float, points: Array
) -> Array:
    """Each sample's embedding (n, r) that minimises its loss + weight·‖w − point‖², for many samples.

    As `embed` with a ridge and a pull, to rounding. With a positive weight no gram is singular, so each is factored by
    LU, in a tenth of the time of its eigenvectors.
    """
    rows: list[Any] = []
    pieces: list[Array] = []
    eye = weight * like(np.eye(bases[0].shape[1]), bases[0])
    whole = all(view.view.is_rowwise for view in data)
    for part in by_availability(data, bases) if whole else by_sample(data, bases, None):
        quadratic = part.quadratic.scaled(problem.loss.weight)
        pieces.append(_solved(quadratic.gram + eye, quadratic.cross + weight * part.of(points)))
        rows.append(part.rows)
    return _joined(pieces, rows)


def _solved(gram: Array, right: Array) -> Array:
    """Rows w_i with gram_i w_i = right_i; one gram (r, r), or one per row (n, r, r)."""
    xp = namespace(gram)
    if gram.ndim == 2:
        return xp.linalg.solve(gram, right.T).T
    return xp.linalg.solve(gram, right[:, :, None])[:, :, 0]


def _joined(pieces: list[Array], rows: list[Any]) -> Array:
    """Pieces of an array, which belong to these rows."""
    if len(pieces) == 1:
        return pieces[0]
    xp = namespace(*pieces)
    together = xp.concat(pieces, axis=0)
    return together if isinstance(rows[0], slice) else taken(together, xp.argsort(xp.concat(rows)))


def update_by_parts(
    update: Update,
    data: Sequence[ViewData],
    bases: Sequence[Array],
    problem: Problem,
    W: Array,
    row_weights: Sequence[Array] | None = None,
    *,
    towards: Array | None = None,
    relaxation: float = 1.0,
    fitted: Array | None = None,
) -> Array:
    """The embedding after the W-step of Algorithm 2: one update per group of samples that share their gram.

    With over-relaxation, `fitted` has the cross products of the fitted values, (n, r).
    """
    rows: list[Any] = []
    pieces: list[Array] = []
    whole = row_weights is None and all(view.view.is_rowwise for view in data)
    for part in by_availability(data, bases) if whole else by_sample(data, bases, row_weights):
        quadratic = part.quadratic if fitted is None else part.quadratic.relaxed(relaxation, part.of(fitted))
        quadratic = quadratic.scaled(problem.loss.weight)
        if towards is not None:
            quadratic = replace(quadratic, cross=quadratic.cross + part.of(towards))
        pieces.append(update.apply(quadratic, problem.embedding, part.of(W)))
        rows.append(part.rows)
    return _joined(pieces, rows)
