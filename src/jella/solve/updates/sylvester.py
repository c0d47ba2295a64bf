"""Exact update of a block whose rows are mixed: K B + B A = C, a Sylvester equation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from jella.numerics.arrays import Array, add_scaled, at_least, cache_blocks, if_small_on_host, like, namespace, to_numpy
from jella.problem.terms.base import Coupling, LowRank, Operator, Term, is_folded
from jella.solve.quadratic import Quadratic
from jella.solve.updates.base import Update

#: conjugate gradients end when the residual of each column is below this share of its right-hand side. Between sweeps
#: the second share is enough: the error of the value of the block is about its square
TOLERANCE, BETWEEN_SWEEPS = 1e-10, 1e-8
MAX_STEPS = 500


@dataclass(eq=False, repr=False)
class Sylvester(Update):
    """Diagonalises the small A = QΛQᵀ; each column x of BQ then solves (K + λ_j I) x = column of CQ.

    All columns at once: in closed form where K is low rank (Woodbury), else by conjugate gradients from the current
    block, each column with its own shift. No m × m matrix is formed or factorised.

    Parameters
    ----------
    tolerance : float, default=1e-10
        Conjugate gradients end when the residual of each column is below this share of its right-hand side.
    """

    tolerance: float = TOLERANCE
    rank = 3
    between_sweeps = MappingProxyType({"tolerance": BETWEEN_SWEEPS})

    def refuses(self, terms: Sequence[Term]) -> str | None:
        """Anything but one term that mixes rows, with ridges and linear parts."""
        odd = [term.name for term in terms if not is_folded(term)]
        if odd:
            return f"the Sylvester step cannot take {odd[0]}"
        mixing = [term.name for term in terms if isinstance(term, Coupling)]
        if len(mixing) > 1:
            return f"the Sylvester step takes one term that mixes rows, not {mixing[0]} and {mixing[1]}"
        return None if mixing else "the Sylvester step needs a term that mixes rows"

    def minimise(self, quadratic: Quadratic, terms: Sequence[Term], start: Array) -> Array:
        """The solution, up to the tolerance or MAX_STEPS; conjugate gradients never raise the value."""
        assert quadratic.coupling is not None
        gram = if_small_on_host(quadratic.gram)
        xp = namespace(gram)
        shifts, Q = xp.linalg.eigh(gram)
        floor = xp.max(shifts) * (shifts.shape[0] * float(xp.finfo(shifts.dtype).eps))
        nothing, known = xp.zeros_like(shifts), shifts > floor
        is_low_rank = isinstance(quadratic.coupling, LowRank)  # the data say nothing about columns with a shift of zero
        shifts = like(xp.where(known, shifts, nothing if is_low_rank else floor + nothing), start)
        Q = like(Q, start)
        right = quadratic.cross @ Q
        if isinstance(quadratic.coupling, LowRank):
            return solve_low_rank(quadratic.coupling.factor, shifts, right) @ Q.T
        found = shifted_conjugate_gradients(quadratic.coupling, shifts, right, start @ Q, self.tolerance)
        return found @ Q.T


def solve_low_rank(Y: Array, shifts: Array, right: Array) -> Array:
    """Column j of the solution solves (Y Yᵀ + shift_j I) x = column j of right; Y (m, q) with q small.

    Where a shift is zero, it is the solution of minimum norm: what lies outside the range of Y is rounding.
    """
    xp = namespace(Y)
    values, V = xp.linalg.eigh(Y.T @ Y)
    floor = xp.max(values) * (values.shape[0] * float(xp.finfo(values.dtype).eps))
    inside = values > at_least(floor, 0.0)
    values = xp.where(inside, values, xp.ones_like(values))
    directions = xp.where(inside, Y @ (V / xp.sqrt(values)), xp.zeros_like(Y))  # orthonormal columns of the range
    along = directions.T @ right
    outside = right - directions @ along
    known = shifts > 0
    outside = xp.where(known, outside / xp.where(known, shifts, xp.ones_like(shifts)), xp.zeros_like(outside))
    return directions @ (along / (values[:, None] + shifts[None, :])) + outside


def shifted_conjugate_gradients(
    operator: Operator, shifts: Array, right: Array, start: Array, tolerance: float = TOLERANCE
) -> Array:
    """Column j of the solution solves (K + shift_j I) x = column j of right, from column j of start.

    SciPy's `cg` solves one column; this solves all columns at once, each with its shift, in any array library.
    """
    xp = namespace(right)
    tolerance = max(tolerance, 10 * float(xp.finfo(right.dtype).eps))
    enough = to_numpy(tolerance**2 * _dots(right, right))
    X, R = xp.asarray(start, copy=True), operator.matmul(start)
    for rows in cache_blocks(R):
        R[rows, :] = right[rows, :] - R[rows, :] - X[rows, :] * shifts
    D, size = xp.asarray(R, copy=True), _dots(R, R)
    for _ in range(MAX_STEPS):
        if (to_numpy(size) <= enough).all():
            break
        KD = operator.matmul(D)
        for rows in cache_blocks(D):
            add_scaled(KD[rows, :], D[rows, :], shifts)
        length = _quotient(size, _dots(D, KD))
        for rows in cache_blocks(D):
            add_scaled(X[rows, :], D[rows, :], length)
            add_scaled(R[rows, :], KD[rows, :], -length)
        size, old = _dots(R, R), size
        step = _quotient(size, old)
        for rows in cache_blocks(D):
            part = D[rows, :]
            part *= step
            part += R[rows, :]
    return X


def _dots(A: Array, B: Array) -> Array:
    """Inner products of the columns of A with those of B."""
    xp = namespace(A)
    parts = [xp.sum(A[rows, :] * B[rows, :], axis=0) for rows in cache_blocks(A)]
    return sum(parts[1:], start=parts[0])


def _quotient(above: Array, below: Array) -> Array:
    """Quotient per column, 0 for a column that is solved."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return namespace(below).where(below > 0, above / below, 0.0 * above)
