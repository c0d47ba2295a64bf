"""The framework itself as an estimator: any loss, with any terms on the bases and on the embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jella.estimators.framework import BaseJELLA
from jella.problem.model import Data, Problem
from jella.problem.terms import Loss, Term
from jella.problem.terms.base import concrete_subclasses


class JELLA(BaseJELLA):
    """Joint embedding learning and low-rank approximation from parts that you choose.

    Minimises loss(X_v, W U_vᵀ) + Σ basis terms(U_v) + Σ embedding terms(W). The update of each block is chosen before
    the first sweep; a combination that no update can solve is refused with the parts that do not fit.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Without it the fit finds no labels, and there is neither `predict` nor `fit_predict`.
    n_components : int, optional
        Rank r of the factorisation. By default n_clusters, or 10 without it, but at most the number of samples and of
        features.
    loss : str or Loss, default='squared'
        How far the data are from the product of embedding and bases: an object of `jella.terms`, or its name.
    basis : sequence of str or Term, default=()
        Regularisers and constraints on each basis: objects of `jella.terms`, such as ``L1(0.1)``, or names, such as
        ``'nonnegative'``, for one with its default settings.
    embedding : sequence of str or Term, default=()
        Regularisers and constraints on the embedding, in the same form.
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
        Start: the SVD of the views imputed with the means of their features, made non-negative where the terms need it;
        random; a given embedding; or a dict of 'embedding' and, optionally, 'bases', one array (d_v, r) per view.
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
        Clusters, where n_clusters is given: k-means on the rows of the embedding.
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

    References
    ----------
    .. [1] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics 51 (2021).

    Examples
    --------
    >>> import jella
    >>> from jella.terms import L1, L21
    >>> model = jella.JELLA(n_components=5, basis=[L21(0.01)], embedding=["nonnegative", L1(0.1)])
    >>> views = jella.datasets.load_digits_views().data
    >>> bool(model.fit(views).embedding_.min() >= 0)
    True
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        loss: str | Loss = "squared",
        basis: Sequence[str | Term] = (),
        embedding: Sequence[str | Term] = (),
        scale: Any = "sample",
        view_weights: Any = None,
        solver: Any = "basic",
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
        self.loss = loss
        self.basis = basis
        self.embedding = embedding
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
        """The loss and terms as given."""
        return Problem(
            loss=_resolve(self.loss, Loss, "loss"),
            basis=tuple(_resolve(term, Term, "basis") for term in _sequence(self.basis, "basis")),
            embedding=tuple(_resolve(term, Term, "embedding") for term in _sequence(self.embedding, "embedding")),
        )


def _sequence(terms: Any, what: str) -> Sequence[Any]:
    if isinstance(terms, str | Term):
        return [terms]
    if not isinstance(terms, Sequence):
        raise ValueError(f"{what} must be a list of terms or names, got {type(terms).__name__}")
    return terms


def _resolve(part: Any, kind: type, what: str) -> Any:
    """The part itself, or a part whose class has that name; only letters and digits are compared."""
    if isinstance(part, kind):
        return part
    known = {sub.__name__.lower(): sub for sub in concrete_subclasses(kind)}
    wanted = "".join(c for c in part.lower() if c.isalnum()) if isinstance(part, str) else ""
    if wanted not in known:
        raise ValueError(f"{what} must be one of {sorted(known)} or an object of jella.terms, got {part!r}")
    return known[wanted]()
