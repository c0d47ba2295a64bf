"""The alternating loop: Algorithms 1 and 2, over-relaxation, stopping, history, for every method."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, at_least, namespace
from jella.problem.model import Blocks, Problem
from jella.solve.plan import Plan
from jella.solve.quadratic import Quadratic, overlap
from jella.solve.relaxation import Relaxation
from jella.solve.samples import Samples, SamplesAt, SamplesLostError, samples_of
from jella.views import AnyViews

#: equal values differ by this share in floating point; an objective below this share of ‖X‖² is as good as zero
ROUNDING = 1e-13


@dataclass(frozen=True)
class Sweep:
    """One sweep: the relaxation it used, the ratio of new to old objective, and whether it was kept."""

    relaxation: float
    ratio: float
    accepted: bool


@dataclass(frozen=True)
class Progress:
    """What a callback is told after every accepted sweep."""

    n_iter: int
    max_iter: int
    objective: float
    terms: dict[str, float]
    relaxation: float
    seconds: float


@dataclass(frozen=True)
class Result:
    """Blocks at the end, and how they were reached.

    Attributes
    ----------
    blocks : Blocks
    objective : array, one value per accepted sweep
    history : dict of arrays, the same by term
    sweeps : tuple of Sweep, rejected ones included
    converged : bool
    stop_reason : 'tolerance', 'no further decrease', 'max_iter', 'callback', 'interrupted' or 'samples lost'
    seconds : float
    lost : str
        Why samples could no longer be reached, where that ended the solve.
    """

    blocks: Blocks
    objective: np.ndarray
    history: dict[str, np.ndarray]
    sweeps: tuple[Sweep, ...]
    converged: bool
    stop_reason: str
    seconds: float
    lost: str = ""

    @property
    def n_iter(self) -> int:
        """Number of sweeps, rejected ones included."""
        return len(self.sweeps)

    @property
    def value(self) -> float:
        """Objective at the blocks."""
        return float(self.objective[-1]) if self.objective.size else float("inf")

    def __repr__(self) -> str:
        return f"Result({self.n_iter} sweeps, objective {self.value:.6g}, stopped by {self.stop_reason})"


Callback = Callable[[Progress], Any]


@dataclass(frozen=True)
class Iterate:
    """Blocks with what is known at them."""

    blocks: Blocks
    samples: SamplesAt
    values: dict[str, float]  # of the objective, by term
    value: float  # of the objective


@dataclass
class _Record:
    """What is written down during a solve."""

    values: list[dict[str, float]] = field(default_factory=list)
    sweeps: list[Sweep] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)
    lost: str = ""


def solve(
    problem: Problem,
    plan: Plan,
    views: AnyViews,
    *,
    start: Blocks,
    relaxation: Relaxation,
    max_iter: int,
    tol: float,
    callbacks: Sequence[Callback] = (),
    close: bool = True,
) -> Result:
    """Sweep the plan until the objective settles; the result is never worse than any accepted sweep.

    An interrupt (Ctrl-C), or the loss of the samples, ends the solve with the last accepted blocks. The closing step,
    which makes the fit agree with `transform`, can be left out to replay programs that have none.
    """
    order = None if problem.order is None or start.embedding_states else problem.order(start.embedding)
    if order is not None:
        problem, views, start = problem.take(order), views.in_order(order), problem.take_blocks(start, order)
    samples = samples_of(views, plan)
    record = _Record()
    current = evaluate(problem, samples, problem.start_states(start))
    current, reason = _loop(problem, plan, samples, current, relaxation, max_iter, tol, callbacks, record)
    if close and reason not in ("interrupted", "samples lost"):
        current = _close(problem, samples, current, record)
    states = zip(problem.embedding, current.blocks.embedding_states, strict=False)
    blocks = replace(current.blocks, embedding_states=tuple(term.at_rest(state) for term, state in states))
    keys = record.values[0] if record.values else {}
    return Result(
        blocks=blocks if order is None else problem.take_blocks(blocks, np.argsort(order)),
        objective=np.array([sum(values.values()) for values in record.values]),
        history={key: np.array([values[key] for values in record.values]) for key in keys},
        sweeps=tuple(record.sweeps),
        converged=reason in ("tolerance", "no further decrease"),
        stop_reason=reason,
        seconds=time.perf_counter() - record.started,
        lost=record.lost,
    )


def _loop(
    problem: Problem,
    plan: Plan,
    samples: Samples,
    current: Iterate,
    relaxation: Relaxation,
    max_iter: int,
    tol: float,
    callbacks: Sequence[Callback],
    record: _Record,
) -> tuple[Iterate, str]:
    pace = relaxation.first
    floor = ROUNDING * samples.total()
    value = current.value if relaxation.judges_first else math.inf
    try:
        for n_iter in range(1, max_iter + 1):
            candidate = sweep(problem, plan, samples, current, pace.factor)
            ratio = _ratio(candidate.value, value)
            accepted, next_pace = relaxation.judge(pace, ratio)
            record.sweeps.append(Sweep(pace.factor, ratio, accepted))
            if accepted:
                current, value = candidate, candidate.value
                record.values.append(current.values)
                seconds = time.perf_counter() - record.started
                told = Progress(n_iter, max_iter, value, current.values, pace.factor, seconds)
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
    except SamplesLostError as error:
        record.lost = str(error)
        return current, "samples lost"
    return current, "max_iter"


def sweep(problem: Problem, plan: Plan, samples: Samples, at: Iterate, relaxation: float) -> Iterate:
    """One round of U, W, the terms' own variables, and (in Algorithm 1, implicitly) Z."""
    bases = _update_bases(problem, plan, at, relaxation)
    new = at.samples.next_embedding(plan, at.blocks, bases, relaxation)
    embedding = samples.repaired(problem, new, at.blocks.embedding)
    blocks = problem.refresh_states(replace(at.blocks, bases=bases, embedding=embedding))
    found = evaluate(problem, samples, blocks)
    if problem.normalise is None:
        return found
    # the scale that the method prefers, where that does not raise the objective
    divisors = problem.normalise(found.samples.column_sums())
    blocks = problem.rescaled(found.blocks, divisors)
    other = evaluate(problem, samples, blocks, found.samples.rescaled(blocks, divisors))
    return other if other.value <= found.value * (1.0 + ROUNDING) else found


