"""Exact updates in closed form: a block that is free or carries a ridge, an orthonormal basis, an indicator."""

from __future__ import annotations

from collections.abc import Sequence

from jella.numerics.arrays import Array, namespace, solve_psd
from jella.problem.terms.base import Coupling, Term, is_folded
from jella.problem.terms.constraints import Orthonormal
from jella.problem.terms.indicator import Indicator, one_hot
from jella.solve.quadratic import Quadratic
from jella.solve.updates.base import Update


class LeastSquares(Update):
    """B = B₀ + (C − B₀A)A†, row by row where each row has its own A."""

    rank = 0
    by_row = True

    def refuses(self, terms: Sequence[Term]) -> str | None:
        """Anything but ridges and linear parts."""
        odd = [term.name for term in terms if isinstance(term, Coupling) or not is_folded(term)]
        return f"least squares cannot take {odd[0]}" if odd else None

    def minimise(self, quadratic: Quadratic, terms: Sequence[Term], start: Array) -> Array:
        """The minimiser nearest to the current block: what the data do not determine stays as it is."""
        change = quadratic.cross - quadratic.times(start)
        if quadratic.gram.ndim == 2:
            return start + solve_psd(quadratic.gram, change)
        return start + solve_psd(quadratic.gram, change[:, None, :])[:, 0, :]


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
