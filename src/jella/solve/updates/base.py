"""What an update must offer: which terms it takes, and a new block whose value is never higher."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np

from jella.numerics.arrays import Array, like
from jella.problem.terms.base import Coupling, Term, is_folded
from jella.solve.quadratic import Quadratic


class Update(ABC):
    """Minimises a quadratic plus terms over one block.

    A subclass defines `refuses` and `minimise`, and can be constructed without arguments: the plan finds it among all
    subclasses. A class that is only a base of others names ABC among its bases: ``class RowWise(Update, ABC)``.
    """

    #: in messages
    name: ClassVar[str]
    #: the plan tries updates in this order; exact and cheap ones first
    rank: ClassVar[int] = 5
    #: the new value of a row does not depend on the other rows
    by_row: ClassVar[bool] = False
    #: solves the bases of all views at once, which needs a common gram (Algorithm 1)
    stacked: ClassVar[bool] = False
    #: arguments in the loop: an update that iterates may stop early, since the next sweep continues
    between_sweeps: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    def __init_subclass__(cls, **options: Any) -> None:
        """Raise an error for a class that the plan would skip, or that would lose its quadratic terms."""
        super().__init_subclass__(**options)
        cls.name = cls.__name__
        problem = _why_unusable(cls)
        if problem:
            cls.__abstractmethods__ = frozenset({"minimise"})  # a traceback may keep the class: no plan must find it
            raise TypeError(f"the update {cls.__name__} {problem}")

    @abstractmethod
    def refuses(self, terms: Sequence[Term]) -> str | None:
        """Why the update cannot take these terms, with their names; None if it can."""

    @final
    def apply(
        self, quadratic: Quadratic, terms: Sequence[Term], start: Array, states: Sequence[Any] | None = None
    ) -> Array:
        """The new block (m, r), from the current one; its value is never higher.

        Terms that are quadratic themselves, or bounded by a linear part at the current block, go into the quadratic.
        """
        gram, cross, coupling = quadratic.gram, quadratic.cross, quadratic.coupling
        for term, state in zip(terms, states or [None] * len(terms), strict=True):
            if term.ridge > 0:
                gram = gram + like(term.ridge * np.eye(gram.shape[-1]), gram)
            linear = term.linear(start, state)
            if linear is not None:
                cross = cross + linear
            if isinstance(term, Coupling):
                coupling = term.coupling(start, state)
        return self.minimise(Quadratic(gram, cross, coupling), [term for term in terms if not is_folded(term)], start)

    @abstractmethod
    def minimise(self, quadratic: Quadratic, terms: Sequence[Term], start: Array) -> Array:
        """The new block (m, r); terms that are quadratic themselves are already in the quadratic."""

    def __repr__(self) -> str:
        return f"{self.name}()"


def _why_unusable(kind: type[Update]) -> str | None:
    if kind.apply is not Update.apply:
        return "overrides apply, which prepares the quadratic for minimise; write minimise(quadratic, terms, start)"
    missing = [name for name in dir(kind) if getattr(getattr(kind, name, None), "__isabstractmethod__", False)]
    if missing and ABC not in kind.__bases__:
        return f"does not define {' and '.join(missing)}; a class that is only a base of updates names ABC as a base"
    return None
