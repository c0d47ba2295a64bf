"""IMG: incomplete multi-modality grouping."""

from __future__ import annotations

from typing import Any

from jella.estimators.framework import BaseClusterer
from jella.problem.model import Data, Problem
from jella.problem.terms import LearnedGraph, Ridge


class IMG(BaseClusterer):
    """Incomplete multi-modality grouping (IMG): a factorisation smoothed by a graph that is learned with it.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + alpha·Σ_v‖U_v‖² + beta·tr(WᵀL_S W) + gamma·‖A‖² over bases, embedding and a
    graph A with rows on the simplex; S = (A + Aᵀ)/2 and L_S is its Laplacian. It takes two views or more, missing views
    and missing entries, values of any sign. The graph is n × n: memory grows with the square of the number of samples.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Without it the fit finds no labels, and there is neither `predict` nor `fit_predict`.
    n_components : int, optional
        Rank r of the factorisation. By default n_clusters, or 10 without it, but at most the number of samples and of
        features.
    alpha : float, default=0.01
        Weight of the squared norm of the bases.
    beta : float, default=1.0
        Weight of the smoothness on the graph.
    gamma : float, default=100.0
        Weight of the squared norm of the graph; a larger one spreads it over more neighbours.
    scale : str, or sequence or dict of str, default='sample'
        Scaling before the fit, learned from the observed entries; one for all views, or one per view. 'sample': each
        sample has unit norm. 'feature': each feature has unit root mean square; 'standardize': zero mean and unit
        variance (both are then divided by sqrt(d)). 'center': each feature has zero mean, and the whole view is
        divided by one number. 'root': the signed square root of each value, for counts, histograms and intensities;
        then 'center' for a dense view, and 'sample' for a sparse view or one without negative values and with at least
        80 % zeros. 'auto': 'standardize' for a dense view with negative values, 'root' for any other. 'none':
        unchanged.
    view_weights : sequence or dict of float, optional
        Positive weight of each view in the loss; 1 for each view by default.
    solver : {'basic', 'sor'} or Relaxation, default='basic'
        Plain alternation, or successive over-relaxation of the completed data.
    init : {'svd', 'random'}, array (n, r) or dict, default='svd'
        Start: the SVD of the views imputed with the means of their features; random; a given embedding; or a dict of
        'embedding' and, optionally, 'bases', one array (d_v, r) per view.
    n_init : int, default=10
        Starts of k-means, and of the fit where init='random'; the best is kept.
    max_iter : int, default=200
        Maximum number of sweeps.
    tol : float, default=1e-4
        The fit ends when a sweep lowers the objective by less than this share.
    warm_start : bool, default=False
        Continue from the blocks of the last fit.
    on_empty : {'raise', 'drop'}, default='raise'
        A sample without any observed value: an error, or left out of the fit (its embedding is NaN, its label -1).
    callback : callable or sequence of callables, optional
        Called with a `jella.Progress` after each accepted sweep; a true value ends the fit.
    random_state : int, RandomState or Generator, optional
        Seed of random starts, of k-means, and of the values that `score` hides.

    Attributes
    ----------
    embedding_ : array (n, r)
        Common embedding W. `transform` returns exactly these rows for samples of the fit.
    bases_ : list, tuple or dict of arrays (d_v, r), in the container of the views
        U_v: the scaled view v, times the root of its weight, is approximately ``embedding_ @ bases_[v].T``.
    labels_ : array (n,)
        Clusters, where n_clusters is given: k-means on the rows of the embedding.
    affinity_ : array (n, n)
        The learned graph S, over the samples that were kept.
    objective_ : array
        Objective after each accepted sweep; it never rises.
    history_ : dict of arrays
        The same by term.
    n_iter_ : int
        Sweeps, rejected ones included.
    converged_ : bool
        Whether the objective settled before max_iter.
    result_ : Result
        All of the solve: blocks, sweeps, reason to stop, seconds.
    scaling_ : Scaling
        Learned scaling of each view.
    n_features_in_ : int
        Number of features of all views together.
    feature_names_in_ : array of str
        Their names, where all views have column names.
    view_names_in_ : list
        Names of the views: the keys of a dict; else 'view0', 'view1' and so on, or 'view' for a single array.
    sample_names_in_ : pandas Index or None
        Names of the rows of the embedding, where the views are DataFrames.
    dropped_ : list
        Names, or positions, of the samples that were left out because they have no observed value.

    Notes
    -----
    `transform` embeds new samples without the graph.

    Differences from the authors' program: it takes two views, fits the bases to the samples that have both, clips the
    rows of A instead of projecting them onto the simplex, scales features instead of samples, and solves by the method
    of multipliers. The paper's graph term is indefinite where A is not symmetric; this class uses S in its place
    everywhere.

    References
    ----------
    .. [1] H. Zhao, H. Liu, Y. Fu: Incomplete multi-modal visual data grouping. IJCAI 2016.
    .. [2] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics 51 (2021).

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
        scale: Any = "sample",
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
