"""The quadratic that the loss is in one block when the others are fixed. Updates see this and never the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import array_api_compat
import numpy as np

from jella.arrays import Array, like, namespace
from jella.residuals import Residual, ViewData
from jella.rows import row_blocks
from jella.views import Views


@dataclass(frozen=True)
class Quadratic:
    """Σ_i b_iᵀ A_i b_i − 2 c_iᵀ b_i over the rows b_i of a block B (m, r).

    Attributes
    ----------
    gram : array (r, r), the same A for all rows, or (m, r, r), one for each row
    cross : array (m, r)
    """

    gram: Array
    cross: Array

    def value(self, B: Array) -> float:
        """Value at B."""
        xp = namespace(B)
        return float(xp.sum(B * (self.times(B) - 2.0 * self.cross)))

    def times(self, B: Array) -> Array:
        """Row i of B times A_i."""
        if self.gram.ndim == 2:
            return B @ self.gram
        return (B[:, None, :] @ self.gram)[:, 0, :]

    def with_ridge(self, weight: float) -> Quadratic:
        """The quadratic with weight·‖B‖² added."""
        if weight == 0:
            return self
        return Quadratic(self.gram + like(weight * np.eye(self.gram.shape[-1]), self.gram), self.cross)


@dataclass(frozen=True)
class Part:
    """Rows of a block that are solved together, with their quadratic."""

    rows: Array | slice
    quadratic: Quadratic


def basis_with_completion(residual: Residual, U: Array, W: Array, relaxation: float) -> Quadratic:
    """Algorithm 1, one view: gram WᵀW and cross ZᵀW, Z completed from the current blocks."""
    gram = W.T @ W
    return Quadratic(gram, U @ gram + relaxation * residual.rmatmul(W))


def basis_on_present(data: ViewData, W: Array) -> Quadratic:
    """Algorithm 2, one view: the present samples alone."""
    return Quadratic(data.keep_present(W).T @ W, data.times_transposed(W))


def embedding_with_completion(
    residuals: Sequence[Residual], old: Sequence[Array], W: Array, new: Sequence[Array], relaxation: float
) -> Quadratic:
    """Algorithm 1: gram Σ U_vᵀU_v and cross Σ Z_v U_v with the new bases, Z completed from the old blocks."""
    gram = sum((U.T @ U for U in new[1:]), start=new[0].T @ new[0])
    overlap = sum((U.T @ V for U, V in zip(old[1:], new[1:], strict=True)), start=old[0].T @ new[0])
    cross = W @ overlap
    for residual, U in zip(residuals, new, strict=True):
        cross = cross + relaxation * residual.matmul(U)
    return Quadratic(gram, cross)


def embedding_on_observed(data: Sequence[ViewData], bases: Sequence[Array]) -> Iterator[Part]:
    """Algorithm 2, and the exact step on missing entries: each sample against what was observed of it.

    Samples of equal availability share a gram; with missing entries every sample has its own, in blocks of samples.
    """
    if all(view.view.is_rowwise for view in data):
        yield from _by_availability(data, bases)
    else:
        yield from _by_sample(data, bases)


def _by_availability(data: Sequence[ViewData], bases: Sequence[Array]) -> Iterator[Part]:
    grams = [U.T @ U for U in bases]
    cross = _observed_cross(data, bases, slice(None))
    presence = Views(tuple(d.view for d in data)).presence()
    patterns, which = np.unique(presence, axis=0, return_inverse=True)
    xp, device = namespace(cross), array_api_compat.device(cross)
    for number, pattern in enumerate(patterns):
        gram = sum((gram for gram, there in zip(grams, pattern, strict=True) if there), start=0.0 * grams[0])
        if len(patterns) == 1:
            yield Part(slice(None), Quadratic(gram, cross))
        else:
            rows = xp.asarray(np.flatnonzero(which.ravel() == number), device=device)
            yield Part(rows, Quadratic(gram, xp.take(cross, rows, axis=0)))


def _by_sample(data: Sequence[ViewData], bases: Sequence[Array]) -> Iterator[Part]:
    r = bases[0].shape[1]
    pairs = [_pair_products(U) for U in bases]
    widest = max(max(d.X.shape[1] for d in data), r * r)
    for rows in row_blocks(data[0].X.shape[0], widest * 8, target=2**24):
        flat = 0.0
        for view, products in zip(data, pairs, strict=True):
            mask = view.view.mask
            weights = like(mask if view.view.is_complete else mask[rows, :], products)
            if view.view.is_rowwise:
                flat = flat + weights * namespace(products).sum(products, axis=0)[None, :]
            else:
                flat = flat + weights @ products
        cross = _observed_cross(data, bases, rows)
        flat = flat + 0.0 * cross[:, :1]  # a complete view alone would leave one row
        yield Part(rows, Quadratic(namespace(cross).reshape(flat, (cross.shape[0], r, r)), cross))


def _pair_products(U: Array) -> Array:
    """Products u_ja·u_jb of every feature j, (d, r²)."""
    return namespace(U).reshape(U[:, :, None] * U[:, None, :], (U.shape[0], U.shape[1] ** 2))


def _observed_cross(data: Sequence[ViewData], bases: Sequence[Array], rows: slice) -> Array:
    whole = rows == slice(None)
    terms = [d.times(U) if whole else d.X[rows, :] @ U for d, U in zip(data, bases, strict=True)]
    return sum(terms[1:], start=terms[0])
