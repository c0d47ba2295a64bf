"""A search among all pairs of samples in which each product serves both of its samples."""

from __future__ import annotations

import numpy as np

from jella.graphs.host_search import BLOCK_BYTES, SMALLEST, TILE_BYTES, Search, SearchFactors
from jella.graphs.selection import SLACK, SPARE, bounds, rank_in_row, up_to_the_last
from jella.numerics.arrays import row_blocks

#: samples of a panel, whose distances from another panel are in memory together
PANEL = 2048
#: numbers of a sample beyond this many, and this many more per neighbour, make products dearer than choosing twice
WIDE, PER_NEIGHBOUR = 60, 4


def among_all(search: Search) -> np.ndarray:
    """Indices (n, q) of the nearest of all samples, as the search finds them, in two thirds of the time or less.

    Samples are divided into panels. The distances between two panels are computed once, and give candidates to the
    samples of both. Where a panel gives too many, because many distances are equal or because the order of the samples
    says much about them, the search itself answers.
    """
    n, everyone = search.base.n_samples, np.arange(search.base.n_samples)
    panels = [everyone[part] for part in row_blocks(n, 1, -(-n // max(round(n / PANEL), 1)))]
    if len(panels) == 1 or search.width < WIDE + PER_NEIGHBOUR * search.q:
        return search(everyone, everyone, BLOCK_BYTES)
    sides = _Sides(search, panels)
    margin, gathered = search.margin(search.single), list[_Gathered]()
    indices, again = np.full((n, search.q), -1, dtype=np.intp), []
    for p, panel in enumerate(panels):
        left = search.factors(search.asked, panel, sides.centres, search.single, left=True)
        for other in range(p, len(panels)):
            side = sides(other)
            if p == 0:
                gathered.append(_Gathered(margin * side.norms, search.q))
            D = search.distances(left, iter([(slice(None), side)]), len(panels[other]), search.single)
            if other == p:
                np.fill_diagonal(D, np.inf)
            else:
                gathered[other].add(D.T, panel[0])
            gathered[p].add(D, panels[other][0])
        named, crowded = gathered[p].named()
        gathered[p].parts.clear()
        places, found = search.first(*named, gathered[p].norms, panel, everyone)
        indices[panel[places], rank_in_row(places)] = found
        again.append(panel[crowded | (left.norms <= SMALLEST)])
    rest = np.concatenate(again)
    if rest.size:
        indices[rest] = search(rest, everyone, BLOCK_BYTES)
    return indices


class _Sides:
    """The factors of panels on the right side of products: all in memory, or made when they are needed."""

    def __init__(self, search: Search, panels: list[np.ndarray]) -> None:
        self.search, self.panels = search, panels
        self.centres = search.centres(np.concatenate(panels))
        self.held: dict[int, SearchFactors] = {}
        self.fit = search.base.n_samples * search.width * search.single.itemsize <= TILE_BYTES

    def __call__(self, p: int) -> SearchFactors:
        """The factors of a panel."""
        if p in self.held:
            return self.held[p]
        made = self.search.factors(self.search.base, self.panels[p], self.centres, self.search.single)
        if self.fit:
            self.held[p] = made
        return made


class _Gathered:
    """Entries of the rows of a panel that may be among the q smallest, gathered from one panel after the other.

    Parameters
    ----------
    norms : array (b,)
        As in `jella.graphs.selection.named_places`.
    q : int
    """

    def __init__(self, norms: np.ndarray, q: int) -> None:
        self.norms, self.q, self.most = norms, q, 2 * q + SPARE
        self.bound = np.full(norms.shape, np.inf, norms.dtype)
        self.crowded = np.zeros(norms.shape, dtype=bool)
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, D: np.ndarray, first: int) -> None:
        """Gather from the distances (b, c) of the rows from a panel that starts with the sample `first`."""
        begins = not self.parts
        for rows in row_blocks(len(D), D.shape[1] * D.itemsize, BLOCK_BYTES):
            part = np.ascontiguousarray(D[rows])
            if begins:
                self.bound[rows] = bounds(part, self.q)
            lines, columns, values = self._below(part, rows)
            counts = np.bincount(lines, minlength=len(part))
            if (loose := counts > self.most).any():
                where = np.flatnonzero(loose) + rows.start
                self.bound[where] = np.minimum(self.bound[where], bounds(part[loose], self.q))
                lines, columns, values = self._below(part, rows)
                counts = np.bincount(lines, minlength=len(part))
            if (crowded := counts > self.most).any():
                self.crowded[rows] |= crowded
                self.bound[rows][crowded] = -np.inf  # nothing more is gathered for these
                lines, columns, values = (one[~crowded[lines]] for one in (lines, columns, values))
            self.parts.append((lines + rows.start, columns + first, values))

    def _below(self, part: np.ndarray, rows: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lines, columns and values of the entries that may be among the smallest."""
        bound = self.bound[rows]
        reach = SLACK * np.finfo(part.dtype).eps * np.maximum(bound, self.norms[rows])
        found = np.flatnonzero(part <= (bound + reach)[:, None])
        return *np.divmod(found, part.shape[1]), part.ravel().take(found)

    def named(self) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
        """Rows, ascending, columns and values; and the rows that have too many, of which there are none, (b,)."""
        lines, columns, values = (np.concatenate(one) for one in zip(*self.parts, strict=True))
        order = np.argsort(lines, kind="stable")
        rows, columns, values, _, _ = up_to_the_last(lines[order], columns[order], values[order], self.norms, self.q)
        self.crowded |= np.bincount(rows, minlength=self.norms.size) > self.most
        keep = ~self.crowded[rows]
        return (rows[keep], columns[keep], values[keep]), self.crowded
