"""IML-BDR: incomplete multi-view learning with block diagonal representation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from jella.estimators.base import DEFAULT_RANK, Prepared
from jella.estimators.framework import BaseClusterer
from jella.estimators.transformer import has_clusters
from jella.graphs.spectral import spectral_labels
from jella.numerics.arrays import to_numpy
from jella.problem.model import Data, Problem
from jella.problem.terms import BlockDiagonal, Orthonormal
from jella.readout.base import Readout
from jella.readout.clusters import Clusters


def _labels_from_embedding(self: IMLBDR) -> bool:
    if self.labels_from != "embedding":
        raise AttributeError("labels from the affinity cannot be found for new samples; use labels_from='embedding'")
    return has_clusters(self)


class IMLBDR(BaseClusterer):
    """Incomplete multi-view learning with block diagonal representation (IML-BDR), the method of the JELLA paper.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + alpha·‖W − PᵀW‖² + beta·‖P − B‖² + gamma·(sum of the k lowest eigenvalues of
    L_B): samples are expressed by samples of their own group, through an affinity B that is symmetric, non-negative and
    close to k blocks. It takes missing views and missing entries, values of any sign. A sweep costs O(n²) in time and
    memory; no n × n matrix is factorised.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Without it the fit finds no labels, and there is neither `predict` nor `fit_predict`.
    n_components : int, optional
        Rank r of the factorisation. By default n_clusters, or 10 without it, but at most the number of samples and of
        features.
    alpha : float, default=1.0
        Weight of the self-expression of the embedding.
    beta : float, optional
        Weight of ‖P − B‖². By default 1e4, as in the paper, for free bases and 10 for orthonormal ones.
    gamma : float, optional
        Weight of the block-diagonal structure. By default 1 for free bases and 0.1 for orthonormal ones.
    basis : {'free', 'orthonormal'}, default='free'
        Free bases, as in the paper, or bases whose stack is orthonormal, which fixes the scale of the embedding.
    labels_from : {'embedding', 'affinity'}, default='embedding'
        k-means on the embedding, as in the paper, or spectral clustering of B; only the former can `predict`.
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
    solver : {'basic', 'sor'} or Relaxation, default='sor'
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
        Clusters, where n_clusters is given, found as `labels_from` says.
    affinity_ : array (n, n)
        B, over the samples that were kept.
    indicator_ : array (n, k)
        F, the k lowest eigenvectors of the Laplacian of B.
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
    With free bases the scale of the objective degenerates: nothing weighs U, so W shrinks, and B and F say little about
    the groups. The method is kept as published; basis='orthonormal' is the form in which B is informative. The number
    of blocks k is n_clusters, else n_components, else 10. `transform` embeds new samples without the block-diagonal
    term. No program of the authors is public.

    References
    ----------
    .. [1] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics 51 (2021).
    .. [2] C. Lu, J. Feng, Z. Lin, T. Mei, S. Yan: Subspace clustering by block diagonal representation. IEEE Trans.
       Pattern Analysis and Machine Intelligence 41 (2019).

    Examples
    --------
    >>> import jella
    >>> views = [view[:200] for view in jella.datasets.load_digits_views().data.values()]
    >>> model = jella.IMLBDR(n_clusters=10, basis="orthonormal", random_state=0).fit(views)
    >>> model.affinity_.shape, model.indicator_.shape
    ((200, 200), (200, 10))
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        alpha: float = 1.0,
        beta: float | None = None,
        gamma: float | None = None,
        basis: str = "free",
        labels_from: str = "embedding",
        scale: Any = "sample",
        view_weights: Any = None,
        solver: Any = "sor",
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
        self.basis = basis
        self.labels_from = labels_from
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
        """Squared loss, block-diagonal term on the embedding, bases free or orthonormal."""
        if self.basis not in ("free", "orthonormal"):
            raise ValueError(f"basis must be 'free' or 'orthonormal', got {self.basis!r}")
        if self.labels_from not in ("embedding", "affinity"):
            raise ValueError(f"labels_from must be 'embedding' or 'affinity', got {self.labels_from!r}")
        free = self.basis == "free"
        beta = (1e4 if free else 10.0) if self.beta is None else self.beta
        gamma = (1.0 if free else 0.1) if self.gamma is None else self.gamma
        blocks = self.n_clusters or self.n_components or DEFAULT_RANK
        term = BlockDiagonal(blocks, self.alpha, beta, gamma=gamma)
        return Problem(basis=() if free else (Orthonormal(),), embedding=(term,))

    @property
    def has_minimiser(self) -> bool:  # type: ignore[override]
        """Whether bases are constrained; with free bases the embedding would shrink without end."""
        return self.basis != "free"

    @available_if(_labels_from_embedding)
    def predict(self, X: Any, *, observed: Any = None, covariates: Any = None) -> np.ndarray:
        """The nearest cluster of each sample, (n,); -1 for samples without any observed value."""
        return super().predict(X, observed=observed, covariates=covariates)

    @property
    def affinity_(self) -> Any:
        """The affinity of the samples that were kept."""
        return self.result_.blocks.embedding_states[0].affinity

    @property
    def indicator_(self) -> Any:
        """The lowest eigenvectors of the Laplacian of the affinity."""
        return self.result_.blocks.embedding_states[0].indicator

    def _find_clusters(self, readout: Readout, W: Any, prepared: Prepared) -> tuple[Clusters | None, Any]:
        if self.labels_from == "embedding":
            return super()._find_clusters(readout, W, prepared)
        assert self.n_clusters is not None
        return None, spectral_labels(to_numpy(self.affinity_), self.n_clusters, self.n_init, self.random_state)
