"""Exact update of a stacked orthonormal basis."""

from __future__ import annotations

from collections.abc import Sequence

from jella.numerics.arrays import Array
from jella.problem.terms.base import Term
from jella.problem.terms.constraints import Orthonormal
from jella.solve.quadratic import Quadratic
from jella.solve.updates.base import Update


class Procrustes(Update):
    """U = LRᵀ from the thin SVD of ZᵀW = LΣRᵀ: the orthonormal U that maximises tr(UᵀZᵀW)."""

    rank = 2
    stacked = True

    def refuses(self, terms: Sequence[Term]) -> str | None:
        """Anything but Orthonormal alone."""
        odd = [term.name for term in terms if not isinstance(term, Orthonormal)]
        if odd:
            return f"the Procrustes step takes Orthonormal alone, not {odd[0]}"
        return None if terms else "the Procrustes step needs Orthonormal"

    def minimise(self, quadratic: Quadratic, terms: Sequence[Term], start: Array) -> Array:
        """The polar factor of the cross product."""
        return Orthonormal().project(quadratic.cross)
