"""MVL-IV: multi-view learning with incomplete views."""

from __future__ import annotations

from typing import Any

from jella.estimators.framework import BaseClusterer
from jella.problem.model import Data, Problem


class MVLIV(BaseClusterer):
    """Multi-view learning with incomplete views (MVL-IV): a common low-rank factorisation, nothing else.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² over the bases U_v and the embedding W. It takes missing views and missing
    entries, values of any sign, and sparse views that lack whole samples. Nothing in the objective fixes the
    coordinates of W, so they are made canonical: components are orthogonal, the strongest comes first, and bases and
    embedding share its strength.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Without it the fit finds no labels, and there is neither `predict` nor `fit_predict`.
    n_components : int, optional
        Rank r of the factorisation. By default n_clusters, or 10 without it, but at most the number of samples and of
        features.
    scale : str, or sequence or dict of str, default='auto'
        Scaling before the fit, learned from the observed entries; one for all views, or one per view. 'sample': each
        sample has unit norm. 'feature': each feature has unit root mean square; 'standardize': zero mean and unit
        variance (both are then divided by sqrt(d)). 'center': each feature has zero mean, and the whole view is
        divided by one number. 'root': the signed square root of each value, for counts, histograms and intensities;
        then 'center' for a dense view, and 'sample' for a sparse view or one without negative values and with at least
        80 % zeros. 'auto': 'standardize' for a dense view with negative values, 'root' for any other. 'none':
        unchanged.
    view_weights : sequence or dict of float, optional
        Positive weight of each view in the loss; 1 for each view by default.
    solver : {'basic', 'sor'} or Relaxation, default='sor'
        Plain alternation, or successive over-relaxation of the data.
    init : {'svd', 'random'}, array (n, r) or dict, default='svd'
        Start: the SVD of the views imputed with the means of their features; random; a given embedding; or a dict of
        'embedding' and, optionally, 'bases', one array (d_v, r) per view.
    n_init : int, default=10
        Starts of k-means, and of the fit where init='random'; the best is kept.
    max_iter : int, default=500
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
    The model is that of the publication. No program of the authors is public; with ``solver=jella.LMaFitSOR()`` the
    iterates are those of LMaFit [2]_, which the method extends to several views.

    References
    ----------
    .. [1] C. Xu, D. Tao, C. Xu: Multi-view learning with incomplete views. IEEE Trans. Image Processing 24 (2015).
    .. [2] Z. Wen, W. Yin, Y. Zhang: Solving a low-rank factorization model for matrix completion by a nonlinear
       successive over-relaxation algorithm. Math. Programming Computation 4 (2012).

    Examples
    --------
    >>> import numpy as np, jella
    >>> rng = np.random.default_rng(0)
    >>> W = rng.normal(size=(60, 2))
    >>> rna, adt = W @ rng.normal(size=(2, 8)), W @ rng.normal(size=(2, 5))
    >>> adt[:20] = np.nan  # twenty samples lack the second view
    >>> jella.MVLIV(n_components=2).fit([rna, adt]).embedding_.shape
    (60, 2)
    """

    _labels_from_unit_rows = True

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        scale: Any = "auto",
        view_weights: Any = None,
        solver: Any = "sor",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 500,
        tol: float = 1e-4,
        warm_start: bool = False,
        on_empty: str = "raise",
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
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
        """Squared loss, no term and no constraint on either block."""
        return Problem()
