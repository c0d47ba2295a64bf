"""The embedding of samples by ridge regression on fixed bases; its cost grows with the rank, not with its square.

Conjugate gradients solve (Σ_v U_vᵀ D_iv U_v + weight·I) w_i = Σ_v U_vᵀ x_iv for all samples at once, where D_iv has
ones at the entries that sample i has in view v.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from jella.numerics.arrays import row_blocks
from jella.views import Views

#: a sample is solved when its residual is below this share of its right-hand side, in the norm of the diagonal
TOLERANCE = 1e-3
MOST_STEPS = 100
#: solved samples are taken out when no more than this share is left
LEFT = 0.8
#: bytes of a block of samples
BLOCK_BYTES = 2**25


def ridge_rows(views: Views, bases: Sequence[np.ndarray], weight: float) -> np.ndarray:
    """The embedding (n, r) that minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + weight·‖W‖²; in NumPy.

    The floating type is that of the bases.

    >>> from jella.views import read_views
    >>> views = read_views([np.array([[2.0, 2.0], [2.0, np.nan]])])
    >>> ridge_rows(views, [np.ones((2, 1))], 1.0).round(3).tolist()
    [[1.333], [1.0]]
    """
    r = bases[0].shape[1]
    W = np.empty((views.n_samples, r), dtype=bases[0].dtype)
    widest = max(r, sum(view.n_features for view in views if not view.is_rowwise))
    for rows in row_blocks(views.n_samples, 8 * widest, BLOCK_BYTES):
        W[rows] = _solved(_Samples(views, bases, weight, rows))
    return W


class _Samples:
    """A block of samples: the views that lack entries side by side, and the grams of the others."""

    def __init__(self, views: Views, bases: Sequence[np.ndarray], weight: float, rows: slice) -> None:
        pairs = list(zip(views, bases, strict=True))
        n, dtype = rows.stop - rows.start, bases[0].dtype
        self.weight, self.right = weight, np.sum([view.X[rows] @ U for view, U in pairs], axis=0)
        by_entry = [(view, U) for view, U in pairs if not view.is_rowwise]
        self.U = np.concatenate([bases[0][:0], *(U for _, U in by_entry)])
        self.observed = np.concatenate([np.empty((n, 0), dtype), *(view.mask[rows] for view, _ in by_entry)], axis=1)
        self.observed = self.observed.astype(dtype, copy=False)
        whole = [(view, U) for view, U in pairs if view.is_rowwise]
        self.grams = [U.T @ U for _, U in whole]
        self.present = [np.broadcast_to(view.mask, (view.n_samples, 1))[rows].astype(dtype) for view, _ in whole]
        diagonal = self.observed @ self.U**2
        for gram, present in zip(self.grams, self.present, strict=True):
            diagonal += present * np.diag(gram)
        self.inverse = 1.0 / (weight + diagonal)

    def take(self, rows: np.ndarray) -> _Samples:
        """Some of the samples."""
        few = copy(self)
        few.right, few.inverse, few.observed = self.right[rows], self.inverse[rows], self.observed[rows]
        few.present = [present[rows] for present in self.present]
        return few

    def times(self, W: np.ndarray) -> np.ndarray:
        """Row i of W times Σ_v U_vᵀ D_iv U_v + weight·I."""
        found = self.weight * W
        if self.U.size:
            values = W @ self.U.T
            values *= self.observed
            found += values @ self.U
        for gram, present in zip(self.grams, self.present, strict=True):
            found += present * (W @ gram)
        return found


def _solved(samples: _Samples) -> np.ndarray:
    """The embedding by conjugate gradients, preconditioned by diagonals; solved samples leave the rest."""
    out = np.zeros_like(samples.right)
    rows, found, residual = np.arange(len(out)), out.copy(), samples.right.copy()
    step = samples.inverse * residual
    size = np.einsum("ij,ij->i", residual, step)
    enough = TOLERANCE**2 * size
    for _ in range(MOST_STEPS):
        active = size > enough
        if active.sum() <= LEFT * active.size:
            out[rows] = found
            rows, found, residual, step = rows[active], found[active], residual[active], step[active]
            size, enough, samples = size[active], enough[active], samples.take(active)
            active = active[active]
        if not active.any():
            break
        image = samples.times(step)
        curvature = np.einsum("ij,ij->i", step, image)
        length = np.where(active & (curvature > 0), size / np.where(curvature > 0, curvature, 1.0), 0.0)
        found += length[:, None] * step
        residual -= length[:, None] * image
        scaled = samples.inverse * residual
        new = np.einsum("ij,ij->i", residual, scaled)
        step = scaled + np.where(size > 0, new / np.where(size > 0, size, 1.0), 0.0)[:, None] * step
        size = np.where(length > 0, new, size)
    out[rows] = found
    return out
