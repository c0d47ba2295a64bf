"""The quadratic that the loss is in one block when the others are fixed. Updates see this and never the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np

from jella.numerics.arrays import Array, like, namespace, row_blocks, target_bytes
from jella.problem.residuals import Residual, ViewData
from jella.problem.terms.base import Coupling, Operator, Term
from jella.views import View, Views

#: bytes of the grams that are solved in one batch; solvers of devices fail on larger ones
MOST_BATCHED = 2**27


@dataclass(frozen=True)
class Quadratic:
    """Σ_i b_iᵀ A_i b_i − 2 c_iᵀ b_i + tr(BᵀKB) over a block B (m, r) with rows b_i.

    Attributes
    ----------
    gram : array (r, r), the same A for all rows, or (m, r, r), one for each row
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

    def fold(self, terms: Sequence[Term], states: Sequence[Any], B: Array) -> Quadratic:
        """The quadratic with all terms in it that are quadratic themselves, or bounded by a linear part at B."""
        gram, cross, coupling = self.gram, self.cross, self.coupling
        for term, state in zip(terms, states, strict=True):
            if term.ridge > 0:
                gram = gram + like(term.ridge * np.eye(gram.shape[-1]), gram)
            linear = term.linear(B, state)
            if linear is not None:
                cross = cross + linear
            if isinstance(term, Coupling):
                coupling = term.coupling(B, state)
        return Quadratic(gram, cross, coupling)

    def scaled(self, weight: float) -> Quadratic:
        """The quadratic times a positive number."""
        return self if weight == 1.0 else Quadratic(weight * self.gram, weight * self.cross, self.coupling)


@dataclass(frozen=True)
class RowsAlike:
    """Rows of a block that are solved together, with their quadratic."""

    rows: Array | slice
    quadratic: Quadratic


def basis_with_completion(sums: Quadratic, U: Array, relaxation: float) -> Quadratic:
    """Algorithm 1, one view: gram WᵀW and cross ZᵀW, Z completed from the current blocks, from WᵀW and RᵀW."""
    return Quadratic(sums.gram, U @ sums.gram + relaxation * sums.cross)


def basis_on_present(data: ViewData, W: Array, weights: Array | None = None) -> Quadratic:
    """Algorithm 2, one view: the present samples alone, each with its weight (n, 1)."""
    weighted = W if weights is None else W * weights
    return Quadratic(data.keep_present(weighted).T @ W, data.times_transposed(weighted))


def embedding_with_completion(
    residuals: Sequence[Residual], old: Sequence[Array], W: Array, new: Sequence[Array], relaxation: float
) -> Quadratic:
    """Algorithm 1: gram Σ U_vᵀU_v and cross Σ Z_v U_v with the new bases, Z completed from the old blocks."""
    gram = stacked_gram(new)
    overlap = sum((U.T @ V for U, V in zip(old[1:], new[1:], strict=True)), start=old[0].T @ new[0])
    cross = W @ overlap
    for residual, U in zip(residuals, new, strict=True):
        cross = cross + relaxation * residual.matmul(U)
    return Quadratic(gram, cross)


def stacked_gram(bases: Sequence[Array]) -> Array:
    """Gram Σ U_vᵀU_v of all bases, (r, r)."""
    return sum((U.T @ U for U in bases[1:]), start=bases[0].T @ bases[0])


def embedding_on_observed(
    data: Sequence[ViewData], bases: Sequence[Array], weights: Sequence[Array] | None = None
) -> Iterator[RowsAlike]:
    """Algorithm 2, and the exact step on missing entries: each sample against what was observed of it.

    Samples of equal availability share a gram; with missing entries or weights (n, 1) a view every sample has its own,
    in blocks of samples.
    """
    if weights is None and all(view.view.is_rowwise for view in data):
        yield from _by_availability(data, bases)
    else:
        yield from _by_sample(data, bases, weights)


def _by_availability(data: Sequence[ViewData], bases: Sequence[Array]) -> Iterator[RowsAlike]:
    grams = [U.T @ U for U in bases]
    cross = _observed_cross(data, bases)
    presence = Views(tuple(d.view for d in data)).presence()
    patterns, which = np.unique(presence, axis=0, return_inverse=True)
    xp, device = namespace(cross), array_api_compat.device(cross)
    for number, pattern in enumerate(patterns):
        gram = sum((gram for gram, there in zip(grams, pattern, strict=True) if there), start=0.0 * grams[0])
        if len(patterns) == 1:
            yield RowsAlike(slice(None), Quadratic(gram, cross))
        else:
            rows = xp.asarray(np.flatnonzero(which.ravel() == number), device=device)
            yield RowsAlike(rows, Quadratic(gram, xp.take(cross, rows, axis=0)))


def _by_sample(
    data: Sequence[ViewData], bases: Sequence[Array], weights: Sequence[Array] | None
) -> Iterator[RowsAlike]:
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
    """Gram Σ_j u_j u_jᵀ of every sample over the features it has in this view, (rows, r²)."""
    xp = namespace(products)
    if not view.is_rowwise:
        return like(view.mask[rows, :], products) @ products
    there = xp.broadcast_to(view.mask, (view.n_samples, 1))[rows, :]
    return like(there, products) * xp.sum(products, axis=0)[None, :]


def _pair_products(U: Array) -> Array:
    """Products u_ja·u_jb of every feature j, (d, r²)."""
    return namespace(U).reshape(U[:, :, None] * U[:, None, :], (U.shape[0], U.shape[1] ** 2))


def _observed_cross(data: Sequence[ViewData], bases: Sequence[Array]) -> Array:
    terms = [d.times(U) for d, U in zip(data, bases, strict=True)]
    return sum(terms[1:], start=terms[0])
