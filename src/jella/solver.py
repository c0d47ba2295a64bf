"""The alternating loop: Algorithms 1 and 2, over-relaxation, stopping, history, for every method."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

import numpy as np

from jella.arrays import Array, namespace
from jella.embed import embed, update_by_parts
from jella.plan import Plan
from jella.problem import Blocks, Problem
from jella.quadratic import Quadratic, basis_on_present, basis_with_completion, embedding_with_completion
from jella.relaxation import Relaxation
from jella.residuals import Residual, ViewData
from jella.result import Progress, Result, Sweep
from jella.views import Views

Callback = Callable[[Progress], Any]
#: equal values differ by this share in floating point; an objective below this share of ‖X‖² is as good as zero
ROUNDING = 1e-13


@dataclass(frozen=True)
class Iterate:
    """Blocks with what is known at them."""

    blocks: Blocks
    residuals: tuple[Residual, ...]
    values: dict[str, float]

    @property
    def value(self) -> float:
        """Objective."""
        return sum(self.values.values())


@dataclass
class _Record:
    """What is written down during a solve."""

    values: list[dict[str, float]] = field(default_factory=list)
    sweeps: list[Sweep] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    def seconds(self) -> float:
        return time.perf_counter() - self.started


def solve(
    problem: Problem,
    plan: Plan,
    views: Views,
    *,
    start: Blocks,
    relaxation: Relaxation,
    max_iter: int,
    tol: float,
    callbacks: Sequence[Callback] = (),
    close: bool = True,
) -> Result:
    """Sweep the plan until the objective settles; the result is never worse than any accepted sweep.

    An interrupt (Ctrl-C) ends the solve with the last accepted blocks. The closing step, which makes the fit agree with
    `transform`, can be left out to replay programs that have none.
    """
    data = [ViewData(view) for view in views]
    record = _Record()
    current = evaluate(problem, data, problem.start_states(start))
    current, reason = _loop(problem, plan, data, current, relaxation, max_iter, tol, callbacks, record)
    if close and reason != "interrupted":
        current = _close(problem, data, current, record)
    keys = record.values[0] if record.values else {}
    return Result(
        blocks=current.blocks,
        objective=np.array([sum(values.values()) for values in record.values]),
        history={key: np.array([values[key] for values in record.values]) for key in keys},
        sweeps=tuple(record.sweeps),
        converged=reason in ("tolerance", "no further decrease"),
        stop_reason=reason,
        seconds=record.seconds(),
    )


def _loop(
    problem: Problem,
    plan: Plan,
    data: Sequence[ViewData],
    current: Iterate,
    relaxation: Relaxation,
    max_iter: int,
    tol: float,
    callbacks: Sequence[Callback],
    record: _Record,
) -> tuple[Iterate, str]:
    pace = relaxation.start()
    floor = ROUNDING * sum(view.total for view in data)
    value = current.value if relaxation.judges_first else math.inf
    try:
        for n_iter in range(1, max_iter + 1):
            candidate = sweep(problem, plan, data, current, pace.factor)
            ratio = _ratio(candidate.value, value)
            accepted, next_pace = relaxation.judge(pace, ratio)
            record.sweeps.append(Sweep(pace.factor, ratio, accepted))
            if accepted:
                current, value = candidate, candidate.value
                record.values.append(current.values)
                told = Progress(n_iter, max_iter, value, current.values, pace.factor, record.seconds())
                wishes = [bool(callback(told)) for callback in callbacks]  # every one is told
                if any(wishes):
                    return current, "callback"
            elif relaxation.has_stalled(pace, ratio):
                return current, "no further decrease"
            if relaxation.has_converged(ratio, value, tol, n_iter) or (accepted and 0.0 <= value <= floor):
                return current, "tolerance"
            pace = next_pace
    except KeyboardInterrupt:
        return current, "interrupted"
    return current, "max_iter"


def sweep(problem: Problem, plan: Plan, data: Sequence[ViewData], at: Iterate, relaxation: float) -> Iterate:
    """One round of U, W, the terms' own variables, and (in Algorithm 1, implicitly) Z."""
    old, W, weight = at.blocks.bases, at.blocks.embedding, problem.loss.weight
    row_weights = problem.loss.row_weights(at.blocks.loss_state)
    if plan.completes:
        pairs = zip(at.residuals, old, strict=True)
        quadratics = [basis_with_completion(residual, U, W, relaxation) for residual, U in pairs]
    else:
        quadratics = [basis_on_present(view, W, D) for view, D in zip(data, row_weights or repeat(None), strict=False)]
    bases = _update_bases(problem, plan, [quadratic.scaled(weight) for quadratic in quadratics], at.blocks)
    if plan.completes:
        quadratic = embedding_with_completion(at.residuals, old, W, bases, relaxation).scaled(weight)
        embedding = plan.embedding.apply(quadratic, problem.embedding, W, at.blocks.embedding_states)
    else:
        embedding = update_by_parts(plan.embedding, data, bases, problem, W, row_weights)
    for term in problem.embedding:
        embedding = term.repair(embedding, W)
    blocks = problem.refresh_states(replace(at.blocks, bases=bases, embedding=embedding))
    return _normalised(problem, data, evaluate(problem, data, blocks))


