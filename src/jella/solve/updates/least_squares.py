"""Exact update of a block that is free or carries a ridge."""

from __future__ import annotations

from collections.abc import Sequence

from jella.numerics.arrays import Array, solve_psd
from jella.problem.terms.base import Coupling, Term, is_folded
from jella.solve.quadratic import Quadratic
from jella.solve.updates.base import Update


class LeastSquares(Update):
    """B = B₀ + (C − B₀A)A†, row by row where every row has its own A."""

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
