"""Terms on a block: what a method is made of, and what each term must offer to be minimised."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from jella.numerics.arrays import Array, namespace


class Part:
    """A loss or a term: equal to another one of the same class and settings, and named after its class."""

    #: in messages and histories
    name: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.name = cls.__name__

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in sorted(vars(self).items()))
        return f"{self.name}({shown})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted(vars(self).items()))))


def positive(weight: float, what: str) -> float:
    """The weight as a float; one that is not positive and finite is an error that names it."""
    if not (math.isfinite(weight) and weight > 0):
        raise ValueError(
            f"{what} must be positive and finite, got {weight}; to leave out the term, use jella.JELLA with the others"
        )
    return float(weight)


class Operator(Protocol):
    """A symmetric positive semi-definite matrix (m, m), known by its products."""

    def matmul(self, B: Array) -> Array:
        """K @ B, (m, r), in a new array that the caller may write to."""


@dataclass(frozen=True)
class LowRank:
    """Y Yᵀ, where Y has few columns; updates can invert it in closed form."""

    factor: Array  # Y, (m, q)

    def matmul(self, B: Array) -> Array:
        """Product with a block (m, r)."""
        return self.factor @ (self.factor.T @ B)


class Term(Part, ABC):
    """A regulariser or constraint on a block B: a basis (d, r) or the embedding (n, r).

    A term with a simple proximal operator offers `prox`. A term that adds a weight to ‖B‖² gives it as `ridge` and is
    folded into the quadratic part of its block. A term with its own variables keeps them in a state, which the solver
    stores with the blocks.
    """

    #: each row of B can be solved by itself
    separable: ClassVar[bool] = True
    #: a sum over entries of B, so that a coordinate can be solved by itself
    elementwise: ClassVar[bool] = False
    #: scaling B by s > 0 scales the value by s, or keeps a constraint satisfied: such a prox can follow another
    homogeneous: ClassVar[bool] = False
    #: needs the bases of all views at once, stacked (Σ d_v, r)
    stacked: ClassVar[bool] = False
    #: enters its block only through `linear`, as a bound that is equal to the term at the current block
    linearises: ClassVar[bool] = False
    #: lets its block grow without end unless data hold it: each view must have as many samples as components
    grows: ClassVar[bool] = False
    #: number of n × n arrays that a fit holds for the term
    pairs: ClassVar[int] = 0
    #: order in which proxes of several terms are applied
    order: ClassVar[int] = 9
    #: weight of ‖B‖² that the term adds
    ridge: float = 0.0
    #: weight with which the term pulls a new row towards the mean of its neighbours
    pull: float = 0.0

    @abstractmethod
    def value(self, B: Array, state: Any = None) -> float:
        """Value of the term; 0 for a constraint that is satisfied."""

    def linear(self, B: Array, state: Any) -> Array | None:
        """The L of a linear part −2 tr(LᵀB), (m, r), or None for a term without one."""
        return None

    def repair(self, new: Array, old: Array) -> Array:
        """The updated block, corrected where it breaks a rule of the term; never worse than the old block."""
        return new

    def project(self, B: Array) -> Array:
        """The nearest point that satisfies the constraint; B itself for a regulariser."""
        return B

    def start(self, B: Array) -> Any:
        """State of the term's own variables before the first sweep."""
        return None

    def refresh(self, B: Array, state: Any) -> Any:
        """State with the term's own variables minimised while B is fixed."""
        return state

    def rescaled(self, state: Any, factors: Array) -> Any:
        """State that belongs to B with its columns multiplied by positive factors (r,)."""
        return state

    def at_rest(self, state: Any) -> Any:
        """State in the form in which a result keeps it after the solve."""
        return state

    def take(self, rows: np.ndarray) -> Term:
        """The term with the rows of B in another order."""
        if not self.separable:
            raise NotImplementedError(f"{self.name} relates rows and does not define how it follows another order")
        return self

    def take_state(self, state: Any, rows: np.ndarray) -> Any:
        """The state with the rows of B in another order."""
        return state


class Coupling(Term):
    """A term that mixes the rows of its block: tr(BᵀKB) − 2 tr(LᵀB), with K and L from its state."""

    separable = False

    @abstractmethod
    def coupling(self, B: Array, state: Any) -> Operator:
        """The operator K."""


@dataclass(frozen=True)
class Piece:
    """Around each entry of a block, the interval in which a sum over entries is linear, and its slope.

    Attributes
    ----------
    slope, low, high : arrays like the block, or numbers
        An entry at a kink lies at an end of its interval.
    """

    slope: Any = 0.0
    low: Any = -math.inf
    high: Any = math.inf


class Proximable(Term):
    """A term whose proximal operator is known."""

    def piece(self, B: Array) -> Piece | None:
        """The linear piece around each entry, for a sum over entries that is piecewise linear; else None."""
        return None

    @abstractmethod
    def prox(self, B: Array, step: Any) -> Array:
        """Argmin over Y of ½‖Y − B‖² + step·value(Y); step is a number or broadcasts against B."""


def why_not_joint(terms: Sequence[Term]) -> str | None:
    """Why these terms have no common proximal operator, or None where they have one."""
    terms = [term for term in terms if not is_folded(term)]
    for term in terms:
        if not isinstance(term, Proximable):
            return f"{term.name} offers no proximal operator"
    whole = [term for term in terms if not term.elementwise]
    if len(whole) > 1:
        return f"{whole[0].name} and {whole[1].name} have no joint proximal operator: at most one of them can be used"
    for term in whole:
        for other in terms:
            if other is not term and not (term.homogeneous and other.homogeneous):
                odd = other if term.homogeneous else term
                return f"{term.name} and {other.name} have no joint proximal operator: {odd.name} is not homogeneous"
    return None


def joint_prox(terms: Sequence[Term]) -> Callable[[Array, Any], Array]:
    """The proximal operator of the sum of the terms that are not folded into the quadratic.

    Entrywise terms are applied in their order (shrink, then clip). A norm over groups of entries may follow shrinking
    and a sign constraint, because both keep the directions of its groups.
    """
    ordered = sorted(terms, key=lambda term: term.order)
    chain = [term for term in ordered if isinstance(term, Proximable) and not is_folded(term)]

    def prox(B: Array, step: Any) -> Array:
        for term in chain:
            B = term.prox(B, step)
        return B

    return prox


def joint_piece(terms: Sequence[Term], B: Array) -> Piece | None:
    """The linear piece of the sum of the terms around each entry of B, or None where one of them has none."""
    pieces = [term.piece(B) if isinstance(term, Proximable) else None for term in terms if not is_folded(term)]
    xp, whole = namespace(B), Piece(*(0.0 * B + end for end in (0.0, -math.inf, math.inf)))
    for piece in pieces:
        if piece is None:
            return None
        low, high = (0.0 * B + end for end in (piece.low, piece.high))
        whole = Piece(whole.slope + piece.slope, xp.maximum(whole.low, low), xp.minimum(whole.high, high))
    return whole


def is_folded(term: Term) -> bool:
    """Whether the term enters its block only through the quadratic, so that updates do not see it."""
    return term.ridge > 0 or isinstance(term, Coupling) or term.linearises


def concrete_subclasses(kind: Any) -> Iterator[Any]:
    """Each subclass, at any depth, that can be instantiated."""
    for sub in kind.__subclasses__():
        if not getattr(sub, "__abstractmethods__", None):
            yield sub
        yield from concrete_subclasses(sub)
