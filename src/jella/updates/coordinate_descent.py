"""Exact update of a block under entrywise terms: non-negative, box, ℓ1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jella.arrays import Array, namespace
from jella.quadratic import Quadratic
from jella.terms.base import Coupling, Term, is_folded, joint_prox
from jella.updates.base import Update

#: a block is solved when no coordinate moves by more than this share of the largest entry
TOLERANCE = 1e-8
MAX_SWEEPS = 500
#: between sweeps it is enough that coordinates move by this share of what they moved at first, and these many cycles
PROGRESS = 1e-2
FEW_SWEEPS = 30


class CoordinateDescent(Update):
    """Cycles over the r coordinates, each solved exactly for all rows at once.

    For coordinate j of every row, b_j ← prox of the terms at (c_j − Σ_{l≠j} A_jl b_l)/A_jj with step 1/(2A_jj): for
    b ≥ 0 with weight α on ℓ1 that is max(0, b_j + (c_j − (bA)_j − α/2)/A_jj).
    """

    rank = 1
    by_row = True

    def __init__(self, progress: float = 0.0, max_sweeps: int = MAX_SWEEPS) -> None:
        self.progress, self.max_sweeps = progress, max_sweeps

    def between_sweeps(self) -> CoordinateDescent:
        """Solved less tightly, from where the last sweep left it."""
        return CoordinateDescent(PROGRESS, FEW_SWEEPS)

    def refuses(self, terms: Sequence[Term]) -> str | None:
        """Terms that couple the entries of a row or column."""
        odd = [t.name for t in terms if isinstance(t, Coupling) or not (t.elementwise or is_folded(t))]
        return f"coordinate descent cannot take {odd[0]}, which is not a sum over entries" if odd else None

    def minimise(self, quadratic: Quadratic, terms: Sequence[Term], start: Array) -> Array:
        """The minimiser to TOLERANCE, or the last of MAX_SWEEPS cycles.

        Every row stops by itself, so that what becomes of it does not depend on which other rows are solved with it.
        """
        prox = joint_prox(terms)
        xp = namespace(start)
        gram, cross = quadratic.gram, xp.asarray(quadratic.cross.T, copy=True)
        B = xp.asarray(start.T, copy=True)  # (r, m): a coordinate of all rows is contiguous
        tolerance = max(TOLERANCE, 10 * float(xp.finfo(B.dtype).eps))
        rows, done, first = xp.arange(B.shape[1], device=B.device), [], None
        for _ in range(self.max_sweeps):
            old = xp.asarray(B, copy=True)
            for j in range(B.shape[0]):
                B[j, :] = _coordinate(gram, cross, B, j, prox)
            moved, largest = xp.max(xp.abs(B - old), axis=0), xp.max(xp.abs(B), axis=0)
            first = moved if first is None else first
            going = moved > xp.maximum(tolerance * largest, self.progress * first)
            (left,), (ended,) = xp.nonzero(going), xp.nonzero(~going)
            if ended.shape[0]:
                done.append((xp.take(rows, ended), xp.take(B, ended, axis=1)))
                rows, B, cross = xp.take(rows, left), xp.take(B, left, axis=1), xp.take(cross, left, axis=1)
                first = xp.take(first, left)
                gram = gram if gram.ndim == 2 else xp.take(gram, left, axis=0)
            if not left.shape[0]:
                break
        rows = xp.concat([numbers for numbers, _ in done] + [rows])
        B = xp.concat([columns for _, columns in done] + [B], axis=1)
        return xp.asarray(xp.take(B, xp.argsort(rows), axis=1).T, copy=True)


def _coordinate(gram: Array, cross: Array, B: Array, j: int, prox: Callable[[Array, Any], Array]) -> Array:
    """Coordinate j of all rows at its minimum, the others fixed, (m,)."""
    xp = namespace(B)
    if gram.ndim == 2:
        curvature = float(gram[j, j])
        if curvature <= 0.0:
            return B[j, :]
        target = B[j, :] + (cross[j, :] - gram[j, :] @ B) / curvature
        return prox(target, 0.5 / curvature)
    curvature = gram[:, j, j]
    alive = curvature > 0
    safe = xp.where(alive, curvature, xp.ones_like(curvature))
    target = B[j, :] + (cross[j, :] - xp.sum(gram[:, j, :] * B.T, axis=1)) / safe
    return xp.where(alive, prox(target, 0.5 / safe), B[j, :])
