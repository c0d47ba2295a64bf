"""A method, declared: a loss and the terms on each block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jella.arrays import Array, namespace
from jella.residuals import Residual
from jella.terms import Loss, NonNegative, Squared, Term
from jella.terms.constraints import Box


@dataclass(frozen=True)
class Blocks:
    """The unknowns: one basis a view, the common embedding, and the states of terms with variables of their own."""

    bases: tuple[Array, ...]  # (d_v, r) each
    embedding: Array  # (n, r)
    states: tuple[Any, ...] = ()  # basis terms (one state a view, or one where stacked), then embedding terms

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
    """

    loss: Loss = field(default_factory=Squared)
    basis: tuple[Term, ...] = ()
    embedding: tuple[Term, ...] = ()

    @property
    def is_separable(self) -> bool:
        """Whether every sample's embedding can be solved by itself when the bases are fixed."""
        return all(term.separable for term in self.embedding)

    @property
    def is_free(self) -> bool:
        """Whether any invertible change of coordinates of the embedding leaves the objective as it is."""
        return not self.basis and not self.embedding

    @property
    def is_stacked(self) -> bool:
        """Whether the bases of all views are tied to each other."""
        return any(term.stacked for term in self.basis)

    @property
    def needs_nonnegative_data(self) -> bool:
        """Whether both factors are non-negative, so that negative data could never be fitted."""
        return _is_nonnegative(self.basis) and _is_nonnegative(self.embedding)

    @property
    def has_nonnegative_embedding(self) -> bool:
        """Whether the embedding is constrained to be non-negative."""
        return _is_nonnegative(self.embedding)

    def start_states(self, blocks: Blocks) -> tuple[Any, ...]:
        """States of all terms before the first sweep."""
        return tuple(term.start(B) for term, B in self._placed(blocks))

    def refresh_states(self, blocks: Blocks) -> tuple[Any, ...]:
        """States of all terms, their own variables minimised at these blocks."""
        placed = self._placed(blocks)
        return tuple(term.refresh(B, state) for (term, B), state in zip(placed, blocks.states, strict=True))

    def value_by_term(self, residuals: Sequence[Residual], blocks: Blocks) -> dict[str, float]:
        """Objective, part by part: 'loss', then 'basis.Term' and 'embedding.Term'."""
        values = {"loss": self.loss.value(residuals)}
        states = iter(blocks.states)
        n_basis = sum(1 if term.stacked else len(blocks.bases) for term in self.basis)
        for place, (term, B) in enumerate(self._placed(blocks)):
            key = f"{'basis' if place < n_basis else 'embedding'}.{term.name}"
            values[key] = values.get(key, 0.0) + term.value(B, next(states))
        return values

    def _placed(self, blocks: Blocks) -> Iterator[tuple[Term, Array]]:
        for term in self.basis:
            for B in [blocks.stacked()] if term.stacked else blocks.bases:
                yield term, B
        for term in self.embedding:
            yield term, blocks.embedding


def _is_nonnegative(terms: Sequence[Term]) -> bool:
    return any(isinstance(term, NonNegative) or (isinstance(term, Box) and term.low >= 0) for term in terms)
