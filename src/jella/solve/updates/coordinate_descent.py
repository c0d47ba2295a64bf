"""Exact update of a block under entrywise terms: non-negative, box, ℓ1."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from jella.numerics.arrays import Array, namespace, to_numpy
from jella.problem.terms.base import Coupling, Term, is_folded, joint_prox
from jella.solve.quadratic import Quadratic
from jella.solve.updates.base import Update

Prox = Callable[[Array, Any], Array]

#: a block is solved when no coordinate moves by more than this share of the largest entry
TOLERANCE = 1e-8
MAX_SWEEPS = 500
#: between sweeps a row ends when its coordinates move by less than this share of their first move, or after this
#: number of cycles
PROGRESS = 1e-2
FEW_SWEEPS = 30
#: rows that have ended stay in the cycles, without effect, until less than this share still move: removal is a copy
MOST = 0.9


@dataclass(eq=False, repr=False)
class CoordinateDescent(Update):
    """Cycles over the r coordinates, each solved exactly for all rows at once.

    For coordinate j of each row, b_j ← prox of the terms at (c_j − Σ_{l≠j} A_jl b_l)/A_jj with step 1/(2A_jj): for
    b ≥ 0 with weight α on ℓ1 that is max(0, b_j + (c_j − (bA)_j − α/2)/A_jj). SciPy's `nnls` solves one row under b ≥ 0
    alone; this solves all rows at once, under any entrywise terms, in any array library.

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

        Each row stops by itself, so that its result does not depend on the rows that are solved with it.
        """
        prox = joint_prox(terms)
        xp = namespace(start)
        rows: _Rows = (_OneGram if quadratic.gram.ndim == 2 else _ManyGrams)(quadratic.gram, quadratic.cross, start)
        tolerance = max(TOLERANCE, 10 * float(xp.finfo(start.dtype).eps))
        numbers, done, first = xp.arange(start.shape[0], device=start.device), [], None
        going = numbers >= 0  # at first all of them
        for _ in range(self.max_sweeps):
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

    B: Array
    axis: int  # of the rows in B and cross

    def __init__(self, cross: Array, start: Array) -> None:
        self.xp = namespace(start)
        self.cross, self.B = (self.xp.asarray(X.T if self.axis else X, copy=True) for X in (cross, start))

    def cycle(self, prox: Prox) -> tuple[Array, Array]:
        """Minimise over each coordinate in turn; returns per row the largest move and the largest entry."""
        xp, old = self.xp, self.xp.asarray(self.B, copy=True)
        self.step(prox)
        moved, across = xp.abs(self.B - old), 1 - self.axis
        return xp.max(moved, axis=across), xp.max(xp.abs(self.B), axis=across)

    @abstractmethod
    def step(self, prox: Prox) -> None:
        """Minimise over each coordinate of all rows in turn, the others fixed."""

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

    def __init__(self, gram: Array, cross: Array, start: Array) -> None:
        super().__init__(cross, start)
        self.gram, self.curvature = gram, to_numpy(self.xp.linalg.diagonal(gram)).tolist()

    def step(self, prox: Prox) -> None:
        gram, cross, B = self.gram, self.cross, self.B
        for j, curvature in enumerate(self.curvature):
            if curvature > 0.0:
                B[j, :] = prox(B[j, :] + (cross[j, :] - gram[j, :] @ B) / curvature, 0.5 / curvature)


class _ManyGrams(_Rows):
    """Each row has its own Gram matrix, which lies along that row of B (m, r)."""

    axis = 0

    def __init__(self, gram: Array, cross: Array, start: Array) -> None:
        super().__init__(cross, start)
        self._take(gram)

    def _take(self, gram: Array) -> None:
        xp, curvature = self.xp, self.xp.linalg.diagonal(gram)
        self.gram, self.alive = gram, curvature > 0
        self.all_alive = bool(xp.all(self.alive))
        self.curvature = xp.where(self.alive, curvature, 1.0)

    def step(self, prox: Prox) -> None:
        xp, gram, cross, B = self.xp, self.gram, self.cross, self.B
        for j in range(B.shape[1]):
            curvature = self.curvature[:, j]
            found = prox(B[:, j] + (cross[:, j] - xp.vecdot(gram[:, j, :], B)) / curvature, 0.5 / curvature)
            B[:, j] = found if self.all_alive else xp.where(self.alive[:, j], found, B[:, j])

    def keep(self, left: Array) -> None:
        super().keep(left)
        self._take(self.xp.take(self.gram, left, axis=0))