def evaluate(problem: Problem, samples: Samples, blocks: Blocks, at: SamplesAt | None = None) -> Iterate:
    """Samples and objective at blocks; the loss's own variables are minimised at them.

    `at`, where given, is the samples at these blocks, so that nothing is computed again.
    """
    at = samples.at(problem, blocks) if at is None else at
    totals = at.totals()
    state = problem.loss.refresh(totals, blocks.loss_state)
    blocks = replace(blocks, embedding=at.embedding, loss_state=state)
    values = problem.value_by_term(totals, at.term_values(), blocks)
    return Iterate(blocks, at, values, sum(values.values()))


def _update_bases(problem: Problem, plan: Plan, at: Iterate, relaxation: float) -> tuple[Array, ...]:
    """The bases after their step, from sums over the samples: view by view, or all as a stack."""
    blocks, quadratics = at.blocks, at.samples.basis_sums(plan.completes)
    if plan.completes:  # gram WᵀW and cross ZᵀW, Z completed from the current blocks
        pairs = zip(quadratics, blocks.bases, strict=True)
        quadratics = [Quadratic(own.gram, U @ own.gram + relaxation * own.cross) for own, U in pairs]
    elif (factors := problem.loss.view_factors(blocks.loss_state)) is not None:
        quadratics = [own.scaled(float(factor)) for own, factor in zip(quadratics, factors, strict=True)]
    quadratics = [own.scaled(problem.loss.weight) for own in quadratics]
    if not plan.basis.stacked:
        return tuple(
            plan.basis.apply(quadratic, problem.basis, U, [states[v] for states in blocks.basis_states])
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


def _close(problem: Problem, samples: Samples, current: Iterate, record: _Record) -> Iterate:
    """Solve every sample's embedding exactly once more, so that the fit and `transform` agree.

    Where nothing fixes the coordinates they are first made canonical. Counts as part of the last sweep.
    """
    if not problem.is_separable:
        return current
    blocks, start = current.blocks, current.blocks.embedding
    if not problem.basis and not problem.embedding:  # any invertible change of coordinates leaves the objective
        blocks, start = replace(blocks, bases=balanced_bases(blocks.bases, current.samples.gram())), None
    blocks = replace(blocks, embedding=samples.embed(problem, blocks, start))
    closed = evaluate(problem, samples, problem.refresh_states(blocks))
    if record.values and closed.value <= current.value:
        record.values[-1] = closed.values
    return closed


def balanced_bases(bases: Sequence[Array], gram: Array) -> tuple[Array, ...]:
    """Canonical bases that share the strength of every component with the embedding: both columns have norm √s.

    Of all ways to write the product W Uᵀ this has the least ‖W‖² + ‖U‖². Of W, only WᵀW is needed.
    """
    new = canonical_bases(bases, gram)
    change = overlap(bases, new)
    root = at_least(namespace(gram).sum(change * (gram @ change), axis=0), 0.0) ** 0.25
    return tuple(U * root for U in new)


def canonical_bases(bases: Sequence[Array], gram: Array) -> tuple[Array, ...]:
    """Bases of the same product W Uᵀ, orthonormal as a stack, strongest component first, largest entry positive."""
    xp = namespace(gram)
    Q, R = xp.linalg.qr(xp.concat(list(bases), axis=0))
    _, vectors = xp.linalg.eigh(R @ gram @ R.T)  # W Uᵀ = (W Rᵀ) Qᵀ
    stack = Q @ xp.flip(vectors, axis=1)
    return split_rows(stack * largest_signs(stack), [U.shape[0] for U in bases])


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
