"""SparseBDR: block-diagonal representation on a sparse support, with its scale fixed and its settings label-free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_scalar

from jella.estimators.base import Prepared, spread
from jella.estimators.embedding import DEFAULT_RANK
from jella.estimators.framework import BaseClusterer
from jella.graphs.cells import locality_order
from jella.graphs.confirmed import confirmed_graph
from jella.graphs.lending import lent_embedding, lent_residual
from jella.graphs.neighbours import averaged, dense_nearest, nearest, neighbour_graph, symmetric_support
from jella.graphs.spectral import choose_n_clusters, diffused_labels
from jella.graphs.view_choice import choose_kinds, clarity_weights
from jella.numerics.arrays import Array, like, to_numpy
from jella.numerics.kmeans import unit_rows
from jella.problem.model import Blocks, Problem
from jella.problem.residuals import ViewData
from jella.problem.terms import Orthonormal, Ridge, SparseBlockDiagonal, Support
from jella.solve.embed import embed
from jella.solve.plan import Plan
from jella.solve.result import Result
from jella.solve.samples import SamplesLostError
from jella.views import Views
from jella.views.scaling import Scaling

#: from this many samples on they are put in order before the sweeps
ORDERED = 20_000
#: and by their place after so many averagings over their neighbours, which brings those closer
AVERAGED = 3
#: components a cluster, and the fewest, where the number of components is not given
COMPONENTS_A_CLUSTER, FEWEST_COMPONENTS = 2, 10
#: but at most one component for so many features: a rank near the number of features completes nothing
FEATURES_A_COMPONENT = 3
#: attributes with a row a sample of the fit
OF_SAMPLES = (
    "_scaled",
    "_neighbours",
    "_near",
    "_unit_rows",
    "_kept_labels",
    "_problem",
    "graph_",
    "result_",
    "embedding_",
    "labels_",
)


class SparseBDR(BaseClusterer):
    """Block-diagonal representation on a sparse support: the method to try first.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + alpha·‖W − PᵀW‖² + beta·‖P − B‖² + gamma·(sum of the k lowest eigenvalues of
    L_B) + ridge·‖W‖² over orthonormal stacked bases U and an affinity B that joins neighbours only: IML-BDR [1]_ with
    its scale fixed, at a cost that grows with the number of samples and not with its square. It takes missing views and
    entries, values of any sign and sparse views. Neighbours are compared over the entries that both samples have. A new
    sample is embedded near its neighbours in the fit and takes their most frequent label; `complete` returns the value
    of the model plus the mean residual of the neighbours. The answer does not depend on the order of the samples.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters k; chosen from the data by default.
    n_components : int, optional
        Rank r. By default 2 per cluster (20 without n_clusters), at least 10, at most one per three features.
    n_neighbors : int, default=10
        Neighbours per sample: in the support of B, in the first completion, and in the graph that gives the labels.
    alpha : float, default=0.1
        Weight of the self-expression; also how strongly a new sample is pulled to its neighbours.
    beta : float, default=10.0
        Weight of ‖P − B‖².
    gamma : float, default=0.1
        Weight of the block-diagonal structure.
    ridge : float, default=0.1
        Weight of ‖W‖²; it shrinks most the samples of which little was observed.
    scale : str, or sequence or dict of str, default='auto'
        A scaling of `jella.MVLIV`, one for all views or one per view. 'auto' takes, per view, the one of 'root',
        'standardize' and 'center' whose neighbours agree most with those of the other views.
    view_weights : 'auto', or sequence or dict of float, default='auto'
        Weights in the loss, None for equal ones. 'auto' gives more to a view whose own graph falls into clearer groups.
    solver : {'basic', 'sor'} or Relaxation, default='sor'
        Plain alternation, or successive over-relaxation of the completed data.
    init : {'svd', 'random'}, array (n, r) or dict, default='svd'
        The SVD of the views completed from neighbours; random; an embedding; or a dict of 'embedding' and 'bases'.
    n_init : int, default=10
        Starts of k-means in the spectral clustering, and of the fit where init='random'.
    max_iter : int, default=20
        Most sweeps; few are meant, since they refine a completion from neighbours.
    tol : float, default=1e-4
        The fit ends when a sweep lowers the objective by less than this share.
    warm_start : bool, default=False
        Continue from the blocks of the last fit.
    on_empty : {'raise', 'drop'}, default='raise'
        A sample without any observed value: an error, or left out of the fit (its embedding is NaN, its label -1).
    callback : callable or sequence of callables, optional
        Called with a `jella.Progress` after every accepted sweep; a true value ends the fit.
    random_state : int, RandomState or Generator, optional
        Seed of random starts, of the labels, and of the values that `score` hides.

    Attributes
    ----------
    embedding_ : array (n, r)
        Embedding after missing values were filled from neighbours, so that it does not show what was missing; the W of
        the model is ``result_.blocks.embedding``. `transform` returns exactly these rows for samples of the fit.
    labels_ : array (n,)
        Spectral clusters of the neighbour graph of W; an edge weighs by the views that confirm it.
    n_clusters_, cluster_path_ : int, ClusterPath
        Number of clusters; what supports each number, where it was chosen.
    affinity_, graph_ : sparse arrays (n, n)
        B, and the neighbours that its support comes from, over the samples that were kept.
    bases_, objective_, history_, n_iter_, converged_, result_, scaling_, dropped_
        As in `jella.MVLIV`; also n_features_in_, feature_names_in_, view_names_in_ and sample_names_in_.

    References
    ----------
    .. [1] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics 51 (2021).

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> views = jella.datasets.make_incomplete([view[:300] for view in digits.data.values()], 0.3, random_state=0)
    >>> jella.SparseBDR(n_clusters=10, random_state=0).fit(views).embedding_.shape
    (300, 20)
    """

    _takes_chunks = True
    _chooses_n_clusters = True
    #: stopping early is meant
    _has_minimiser = False
    _scaled: Any

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

    def declare(self) -> Problem:
        """Squared loss, orthonormal bases, ridge; the fit adds the block-diagonal term on the data's neighbours."""
        return Problem(basis=(Orthonormal(),), embedding=(Ridge(self.ridge),))

    def _blocks(self) -> int:
        return self.n_clusters or self.n_components or DEFAULT_RANK

    def _learn_scaling(self, views: Views) -> Scaling:
        automatic = isinstance(self.scale, str) and self.scale == "auto"
        kinds = choose_kinds(views) if automatic else self.scale
        weights = self.view_weights
        if isinstance(weights, str) and weights == "auto":
            alone = len(views) == 1
            weights = None if alone else clarity_weights(Scaling.learn(views, kinds).apply(views), self._blocks())
        return Scaling.learn(views, kinds, weights)

    def _rank(self, views: Views) -> int:
        if self.n_components is not None:
            return super()._rank(views)
        most = max(views.n_features // FEATURES_A_COMPONENT, 1)
        return min(max(COMPONENTS_A_CLUSTER * self._blocks(), FEWEST_COMPONENTS), views.n_samples, most)

    def _for_data(self, problem: Problem, prepared: Prepared, y: Any) -> Problem:
        check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
        self._scaled, self._layout = prepared.scaled, getattr(prepared.views, "layout", ())
        _, self._neighbours = nearest(prepared.scaled, self.n_neighbors)
        self.graph_ = neighbour_graph(self._neighbours)
        support = Support.averaging(symmetric_support(self.graph_))
        term = SparseBlockDiagonal(support, self._blocks(), alpha=self.alpha, beta=self.beta, gamma=self.gamma)
        return replace(problem, embedding=(*problem.embedding, term))

    def _sweeps(self, problem: Problem, plan: Plan, views: Views, start: Blocks) -> Result:
        """Sweeps over many samples go with near samples next to each other, so that products stay in the cache."""
        if views.n_samples <= ORDERED or start.embedding_states or not isinstance(start.embedding, np.ndarray):
            result = super()._sweeps(problem, plan, views, start)
            *states, state = result.blocks.embedding_states
            return replace(result, blocks=replace(result.blocks, embedding_states=(*states, state.on_host())))
        order = locality_order(averaged(start.embedding, self.graph_, AVERAGED))
        *others, term = problem.embedding
        assert isinstance(term, SparseBlockDiagonal)
        ordered = replace(problem, embedding=(*others, term.take(order)))
        moved = replace(start, embedding=start.embedding[order])
        result = super()._sweeps(ordered, plan, views.in_order(order), moved)
        back = np.argsort(order)
        *states, state = result.blocks.embedding_states
        blocks = replace(
            result.blocks, embedding=result.blocks.embedding[back], embedding_states=(*states, state.take(back))
        )
        return replace(result, blocks=blocks)

    def _filled_from(self) -> Any:
        return self.graph_

    @property
    def affinity_(self) -> Any:
        """Affinity of the samples that were kept."""
        return self.result_.blocks.embedding_states[-1].affinity

    def _set_fitted(self, X: Any, problem: Problem, result: Result, kept: np.ndarray) -> None:
        super()._set_fitted(X, problem, result, kept)
        W = result.blocks.embedding
        if result.lost:
            self.embedding_ = spread(W, kept)
            return
        self._unit_rows = unit_rows(to_numpy(W))
        _, self._near = dense_nearest(self._unit_rows, self.n_neighbors)
        donors = np.concatenate([self._neighbours, self._near], axis=1)
        shown = lent_embedding(self._scaled, W, donors, self._scaled, self._bases, in_turn=True)
        self.embedding_ = spread(shown, kept)

    def _set_lazy(self, X: Any, observed: Any, result: Result, prepared: Prepared) -> None:
        """The embedding is in memory; labels come from it there, before users see both in chunks."""
        if result.lost:
            raise SamplesLostError(
                f"{result.lost}: the fit ended after {result.n_iter} sweeps; the model has the bases and the embedding "
                "of the last one; fit with warm_start=True to go on from there"
            )

    def _set_labels(self, kept: np.ndarray) -> None:
        super()._set_labels(kept)
        if not isinstance(self._scaled, Views):
            from jella.distributed.model import in_chunks

            self.embedding_ = in_chunks(self.embedding_, self._layout)
            self.labels_ = in_chunks(self.labels_, self._layout)

    def _find_labels(self) -> np.ndarray:
        if self.n_clusters is None:
            directed = neighbour_graph(self._near)
            self.cluster_path_ = choose_n_clusters(directed + directed.T)
        self.n_clusters_ = self.cluster_path_.n_clusters if self.n_clusters is None else self.n_clusters
        weights = [scale.root_weight**2 for scale in self.scaling_.scales]
        W = self.result_.blocks.embedding
        graph = confirmed_graph(self._near, self._scaled, W, self._bases, weights, self.n_neighbors)
        self._kept_labels = diffused_labels(graph, self.n_clusters_, self.n_init, self.random_state)
        return self._kept_labels

    def _without_samples(self) -> SparseBDR:
        """A copy without what it has of the samples of the fit."""
        light = copy(self)
        for name in OF_SAMPLES:
            if name in vars(light):
                delattr(light, name)
        light.callback = None  # it is of the fit, and may not travel
        return light

    def _nearest_clusters(self, W: np.ndarray) -> np.ndarray:
        """The label that most of a row's neighbours in the fit have, -1 for rows of NaN."""
        labels = np.full(W.shape[0], -1, dtype=np.intp)
        known = ~np.isnan(W).any(axis=1)
        if known.any():
            _, found = dense_nearest(self._unit_rows, self.n_neighbors, queries=unit_rows(W[known]))
            votes = np.eye(self.n_clusters_)[self._kept_labels[found]].sum(axis=1)
            labels[known] = votes.argmax(axis=1)
        return labels

    def _shown(self, views: Views) -> Array:
        """The embedding of the samples with what they lack lent by samples of the fit."""
        kept = self._kept(views)
        if not kept.any():
            return self._embed(views)
        used = self.scaling_.apply(views if kept.all() else views.take(kept))
        W = self._embed_scaled(used)
        _, near = dense_nearest(self._unit_rows, self.n_neighbors, queries=unit_rows(to_numpy(W)))
        _, alike = nearest(self._scaled, self.n_neighbors, queries=used)
        donors = np.concatenate([alike, near], axis=1)
        return spread(lent_embedding(used, W, donors, self._scaled, self._bases), kept)

    def _expected(self, W: Array) -> Callable[[int, np.ndarray | None], Array]:
        """The model's value and what it leaves out of the sample's neighbours."""
        return self._expected_near(W, self._neighbours_of(W), self._scaled, self.result_.blocks.embedding)

    def _neighbours_of(self, W: Array) -> sparse.csr_array:
        """Ones at the neighbours that embeddings (m, r) have among the samples of the fit, (m, n)."""
        known = ~np.isnan(to_numpy(W)).any(axis=1)
        found = np.full((known.size, min(self.n_neighbors, self._unit_rows.shape[0])), -1)
        if known.any():
            queries = unit_rows(to_numpy(W)[known])
            found[known] = dense_nearest(self._unit_rows, found.shape[1], queries=queries)[1]
        lines, places = np.nonzero(found >= 0)
        ones = np.ones(lines.size, dtype=self._unit_rows.dtype)
        return sparse.csr_array((ones, (lines, found[lines, places])), shape=(known.size, self._unit_rows.shape[0]))

    def _expected_near(
        self, W: Array, near: sparse.csr_array, lenders: Views, fitted: Array
    ) -> Callable[[int, np.ndarray | None], Array]:
        expected = super()._expected(W)

        def with_residual(v: int, rows: np.ndarray | None) -> Array:
            plain = expected(v, rows)
            chosen = near if rows is None else near[rows]
            return plain + like(lent_residual(lenders[v], fitted, chosen, self._bases[v]), plain)

        return with_residual

    def _embed_scaled(self, views: Views) -> Array:
        """What the observed values tell, pulled to the mean of the neighbours in the fit."""
        _, found = nearest(self._scaled, self.n_neighbors, queries=views)
        near = to_numpy(self.result_.blocks.embedding)[found]
        there = (found >= 0)[:, :, None]
        mean = np.where(there, near, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
        anchor = like(mean, self._bases[0])
        pull = Ridge(self.alpha + self.ridge)
        pulled = replace(self._problem, embedding=(pull,))
        return views.gathered(partial(_embedded, self._bases, pulled), views.cut(pull.ridge * anchor))


def _embedded(bases: Sequence[Array], problem: Problem, views: Views, towards: Array) -> Array:
    return embed([ViewData(view) for view in views], bases, problem, towards=towards)
