"""The plan of a solve: the update of each block, and the algorithm, chosen before the loop starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jella.problem.model import Problem
from jella.problem.terms.base import Term, concrete_subclasses
from jella.solve.relaxation import Basic, Relaxation
from jella.solve.updates import Update


@dataclass(frozen=True)
class Plan:
    """How a problem will be solved.

    Attributes
    ----------
    basis, embedding : Update
    completes : bool
        True: Algorithm 1, which completes the data between sweeps. False: Algorithm 2, which uses the samples present
        in each view; only for row-wise masks.
    by_sample : bool
        Whether the embedding of each sample is solved by itself.
    """

    basis: Update
    embedding: Update
    completes: bool
    by_sample: bool = True


def make_plan(problem: Problem, is_rowwise: bool, relaxation: Relaxation) -> Plan:
    """The updates and the algorithm for a problem; an error names the parts that do not fit together.

    Terms that couple samples, and a stacked basis, need one gram for all samples, so they use Algorithm 1.
    """
    relaxes = not isinstance(relaxation, Basic)
    if relaxes and not problem.loss.allows_sor:
        raise ValueError(f"over-relaxation cannot be used with the loss {problem.loss.name}; use solver='basic'")
    basis, embedding = choose_update(problem.basis, "basis"), choose_update(problem.embedding, "embedding")
    completes = relaxation.completes or not is_rowwise or not problem.is_separable or basis.stacked
    if completes and not problem.loss.allows_entries:
        raise ValueError(
            f"the loss {problem.loss.name} needs views in which only whole samples are missing, and terms that solve "
            "each sample by itself"
        )
    by_sample = problem.is_separable and embedding.by_row
    return Plan(type(basis)(**basis.between_sweeps), type(embedding)(**embedding.between_sweeps), completes, by_sample)


def choose_update(terms: Sequence[Term], block: str) -> Update:
    """The first update that takes all terms; if none does, an error says why each update refuses them."""
    for term in terms:
        if term.stacked and block != "basis":
            raise ValueError(f"{term.name} ties the bases of all views and cannot be put on the {block}")
    reasons = []
    for kind in sorted(concrete_subclasses(Update), key=lambda kind: kind.rank):  # a user's own subclass counts
        if kind.stacked and block != "basis":
            continue
        update: Update = kind()
        reason = update.refuses(terms)
        if reason is None:
            return update
        reasons.append(reason)
    parts = " with ".join(dict.fromkeys(term.name for term in terms))
    raise ValueError(f"no update can solve the {block} under {parts}: " + "; ".join(reasons))