def evaluate(problem: Problem, data: Sequence[ViewData], blocks: Blocks) -> Iterate:
    """Residuals and objective at blocks; the loss's own variables are minimised there."""
    pairs = zip(data, blocks.bases, strict=True)
    residuals = tuple(view.residual(U, blocks.embedding) for view, U in pairs)
    blocks = replace(blocks, loss_state=problem.loss.refresh(residuals, blocks.loss_state))
    return Iterate(blocks, residuals, problem.value_by_term(residuals, blocks))


def _normalised(problem: Problem, data: Sequence[ViewData], at: Iterate) -> Iterate:
    """The iterate in the scale that the method prefers, where that does not raise the objective."""
    if problem.normalise is None:
        return at
    other = evaluate(problem, data, problem.normalise(at.blocks))
    return other if other.value <= at.value * (1.0 + ROUNDING) else at


def _update_bases(problem: Problem, plan: Plan, quadratics: Sequence[Quadratic], blocks: Blocks) -> tuple[Array, ...]:
    if not plan.basis.stacked:
        return tuple(
            plan.basis.apply(quadratic, problem.basis, U, blocks.states_of_basis(v))
            for v, (quadratic, U) in enumerate(zip(quadratics, blocks.bases, strict=True))
        )
    stack = blocks.stacked()
    cross = namespace(stack).concat([quadratic.cross for quadratic in quadratics], axis=0)
    stack = plan.basis.apply(Quadratic(quadratics[0].gram, cross), problem.basis, stack)
    return split_rows(stack, [U.shape[0] for U in blocks.bases])


def split_rows(stack: Array, lengths: Sequence[int]) -> tuple[Array, ...]:
    """A stacked basis cut into the bases of the views."""
    ends = np.cumsum(lengths)
    starts = [0, *ends[:-1]]
    return tuple(stack[int(a) : int(b), :] for a, b in zip(starts, ends, strict=True))


def _close(problem: Problem, data: Sequence[ViewData], current: Iterate, record: _Record) -> Iterate:
    """Solve every sample's embedding exactly once more, so that the fit and `transform` agree.

    Where nothing fixes the coordinates they are first made canonical. Counts as part of the last sweep.
    """
    if not problem.is_separable:
        return current
    blocks = current.blocks
    if problem.is_free:
        blocks = replace(blocks, bases=balanced_bases(blocks))
    start = None if problem.is_free else blocks.embedding
    blocks = replace(blocks, embedding=embed(data, blocks.bases, problem, blocks.loss_state, start))
    closed = evaluate(problem, data, problem.refresh_states(blocks))
    if record.values and closed.value <= current.value:
        record.values[-1] = closed.values
    return closed


def balanced_bases(blocks: Blocks) -> tuple[Array, ...]:
    """Canonical bases that share the strength of every component with the embedding: both columns have norm √s.

    Of all ways to write the product W Uᵀ this has the least ‖W‖² + ‖U‖².
    """
    bases = canonical_bases(blocks)
    xp = namespace(blocks.embedding)
    overlap = sum(
        (U.T @ V for U, V in zip(blocks.bases[1:], bases[1:], strict=True)), start=blocks.bases[0].T @ bases[0]
    )
    scores = blocks.embedding @ overlap  # W Uᵀ in the canonical coordinates
    root = xp.sum(scores * scores, axis=0) ** 0.25
    return tuple(U * root for U in bases)


def canonical_bases(blocks: Blocks) -> tuple[Array, ...]:
    """Bases of the same product W Uᵀ, orthonormal as a stack, strongest component first, largest entry positive."""
    stack, W = blocks.stacked(), blocks.embedding
    xp = namespace(stack)
    Q, R = xp.linalg.qr(stack)
    core = W @ R.T  # W Uᵀ = (W Rᵀ) Qᵀ
    _, vectors = xp.linalg.eigh(core.T @ core)
    stack = Q @ xp.flip(vectors, axis=1)
    return split_rows(stack * largest_signs(stack), [U.shape[0] for U in blocks.bases])


def largest_signs(stack: Array) -> Array:
    """Sign of the largest entry of every column, (1, r): times it, that entry is positive."""
    xp = namespace(stack)
    largest = xp.argmax(xp.abs(stack), axis=0)
    signs = xp.sign(xp.take_along_axis(stack, largest[None, :], axis=0))
    return xp.where(signs == 0, xp.ones_like(signs), signs)


def _ratio(new: float, old: float) -> float:
    """New objective over old; where a concave term made the old one negative, one less the relative decrease."""
    if old == math.inf:
        return 0.0
    if old > 0:
        return new / old
    return 1.0 + (new - old) / abs(old) if old < 0 else float(new >= 0)
