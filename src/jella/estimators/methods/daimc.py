"""DAIMC: doubly aligned incomplete multi-view clustering."""

from __future__ import annotations

from typing import Any

from jella.estimators.framework import BaseJELLA
from jella.numerics.arrays import Array, namespace
from jella.problem.model import Data, Problem
from jella.problem.terms import Alignment, NonNegative


class DAIMC(BaseJELLA):
    """Doubly aligned incomplete multi-view clustering (DAIMC): non-negative embedding, bases aligned by regression.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + alpha·Σ_v(‖R_vᵀU_v − I‖² + beta·‖R_v‖_{2,1}) with W ≥ 0 and regression
    matrices R_v. It takes missing views and missing entries, and data of any sign. No n × n and no d × d matrix is
    formed.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Without it the fit finds no labels, and there is neither `predict` nor `fit_predict`.
    n_components : int, optional
        Rank r of the factorisation. By default n_clusters, or 10 without it, but at most the number of samples and of
        features.
    alpha : float, default=1.0
        Weight of the alignment of the bases.
    beta : float, default=1.0
        Weight of the row norms of the regression; a larger one lets fewer features take part.
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
        Plain alternation, or successive over-relaxation of the data.
    init : {'svd', 'random'}, array (n, r) or dict, default='svd'
        Start: the SVD of the views imputed with the means of their features, its embedding made non-negative; random; a
        given embedding; or a dict of 'embedding' and, optionally, 'bases', one array (d_v, r) per view.
    n_init : int, default=10
        Starts of k-means, and of the fit where init='random'; the best is kept.
    max_iter : int, default=30
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
        Clusters, where n_clusters is given: k-means on the rows of the embedding.
    regressors_ : list of arrays (d_v, r)
        R_v.
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
    The objective has no minimiser: U → sU with W → W/s and R → R/s lowers the norm of R without end, so `tol` and
    `max_iter` decide. After each sweep the columns of W are rescaled to sum 1, and U and R with them, where that does
    not raise the objective. Row norms are smoothed, sqrt(‖r‖² + 1e-10), and the smoothed value is reported.

    Differences from the authors' program: it rescales W and U but not R, which can raise its objective; it takes up to
    30 multiplicative steps on W, where this class solves W by coordinate descent; it starts from k-means in each view,
    where this class starts from the SVD.

    References
    ----------
    .. [1] M. Hu, S. Chen: Doubly aligned incomplete multi-view clustering. IJCAI 2018.
    .. [2] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics 51 (2021).

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> views = jella.datasets.make_incomplete(digits.data, 0.3, random_state=0)
    >>> bool(jella.DAIMC(n_clusters=10, random_state=0).fit(views).embedding_.min() >= 0)
    True
    """

    has_minimiser = False

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        alpha: float = 1.0,
        beta: float = 1.0,
        scale: Any = "sample",
        view_weights: Any = None,
        solver: Any = "basic",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 30,
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
        """Squared loss, alignment of the bases, W ≥ 0."""
        return Problem(
            basis=(Alignment(self.alpha, self.beta),), embedding=(NonNegative(),), normalise=unit_column_sums
        )

    @property
    def regressors_(self) -> list[Any]:
        """The regression matrix of each view."""
        return list(self.result_.blocks.basis_states[0])


def unit_column_sums(sums: Array) -> Array:
    """What brings the columns of W, of these sums, to the sum 1."""
    xp = namespace(sums)
    return xp.where(sums > 0, sums, xp.ones_like(sums))
