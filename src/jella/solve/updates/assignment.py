"""Exact update of an indicator: every row to its cheapest component."""

from __future__ import annotations

from collections.abc import Sequence

from jella.numerics.arrays import Array, namespace
from jella.problem.terms.base import Term
from jella.problem.terms.indicator import Indicator, one_hot
from jella.solve.quadratic import Quadratic
from jella.solve.updates.base import Update


class Assignment(Update):
    """Row i goes to argmin_j A_i,jj − 2 c_ij, which is its squared distance to centroid j less a constant."""

    rank = 4
    by_row = True

    def refuses(self, terms: Sequence[Term]) -> str | None:
        """Anything but Indicator alone."""
        odd = [term.name for term in terms if not isinstance(term, Indicator)]
        if odd:
            return f"the assignment step takes Indicator alone, not {odd[0]}"
        return None if terms else "the assignment step needs Indicator"

    def minimise(self, quadratic: Quadratic, terms: Sequence[Term], start: Array) -> Array:
        """The indicator of the cheapest component; a tie goes to the first."""
        xp = namespace(start)
        diagonal = xp.linalg.diagonal(quadratic.gram)
        return one_hot(xp.argmin(diagonal - 2.0 * quadratic.cross, axis=1), start)
