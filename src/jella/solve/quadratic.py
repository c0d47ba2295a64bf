"""The loss as a function of one block while the others are fixed: a quadratic. Updates see it and never the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import array_api_compat
import numpy as np

from jella.numerics.arrays import Array, like, namespace, row_blocks, taken, target_bytes
from jella.problem.residuals import Residual, ViewData
from jella.problem.terms.base import Operator
from jella.views import View, Views

#: bytes of the grams that are solved in one batch; solvers of devices fail on larger ones
MOST_BATCHED = 2**27


@dataclass(frozen=True)
class Quadratic:
    """Σ_i b_iᵀ A_i b_i − 2 c_iᵀ b_i + tr(BᵀKB) over a block B (m, r) with rows b_i.

    Attributes
    ----------
    gram : array (r, r), one A for all rows, or (m, r, r), one per row
    cross : array (m, r)
    coupling : Operator, optional
        K, which mixes rows.
    """

    gram: Array
    cross: Array
    coupling: Operator | None = None

    def value(self, B: Array) -> float:
        """Value at B."""
        xp = namespace(B)
        mixed = 0.0 if self.coupling is None else float(xp.sum(B * self.coupling.matmul(B)))
        return float(xp.sum(B * (self.times(B) - 2.0 * self.cross))) + mixed

    def times(self, B: Array) -> Array:
        """Row i of B times A_i."""
        if self.gram.ndim == 2:
            return B @ self.gram
        return (B[:, None, :] @ self.gram)[:, 0, :]

    def relaxed(self, relaxation: float, fitted: Array) -> Quadratic:
        """The quadratic of over-relaxed data, from the cross products of their fitted values."""
        return Quadratic(self.gram, relaxation * self.cross + (1.0 - relaxation) * fitted, self.coupling)

    def scaled(self, weight: float) -> Quadratic:
        """The quadratic times a positive number."""
        return self if weight == 1.0 else Quadratic(weight * self.gram, weight * self.cross, self.coupling)


@dataclass(frozen=True)
class RowsAlike:
    """Rows of a block that are solved together, and their quadratic."""

    rows: Array | slice
    quadratic: Quadratic

    def of(self, block: Array) -> Array:
        """These rows of a block."""
        return block[self.rows, :] if isinstance(self.rows, slice) else taken(block, self.rows)


def embedding_with_completion(
    residuals: Sequence[Residual], old: Sequence[Array], W: Array, new: Sequence[Array], relaxation: float
) -> Quadratic:
    """Quadratic of Algorithm 1: gram Σ U_vᵀU_v, cross Σ Z_v U_v with the new bases; old blocks complete Z."""
    cross = W @ overlap(old, new)
    for residual, U in zip(residuals, new, strict=True):
        cross = cross + relaxation * residual.matmul(U)
    return Quadratic(overlap(new, new), cross)


def fitted_cross(data: Sequence[ViewData], old: Sequence[Array], W: Array, new: Sequence[Array]) -> Array:
    """Σ_v of the fitted values W U_vᵀ of the samples present times the new bases, (n, r)."""
    parts = [view.keep_present(W) @ (U.T @ V) for view, U, V in zip(data, old, new, strict=True)]
    return sum(parts[1:], start=parts[0])


def overlap(left: Sequence[Array], right: Sequence[Array]) -> Array:
    """Σ_v U_vᵀV_v of two sets of bases, (r, r)."""
    return sum((U.T @ V for U, V in zip(left[1:], right[1:], strict=True)), start=left[0].T @ right[0])


def by_availability(data: Sequence[ViewData], bases: Sequence[Array]) -> Iterator[RowsAlike]:
    """Quadratics of Algorithm 2, where each sample is fitted to the views it has.

    Samples that have the same views share a gram.
    """
    grams = [U.T @ U for U in bases]
    crosses = [view.times(U) for view, U in zip(data, bases, strict=True)]
    cross = sum(crosses[1:], start=crosses[0])
    presence = Views(tuple(d.view for d in data)).presence()
    patterns, which = np.unique(presence, axis=0, return_inverse=True)
    xp, device = namespace(cross), array_api_compat.device(cross)
    for number, pattern in enumerate(patterns):
        gram = sum((gram for gram, present in zip(grams, pattern, strict=True) if present), start=0.0 * grams[0])
        if len(patterns) == 1:
            yield RowsAlike(slice(None), Quadratic(gram, cross))
        else:
            rows = xp.asarray(np.flatnonzero(which.ravel() == number), device=device)
            yield RowsAlike(rows, Quadratic(gram, taken(cross, rows)))


def by_sample(data: Sequence[ViewData], bases: Sequence[Array], weights: Sequence[Array] | None) -> Iterator[RowsAlike]:
    """Quadratics where entries are missing or samples have weights (n, 1) per view: each sample has its own gram.

    They come in blocks of samples.
    """
    r = bases[0].shape[1]
    pairs = [_pair_products(U) for U in bases]
    widest = max(max(d.X.shape[1] for d in data), r * r)
    for rows in row_blocks(data[0].X.shape[0], widest * 8, min(target_bytes(data[0].X, 2**24), MOST_BATCHED)):
        D = [None] * len(data) if weights is None else [w[rows, :] for w in weights]
        crosses = [_times(view.X[rows, :] @ U, w) for view, U, w in zip(data, bases, D, strict=True)]
        grams = [_times(_flat_grams(d.view, p, rows), w) for d, p, w in zip(data, pairs, D, strict=True)]
        cross, flat = sum(crosses[1:], start=crosses[0]), sum(grams[1:], start=grams[0])
        yield RowsAlike(rows, Quadratic(namespace(cross).reshape(flat, (cross.shape[0], r, r)), cross))


def _times(array: Array, weights: Array | None) -> Array:
    return array if weights is None else array * weights


def _flat_grams(view: View, products: Array, rows: slice) -> Array:
    """Gram Σ_j u_j u_jᵀ of each sample over the features it has in this view, (rows, r²)."""
    xp = namespace(products)
    if not view.is_rowwise:
        return like(view.mask[rows, :], products) @ products
    present = xp.broadcast_to(view.mask, (view.n_samples, 1))[rows, :]
    return like(present, products) * xp.sum(products, axis=0)[None, :]


def _pair_products(U: Array) -> Array:
    """Products u_ja·u_jb of each feature j, (d, r²)."""
    return namespace(U).reshape(U[:, :, None] * U[:, None, :], (U.shape[0], U.shape[1] ** 2))
