"""An exact search on the host: the nearest samples of some rows, among some candidates.

Two samples are compared over the entries that both have, by products of matrices, in blocks that stay near the
processor. Single precision names the samples that may be nearest, and orders them where rounding cannot matter; the
precision of the values compares the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from jella.graphs.cells import CELL_BLOCK_BYTES
from jella.graphs.selection import first_named, named_places, rank_in_row
from jella.numerics.arrays import row_blocks, row_sqnorms
from jella.views.model import View, Views

#: Bytes of a block of distances, which stay in the cache. There are two blocks.
BLOCK_BYTES = 2**23
#: The factors of the candidates take at most this many bytes; beyond, they are made again for each block.
TILE_BYTES = 2**28
#: Products are in single precision where absolute values are at most this, and squared norms of samples at least this.
LARGEST, SMALLEST = 1e12, 1e-20
#: The rounding of single precision is taken to be this many times as large as it mostly is.
MARGIN = 8


@dataclass(frozen=True)
class SearchFactors:
    """Rows whose products are the sums of squared differences, and the shares of entries that two samples share.

    Attributes
    ----------
    values, sparse : array (k, K), and CSR arrays
        The products of both add up to the sums of squared differences.
    shares : array (k, S)
        Its products are the shares.
    norms : array (k,)
        Squared norms of the observed values.
    """

    values: np.ndarray
    shares: np.ndarray
    sparse: tuple[sparse.csr_array, ...]
    norms: np.ndarray


class Search:
    """An exact search for the neighbours of some rows among some candidates.

    Products in single precision name the samples that may be among the nearest, whatever the rounding. Those that
    rounding may have put in another order are compared in the precision of the values. Where single precision names too
    many, products are made in that precision too. So the answer is that of differences in the precision of the values.

    Parameters
    ----------
    base, asked : Views
        The samples that are searched, and those whose neighbours are wanted; in NumPy and CSR.
    n_neighbors : int
    exclude_self : bool
        Whether `asked` are the same samples, so that a sample must not find itself.
    tile_bytes : int
        Bytes of the factors of candidates that are in memory at the same time.
    """

    def __init__(
        self, base: Views, asked: Views, n_neighbors: int, exclude_self: bool, tile_bytes: int = TILE_BYTES
    ) -> None:
        self.base, self.asked, self.q, self.exclude_self = base, asked, n_neighbors, exclude_self
        self.tile_bytes = tile_bytes
        both = list(zip(base, asked, strict=True))
        self.by_entry = [not (a.is_rowwise and b.is_rowwise) for a, b in both]
        self.stays_sparse = [
            a.is_sparse and b.is_sparse and not entry for (a, b), entry in zip(both, self.by_entry, strict=True)
        ]
        self.complete = all(a.is_complete and b.is_complete for a, b in both)
        self.dtype = np.result_type(*[view.X.dtype for pair in both for view in pair])
        self.width = sum(
            (3 if entry else 1) * view.n_features + 2 for view, entry in zip(base, self.by_entry, strict=True)
        )
        self.columns = sum(
            (0 if keep_sparse else view.n_features) + 2 * (view.n_features if entry else 1)
            for view, entry, keep_sparse in zip(base, self.by_entry, self.stays_sparse, strict=True)
        )
        self.buffers = [np.empty(0, self.dtype), np.empty(0, self.dtype)]
        largest = max(_largest(view) for view in (*base, *asked)) if self.dtype == np.float64 else 0.0
        self.single = np.dtype(np.float32) if largest < LARGEST else self.dtype

    def __call__(self, rows: np.ndarray, candidates: np.ndarray, block_bytes: int) -> np.ndarray:
        """Indices (len(rows), q) of the nearest candidates, which come in ascending order; -1 means none."""
        indices = np.full((len(rows), self.q), -1, dtype=np.intp)
        if self.q == 0:
            return indices
        tiles = list(row_blocks(len(candidates), self.width * self.dtype.itemsize, self.tile_bytes))
        centres = self.centres(candidates[tiles[0]])
        held = self.factors(self.base, candidates, centres, self.single) if len(tiles) == 1 else None
        for block in row_blocks(len(rows), len(candidates) * self.single.itemsize, block_bytes):
            named = self._named(rows[block], candidates, tiles, centres, held)
            places, found = self.first(*named, rows[block], candidates)
            indices[places + block.start, rank_in_row(places)] = found
        return indices

    def centres(self, some: np.ndarray) -> list[np.ndarray]:
        """Observed means of some samples: differences do not depend on them, but the rounding of the products does."""
        parts = [view.take(some) for view in self.base]
        return [
            np.zeros(0)
            if keep_sparse
            else np.asarray(part.X.sum(axis=0, dtype=np.float64)).ravel() / np.maximum(part.count_by_feature(), 1)
            for part, keep_sparse in zip(parts, self.stays_sparse, strict=True)
        ]

    def first(
        self,
        places: np.ndarray,
        positions: np.ndarray,
        values: np.ndarray,
        norms: np.ndarray,
        rows: np.ndarray,
        candidates: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Places of rows, ascending, and their nearest candidates in order, from those that were named."""

        def exact(i: np.ndarray, j: np.ndarray) -> np.ndarray:
            return self._pairwise(rows[i], candidates[j])

        places, positions = first_named(places, positions, values, norms, self.q, exact)
        return places, candidates[positions]

    def _named(
        self,
        rows: np.ndarray,
        candidates: np.ndarray,
        tiles: list[slice],
        centres: list[np.ndarray],
        held: SearchFactors | None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rows, positions and distances of candidates that may be among the nearest, and the size of the rounding.

        From single precision where that says it.
        """
        for dtype in dict.fromkeys((self.single, self.dtype)):
            left = self.factors(self.asked, rows, centres, dtype, left=True)
            own = held if dtype == self.single else None
            sides = (
                (tile, self.factors(self.base, candidates[tile], centres, dtype) if own is None else own)
                for tile in tiles
            )
            D = self.distances(left, sides, len(candidates), dtype)
            if self.exclude_self:
                own_place = np.minimum(np.searchsorted(candidates, rows), len(candidates) - 1)
                found = np.flatnonzero(candidates[own_place] == rows)
                D[found, own_place[found]] = np.inf
            norms = self.margin(dtype) * left.norms
            places, positions, values, all_named = named_places(D, self.q, norms)
            if all_named and left.norms.min() > SMALLEST:
                break
        return places, positions, values, norms

    def margin(self, dtype: np.dtype[Any]) -> int:
        """How many times as large as its measure the rounding of products may be."""
        return 1 if dtype == self.dtype else MARGIN

    def factors(
        self, views: Views, rows: np.ndarray, centres: list[np.ndarray], dtype: np.dtype[Any], left: bool = False
    ) -> SearchFactors:
        """The factors of some samples on one side of the products."""
        values, at = np.empty((len(rows), self.columns), dtype), 0
        shares: list[np.ndarray] = []
        products: list[sparse.csr_array] = []
        norms = np.zeros(len(rows), dtype)
        for view, entry, keep_sparse, centre in zip(views, self.by_entry, self.stays_sparse, centres, strict=True):
            part, d = view.take(rows), view.n_features
            observed = np.broadcast_to(part.mask, (len(rows), d if entry else 1)).astype(dtype)
            if keep_sparse:
                X = part.X.astype(dtype, copy=False)
                products.append(-2 * X if left else X.T.tocsr())
                squares = row_sqnorms(X)[:, None].astype(dtype)
            else:
                X, at = values[:, at : at + d], at + d
                np.subtract(_dense(part), centre.astype(self.dtype), out=X, casting="same_kind")
                if not view.is_complete:
                    X *= observed
                squares = X * X if entry else row_sqnorms(X)[:, None]
                if left:
                    X *= -2
            for block in (squares, observed) if left else (observed, squares):
                values[:, at : at + block.shape[1]] = block
                at += block.shape[1]
            shares.append(observed / d if left and entry else observed)
            norms += squares.sum(axis=1)
        return SearchFactors(values, np.concatenate(shares, axis=1), tuple(products), norms)

    def distances(
        self, left: SearchFactors, sides: Iterator[tuple[slice, SearchFactors]], width: int, dtype: np.dtype[Any]
    ) -> np.ndarray:
        """Distances (b, width) of the rows of the left factors from all candidates, with the rounding of products."""
        shape = len(left.values), width
        if self.buffers[0].size < shape[0] * shape[1] or self.buffers[0].dtype != dtype:
            self.buffers = [np.empty(shape[0] * shape[1], dtype) for _ in range(2)]
        D, shares = (buffer[: shape[0] * shape[1]].reshape(shape) for buffer in self.buffers)
        for tile, right in sides:
            np.matmul(left.values, right.values.T, out=D[:, tile])
            for a, b in zip(left.sparse, right.sparse, strict=True):
                D[:, tile] += (a @ b).toarray()
            if not self.complete:
                np.matmul(left.shares, right.shares.T, out=shares[:, tile])
        np.maximum(D, np.finfo(dtype).tiny, out=D)  # above zero: without common entries, D / 0 is inf
        if self.complete:
            return D if len(self.base) == 1 else np.divide(D, len(self.base), out=D)
        with np.errstate(divide="ignore"):
            return np.divide(D, shares, out=D)

    def _pairwise(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Distances (p,) of pairs of an asked row and a sample, computed from their differences."""
        out = np.empty(len(rows), self.dtype)
        width = max(2 if one else view.n_features for view, one in zip(self.base, self.stays_sparse, strict=True))
        for block in row_blocks(len(rows), 4 * width * self.dtype.itemsize, CELL_BLOCK_BYTES):
            total, share = np.zeros((2, block.stop - block.start), self.dtype)
            for a, b, entry, keep_sparse in zip(self.asked, self.base, self.by_entry, self.stays_sparse, strict=True):
                first, second = a.take(rows[block]), b.take(others[block])
                both = np.broadcast_to(first.mask & second.mask, (len(total), b.n_features if entry else 1))
                if keep_sparse:
                    squares = row_sqnorms(first.X - second.X)
                else:
                    difference = np.subtract(_dense(first), _dense(second), dtype=self.dtype)
                    if entry:
                        difference *= both
                    squares = np.einsum("ij,ij->i", difference, difference)
                total += squares * both[:, 0] if not entry else squares
                share += np.count_nonzero(both, axis=1) / both.shape[1]
            out[block] = total / share
        return out


def _largest(view: View) -> float:
    """The largest absolute value."""
    X = view.X.data if view.is_sparse else view.X
    return max(float(X.max(initial=0.0)), -float(X.min(initial=0.0)))


def _dense(view: View) -> np.ndarray:
    return np.asarray(view.X.toarray() if view.is_sparse else view.X)
