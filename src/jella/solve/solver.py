"""The alternating loop of all methods: Algorithms 1 and 2, over-relaxation, stopping, history, result."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, at_least, namespace
from jella.problem.model import Blocks, Problem
from jella.problem.terms.base import Coupling, Term
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
    """The argument of callbacks, which are called after each accepted sweep."""

    n_iter: int
    max_iter: int
    objective: float
    terms: dict[str, float]
    relaxation: float
    seconds: float


@dataclass(frozen=True)
class Result:
    """What a solve returns: the last blocks, and how they were reached.

    Attributes
    ----------
    blocks : Blocks
    objective : array, one value per accepted sweep
    history : dict of arrays, the same for each term
    sweeps : tuple of Sweep, rejected ones included
    converged : bool
    stop_reason : 'tolerance', 'no further decrease', 'max_iter', 'callback', 'interrupted' or 'samples lost'
    seconds : float
    lost : str
        Why samples could no longer be reached, if that ended the solve.
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
    """Blocks, with the samples and the objective at them."""

    blocks: Blocks
    samples: SamplesAt
    values: dict[str, float]  # of the objective, by term
    value: float  # of the objective


@dataclass
class _Record:
    """What a solve records for its result."""

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
    """The result of sweeps until the objective hardly changes; it is never worse than any accepted sweep.

    An interrupt (Ctrl-C), or the loss of the samples, ends the solve with the last accepted blocks. The closing step
    makes the fit agree with `transform`; `close=False` leaves it out, to repeat programs that have no such step.
    """
    order = None if problem.order is None or start.embedding_states else problem.order(start.embedding)
    if order is not None:
        problem, views, start = problem.take(order), views.take(order), problem.take_blocks(start, order)
    samples = samples_of(views, plan)
    record = _Record()
    current = evaluate(problem, samples, problem.start_states(start))
    current, reason = _loop(problem, plan, samples, current, relaxation, max_iter, tol, callbacks, record)
    if close and reason not in ("interrupted", "samples lost"):
        current = _close(problem, samples, current, record)
    blocks = current.blocks
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
    """The last accepted iterate, and the reason why the sweeps ended."""
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
                progress = Progress(n_iter, max_iter, value, current.values, pace.factor, seconds)
                stops = [bool(callback(progress)) for callback in callbacks]  # all are called
                if any(stops):
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
    """The iterate after one update of U, W and the terms' own variables; Algorithm 1 also completes Z, implicitly."""
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
    """The samples and the objective at blocks, with the loss's own variables at their minimum.

    `at`, if given, is the samples at these blocks, so that they are not computed again.
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
    elif relaxation != 1.0:  # gram WᵀMW and cross Z_λᵀMW over the samples present
        pairs = zip(quadratics, blocks.bases, strict=True)
        quadratics = [own.relaxed(relaxation, U @ own.gram) for own, U in pairs]
    elif (factors := problem.loss.view_factors(blocks.loss_state)) is not None:
        quadratics = [own.scaled(float(factor)) for own, factor in zip(quadratics, factors, strict=True)]
    quadratics = [own.scaled(problem.loss.weight) for own in quadratics]
    if not (plan.basis.stacked or _may_be_stacked(problem, plan, blocks)):
        return tuple(
            plan.basis.apply(quadratic, problem.basis, U, [states[v] for states in blocks.basis_states])
            for v, (quadratic, U) in enumerate(zip(quadratics, blocks.bases, strict=True))
        )
    stack = blocks.stacked()
    cross = namespace(stack).concat([quadratic.cross for quadratic in quadratics], axis=0)
    stack = plan.basis.apply(Quadratic(quadratics[0].gram, cross), problem.basis, stack)
    return split_rows(stack, [U.shape[0] for U in blocks.bases])


def _may_be_stacked(problem: Problem, plan: Plan, blocks: Blocks) -> bool:
    """Whether the step of all views at once is that of each: one gram, and nothing else that differs between views."""
    plain = all(type(term).linear is Term.linear and not isinstance(term, Coupling) for term in problem.basis)
    stateless = all(state is None for states in blocks.basis_states for state in states)
    return plan.completes and plan.basis.by_row and plain and stateless


def split_rows(stack: Array, lengths: Sequence[int]) -> tuple[Array, ...]:
    """The bases of the views, (d_v, r) each, from their stack (Σ d_v, r)."""
    ends = np.cumsum(lengths)
    starts = [0, *ends[:-1]]
    return tuple(stack[int(a) : int(b), :] for a, b in zip(starts, ends, strict=True))


def _close(problem: Problem, samples: Samples, current: Iterate, record: _Record) -> Iterate:
    """The iterate with each sample's embedding solved exactly once more, so that the fit and `transform` agree.

    If nothing fixes the coordinates, they are made canonical first. The step counts as part of the last sweep.
    """
    if not problem.is_separable:
        return current
    blocks, start = current.blocks, current.blocks.embedding
    if not problem.basis and not problem.embedding:  # no invertible change of coordinates changes the objective
        blocks, start = replace(blocks, bases=balanced_bases(blocks.bases, current.samples.gram())), None
    blocks = replace(blocks, embedding=samples.embed(problem, blocks, start))
    closed = evaluate(problem, samples, problem.refresh_states(blocks))
    if record.values and closed.value <= current.value:
        record.values[-1] = closed.values
    return closed


def balanced_bases(bases: Sequence[Array], gram: Array) -> tuple[Array, ...]:
    """Canonical bases whose columns have norm √s for a component of strength s, as have those of the embedding.

    Of all factorisations of the product W Uᵀ, this one has the least ‖W‖² + ‖U‖². Of W, only WᵀW is needed.
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
    """Sign of the largest entry of each column, (1, r); the column times its sign has this entry positive."""
    xp = namespace(stack)
    largest = xp.argmax(xp.abs(stack), axis=0)
    signs = xp.sign(xp.take_along_axis(stack, largest[None, :], axis=0))
    return xp.where(signs == 0, xp.ones_like(signs), signs)


def _ratio(new: float, old: float) -> float:
    """New objective divided by the old; if a concave term made the old negative, 1 minus the relative decrease."""
    if old == math.inf:
        return 0.0
    if old > 0:
        return new / old
    return 1.0 + (new - old) / abs(old) if old < 0 else float(new >= 0)
