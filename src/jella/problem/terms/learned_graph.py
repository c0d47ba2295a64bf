"""A graph over the samples that is learned with the embedding and smooths it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, like, namespace, sqnorm
from jella.problem.terms.base import Coupling, positive


class LearnedGraph(Coupling):
    """beta · tr(WᵀL_S W) + gamma · ‖A‖² with S = (A + Aᵀ)/2, L_S = Diag(S1) − S, and rows of A on the simplex.

    The update of A is exact: row i is the projection of −(beta/(4·gamma))·‖w_i − w_j‖², j = 1…n, onto the simplex
    {a ≥ 0, Σ_j a_j = 1}, found by sorting. For the embedding the term is tr(WᵀKW) with K = beta·L_S, so that the exact
    update of W solves K W + W A = C, a Sylvester equation.

    Parameters
    ----------
    beta : float, default=1.0
        Weight of the smoothness on the graph; positive.
    gamma : float, default=100.0
        Weight of ‖A‖²; positive. A larger one spreads the weight of a sample over more neighbours.

    References
    ----------
    .. [1] H. Zhao, H. Liu, Y. Fu: Incomplete multi-modal visual data grouping. IJCAI 2016.
    .. [2] J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra: Efficient projections onto the l1-ball for learning in
       high dimensions. ICML 2008.
    """

    pairs = 9

    def __init__(self, beta: float = 1.0, gamma: float = 100.0) -> None:
        self.beta, self.gamma = positive(beta, "LearnedGraph beta"), positive(gamma, "LearnedGraph gamma")

    def start(self, B: Array) -> Array:
        """The best graph of the first block, (n, n)."""
        return self.refresh(B, None)

    def refresh(self, B: Array, state: Any) -> Array:
        """The best graph of the block, (n, n)."""
        return project_simplex_rows((-0.25 * self.beta / self.gamma) * squared_distances(B))

    def value(self, B: Array, state: Any = None) -> float:
        """Smoothness of the embedding on the graph, and spread of the graph."""
        graph = self.refresh(B, None) if state is None else state
        return self.beta * float(namespace(B).sum(B * Laplacian(graph).matmul(B))) + self.gamma * sqnorm(graph)

    def coupling(self, B: Array, state: Array) -> Laplacian:
        """Beta · L_S."""
        return Laplacian(state, self.beta)


@dataclass(frozen=True)
class Laplacian:
    """weight · (Diag(S1) − S) for S = (A + Aᵀ)/2, by its products."""

    graph: Array  # A, (n, n)
    weight: float = 1.0

    def matmul(self, B: Array) -> Array:
        """Product with a block (n, r)."""
        xp, A = namespace(B), self.graph
        degree = 0.5 * (xp.sum(A, axis=1) + xp.sum(A, axis=0))
        return self.weight * (degree[:, None] * B - 0.5 * (A @ B + A.T @ B))


def squared_distances(B: Array) -> Array:
    """‖b_i − b_j‖² of all pairs of rows, (n, n), never negative."""
    xp = namespace(B)
    lengths = xp.sum(B * B, axis=1)
    distances = lengths[:, None] + lengths[None, :] - 2.0 * (B @ B.T)
    return xp.where(distances > 0, distances, xp.zeros_like(distances))


def project_simplex_rows(B: Array) -> Array:
    """Euclidean projection of each row of B (m, q) onto {x ≥ 0, Σ x = 1}, by sorting."""
    xp = namespace(B)
    ordered = xp.sort(B, axis=1, descending=True)
    ranks = like(np.arange(1, B.shape[1] + 1), B)[None, :]
    thresholds = (xp.cumulative_sum(ordered, axis=1) - 1.0) / ranks
    active = xp.sum(xp.astype(ordered > thresholds, xp.int64), axis=1, keepdims=True)
    shifted = B - xp.take_along_axis(thresholds, active - 1, axis=1)
    return xp.where(shifted > 0, shifted, xp.zeros_like(shifted))
