"""The residual Γ ⊙ (X − W Uᵀ) of a view: its products and norms, which are all that sweeps need.

Z = W Uᵀ + λΓ ⊙ (X − W Uᵀ) is the completed (and over-relaxed) view. A product with Z is a product with W Uᵀ, which has
rank r, plus λ times a product with the residual. Where only whole samples are missing, the residual is never formed,
and a sparse view stays sparse.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from jella.numerics.arrays import Array, at_least, cache_blocks, inner, like, namespace, row_sqnorms, sqnorm, square_sum
from jella.views import View


class Residual(Protocol):
    """R = Γ ⊙ (X − W Uᵀ), (n, d), at one pair of blocks."""

    def matmul(self, U: Array) -> Array:
        """R @ U, (n, r)."""

    def rmatmul(self, W: Array) -> Array:
        """R.T @ W, (d, r)."""

    def sqnorm(self) -> float:
        """‖R‖²."""

    def row_sqnorms(self) -> tuple[Array, Array]:
        """Squared norm of each row, (n,), and 1 where the sample is present, else 0, (n, 1)."""


class ViewData:
    """A view prepared for many sweeps: its products with a basis are kept until the basis changes.

    Parameters
    ----------
    view : View
    keeps : bool
        Whether the residual of a view with missing entries is formed once and kept for the next sweep. Otherwise it is
        computed block by block whenever it is needed, which costs one more product and no memory.
    """

    def __init__(self, view: View, *, keeps: bool = True) -> None:
        self.view, self.keeps = view, keeps
        self.X = view.X
        self.present = None  # (n, 1) floats where samples are missing
        if view.is_rowwise and not view.is_complete:
            self.present = like(view.mask, view.X)
        self._basis: Array | None = None
        self._product: Array | None = None
        self._spare: list[Array] = []  # memory of residuals that are no longer needed

    @cached_property
    def total(self) -> float:
        """‖X‖²."""
        return sqnorm(self.X)

    def times(self, U: Array) -> Array:
        """X @ U, (n, r)."""
        if self._basis is not U:
            self._basis, self._product = U, self.X @ U
        return self._product

    def keep_present(self, W: Array) -> Array:
        """W with the rows of absent samples set to zero."""
        return W if self.present is None else W * self.present

    def room(self, user: object) -> Array:
        """An array like X, kept while the user exists and reused afterwards, since new memory is slow."""
        array = self._spare.pop() if self._spare else namespace(self.X).empty_like(self.X)
        weakref.finalize(user, self._spare.append, array)
        return array

    def residual(self, U: Array, W: Array) -> Residual:
        """The residual at these blocks."""
        if self.view.is_rowwise:
            return RowResidual(self, U, W)
        return EntryResidual(self, U, W) if self.keeps else PassingResidual(self.view, U, W)


class RowResidual:
    """Residual of a view in which only whole samples are missing; never formed."""

    def __init__(self, data: ViewData, U: Array, W: Array) -> None:
        self.data, self.U, self.W = data, U, W
        self.present_W = data.keep_present(W)

    def matmul(self, U: Array) -> Array:
        """X U − M W (UᵀU)."""
        return self.data.times(U) - self.present_W @ (self.U.T @ U)

    def rmatmul(self, W: Array) -> Array:
        """XᵀW − U (WᵀM W)."""
        return self.data.X.T @ W - self.U @ (self.present_W.T @ W)

    def sqnorm(self) -> float:
        """‖X‖² − 2⟨W, XU⟩ + ⟨UᵀU, WᵀMW⟩, exact up to the rounding of ‖X‖².

        In single precision that rounding can exceed the residual, so that of a dense view is formed block by block.
        """
        X = self.data.X
        if X.dtype != namespace(X).float64 and not self.data.view.is_sparse:
            return sum(sqnorm(block) for _, block in residual_blocks(self.data.view, self.U, self.W))
        cross = inner(self.W, self.data.times(self.U))
        model = inner(self.U.T @ self.U, self.present_W.T @ self.W)
        return max(self.data.total - 2.0 * cross + model, 0.0)

    def row_sqnorms(self) -> tuple[Array, Array]:
        """Squared norm of each row, and 1 where the sample is present."""
        return self._row_sqnorms

    @cached_property
    def _row_sqnorms(self) -> tuple[Array, Array]:
        """Formed block by block for a dense view; ‖x‖² − 2⟨w, xU⟩ + ‖Uw‖² for a sparse one."""
        W, view = self.W, self.data.view
        xp = namespace(W)
        present = self.data.present if self.data.present is not None else xp.ones_like(W[:, :1])
        if not view.is_sparse:
            blocks = [row_sqnorms(block) for _, block in residual_blocks(view, self.U, W)]
            return xp.concat(blocks), present
        model = xp.sum(self.present_W @ (self.U.T @ self.U) * W, axis=1)
        squares = row_sqnorms(self.data.X) - 2.0 * xp.sum(W * self.data.times(self.U), axis=1) + model
        return at_least(squares, 0.0), present


class EntryResidual:
    """Residual of a view with missing entries; formed once, block by block, while the rows are in the cache."""

    def __init__(self, data: ViewData, U: Array, W: Array) -> None:
        self.R = data.room(self)
        self._squares: list[Any] = []  # a device is asked for them when they are needed
        for rows, block in residual_blocks(data.view, U, W):
            self._squares.append(square_sum(block))
            self.R[rows, :] = block

    def matmul(self, U: Array) -> Array:
        """R @ U."""
        return self.R @ U

    def rmatmul(self, W: Array) -> Array:
        """R.T @ W."""
        return self.R.T @ W

    def sqnorm(self) -> float:
        """‖R‖²."""
        total = 0.0
        for square in self._squares:
            total += float(square)
        return total

    def row_sqnorms(self) -> tuple[Array, Array]:
        """Over the observed entries."""
        xp = namespace(self.R)
        squares = row_sqnorms(self.R)
        return squares, xp.ones_like(squares)[:, None]


class PassingResidual:
    """Residual of a view with missing entries, computed block by block each time it is used."""

    def __init__(self, view: View, U: Array, W: Array) -> None:
        self.view, self.U, self.W = view, U, W
        self._sqnorm: float | None = None

    def matmul(self, U: Array) -> Array:
        """R @ U."""
        product = namespace(self.W).empty_like(self.W)
        for rows, block in residual_blocks(self.view, self.U, self.W):
            product[rows, :] = block @ U
        return product

    def rmatmul(self, W: Array) -> Array:
        """R.T @ W; also keeps ‖R‖²."""
        product, total = namespace(self.U).zeros_like(self.U), 0.0
        for rows, block in residual_blocks(self.view, self.U, self.W):
            product += block.T @ W[rows, :]
            total += sqnorm(block)
        self._sqnorm = total
        return product

    def sqnorm(self) -> float:
        """‖R‖²."""
        if self._sqnorm is None:
            self._sqnorm = sum(sqnorm(block) for _, block in residual_blocks(self.view, self.U, self.W))
        return self._sqnorm

    def row_sqnorms(self) -> tuple[Array, Array]:
        """Over the observed entries."""
        squares = [row_sqnorms(block) for _, block in residual_blocks(self.view, self.U, self.W)]
        joined = namespace(self.W).concat(squares)
        return joined, namespace(joined).ones_like(joined)[:, None]


def residual_blocks(view: View, U: Array, W: Array) -> Iterator[tuple[slice, Array]]:
    """Blocks of rows of Γ ⊙ (X − W Uᵀ), each formed while its rows are in the cache; valid until the next one."""
    if isinstance(view.X, np.ndarray):
        yield from _residual_blocks_in_place(view, U, W)
        return
    xp = namespace(view.X)
    for rows in cache_blocks(view.X):
        difference = view.X[rows, :] - W[rows, :] @ U.T
        yield rows, difference if view.is_complete else xp.where(view.mask[rows, :], difference, 0.0)


def _residual_blocks_in_place(view: View, U: np.ndarray, W: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """The same blocks in one piece of memory: new memory for each block would take as long as the arithmetic."""
    room = None
    for rows in cache_blocks(view.X):
        room = np.empty((rows.stop - rows.start, view.n_features), view.X.dtype) if room is None else room
        block = room[: rows.stop - rows.start]
        np.matmul(W[rows], U.T, out=block)
        np.subtract(view.X[rows], block, out=block)
        if not view.is_complete:
            np.multiply(block, view.mask[rows], out=block)
        yield rows, block
