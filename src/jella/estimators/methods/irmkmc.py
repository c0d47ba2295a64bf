"""iRMKMC: incomplete robust multi-view k-means."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.estimators.base import Prepared
from jella.estimators.framework import BaseClusterer
from jella.problem.model import Data, Problem
from jella.problem.terms import Indicator, SampleNorm
from jella.readout.base import Readout
from jella.readout.clusters import Clusters, IndicatorClusters


class IRMKMC(BaseClusterer):
    """Incomplete robust multi-view k-means (iRMKMC): k-means on norms, not squares, with a learned weight per view.

    Minimises Σ_v a_v^gamma Σ_i ‖x_i − u_{v,l(i)}‖ over the samples present in each view, with centroids u, labels l and
    view weights a_v ≥ 0, Σ_v a_v = 1. It takes samples that lack whole views, not single entries, and values of any
    sign.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Without it the fit makes 10 and sets no labels, and there is neither `predict` nor
        `fit_predict`.
    gamma : float, default=5.0
        Exponent of the view weights, greater than 1. A large value makes the views equal; near 1 the view that is
        easiest to fit, which need not be the best, takes all the weight.
    scale : str, or sequence or dict of str, default='sample'
        Scaling before the fit, learned from the observed entries; one for all views, or one per view. 'sample': each
        sample has unit norm. 'feature': each feature has unit root mean square; 'standardize': zero mean and unit
        variance (both are then divided by sqrt(d)). 'center': each feature has zero mean, and the whole view is
        divided by one number. 'root': the signed square root of each value, for counts, histograms and intensities;
        then 'center' for a dense view, and 'sample' for a sparse view or one without negative values and with at least
        80 % zeros. 'auto': 'standardize' for a dense view with negative values, 'root' for any other. 'none':
        unchanged.
    init : {'svd', 'random'}, array (n, k) or dict, default='svd'
        Start: k-means on the leading SVD scores of the views imputed with the means of their features, from samples
        that are far apart ('svd') or random; a given indicator; or a dict of 'embedding' and, optionally, 'bases'.
    n_init : int, default=10
        Starts of the fit where init='random'; the best is kept.
    max_iter : int, default=100
        Maximum number of sweeps.
    tol : float, default=1e-6
        The fit ends when a sweep lowers the objective by less than this share.
    warm_start : bool, default=False
        Continue from the blocks of the last fit.
    on_empty : {'raise', 'drop'}, default='raise'
        A sample without any observed value: an error, or left out of the fit (its embedding is NaN, its label -1).
    callback : callable or sequence of callables, optional
        Called with a `jella.Progress` after each accepted sweep; a true value ends the fit.
    random_state : int, RandomState or Generator, optional
        Seed of the random starts.

    Attributes
    ----------
    embedding_ : array (n, k)
        Indicator of the clusters. `transform` returns exactly these rows for samples of the fit.
    bases_ : list, tuple or dict of arrays (d_v, k), in the container of the views
        Centroids of the clusters in the scaled views.
    labels_ : array (n,)
        Clusters, where n_clusters is given: the component that each sample is assigned to.
    view_weights_ : array (V,)
        Learned weight a_v of each view.
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
    The norms are bounded by squares at the current residuals (iteratively reweighted least squares), so the objective
    never rises. A cluster that loses all its samples gets one of them back; a cluster none of whose samples has a view
    keeps its centroid in that view. The rank is the number of clusters, view weights are learned, and over-relaxation
    has no meaning for norms, so the method lacks these parameters. It has no `score`, which would hide single entries.

    References
    ----------
    .. [1] X. Cai, F. Nie, H. Huang: Multi-view k-means clustering on big data. IJCAI 2013.
    .. [2] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics 51 (2021).

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> views = jella.datasets.make_incomplete(digits.data, 0.3, random_state=0)
    >>> jella.IRMKMC(n_clusters=10).fit(views).view_weights_.shape
    (3,)
    """

    n_components = None
    view_weights = None
    solver = "basic"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        gamma: float = 5.0,
        scale: Any = "sample",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-6,
        warm_start: bool = False,
        on_empty: str = "raise",
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.scale = scale
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.on_empty = on_empty
        self.callback = callback
        self.random_state = random_state

    def declare(self, data: Data) -> Problem:
        """Norms of samples, and an indicator for an embedding."""
        return Problem(loss=SampleNorm(self.gamma), embedding=(Indicator(),))

    @property
    def score(self) -> Any:
        """Absent: `score` hides single entries of a sample with one view, and the method takes no missing entries."""
        raise AttributeError("IRMKMC has no score: it takes no missing entries, and scoring would make some")

    @property
    def view_weights_(self) -> np.ndarray:
        """The learned weight of each view."""
        return np.asarray(self.result_.blocks.loss_state.view_weights)

    def _find_clusters(self, readout: Readout, W: Any, prepared: Prepared) -> tuple[Clusters | None, Any]:
        clusters = IndicatorClusters()
        return clusters, prepared.scaled.map_rows(clusters.label, None, W, dtype=np.dtype(np.intp))
