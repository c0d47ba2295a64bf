"""The embedding of samples by ridge regression on fixed bases; its cost grows with the rank, not with its square.

Conjugate gradients solve (Σ_v U_vᵀ D_iv U_v + weight·I) w_i = Σ_v U_vᵀ x_iv for all samples at once, where D_iv has
ones at the entries that sample i has in view v.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jella.numerics.arrays import row_blocks
from jella.views import View, Views

#: a sample is solved when its residual is below this share of its right-hand side, in the norm of the diagonal
TOLERANCE = 1e-3
MOST_STEPS = 100
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
    widest = max([r, *(view.n_features for view in views if not view.is_rowwise)])
    for rows in row_blocks(views.n_samples, 8 * widest, BLOCK_BYTES):
        W[rows] = _solved([_Part(view, U, rows) for view, U in zip(views, bases, strict=True)], weight)
    return W


class _Part:
    """One view of a block of samples."""

    def __init__(self, view: View, U: np.ndarray, rows: slice) -> None:
        X = view.X[rows]
        self.U, self.cross, self.rowwise = U, X @ U, view.is_rowwise
        mask = np.broadcast_to(view.mask, (view.n_samples, view.mask.shape[1]))[rows]
        self.observed = mask.astype(U.dtype)
        self.gram = U.T @ U if self.rowwise else None

    def times(self, W: np.ndarray) -> np.ndarray:
        """Row i of W times U_vᵀ D_i U_v."""
        if self.gram is not None:
            return (W @ self.gram) * self.observed
        values = W @ self.U.T
        values *= self.observed
        return values @ self.U

    def diagonal(self) -> np.ndarray:
        """The diagonals of these matrices, (n, r)."""
        squares = self.U**2
        return self.observed * squares.sum(axis=0) if self.rowwise else self.observed @ squares


def _solved(parts: Sequence[_Part], weight: float) -> np.ndarray:
    right = np.sum([part.cross for part in parts], axis=0)
    inverse = 1.0 / (weight + np.sum([part.diagonal() for part in parts], axis=0))
    return conjugate_gradients(lambda W: weight * W + np.sum([part.times(W) for part in parts], axis=0), right, inverse)


def conjugate_gradients(
    times: Callable[[np.ndarray], np.ndarray], right: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """Rows w_i with A_i w_i = right_i; `inverse` holds the inverse diagonals of the A_i, which precondition."""
    found = np.zeros_like(right)
    residual = right.copy()
    step = inverse * residual
    size = np.einsum("ij,ij->i", residual, step)
    enough = TOLERANCE**2 * size
    for _ in range(MOST_STEPS):
        if not (size > enough).any():
            break
        image = times(step)
        curvature = np.einsum("ij,ij->i", step, image)
        length = np.where((size > enough) & (curvature > 0), size / np.where(curvature > 0, curvature, 1.0), 0.0)
        found += length[:, None] * step
        residual -= length[:, None] * image
        scaled = inverse * residual
        new = np.einsum("ij,ij->i", residual, scaled)
        step = scaled + np.where(size > 0, new / np.where(size > 0, size, 1.0), 0.0)[:, None] * step
        size = np.where(length > 0, new, size)
    return found
