"""What an update must offer: which terms it can take, and a block that is no worse than before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, final

from jella.numerics.arrays import Array
from jella.problem.terms.base import Term, is_folded
from jella.solve.quadratic import Quadratic


class Update(ABC):
    """Minimises a quadratic plus terms over one block.

    A subclass writes `refuses` and `minimise`, and needs no arguments to be made: the plan finds it by walking
    subclasses. One that is only a base of others names ABC among its own bases: ``class RowWise(Update, ABC)``.
    """

    #: updates are asked in this order; exact and cheap ones first
    rank: ClassVar[int] = 5
    #: what becomes of a row does not depend on the other rows
    by_row: ClassVar[bool] = False
    #: solves the bases of all views at once, which needs a common gram (Algorithm 1)
    stacked: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Refuse a class that the plan would skip, or that would lose its quadratic terms."""
        super().__init_subclass__(**options)
        problem = _why_unusable(cls)
        if problem:
            cls.__abstractmethods__ = frozenset({"minimise"})  # a traceback may keep the class: no plan must find it
            raise TypeError(f"the update {cls.__name__} {problem}")

    @abstractmethod
    def refuses(self, terms: Sequence[Term]) -> str | None:
        """Why these terms cannot be handled, naming them; None where they can."""

    @final
    def apply(
        self, quadratic: Quadratic, terms: Sequence[Term], start: Array, states: Sequence[Any] | None = None
    ) -> Array:
        """The new block (m, r), from the current one; its value is never higher."""
        folded = quadratic.fold(terms, states or [None] * len(terms), start)
        return self.minimise(folded, [term for term in terms if not is_folded(term)], start)

    @abstractmethod
    def minimise(self, quadratic: Quadratic, terms: Sequence[Term], start: Array) -> Array:
        """The same, when all terms that are quadratic themselves are in the quadratic already."""

    def between_sweeps(self) -> Update:
        """The update as the loop uses it: one that iterates may stop early there, since the next sweep goes on."""
        return self

    @property
    def name(self) -> str:
        """Name in messages."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"{self.name}()"


def _why_unusable(kind: type[Update]) -> str | None:
    if kind.apply is not Update.apply:
        return "overrides apply, which prepares the quadratic for minimise; write minimise(quadratic, terms, start)"
    missing = [name for name in dir(kind) if getattr(getattr(kind, name, None), "__isabstractmethod__", False)]
    if missing and ABC not in kind.__bases__:
        return f"does not define {' and '.join(missing)}; a class that is only a base of updates names ABC as a base"
    return None
