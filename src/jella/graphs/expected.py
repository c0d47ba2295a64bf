"""The samples of a model that fit the observed values of new samples best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jella.graphs.neighbours import BLOCK_BYTES
from jella.graphs.selection import first_of_rows, places_of_smallest, rank_in_row
from jella.numerics.arrays import row_blocks, row_sqnorms, to_numpy
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

    def __init__(self, W: np.ndarray, bases: Sequence[np.ndarray]) -> None:
        self.W, self.bases = to_numpy(W), [to_numpy(U) for U in bases]
        self.squares = [(self.W @ U.T) ** 2 for U in self.bases]
        self.sums = [each.sum(axis=1, keepdims=True) for each in self.squares]

    def nearest(self, views: Views, n_neighbors: int) -> np.ndarray:
        """Positions (n, q) of the samples that fit new samples best, the best first; of equal ones, the first.

        >>> from jella.views.read import read_views
        >>> model = FitExpected(np.array([[1.0], [2.0]]), [np.array([[1.0], [3.0]])])
        >>> model.nearest(read_views([[float("nan"), 6.1], [1.2, float("nan")]]), 2).tolist()
        [[1, 0], [0, 1]]
        """
        m, q = len(self.W), min(n_neighbors, len(self.W))
        right = np.concatenate([self.W, *(self._right(v, view) for v, view in enumerate(views))], axis=1).T
        found = np.empty((views.n_samples, q), dtype=np.intp)
        for rows in row_blocks(views.n_samples, m * right.dtype.itemsize, BLOCK_BYTES):
            part = views.take(np.arange(rows.start, rows.stop))
            norms = np.sum([row_sqnorms(_values(view)) for view in part], axis=0, dtype=right.dtype)
            D = self._left(part).astype(right.dtype, copy=False) @ right
            D += norms[:, None]
            np.maximum(D, np.finfo(D.dtype).tiny, out=D)
            lines, places = places_of_smallest(D, q, norms)
            lines, _, places = first_of_rows(lines, D[lines, places], places, q)
            found[lines + rows.start, rank_in_row(lines)] = places
        return found

    def _right(self, v: int, view: View) -> np.ndarray:
        return self.sums[v] if view.is_rowwise else self.squares[v]

    def _left(self, views: Views) -> np.ndarray:
        fits = [_values(view) @ U for view, U in zip(views, self.bases, strict=True)]
        masks = [np.broadcast_to(to_numpy(view.mask), (view.n_samples, view.mask.shape[1])) for view in views]
        return np.concatenate([-2.0 * np.sum(fits, axis=0), *masks], axis=1)


def _values(view: View) -> np.ndarray:
    return view.X if view.is_sparse else to_numpy(view.X)
