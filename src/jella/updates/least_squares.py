"""Exact update of a block that is free or carries a ridge."""

from __future__ import annotations

from collections.abc import Sequence

from jella.arrays import Array, solve_psd
from jella.quadratic import Quadratic
from jella.terms.base import Term, is_ridge, total_ridge
from jella.updates.base import Update


class LeastSquares(Update):
    """B = C (A + weight·I)†, row by row where every row has its own A."""

    rank = 0

    def refuses(self, terms: Sequence[Term]) -> str | None:
        """Anything but ridges."""
        odd = [term.name for term in terms if not is_ridge(term)]
        return f"least squares cannot take {odd[0]}" if odd else None

    def apply(self, quadratic: Quadratic, terms: Sequence[Term], start: Array) -> Array:
        """The minimiser (of least norm, where it is not unique)."""
        quadratic = quadratic.with_ridge(total_ridge(terms))
        if quadratic.gram.ndim == 2:
            return solve_psd(quadratic.gram, quadratic.cross)
        return solve_psd(quadratic.gram, quadratic.cross[:, None, :])[:, 0, :]
