"""What is minimised: a loss and the terms on each block of unknowns, for the data of a fit."""

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
    """The prepared samples of a fit, for which a method declares its problem.

    Attributes
    ----------
    views : AnyViews
        Scaled, in memory or in chunks; the m samples that have something observed.
    y : any
        What the user gave as `y`, unchecked.
    rows : int array (m,)
        Positions of these samples among those that the user gave.
    n_given : int
        Number of samples that the user gave.
    """

    views: AnyViews
    y: Any
    rows: np.ndarray
    n_given: int


@dataclass(frozen=True)
class Blocks:
    """The unknowns: one basis per view, the common embedding, and the states of terms that have their own variables."""

    bases: tuple[Array, ...]  # (d_v, r) each
    embedding: Array  # (n, r)
    basis_states: tuple[tuple[Any, ...], ...] = ()  # per term, a state per view
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
        Regularisers and constraints on each U_v, and on W.
    normalise : callable, optional
        Takes the sums of the columns of W (r,) and returns divisors (r,): columns of W are divided by them and columns
        of U multiplied, unless the objective would rise. Only for terms on the embedding that do not depend on its
        scale.
    neighbours : int array (n, q), optional
        Per sample, the samples from which its missing values are imputed before the first sweep: nearest first, -1 for
        none. Without it, missing values are imputed by means.
    order : callable, optional
        Takes the embedding at the start (n, r) and returns an order of the samples (n,) in which sweeps are faster, or
        None.

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
        """The blocks with the samples in another order; the embedding is in memory."""
        pairs = zip(self.embedding, blocks.embedding_states, strict=False)
        states = tuple(term.take_state(state, rows) for term, state in pairs)
        return replace(blocks, embedding=take_rows(blocks.embedding, rows), embedding_states=states)

    def at_rest(self, blocks: Blocks) -> Blocks:
        """The blocks in the form in which a result keeps them: states on the host."""
        pairs = zip(self.embedding, blocks.embedding_states, strict=False)
        return replace(blocks, embedding_states=tuple(term.at_rest(state) for term, state in pairs))

    def start_states(self, blocks: Blocks) -> Blocks:
        """The blocks with the states of all terms before the first sweep; blocks that have states are unchanged."""
        if len(blocks.basis_states) == len(self.basis) and len(blocks.embedding_states) == len(self.embedding):
            return blocks
        return replace(
            blocks,
            basis_states=tuple(tuple(term.start(U) for U in blocks.bases) for term in self.basis),
            embedding_states=tuple(term.start(blocks.embedding) for term in self.embedding),
        )

    def refresh_states(self, blocks: Blocks) -> Blocks:
        """The blocks with the own variables of all terms at their minimum."""
        basis = (
            tuple(term.refresh(U, state) for U, state in zip(blocks.bases, states, strict=True))
            for term, states in zip(self.basis, blocks.basis_states, strict=True)
        )
        pairs = zip(self.embedding, blocks.embedding_states, strict=True)
        embedding = (term.refresh(blocks.embedding, state) for term, state in pairs)
        return replace(blocks, basis_states=tuple(basis), embedding_states=tuple(embedding))

    def rescaled(self, blocks: Blocks, divisors: Array) -> Blocks:
        """Blocks with the same product W Uᵀ: the columns of W are divided, those of U multiplied."""
        pairs = zip(self.basis, blocks.basis_states, strict=True)
        states = (tuple(term.rescaled(state, divisors) for state in own) for term, own in pairs)
        return replace(
            blocks,
            bases=tuple(U * divisors for U in blocks.bases),
            embedding=blocks.embedding / divisors,
            basis_states=tuple(states),
        )

    def value_by_term(self, totals: np.ndarray, of_embedding: Sequence[float], blocks: Blocks) -> dict[str, float]:
        """Values of the parts of the objective: 'loss', then 'basis.Term' and 'embedding.Term'.

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
