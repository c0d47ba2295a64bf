"""Exact nearest neighbours where the values lie: tiles of distances in any array library, on its device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import array_api_compat
import numpy as np

from jella.graphs.selection import by_block
from jella.numerics.arrays import (
    Array,
    along_rows,
    is_numpy,
    namespace,
    product_from,
    row_blocks,
    row_sqnorms,
    taken,
    target_bytes,
    to_numpy,
)
from jella.views.model import View, Views

#: bytes of a tile of distances on the host; a few arrays of this size are used at the same time
TILE_BYTES = 2**25


def is_elsewhere(views: Views) -> bool:
    """Whether all values are in arrays of another library than NumPy and SciPy."""
    return not any(is_numpy(view.X) for view in views)


@dataclass(frozen=True)
class TileFactors:
    """TileFactors of distances, of k samples.

    Attributes
    ----------
    values : list of arrays (k, K)
        Their products are the sums of squared differences.
    shares : array (k, S)
        Its products are the shares of entries that two samples share.
    norms : array (k,)
        Squared norms of the observed values.
    """

    values: list[Array]
    shares: Array
    norms: Array

    @classmethod
    def joined(cls, parts: list[TileFactors]) -> TileFactors:
        """The factors of all views, with the values in one array."""
        concat = namespace(parts[0].norms).concat
        values = concat([one for part in parts for one in part.values], axis=1)
        return cls([values], concat([part.shares for part in parts], axis=1), sum(part.norms for part in parts))


@dataclass(frozen=True)
class Pair:
    """The same view of the samples that are searched, and of those that ask.

    Attributes
    ----------
    base, asked : View
    by_entry : bool
        Whether single entries are missing in one of them.
    centre : array (d,)
        Means of the observed values: differences do not depend on them, but the rounding of products does.
    """

    base: View
    asked: View
    by_entry: bool
    centre: Array

    @classmethod
    def of(cls, base: View, asked: View) -> Pair:
        """A pair of views of the same features."""
        xp = namespace(base.X)
        count = xp.astype(base.count_by_feature(), base.X.dtype)
        centre = xp.sum(base.X, axis=0) / xp.where(count > 0, count, xp.ones_like(count))
        return cls(base, asked, not (base.is_rowwise and asked.is_rowwise), centre)

    def factors(self, view: View, rows: slice, left: bool) -> TileFactors:
        """The factors of some samples on one side of the products."""
        X, observed = self._centred(view, rows)
        norms = row_sqnorms(X)
        squares = X * X if self.by_entry else norms[:, None]
        columns = [-2.0 * X, squares, observed] if left else [X, observed, squares]
        return TileFactors(columns, observed / view.n_features if left and self.by_entry else observed, norms)

    def exact(self, rows: slice, places: Array) -> tuple[Array, Array]:
        """Sums of squared differences of the rows that ask from the samples at their places (b, c), and the shares."""
        xp, flat = namespace(places), namespace(places).reshape(places, (-1,))
        shape = (*places.shape, self.base.n_features)
        first, mask = self._part(self.asked, rows)
        other = xp.reshape(taken(self.base.X, flat), shape)
        both = mask[:, None, :]
        if not self.base.is_complete:
            both = both & xp.reshape(taken(self.base.mask, flat), (*places.shape, -1))
        squares = (first[:, None, :] - other) ** 2
        weights = xp.astype(both, other.dtype)
        if not self.by_entry:
            return xp.sum(squares, axis=2) * weights[:, :, 0], xp.broadcast_to(weights[:, :, 0], places.shape)
        return xp.sum(squares * weights, axis=2), xp.broadcast_to(xp.mean(weights, axis=2), places.shape)

    def _part(self, view: View, rows: slice) -> tuple[Array, Array]:
        """Values in the type of the samples that are searched, and the mask."""
        X = namespace(view.X).astype(view.X[rows, :], self.base.X.dtype)
        return X, view.mask if view.is_complete else view.mask[rows, :]

    def _centred(self, view: View, rows: slice) -> tuple[Array, Array]:
        X, mask = self._part(view, rows)
        xp = namespace(X)
        observed = xp.astype(xp.broadcast_to(mask, (X.shape[0], X.shape[1] if self.by_entry else 1)), X.dtype)
        return (X - self.centre) * observed, observed


@dataclass(frozen=True)
class Tiles:
    """An exact search that compares all pairs, tile by tile.

    Attributes
    ----------
    base, asked : Views
        The samples that are searched, and those whose neighbours are wanted; dense.
    exclude_self : bool
        Whether `asked` are the same samples, so that a sample must not find itself.
    """

    base: Views
    asked: Views
    exclude_self: bool

    @cached_property
    def pairs(self) -> list[Pair]:
        """The views."""
        return [Pair.of(a, b) for a, b in zip(self.base, self.asked, strict=True)]

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing, so that all samples share all entries."""
        return all(view.is_complete for views in (self.base, self.asked) for view in views)

    def nearest(self, q: int) -> np.ndarray:
        """Indices (m, q) of the nearest samples, in NumPy; as `jella.graphs.neighbours.nearest`."""
        xp, X = self.base.xp, self.base[0].X
        n, size, target = self.base.n_samples, xp.finfo(X.dtype).bits // 8, target_bytes(X, TILE_BYTES)
        right = self._factors(slice(0, n), False)
        blocks = list(row_blocks(self.asked.n_samples, size * n, target))
        if not blocks:
            return np.empty((0, q), np.intp)

        def distances(rows: slice) -> tuple[Array, Array]:
            left = self._factors(rows, True)
            return self._distances(left, right), left.norms

        def ordered(rows: slice, _: Array, places: Array) -> Array:
            return self._ordered(rows, places, q, target)

        found = by_block(blocks, distances, q + self.exclude_self, ordered)
        return to_numpy(found).astype(np.intp, copy=False)

    def _distances(self, left: TileFactors, right: TileFactors) -> Array:
        if self.is_complete:
            return left.values[0] @ right.values[0].T
        least = float(namespace(left.norms).finfo(left.norms.dtype).smallest_normal)
        D = product_from(left.values[0], right.values[0].T, least)  # without common entries, D / 0 is inf
        with np.errstate(divide="ignore"):
            D /= left.shares @ right.shares.T
        return D

    def _factors(self, rows: slice, left: bool) -> TileFactors:
        sides = ((pair, pair.asked if left else pair.base) for pair in self.pairs)
        return TileFactors.joined([pair.factors(view, rows, left) for pair, view in sides])

    def _ordered(self, rows: slice, places: Array, q: int, target: int) -> Array:
        """The nearest of the samples at these places, ascending, by their differences; ties in this order."""
        xp = self.base.xp
        wide = places.shape[1] * max(view.n_features for view in self.base) * 8
        parts: list[tuple[Any, ...]] = []
        for block in row_blocks(places.shape[0], wide, target):
            some = slice(rows.start + block.start, rows.start + block.stop)
            each = [pair.exact(some, places[block, :]) for pair in self.pairs]
            parts.append((sum(squares for squares, _ in each), sum(share for _, share in each)))
        total, share = (xp.concat(list(one), axis=0) for one in zip(*parts, strict=True))
        exact = xp.where(share > 0, total / xp.where(share > 0, share, xp.ones_like(share)), xp.inf)
        if self.exclude_self:
            own = xp.arange(rows.start, rows.stop, dtype=places.dtype, device=array_api_compat.device(places))
            exact = xp.where(places == own[:, None], xp.inf, exact)
        order = xp.argsort(exact, axis=1, stable=True)[:, :q]
        distances, indices = along_rows(exact, order), along_rows(places, order)
        return xp.where(xp.isinf(distances), -xp.ones_like(indices), indices)
