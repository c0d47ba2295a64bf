"""Exact update of a block under entrywise terms: non-negative, box, ℓ1."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from jella.numerics.arrays import Array, cache_blocks, namespace, to_numpy
from jella.problem.terms.base import Coupling, Term, is_folded, joint_piece, joint_prox
from jella.solve.quadratic import Quadratic
from jella.solve.updates.base import Update
from jella.solve.updates.free_entries import move_free_entries

Prox = Callable[[Array, Any], Array]

#: a block is solved when no coordinate moves by more than this share of the largest entry
TOLERANCE = 1e-8
MAX_SWEEPS = 500
#: between sweeps a row ends when its coordinates move by less than this share of their first move, or after this
#: number of cycles
PROGRESS = 1e-2
FEW_SWEEPS = 30
#: an exact solve moves the entries that no kink holds once in this many cycles
OFTEN = 10
#: rows that have ended stay in the cycles, without effect, until less than this share still move: removal is a copy
MOST = 0.9


@dataclass(eq=False, repr=False)
class CoordinateDescent(Update):
    """Cycles over the r coordinates, each solved exactly for all rows at once.

    For coordinate j of each row, b_j ← prox of the terms at (c_j − Σ_{l≠j} A_jl b_l)/A_jj with step 1/(2A_jj): for
    b ≥ 0 with weight α on ℓ1 that is max(0, b_j + (c_j − (bA)_j − α/2)/A_jj). SciPy's `nnls` solves one row under b ≥ 0
    alone; this solves all rows at once, under any entrywise terms, in any array library. Where `progress` is zero, the
    entries between the kinks of the terms are solved together every few cycles.

    Parameters
    ----------
    progress : float, default=0.0
        A row also ends when its coordinates move by less than this share of their first move.
    max_sweeps : int, default=500
        Most cycles over the coordinates.
    """

    progress: float = 0.0
    max_sweeps: int = MAX_SWEEPS
    rank = 1
    by_row = True
    between_sweeps = MappingProxyType({"progress": PROGRESS, "max_sweeps": FEW_SWEEPS})

    def refuses(self, terms: Sequence[Term]) -> str | None:
        """Terms that couple the entries of a row or column."""
        odd = [t.name for t in terms if isinstance(t, Coupling) or not (t.elementwise or is_folded(t))]
        return f"coordinate descent cannot take {odd[0]}, which is not a sum over entries" if odd else None

    def minimise(self, quadratic: Quadratic, terms: Sequence[Term], start: Array) -> Array:
        """The minimiser to TOLERANCE, or the last of MAX_SWEEPS cycles.

        Each row stops by itself, so that its result does not depend on the rows that are solved with it: rows are
        solved in blocks that stay in the cache.
        """
        found = []
        for rows in list(cache_blocks(start)) or [slice(0, 0)]:
            gram, cross, own = quadratic.gram, quadratic.cross[rows, :], start[rows, :]
            together = _OneGram(gram, cross, own) if gram.ndim == 2 else _ManyGrams(gram[rows, :, :], cross, own)
            found.append(self._solved(together, terms))
        return found[0] if len(found) == 1 else namespace(start).concat(found, axis=0)

    def _solved(self, rows: _Rows, terms: Sequence[Term]) -> Array:
        """The block after the last cycle of each row."""
        xp, prox, m = rows.xp, joint_prox(terms), rows.B.shape[rows.axis]
        tolerance = max(TOLERANCE, 10 * float(xp.finfo(rows.B.dtype).eps))
        numbers, done, first = xp.arange(m, device=rows.B.device), [], None
        going = numbers >= 0  # at first all of them
        for cycle in range(self.max_sweeps):
            if self.progress == 0.0 and cycle % OFTEN == OFTEN - 1:
                rows.move_free_entries(terms)
            moved, largest = rows.cycle(prox)
            first = moved if first is None else first
            still = going & (moved > xp.maximum(tolerance * largest, self.progress * first))
            (left,), (ended,) = xp.nonzero(still), xp.nonzero(going & ~still)
            going = still
            if ended.shape[0]:
                done.append((xp.take(numbers, ended), rows.values(ended)))
            if not left.shape[0]:
                break
            if left.shape[0] < MOST * numbers.shape[0]:
                numbers, first, going = (xp.take(every, left) for every in (numbers, first, going))
                rows.keep(left)
        done.append((numbers[going], rows.values(xp.nonzero(going)[0])))
        numbers, B = (xp.concat(parts) for parts in zip(*done, strict=True))
        return xp.take(B, xp.argsort(numbers), axis=0)


class _Rows(ABC):
    """Rows that still move; the parts of the Gram matrices that a cycle needs are read once, not per coordinate."""

    gram: Array
    axis: int  # of the rows in B and cross

    def __init__(self, gram: Array, cross: Array, start: Array) -> None:
        self.xp = namespace(start)
        self.cross, self.B = (self.xp.asarray(X.T if self.axis else X, copy=True) for X in (cross, start))
        self.take_gram(gram)

    @abstractmethod
    def take_gram(self, gram: Array) -> None:
        """Keep the Gram matrices and their diagonals."""

    @abstractmethod
    def cycle(self, prox: Prox) -> tuple[Array, Array]:
        """Minimise over each coordinate in turn; returns per row the largest move and the largest entry."""

    def move_free_entries(self, terms: Sequence[Term]) -> None:
        """Move the entries that no kink of the terms holds to their minimum, or towards it."""
        B, cross = (X.T if self.axis else X for X in (self.B, self.cross))
        piece = joint_piece(terms, B)
        if piece is not None:
            B = move_free_entries(Quadratic(self.gram, cross), piece, B)
            self.B = self.xp.asarray(B.T if self.axis else B, copy=True)

    def keep(self, left: Array) -> None:
        """Continue with these rows only."""
        self.cross, self.B = (self.xp.take(X, left, axis=self.axis) for X in (self.cross, self.B))

    def values(self, which: Array) -> Array:
        """Current values of some rows, (m, r)."""
        B = self.xp.take(self.B, which, axis=self.axis)
        return B.T if self.axis else B


class _OneGram(_Rows):
    """All rows have the same Gram matrix; B is (r, m), so that a coordinate of all rows is contiguous."""

    axis = 1

    def take_gram(self, gram: Array) -> None:
        self.gram, self.curvature = gram, to_numpy(self.xp.linalg.diagonal(gram)).tolist()

    def cycle(self, prox: Prox) -> tuple[Array, Array]:
        xp, gram, cross, B = self.xp, self.gram, self.cross, self.B
        moved = largest = xp.zeros_like(B[0, :])
        for j, curvature in enumerate(self.curvature):
            old = new = B[j, :]
            if curvature > 0.0:
                new = prox(old + (cross[j, :] - gram[j, :] @ B) / curvature, 0.5 / curvature)
                moved = xp.maximum(moved, xp.abs(new - old))
                B[j, :] = new
            largest = xp.maximum(largest, xp.abs(new))
        return moved, largest


class _ManyGrams(_Rows):
    """Each row has its own Gram matrix, which lies along that row of B (m, r)."""

    axis = 0

    def take_gram(self, gram: Array) -> None:
        xp, curvature = self.xp, self.xp.linalg.diagonal(gram)
        self.gram, self.alive = gram, curvature > 0
        self.all_alive = bool(xp.all(self.alive))
        self.curvature = xp.where(self.alive, curvature, 1.0)

    def cycle(self, prox: Prox) -> tuple[Array, Array]:
        xp, gram, cross, B = self.xp, self.gram, self.cross, self.B
        moved = largest = xp.zeros_like(B[:, 0])
        for j in range(B.shape[1]):
            old, curvature = B[:, j], self.curvature[:, j]
            new = prox(old + (cross[:, j] - xp.vecdot(gram[:, j, :], B)) / curvature, 0.5 / curvature)
            new = new if self.all_alive else xp.where(self.alive[:, j], new, old)
            moved, largest = xp.maximum(moved, xp.abs(new - old)), xp.maximum(largest, xp.abs(new))
            B[:, j] = new
        return moved, largest

    def keep(self, left: Array) -> None:
        super().keep(left)
        self.take_gram(self.xp.take(self.gram, left, axis=0))
