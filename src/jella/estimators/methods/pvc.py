"""PVC: partial multi-view clustering."""

from __future__ import annotations

from typing import Any

from jella.estimators.framework import BaseJELLA
from jella.problem.model import Data, Problem
from jella.problem.terms import L1, NonNegative


class PVC(BaseJELLA):
    """Partial multi-view clustering (PVC): non-negative factors with a sparse embedding, two views or more.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + alpha·‖W‖₁ with U_v ≥ 0 and W ≥ 0. It takes missing views and missing
    entries, and refuses negative data.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Without it the fit finds no labels, and there is neither `predict` nor `fit_predict`.
    n_components : int, optional
        Rank r of the factorisation. By default n_clusters, or 10 without it, but at most the number of samples and of
        features.
    alpha : float, default=0.01
        Weight of the ℓ1 norm of the embedding; a larger one leaves fewer components per sample.
    scale : str, or sequence or dict of str, default='sample'
        Scaling before the fit, learned from the observed entries; one for all views, or one per view. 'sample': each
        sample has unit norm. 'feature': each feature has unit root mean square; 'standardize': zero mean and unit
        variance (both are then divided by sqrt(d)). 'center': each feature has zero mean, and the whole view is
        divided by one number. 'root': the signed square root of each value, for counts, histograms and intensities;
        then 'center' for a dense view, and 'sample' for a sparse view or one without negative values and with at least
        80 % zeros. 'auto': 'standardize' for a dense view with negative values, 'root' for any other. 'none':
        unchanged. A scaling that makes values negative is refused.
    view_weights : sequence or dict of float, optional
        Positive weight of each view in the loss; 1 for each view by default.
    solver : {'basic', 'sor'} or Relaxation, default='basic'
        Plain alternation, or successive over-relaxation of the data.
    init : {'svd', 'random'}, array (n, r) or dict, default='svd'
        Start: the SVD of the views imputed with the means of their features, made non-negative; random; a given
        embedding; or a dict of 'embedding' and, optionally, 'bases', one array (d_v, r) per view.
    n_init : int, default=10
        Starts of k-means, and of the fit where init='random'; the best is kept.
    max_iter : int, default=100
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
        Common embedding W ≥ 0. `transform` returns exactly these rows for samples of the fit.
    bases_ : list, tuple or dict of arrays (d_v, r), in the container of the views
        U_v: the scaled view v, times the root of its weight, is approximately ``embedding_ @ bases_[v].T``.
    labels_ : array (n,)
        Clusters, where n_clusters is given: k-means on the rows of the embedding at unit norm.
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
    The objective has no minimiser: U_v → s·U_v with W → W/s lowers the ℓ1 term without end, so `tol` and `max_iter`
    decide the scale of W, and a fit that reaches max_iter gives no warning. The directions of the rows, which the
    labels depend on, settle early.

    Differences from the authors' program: it multiplies the ℓ1 term by d_v/r in each view and sums over the views of a
    sample, works on unscaled data, starts at random, alternates on the samples with both views first, and takes two
    views only. Both solve each block almost to optimality. The paper's formulas for the updates of U and w have wrong
    signs; the ones used are max(0, u_j + (XᵀW − UWᵀW)_j/(WᵀW)_jj) for column j of U, and max(0, w_j + (b_j −
    alpha/2)/C_jj) with C = Σ_v U_vᵀU_v and b = Σ_v U_vᵀ(x_v − U_v w) over the views that the sample has.

    References
    ----------
    .. [1] S.-Y. Li, Y. Jiang, Z.-H. Zhou: Partial multi-view clustering. AAAI 2014.
    .. [2] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics 51 (2021).

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> views = jella.datasets.make_incomplete(digits.data, 0.3, random_state=0)
    >>> jella.PVC(n_clusters=10, random_state=0, tol=1e-3).fit(views).labels_.shape
    (1797,)
    """

    _labels_from_unit_rows = True
    has_minimiser = False

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        alpha: float = 0.01,
        scale: Any = "sample",
        view_weights: Any = None,
        solver: Any = "basic",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        on_empty: str = "raise",
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.alpha = alpha
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
        """Squared loss, U ≥ 0, W ≥ 0 with an ℓ1 norm."""
        return Problem(basis=(NonNegative(),), embedding=(NonNegative(), L1(self.alpha)))
