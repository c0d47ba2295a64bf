"""The samples of a model that fit the observed values of new samples best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jella.graphs.host_search import BLOCK_BYTES
from jella.graphs.selection import by_block, first_places, nearest_first
from jella.numerics.arrays import Array, is_numpy, namespace, row_blocks, row_sqnorms, target_bytes, to_numpy
from jella.views.model import View, Views


class FitExpected:
    """Samples with embedding W (m, r), as the model expects their values, which new samples are compared with.

    The distance of a new sample from one of them is the sum of (x − u·w)² over what was observed of the new sample. It
    is the loss of the new sample at that embedding. The sample itself may lack these values, and noise in its values
    has no effect. A distance costs r operations, and one per feature where single entries are missing.

    Parameters
    ----------
    W : array (m, r)
    bases : sequence of arrays (d_v, r)
    """

    def __init__(self, W: Array, bases: Sequence[Array]) -> None:
        self.W, self.bases = W, bases
        self.squares = [(W @ U.T) ** 2 for U in bases]
        self.sums = [namespace(W).sum(each, axis=1, keepdims=True) for each in self.squares]

    def nearest(self, views: Views, n_neighbors: int) -> np.ndarray:
        """Positions (n, q) of the samples that fit new samples best, the best first; of equal ones, the first.

        >>> from jella.views.read import read_views
        >>> model = FitExpected(np.array([[1.0], [2.0]]), [np.array([[1.0], [3.0]])])
        >>> model.nearest(read_views([[float("nan"), 6.1], [1.2, float("nan")]]), 2).tolist()
        [[1, 0], [0, 1]]
        """
        xp, m, q = namespace(self.W), self.W.shape[0], min(n_neighbors, self.W.shape[0])
        right = xp.concat([self.W, *(self._right(v, view) for v, view in enumerate(views))], axis=1).T
        if views.n_samples == 0:
            return np.empty((0, q), dtype=np.intp)
        blocks = list(row_blocks(views.n_samples, 8 * m, target_bytes(self.W, 2 * BLOCK_BYTES)))

        def distances(rows: slice) -> tuple[Array, Array]:
            part = views.take(np.arange(rows.start, rows.stop))
            norms = xp.astype(sum(row_sqnorms(view.X) for view in part), self.W.dtype)
            return xp.astype(self._left(part), self.W.dtype, copy=False) @ right, norms

        if is_numpy(self.W):
            pairs = map(distances, blocks)
            return np.concatenate([first_places(D, q, norms) for D, norms in pairs]).astype(np.intp, copy=False)
        found = by_block(blocks, distances, q, lambda _, D, places: nearest_first(D, places, q))
        return to_numpy(found).astype(np.intp, copy=False)

    def _right(self, v: int, view: View) -> Array:
        return self.sums[v] if view.is_rowwise else self.squares[v]

    def _left(self, views: Views) -> Array:
        xp = namespace(self.W)
        fits = sum(view.X @ U for view, U in zip(views, self.bases, strict=True))
        masks = [xp.broadcast_to(view.mask, (view.n_samples, view.mask.shape[1])) for view in views]
        return xp.concat([-2.0 * fits, *(xp.astype(mask, fits.dtype) for mask in masks)], axis=1)
