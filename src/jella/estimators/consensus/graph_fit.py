"""The loop of RAMC: one graph with exactly k components, fitted to the graphs of the views in a weighted ℓ1 norm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from jella.estimators.consensus.graphs import Graphs
from jella.estimators.consensus.l1_rows import nearest_rows
from jella.graphs.spectral import components, laplacian_eigenvectors
from jella.numerics.arrays import row_blocks


@dataclass(frozen=True)
class Cut:
    """The result of the loop.

    Attributes
    ----------
    graph : CSR array (n, n)
        S, with rows that sum to one: the last graph with exactly k components, or the last graph if none has.
    labels : int array (n,)
        The component of each sample.
    weights : array (V,)
        Weights of the views, which sum to one.
    vectors : array (n, k)
        Lowest eigenvectors of the last graph with at most k components.
    residuals : array
        Sum of the k lowest eigenvalues of the Laplacian after each round.
    reached : bool
        Whether the graph has exactly k components.
    """

    graph: sparse.csr_array
    labels: np.ndarray
    weights: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    reached: bool


@dataclass
class RankWeight:
    """λ, the weight of the lowest eigenvalues. A factor raises or lowers it, and gets nearer to one at each turn."""

    value: float
    factor: float = 2.0
    rising: bool | None = None

    def move(self, up: bool) -> None:
        """Raise or lower the weight."""
        if self.rising is not None and up != self.rising:
            self.factor = self.factor**0.5
        self.rising = up
        self.value *= self.factor if up else 1.0 / self.factor


def connected_enough(
    views: Sequence[np.ndarray | sparse.csr_array], k: int, n_neighbors: int
) -> tuple[Graphs, np.ndarray, int]:
    """Graphs whose ℓ1 mean S has at most k components, S (n, K), and the number of neighbours that this needs.

    The fit can only cut edges, so the number of neighbours is doubled until S has at most k components.
    """
    most = max(views[0].shape[0] - 2, 1)
    m = min(n_neighbors, most)
    equal = np.full(len(views), 1.0 / len(views))
    while True:
        graphs = Graphs.of(views, m)
        S = _graph_step(graphs, equal, np.zeros(graphs.possible.shape))
        if m == most or components(graphs.as_sparse(S))[0] <= k:
            return graphs, S, m
        m = min(2 * m, most)


def fit_graph(graphs: Graphs, S: np.ndarray, k: int, *, max_iter: int, tol: float) -> Cut:
    """The graph after updates of S (n, K), weights and eigenvectors in turn, until S has k components and has settled.

    Parameters
    ----------
    tol : float
        S has settled when a round moves less than this share of its mass.
    """
    n, weights = S.shape[0], _weights(graphs, S)
    _, F = laplacian_eigenvectors(graphs.as_sparse(S), k)
    distances = _distances(graphs, F)
    weight = RankWeight(
        1.0 / (float(distances.max()) or 1.0)
    )  # at twice this value, the longest edges begin to disappear
    best: Cut | None = None
    residuals: list[float] = []
    for _ in range(max_iter):
        last, S = S, _graph_step(graphs, weights, weight.value * distances)
        graph = graphs.as_sparse(S)
        count, labels = components(graph)
        residual = 0.0
        if count <= k:  # with more than k the cut went too far: weights and F stay, and λ is lowered
            weights = _weights(graphs, S)
            lowest, F = laplacian_eigenvectors(graph, k)
            residual = float(np.maximum(lowest, 0.0).sum())
            distances = _distances(graphs, F)
        residuals.append(residual)
        cut = Cut(graph, labels, weights, F, np.array(residuals), count == k)
        best = cut if cut.reached or best is None or not best.reached else best
        if count != k:
            weight.move(up=count < k)
        elif np.abs(S - last).sum() <= tol * n:
            break
    assert best is not None
    return replace(best, vectors=F, residuals=np.array(residuals))


def _graph_step(graphs: Graphs, weights: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """S (n, K): each row is as near as possible to the rows of the views, with a cost per edge."""
    V, n, K = graphs.values.shape
    S = np.empty((n, K))
    for rows in row_blocks(n, 8 * K * (V + 1), target=2**24):
        S[rows] = nearest_rows(graphs.values[:, rows], weights, cost[rows], graphs.possible[rows])
    return S


def _distances(graphs: Graphs, F: np.ndarray) -> np.ndarray:
    """‖f_i − f_j‖² over the possible edges, 0 elsewhere, (n, K)."""
    n, K = graphs.possible.shape
    out = np.zeros((n, K))
    for rows in row_blocks(n, 8 * K * F.shape[1], target=2**24):
        ends = F[graphs.neighbours[rows]] - F[rows][:, None, :]
        np.einsum("ijk,ijk->ij", ends, ends, out=out[rows])
    return np.where(graphs.possible, out, 0.0)


def _weights(graphs: Graphs, S: np.ndarray) -> np.ndarray:
    """w_v ∝ 1/(2 sqrt(‖S − A_v‖₁)), summing to one: their sum only sets the unit of λ."""
    away = np.array([np.abs(S - A).sum() for A in graphs.values])
    weights = 0.5 / np.sqrt(np.maximum(away, 1e-12 * S.shape[0]))
    return weights / weights.sum()
