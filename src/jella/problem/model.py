"""A method, declared: a loss and the terms on each block, for the data of a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, namespace, take_rows
from jella.problem.terms import Loss, NonNegative, Squared, Term
from jella.problem.terms.constraints import Box
from jella.views import AnyViews


@dataclass(frozen=True)
class Data:
    """What a method is declared for: the samples of a fit, prepared.

    Attributes
    ----------
    views : AnyViews
        Scaled, in memory or in chunks; the m samples that have something observed.
    y : any
        What the user gave as `y`, unchecked.
    rows : int array (m,)
        Where these samples stand among those that the user gave.
    n_given : int
        How many the user gave.
    """

    views: AnyViews
    y: Any
    rows: np.ndarray
    n_given: int


@dataclass(frozen=True)
class Blocks:
    """The unknowns: one basis per view, the common embedding, and the states of parts with variables of their own."""

    bases: tuple[Array, ...]  # (d_v, r) each
    embedding: Array  # (n, r)
    basis_states: tuple[tuple[Any, ...], ...] = ()  # one per term, in it one per view
    embedding_states: tuple[Any, ...] = ()  # one per term
    loss_state: Any = None

    def stacked(self) -> Array:
        """All bases on top of each other, (Σ d_v, r)."""
        return namespace(*self.bases).concat(list(self.bases), axis=0)


@dataclass(frozen=True)
class Problem:
    """min Σ_v f(X_v, W U_vᵀ) + Σ terms(U_v) + Σ terms(W), the JELLA framework.

    Parameters
    ----------
    loss : Loss
    basis, embedding : tuples of Term
        Regularisers and constraints on every U_v, and on W.
    normalise : callable, optional
        Sums of the columns of W (r,) -> what to divide these columns by, and multiply those of U with; done where the
        objective does not rise. Only with terms on the embedding that do not change with its scale.
    neighbours : int array (n, q), optional
        The samples, nearest first and -1 for none, from which missing values are imputed before the first sweep.
        Without it: from means.
    order : callable, optional
        Embedding of the start (n, r) -> an order of the samples (n,) in which the sweeps are faster, or None.

    Attributes
    ----------
    is_separable : bool
        Whether each sample's embedding can be solved by itself when the bases are fixed.
    has_nonnegative_embedding : bool
        Whether the embedding is constrained to be non-negative.
    needs_nonnegative_data : bool
        Whether both factors are non-negative, so that negative data could never be fitted.
    """

    loss: Loss = field(default_factory=Squared)
    basis: tuple[Term, ...] = ()
    embedding: tuple[Term, ...] = ()
    normalise: Callable[[Array], Array] | None = None
    neighbours: np.ndarray | None = None
    order: Callable[[Array], np.ndarray | None] | None = None

    is_separable: bool = field(init=False, repr=False, compare=False)
    has_nonnegative_embedding: bool = field(init=False, repr=False, compare=False)
    needs_nonnegative_data: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Set what follows from the terms."""
        of_basis, of_embedding = (
            any(isinstance(term, NonNegative) or (isinstance(term, Box) and term.low >= 0) for term in terms)
            for terms in (self.basis, self.embedding)
        )
        object.__setattr__(self, "is_separable", all(term.separable for term in self.embedding))
        object.__setattr__(self, "has_nonnegative_embedding", of_embedding)
        object.__setattr__(self, "needs_nonnegative_data", of_basis and of_embedding)

    def take(self, rows: np.ndarray) -> Problem:
        """The same problem with the samples in another order."""
        return replace(self, embedding=tuple(term.take(rows) for term in self.embedding), neighbours=None, order=None)

    def take_blocks(self, blocks: Blocks, rows: np.ndarray) -> Blocks:
        """The blocks, in memory, with the samples in another order."""
        pairs = zip(self.embedding, blocks.embedding_states, strict=False)
        states = tuple(term.take_state(state, rows) for term, state in pairs)
        return replace(blocks, embedding=take_rows(blocks.embedding, rows), embedding_states=states)

    def start_states(self, blocks: Blocks) -> Blocks:
        """The blocks with the states of all terms before the first sweep, where they have none yet."""
        if len(blocks.basis_states) == len(self.basis) and len(blocks.embedding_states) == len(self.embedding):
            return blocks
        return replace(
            blocks,
            basis_states=tuple(tuple(term.start(U) for U in blocks.bases) for term in self.basis),
            embedding_states=tuple(term.start(blocks.embedding) for term in self.embedding),
        )

    def refresh_states(self, blocks: Blocks) -> Blocks:
        """The blocks with all terms' own variables minimised at them."""
        basis = (
            tuple(term.refresh(U, state) for U, state in zip(blocks.bases, states, strict=True))
            for term, states in zip(self.basis, blocks.basis_states, strict=True)
        )
        pairs = zip(self.embedding, blocks.embedding_states, strict=True)
        embedding = (term.refresh(blocks.embedding, state) for term, state in pairs)
        return replace(blocks, basis_states=tuple(basis), embedding_states=tuple(embedding))

    def rescaled(self, blocks: Blocks, divisors: Array) -> Blocks:
        """Blocks of the same product, with the columns of W divided."""
        pairs = zip(self.basis, blocks.basis_states, strict=True)
        states = (tuple(term.rescaled(state, divisors) for state in own) for term, own in pairs)
        return replace(
            blocks,
            bases=tuple(U * divisors for U in blocks.bases),
            embedding=blocks.embedding / divisors,
            basis_states=tuple(states),
        )

    def value_by_term(self, totals: np.ndarray, of_embedding: Sequence[float], blocks: Blocks) -> dict[str, float]:
        """Objective, part by part: 'loss', then 'basis.Term' and 'embedding.Term'.

        Parameters
        ----------
        totals : array (V,)
            What the samples add to the loss.
        of_embedding : sequence of float
            Values of the terms on the embedding.
        """
        values = {"loss": self.loss.value(totals, blocks.loss_state)}
        for term, states in zip(self.basis, blocks.basis_states, strict=True):
            if term.stacked:
                values[f"basis.{term.name}"] = term.value(blocks.stacked())
            else:
                pairs = zip(blocks.bases, states, strict=True)
                values[f"basis.{term.name}"] = sum(term.value(U, state) for U, state in pairs)
        for term, value in zip(self.embedding, of_embedding, strict=True):
            values[f"embedding.{term.name}"] = value
        return values
