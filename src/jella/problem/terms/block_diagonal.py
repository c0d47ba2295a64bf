"""The block-diagonal representation: samples written by samples of their own group.

Steps as in the JELLA paper's IML-BDR, rearranged so that no n × n matrix is solved with or decomposed. Samples are
rows: W is (n, r), B (n, n) symmetric, non-negative, with zero diagonal; c = beta/alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, if_small_on_host, inner, like, namespace, row_blocks, sqnorm, target_bytes
from jella.numerics.eigen import lowest_eigenvectors, lowest_of_dense
from jella.numerics.sparse_arrays import is_sparse, rest_of, row_sums, sparse_times, to_scipy
from jella.problem.terms.base import Coupling, positive

#: up to this many samples the eigenvectors of a sparse affinity are computed directly; of a dense one, up to half of it
DIRECT = 512


@dataclass(frozen=True)
class BlockState:
    """B and its lowest eigenvectors F, and P = B_old + W M Tᵀ as the W-step needs it.

    P is the minimiser at (W, B_old) with T = (I − B_old)W and M = (WᵀW + cI)⁻¹, so it is B_old plus a matrix of rank r.
    """

    affinity: Array  # B, (n, n), dense or sparse
    indicator: Array | None  # F, (n, k)
    previous: Array  # B_old, (n, n)
    W: Array  # (n, r)
    M: Array  # (r, r)
    T: Array  # (n, r)
    distance: float  # ‖P − B‖²
    spread: float  # tr(FᵀL_B F)


class BlockDiagonal(Coupling):
    """alpha·‖W − PᵀW‖² + beta·‖P − B‖² + gamma·(sum of the k lowest eigenvalues of L_B).

    Samples are expressed by each other through P, and P is close to an affinity B = Bᵀ ≥ 0 with zero diagonal. The last
    part is zero where the graph of B has k connected components; L_B is its Laplacian. The updates of the term's own
    variables are exact, with c = beta/alpha:

    - P = (WWᵀ + cI)⁻¹(WWᵀ + cB);
    - B_ij = max(½(P_ij + P_ji) − (gamma/(4·beta))·‖f_i − f_j‖², 0) for i ≠ j;
    - F (rows f_i) holds the k lowest eigenvectors of L_B, from the eigensolver as far as its steps reach.

    For the embedding the term is tr(WᵀKW) with K = alpha·(I − P)(I − P)ᵀ, so that the exact update of W solves
    K W + W A = C, a Sylvester equation.

    Parameters
    ----------
    n_blocks : int, default=2
        k, the number of groups.
    alpha : float, default=1.0
        Weight of the self-expression of the embedding.
    beta : float, default=10.0
        Weight of ‖P − B‖².
    gamma : float, default=0.1
        Weight of the block-diagonal structure of B.
    eigen_tol : float, default=1e-6
        Relative residual to which the eigenvectors are solved in every sweep.
    eigen_steps : int, default=60
        Most steps of the eigensolver per sweep. It continues from the vectors of the sweep before; the first sweep has
        at least 60 steps.

    References
    ----------
    .. [1] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics 51 (2021).
    .. [2] C. Lu, J. Feng, Z. Lin, T. Mei, S. Yan: Subspace clustering by block diagonal representation. IEEE Trans.
       Pattern Analysis and Machine Intelligence 41 (2019).
    """

    pairs = 5

    def __init__(
        self,
        n_blocks: int = 2,
        alpha: float = 1.0,
        beta: float = 10.0,
        *,
        gamma: float = 0.1,
        eigen_tol: float = 1e-6,
        eigen_steps: int = 60,
    ) -> None:
        self.n_blocks = int(n_blocks)
        self.alpha, self.beta = positive(alpha, "BlockDiagonal alpha"), positive(beta, "BlockDiagonal beta")
        self.gamma = positive(gamma, "BlockDiagonal gamma")
        self.eigen_tol, self.eigen_steps = float(eigen_tol), int(eigen_steps)

    def start(self, B: Array) -> BlockState:
        """B = P = 0, and no F yet, as the BDR program starts: the first affinity has no regulariser."""
        xp = namespace(B)
        zero = xp.zeros((B.shape[0], B.shape[0]), dtype=B.dtype, device=B.device)
        nothing = xp.zeros_like(B)
        return BlockState(zero, None, zero, nothing, like(np.eye(B.shape[1]), B), nothing, 0.0, 0.0)

    def refresh(self, B: Array, state: BlockState) -> BlockState:
        """P, then the affinity, then the eigenvectors, each at its minimum."""
        c, old, gram = self.beta / self.alpha, state.affinity, B.T @ B
        small = if_small_on_host(gram)
        M = like(namespace(small).linalg.inv(small + like(c * np.eye(B.shape[1]), small)), B)
        T = rest_of(old, B)
        new, distance = self._affinity(B @ M, T, old, state.indicator)
        F, spread = self._eigenvectors(new, B, state.indicator)
        # ‖P − B_new‖² = ‖B_old − B_new‖² + 2⟨B_old − B_new, W M Tᵀ⟩ + ‖W M Tᵀ‖², the last from small matrices
        distance += inner(M.T @ gram @ M, T.T @ T)
        return BlockState(new, F, old, B, M, T, max(distance, 0.0), spread)

    def value(self, B: Array, state: Any = None) -> float:
        """The three parts; at the block the state was refreshed at, (I − P)ᵀW is c T M."""
        state = self.refresh(B, self.start(B)) if state is None else state
        if B is state.W:
            expression = self.alpha * sqnorm(state.T @ ((self.beta / self.alpha) * state.M))
        else:
            expression = inner(B, self.coupling(B, state).matmul(B))
        return expression + self.beta * state.distance + self.gamma * state.spread

    def coupling(self, B: Array, state: BlockState) -> SelfExpression:
        """Alpha · (I − P)(I − P)ᵀ."""
        return SelfExpression(state, self.alpha)

    def _affinity(self, WM: Array, T: Array, old: Array, F: Array | None) -> tuple[Array, float]:
        """[sym(P) − (γ/4β)‖f_i − f_j‖²]₊ with zero diagonal, row block by row block, and the first two parts of its
        squared distance to P.
        """
        xp = namespace(WM)
        new, distance = xp.empty_like(old), 0.0
        n = old.shape[0]
        for rows in row_blocks(n, n * 8, target_bytes(WM, 2**23)):
            low_rank = WM[rows, :] @ T.T  # rows of P − B_old
            block = old[rows, :] + 0.5 * (low_rank + T[rows, :] @ WM.T)
            if F is not None:
                block = block - (0.25 * self.gamma / self.beta) * _distances(F[rows, :], F)
            block = xp.where(block > 0, block, 0.0)
            block = _without_diagonal(block, rows.start)
            step = old[rows, :] - block
            distance += sqnorm(step) + 2.0 * inner(step, low_rank)
            new[rows, :] = block
        return new, distance

    def _eigenvectors(self, affinity: Array, W: Array, F: Array | None) -> tuple[Array, float]:
        """The k lowest eigenvectors of the Laplacian of an affinity, and the sum of their eigenvalues."""
        xp, stored = namespace(W), is_sparse(affinity)
        degree = row_sums(affinity, W) if stored else xp.sum(affinity, axis=1)

        def laplacian(V: Array) -> Array:
            return degree[:, None] * V - sparse_times(affinity, V)

        n = affinity.shape[0]
        k = min(self.n_blocks, n)
        if n <= max(DIRECT if stored else DIRECT // 2, 4 * k):
            eye = xp.eye(n, dtype=W.dtype, device=W.device)
            dense = like(to_scipy(affinity).toarray(), W) if stored else affinity
            vectors, values = lowest_of_dense(eye * degree - dense, k)
            return vectors, max(float(xp.sum(values)), 0.0)
        start, steps = (_first_vectors(W, k), max(60, self.eigen_steps)) if F is None else (F, self.eigen_steps)
        F_new, values = lowest_eigenvectors(laplacian, start, diagonal=degree, tol=self.eigen_tol, max_iter=steps)
        return F_new, max(float(namespace(values).sum(values)), 0.0)


@dataclass(frozen=True)
class SelfExpression:
    """alpha · (I − P)(I − P)ᵀ with P = B + W M Tᵀ, by its products: two with B, four with rank r."""

    state: BlockState
    alpha: float

    def matmul(self, X: Array) -> Array:
        """Product with a block (n, r)."""
        B, W, M, T = self.state.previous, self.state.W, self.state.M, self.state.T
        Y = rest_of(B, X, T, M.T @ (W.T @ X))
        return rest_of(B, Y, W, M @ (T.T @ Y), self.alpha)


def _distances(F: Array, G: Array) -> Array:
    xp = namespace(F)
    return xp.sum(F * F, axis=1)[:, None] + xp.sum(G * G, axis=1)[None, :] - 2.0 * (F @ G.T)


def _without_diagonal(block: Array, offset: int) -> Array:
    """Rows `offset`… of a square matrix with the diagonal set to zero."""
    xp = namespace(block)
    rows = xp.arange(block.shape[0], device=block.device)[:, None] + offset
    columns = xp.arange(block.shape[1], device=block.device)[None, :]
    return xp.where(rows == columns, 0.0, block)


def _first_vectors(W: Array, k: int) -> Array:
    """K vectors to start the eigensolver from that follow the samples: the constant, then powers of the embedding."""
    xp = namespace(W)
    columns, power = [xp.ones_like(W[:, :1])], W
    while sum(c.shape[1] for c in columns) < k:
        columns.append(power)
        power = power * W
    return xp.concat(columns, axis=1)[:, :k]
