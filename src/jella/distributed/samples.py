"""Samples in chunks for the solver: workers pass over the data once per sweep and send sums to the client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from jella.distributed.by_chunk import ByChunk
from jella.distributed.views import ChunkedViews
from jella.numerics.arrays import Array
from jella.problem.model import Blocks, Problem
from jella.problem.terms.base import Term
from jella.solve.plan import Plan
from jella.solve.quadratic import Quadratic, embedding_with_completion, overlap
from jella.solve.samples import InMemory, RowsAt, samples_of
from jella.views import Views


@dataclass(frozen=True)
class Sums:
    """Sums over samples."""

    totals: np.ndarray  # of the loss, (V,)
    term_values: np.ndarray  # of the terms on the embedding
    gram: np.ndarray  # WᵀW
    columns: np.ndarray  # (r,)
    grams: tuple[np.ndarray, ...]  # of the bases
    crosses: tuple[np.ndarray, ...]

    @classmethod
    def at(cls, problem: Problem, blocks: Blocks, completes: bool, views: Views, W: np.ndarray) -> Sums:
        """The sums over a chunk with embedding W, at these blocks."""
        at = InMemory.of(views, keeps=False).at(problem, replace(blocks, embedding=W))
        bases = at.basis_sums(completes)  # first, because this computes the totals too
        return cls(
            at.totals(),
            np.array(at.term_values()),
            at.gram(),
            at.column_sums(),
            tuple(own.gram for own in bases),
            tuple(own.cross for own in bases),
        )

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.totals + other.totals,
            self.term_values + other.term_values,
            self.gram + other.gram,
            self.columns + other.columns,
            tuple(a + b for a, b in zip(self.grams, other.grams, strict=True)),
            tuple(a + b for a, b in zip(self.crosses, other.crosses, strict=True)),
        )

    def rescaled(self, divisors: np.ndarray) -> Sums:
        """The sums after the columns of W are divided."""
        both = divisors[:, None] * divisors
        return replace(
            self,
            gram=self.gram / both,
            columns=self.columns / divisors,
            grams=tuple(gram / both for gram in self.grams),
            crosses=tuple(cross / divisors for cross in self.crosses),
        )


@dataclass(frozen=True)
class Chunked:
    """Samples in chunks that are solved one by one, on the workers."""

    views: ChunkedViews
    completes: bool

    def total(self) -> float:
        """Sum of the squares of all observed entries."""
        return float(self.views.reduce(Views.sqnorm))

    def at(self, problem: Problem, blocks: Blocks) -> ChunkedAt:
        """The samples at these blocks, with the sums over all chunks; the embedding is kept on the workers."""
        step = partial(Sums.at, problem, _without_rows(blocks), self.completes)
        sums, W = self.views.reduce_and_keep(step, blocks.embedding)
        return ChunkedAt(self.views, problem, sums, W)

    def embed(self, problem: Problem, blocks: Blocks, start: Array | None) -> ByChunk:
        """The exact embedding of each sample with the bases fixed."""
        step = partial(_embed, problem, _without_rows(blocks))
        return self.views.map_rows(step, blocks.bases[0].shape[1], *([] if start is None else [start]))

    def repaired(self, problem: Problem, new: ByChunk, old: ByChunk) -> ByChunk:
        """The new embedding after repair; rows go to the client only if a component lost all its samples."""
        for term in problem.embedding:
            if type(term).repair is not Term.repair and np.any(_lost(new, old)):
                new = self.views.cut(term.repair(new.whole(), old.whole()))
        return new


def _lost(new: ByChunk, old: ByChunk) -> np.ndarray:
    return (new.sum(_column_sums) == 0) & (old.sum(_column_sums) != 0)


def _column_sums(W: np.ndarray) -> np.ndarray:
    return np.asarray(W.sum(axis=0))


@dataclass(frozen=True)
class ChunkedAt:
    """Samples in chunks at given blocks."""

    views: ChunkedViews
    problem: Problem
    sums: Sums
    embedding: ByChunk

    def totals(self) -> np.ndarray:
        """The totals of the loss, (V,)."""
        return self.sums.totals

    def term_values(self) -> tuple[float, ...]:
        """The values of the terms on the embedding."""
        return tuple(self.sums.term_values.tolist())

    def gram(self) -> np.ndarray:
        """WᵀW."""
        return self.sums.gram

    def column_sums(self) -> np.ndarray:
        """The column sums of W, (r,)."""
        return self.sums.columns

    def basis_sums(self, completes: bool) -> list[Quadratic]:
        """The quadratic of each basis."""
        return [Quadratic(gram, cross) for gram, cross in zip(self.sums.grams, self.sums.crosses, strict=True)]

    def next_embedding(self, plan: Plan, blocks: Blocks, bases: Sequence[Array], relaxation: float) -> ByChunk:
        """The next embedding, in chunks; workers compute it together with the sums at the next blocks."""
        step = partial(_next, self.problem, plan, _without_rows(blocks), tuple(bases), relaxation)
        return self.views.map_rows(step, bases[0].shape[1], self.embedding)

    def rescaled(self, blocks: Blocks, divisors: np.ndarray) -> ChunkedAt:
        """The samples at rescaled blocks; the sums follow from the old ones without a pass."""
        return replace(self, sums=self.sums.rescaled(divisors), embedding=blocks.embedding)


@dataclass(frozen=True)
class Together(Chunked):
    """Samples in chunks whose embedding the client solves for all of them together; the data stay on the workers.

    A sweep passes over the data twice: for the sums that the bases need, and for the products with the new bases.
    """

    def at(self, problem: Problem, blocks: Blocks) -> TogetherAt:  # type: ignore[override]
        """The samples at these blocks, with the sums over all chunks."""
        step = partial(Sums.at, _loss_only(problem), _bases_only(blocks), self.completes)
        sums = self.views.reduce(step, self.views.cut(blocks.embedding))
        return TogetherAt((), problem, blocks, (), self.views, sums)

    def repaired(self, problem: Problem, new: Array, old: Array) -> Array:
        """The new embedding after repair, as in memory."""
        return InMemory(()).repaired(problem, new, old)


@dataclass(frozen=True)
class TogetherAt(RowsAt):
    """Samples in chunks at given blocks; the embedding and its terms are on the client."""

    views: ChunkedViews
    sums: Sums

    def totals(self) -> np.ndarray:
        """The totals of the loss, (V,)."""
        return self.sums.totals

    def basis_sums(self, completes: bool) -> list[Quadratic]:
        """The quadratic of each basis."""
        gram = self.gram()
        return [Quadratic(gram, cross) for cross in self.sums.crosses]

    def next_embedding(self, plan: Plan, blocks: Blocks, bases: Sequence[Array], relaxation: float) -> Array:
        """The next embedding: workers compute the products with the data, and the client does the update."""
        step = partial(_cross, _loss_only(self.problem), _bases_only(blocks), tuple(bases), relaxation)
        cross = self.views.gather(step, self.views.cut(blocks.embedding))
        quadratic = Quadratic(overlap(bases, bases), cross).scaled(self.problem.loss.weight)
        return plan.embedding.apply(quadratic, self.problem.embedding, blocks.embedding, blocks.embedding_states)

    def rescaled(self, blocks: Blocks, divisors: Array) -> TogetherAt:
        """The samples at rescaled blocks; the sums follow from the old ones without a pass."""
        return replace(self, blocks=blocks, sums=self.sums.rescaled(divisors))


def _loss_only(problem: Problem) -> Problem:
    """The part of a problem that workers need; the client handles its terms."""
    return replace(problem, basis=(), embedding=())


def _bases_only(blocks: Blocks) -> Blocks:
    return replace(blocks, embedding=None, basis_states=(), embedding_states=())


def _cross(
    problem: Problem, blocks: Blocks, bases: tuple[Array, ...], relaxation: float, views: Views, W: np.ndarray
) -> np.ndarray:
    at = InMemory.of(views, keeps=False).at(problem, replace(blocks, embedding=W))
    return np.asarray(embedding_with_completion(at.residuals, blocks.bases, W, bases, relaxation).cross)


def _without_rows(blocks: Blocks) -> Blocks:
    """The blocks that are sent to all workers."""
    return replace(blocks, embedding=None)


def _embed(problem: Problem, blocks: Blocks, views: Views, start: np.ndarray | None = None) -> np.ndarray:
    return np.asarray(InMemory.of(views).embed(problem, blocks, start))


def _next(
    problem: Problem,
    plan: Plan,
    blocks: Blocks,
    bases: tuple[Array, ...],
    relaxation: float,
    views: Views,
    W: np.ndarray,
) -> np.ndarray:
    own = replace(blocks, embedding=W)
    return np.asarray(InMemory.of(views, keeps=False).at(problem, own).next_embedding(plan, own, bases, relaxation))


@samples_of.register
def _(views: ChunkedViews, plan: Plan) -> Chunked:
    return Chunked(views, plan.completes) if plan.by_sample else Together(views, plan.completes)
