"""IMG: incomplete multi-modality grouping."""

from __future__ import annotations

from typing import Any

from jella.estimators.framework import BaseClusterer
from jella.estimators.methods.docs import with_shared_docs
from jella.problem.model import Data, Problem
from jella.problem.terms import LearnedGraph, Ridge


@with_shared_docs
class IMG(BaseClusterer):
    """Incomplete multi-modality grouping (IMG): a factorisation smoothed by a graph that is learned with it.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + alpha·Σ_v‖U_v‖² + beta·tr(WᵀL_S W) + gamma·‖A‖² over bases, embedding and a
    graph A with rows on the simplex, S = (A + Aᵀ)/2. Two views or more, missing views and missing entries, any sign.
    The graph is n × n: memory grows with the square of the number of samples.

    {parameters}
    alpha : float, default=0.01
        Weight of the squared norm of the bases.
    beta : float, default=1.0
        Weight of the smoothness on the graph.
    gamma : float, default=100.0
        Weight of the squared norm of the graph: larger spreads it over more neighbours.

    {attributes}
    affinity_ : array (n, n)
        The learned graph, symmetrised.

    Notes
    -----
    Differences from the authors' program: it takes two views, fits the bases on the samples that have both, clips the
    rows of A instead of projecting them onto the simplex, scales features rather than samples, and solves by the method
    of multipliers. The paper's graph term is indefinite for an unsymmetric A; S stands in its place everywhere.
    `transform` embeds new samples without the graph.

    References
    ----------
    .. [1] H. Zhao, H. Liu, Y. Fu: Incomplete multi-modal visual data grouping. IJCAI 2016.
    .. [2] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics (2021).

    Examples
    --------
    >>> import jella
    >>> views = [view[:200] for view in jella.datasets.load_digits_views().data.values()]
    >>> jella.IMG(n_clusters=10, random_state=0).fit(views).affinity_.shape
    (200, 200)
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        alpha: float = 0.01,
        beta: float = 1.0,
        gamma: float = 100.0,
        scale: str = "sample",
        view_weights: Any = None,
        solver: Any = "basic",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 200,
        tol: float = 1e-4,
        warm_start: bool = False,
        on_empty: str = "raise",
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.scale = scale
        self.view_weights = view_weights
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.on_empty = on_empty
        self.callback = callback
        self.random_state = random_state

    def declare(self, data: Data) -> Problem:
        """Squared loss, ridge on the bases, learned graph on the embedding."""
        return Problem(basis=(Ridge(self.alpha),), embedding=(LearnedGraph(self.beta, self.gamma),))

    @property
    def affinity_(self) -> Any:
        """The learned graph, symmetrised, over the samples that were kept."""
        graph = self.result_.blocks.embedding_states[0]
        return 0.5 * (graph + graph.T)
