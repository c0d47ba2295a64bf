"""The block-diagonal representation on a sparse support: what a sweep costs grows with the pairs, not with n²."""

from __future__ import annotations

from copy import copy

import numpy as np
from scipy import sparse

from jella.arrays import Array, inner, like, namespace, to_numpy
from jella.rows import row_blocks
from jella.terms.block_diagonal import BlockDiagonal, BlockState
from jella.terms.support import Support

#: pairs are walked over in blocks of about this many bytes
BLOCK_BYTES = 2**22


class SparseBlockDiagonal(BlockDiagonal):
    """BlockDiagonal with an affinity B that is zero off a given support.

    Everything is exact for the problem so restricted; with a full support that starts from zero it is BlockDiagonal.

    Parameters
    ----------
    support : Support
        The pairs of samples that B may join, with the weights that B starts from. The first W-step pulls every sample
        towards what these weights make of the others.
    n_blocks, alpha, beta, gamma, eigen_tol, eigen_steps
        As in BlockDiagonal. Few steps of the eigensolver in a sweep suffice, since it goes on from the last ones.
    """

    def __init__(
        self,
        support: Support,
        n_blocks: int = 2,
        *,
        alpha: float = 0.1,
        beta: float = 10.0,
        gamma: float = 0.1,
        eigen_tol: float = 1e-4,
        eigen_steps: int = 3,
    ) -> None:
        super().__init__(n_blocks, alpha, beta, gamma=gamma, eigen_tol=eigen_tol, eigen_steps=eigen_steps)
        self.support = support

    def take(self, rows: np.ndarray) -> SparseBlockDiagonal:
        """The term with the samples in another order."""
        other = copy(self)
        other.support = self.support.take(rows)
        return other

    def start(self, B: Array) -> BlockState:
        """B = P = the starting weights, and no F yet."""
        if B.shape[0] != self.support.n_samples:
            raise ValueError(
                f"{self.name} has a support over {self.support.n_samples} samples, but the embedding has {B.shape[0]}"
            )
        affinity = self.support.matrix(self.support.start.astype(to_numpy(B[:1, :1]).dtype, copy=False))
        nothing = namespace(B).zeros_like(B)
        return BlockState(affinity, None, affinity, nothing, like(np.eye(B.shape[1]), B), nothing, 0.0, 0.0)

    def _affinity(self, WM: Array, T: Array, old: sparse.csr_array, F: Array | None) -> tuple[sparse.csr_array, float]:
        """As in BlockDiagonal, pair by pair of the support."""
        support, before = self.support, self.support.values(old)
        after, distance = np.empty_like(before), 0.0
        WM, T, F = to_numpy(WM), to_numpy(T), None if F is None else to_numpy(F)
        width = WM.shape[1] * WM.dtype.itemsize * 4
        for block in row_blocks(support.n_pairs, width, BLOCK_BYTES):
            i, j = support.rows[block], support.columns[block]
            symmetric = 0.5 * (_row_products(WM, i, T, j) + _row_products(T, i, WM, j))
            new = before[block] + symmetric
            if F is not None:
                difference = np.take(F, i, axis=0) - np.take(F, j, axis=0)
                new -= (0.25 * self.gamma / self.beta) * np.einsum("ek,ek->e", difference, difference)
            np.maximum(new, 0.0, out=new)
            step = before[block] - new
            distance += 2.0 * inner(step, step) + 4.0 * inner(step, symmetric)  # both triangles
            after[block] = new
        return support.matrix(after), distance


def _row_products(A: np.ndarray, i: np.ndarray, B: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Inner products of rows i of A with rows j of B, (m,)."""
    return np.einsum("er,er->e", np.take(A, i, axis=0), np.take(B, j, axis=0))
