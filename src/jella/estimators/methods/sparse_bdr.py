"""SparseBDR: block-diagonal representation on a sparse support, with its scale fixed and its settings label-free."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

from sklearn.utils import check_scalar

from jella.estimators.base import DEFAULT_RANK
from jella.estimators.framework import BaseClusterer
from jella.estimators.methods.docs import with_shared_docs
from jella.graphs.neighbours import nearest, sweep_order, symmetric_support
from jella.graphs.view_choice import choose_kinds, clarity_weights
from jella.numerics.sparse_arrays import neighbour_graph
from jella.problem.model import Data, Problem
from jella.problem.terms import Orthonormal, Ridge, SparseBlockDiagonal, Support
from jella.views import AnyViews
from jella.views.scaling import Scaling

#: components per cluster, and the fewest, where the number of components is not given
COMPONENTS_PER_CLUSTER, FEWEST_COMPONENTS = 2, 10
#: but at most one component per this many features: a rank near the number of features completes nothing
FEATURES_PER_COMPONENT = 3


@with_shared_docs
class SparseBDR(BaseClusterer):
    """Block-diagonal representation on a sparse support: the method to try first.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + alpha‖W − PᵀW‖² + beta‖P − B‖² + gamma·(sum of the k lowest eigenvalues of
    L_B) + ridge‖W‖² over orthonormal stacked bases U and an affinity B that joins neighbours only: IML-BDR with its
    scale fixed, at a cost that grows with the number of samples and not with its square. Missing views and missing
    entries, any sign, sparse views. Nothing needs labels: scaling, weights of the views, rank and, where it is not
    given, the number of clusters are chosen from the data.

    {parameters}
    n_neighbors : int, default=10
        Neighbours of a sample: in the support of B, in the first completion, and in the graph that labels come from,
        there both in the embedding and in each view.
    alpha : float, default=0.1
        Weight of the self-expression of the embedding.
    beta : float, default=10.0
        Weight of ‖P − B‖².
    gamma : float, default=0.1
        Weight of the block-diagonal structure.
    ridge : float, default=0.1
        Weight of ‖W‖². It shrinks most the samples of which little was observed: what was not is completed from W.

    {attributes}
    n_clusters_ : int
        Number of clusters, given or chosen.
    affinity_ : sparse array (n, n)
        B, over the samples that were kept.
    graph_ : sparse array (n, n)
        The neighbours that the support and the first completion come from, over the samples that were kept.
    cluster_path_ : ClusterPath
        What speaks for each number of clusters, where it was chosen.

    Notes
    -----
    Neighbours are found over the entries that two samples share, so that they do not follow which views a sample has;
    what is missing starts from them and B starts from averaging over them. With scale='auto' a view is rooted,
    standardized or centred, whichever makes its neighbours agree most with those of the other views; with
    view_weights='auto' a view weighs as much as its own graph falls into clear groups. By default there are two
    components a cluster, at least ten, and at most one for three features. Labels are spectral, from the neighbour
    graph of the embedding's rows at unit norm; an edge of it weighs by the views that have it too. The fit stops after
    max_iter sweeps on purpose: it starts from a completion by neighbours, and twenty sweeps refine it. A new sample is
    embedded near its neighbours among those of the fit, by alpha, and takes the label that most of its neighbours
    have.

    The model's own embedding (`result_.blocks.embedding`) tells which views a sample lacks, since what a model expects
    varies less than what is observed. `embedding_` and `transform` are therefore made from the samples completed with
    what their neighbours have; `complete` gives what is expected.

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> views = jella.datasets.make_incomplete([view[:300] for view in digits.data.values()], 0.3, random_state=0)
    >>> model = jella.SparseBDR(n_clusters=10, random_state=0).fit(views)
    >>> model.labels_.shape, model.embedding_.shape
    ((300,), (300, 20))
    """

    _chooses_n_clusters = True
    _orders_samples = True
    _has_minimiser = False  # stopping early is meant

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        n_neighbors: int = 10,
        alpha: float = 0.1,
        beta: float = 10.0,
        gamma: float = 0.1,
        ridge: float = 0.1,
        scale: Any = "auto",
        view_weights: Any = "auto",
        solver: Any = "sor",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 20,
        tol: float = 1e-4,
        warm_start: bool = False,
        on_empty: str = "raise",
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.ridge = ridge
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
        """Squared loss, orthonormal bases, a ridge, and the block-diagonal term on the neighbours of the data."""
        check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
        _, neighbours = nearest(data.views, self.n_neighbors)
        support = Support.averaging(symmetric_support(neighbour_graph(neighbours)))
        term = SparseBlockDiagonal(support, self.n_blocks, alpha=self.alpha, beta=self.beta, gamma=self.gamma)
        return Problem(
            basis=(Orthonormal(),),
            embedding=(Ridge(self.ridge), term),
            neighbours=neighbours,
            order=partial(sweep_order, neighbours),
        )

    @property
    def n_blocks(self) -> int:
        """Number of groups that the block-diagonal term looks for."""
        return self.n_clusters or self.n_components or DEFAULT_RANK

    def _learn_scaling(self, views: AnyViews) -> Scaling:
        kinds = choose_kinds(views) if isinstance(self.scale, str) and self.scale == "auto" else self.scale
        weights = self.view_weights
        if isinstance(weights, str) and weights == "auto":
            alone = len(views) == 1
            weights = None if alone else clarity_weights(Scaling.learn(views, kinds).apply(views), self.n_blocks)
        return Scaling.learn(views, kinds, weights)

    def _rank(self, views: AnyViews) -> int:
        if self.n_components is not None:
            return super()._rank(views)
        most = max(views.n_features // FEATURES_PER_COMPONENT, 1)
        return min(max(COMPONENTS_PER_CLUSTER * self.n_blocks, FEWEST_COMPONENTS), views.n_samples, most)

    @property
    def affinity_(self) -> Any:
        """Affinity of the samples that were kept."""
        return self.result_.blocks.embedding_states[-1].affinity
