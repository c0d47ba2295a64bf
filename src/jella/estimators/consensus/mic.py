"""MIC: multiple incomplete views clustering."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.estimators.base import Prepared, generator
from jella.estimators.capabilities import Capabilities
from jella.estimators.consensus.filled import Filled
from jella.estimators.consensus.mic_embed import MICReadout, embed_views
from jella.estimators.consensus.mic_start import chained_start, given_start
from jella.estimators.consensus.mic_steps import consensus, mic_objective, refine
from jella.estimators.needs import Needs, Size, by_sweeps
from jella.estimators.rounds import RoundsMixin
from jella.estimators.transformer import BaseTransformer, LabelsMixin
from jella.numerics.arrays import Array
from jella.views import AnyViews, Views, collect
from jella.views.checks import refuse_missing_entries, refuse_negative


class MIC(RoundsMixin, LabelsMixin, BaseTransformer):
    """Multiple incomplete views clustering (MIC): non-negative factors of each view, pulled to one consensus.

    Minimises Σ_v ‖C_v(X_v − U_v V_vᵀ)‖² + alpha·‖C_v(U_v − U*)‖² + beta·‖U_v‖_{2,1} with U_v, V_v ≥ 0 and the columns
    of V_v at ℓ1 norm one. A sample that lacks a view gets the mean of the view, with weight c = share of samples that
    have the view; c = 1 elsewhere. MIC takes missing views, and refuses missing entries and negative data. Labels are
    k-means on U*.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Without it the fit finds no labels, and there is neither `predict` nor `fit_predict`.
    n_components : int, optional
        Rank r of the factors. By default n_clusters, or 10 without it, but at most the number of samples and of
        features.
    alpha : float, default=0.01
        Weight of the distance between the embedding of a view and the consensus.
    beta : float, default=0.001
        Weight of the row norms of the embeddings; the paper tries 0.001, 0.01 and 0.1.
    scale : str, or sequence or dict of str, default='sample'
        Scaling before the fit, from observed entries only, one for all views or one per view, as in `jella.MVLIV`. One
        that makes values negative, such as 'standardize', is refused.
    view_weights : sequence or dict of float, optional
        Positive weight of each view in the loss; 1 for each view by default.
    init : 'nmf' or dict of 'embeddings' and 'bases', default='nmf'
        Start: non-negative factors of one view after another, each from the embedding of the one before, in three
        passes; or given, one (n, r) and one (d_v, r) array per view.
    n_init : int, default=10
        Starts of k-means; and the number of short random runs, the best of which gives the first view its factors.
    max_iter : int, default=100
        Maximum number of rounds over the views.
    n_steps : int, default=100
        Multiplicative steps per view and round.
    tol : float, default=1e-4
        The fit ends when a round changes the objective by less than this share.
    on_empty : {'raise', 'drop'}, default='raise'
        A sample without any observed value: an error, or left out of the fit (its embedding is NaN, its label -1).
    random_state : int, RandomState or Generator, optional
        Seed of the start and of k-means.

    Attributes
    ----------
    embedding_ : array (n, r)
        Consensus U*.
    view_embeddings_, bases_ : list, tuple or dict of arrays (n, r) and (d_v, r), in the container of the views
        U_v and V_v.
    labels_ : array (n,)
        Clusters, where n_clusters is given.
    objective_ : array
        Objective after each round, the last value after the closing step. It may rise: rescaling V_v changes the
        terms of weight alpha and beta.
    residuals_ : array
        Relative change of the objective in each round.
    n_iter_, converged_ : int, bool
        Rounds done; whether the last residual was below tol.
    n_features_in_, feature_names_in_, view_names_in_
        What the fit has seen, for all views together.
    dropped_ : list
        Names, or positions, of the samples that were left out because they have no observed value.

    Notes
    -----
    The steps are those of the authors' program. After the last round the embeddings are solved exactly with the bases
    fixed, each sample by itself, so that `transform` returns `embedding_` for samples of the fit. New samples are
    filled with the means, and weighted with the shares, of the fit: a view that all samples of the fit have has full
    weight where a new sample lacks it. Where beta is too large for the data, samples end with an embedding of zero;
    that is common for sparse views such as text at 0.1.

    References
    ----------
    .. [1] W. Shao, L. He, P. S. Yu: Multiple incomplete views clustering via weighted nonnegative matrix factorization
       with L2,1 regularization. ECML PKDD 2015.

    Examples
    --------
    >>> import jella
    >>> from jella.estimators.consensus import MIC
    >>> digits = jella.datasets.load_digits_views()
    >>> views = {name: X[:200] for name, X in jella.datasets.make_incomplete(digits.data, 0.3, random_state=0).items()}
    >>> MIC(n_clusters=10, tol=1e-2, random_state=0).fit(views).labels_.shape
    (200,)
    """

    _counts = ("max_iter", "n_steps", "n_init")
    _amounts = ("alpha", "beta", "tol")

    view_embeddings_: Any
    objective_: np.ndarray

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        alpha: float = 0.01,
        beta: float = 0.001,
        scale: Any = "sample",
        view_weights: Any = None,
        init: Any = "nmf",
        n_init: int = 10,
        max_iter: int = 100,
        n_steps: int = 100,
        tol: float = 1e-4,
        on_empty: str = "raise",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.scale = scale
        self.view_weights = view_weights
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.on_empty = on_empty
        self.random_state = random_state

    @property
    def capabilities(self) -> Capabilities:
        """Whole views may be missing; no entry may be negative."""
        return Capabilities(missing="views", signed=False)

    def _needs(self, views: Views) -> Needs:
        return by_sweeps(Size.of(views, self._rank(views)), self.max_iter * self.n_steps, pairs=0, neighbours=0)

    def _fit_views(self, views: AnyViews, X: Any, y: Any) -> None:
        prepared = self._prepare(views)
        refuse_negative(prepared.used, "MIC")
        refuse_negative(prepared.scaled, "MIC")
        refuse_missing_entries(prepared.scaled, "MIC")
        filled = [Filled.weighted(view) for view in prepared.scaled]
        bases = self._run(filled, *self._start(filled, prepared.scaled))
        self._remember(X, prepared)
        self._close(X, filled, bases, prepared)
        self._warn_unless_converged(f"the last changed the objective by {self.residuals_[-1]:.1e}")

    def _start(self, views: list[Filled], scaled: Any) -> tuple[list[Array], list[Array]]:
        rank = self._rank(scaled)
        if not (isinstance(self.init, str) and self.init == "nmf"):
            return given_start(scaled, self.init, rank)
        rng = generator(self.random_state)
        return chained_start(views, rank, rng, n_init=self.n_init, n_steps=self.n_steps)

    def _run(self, views: list[Filled], embeddings: list[Array], bases: list[Array]) -> tuple[Array, ...]:
        """The bases, after rounds over the views until the objective settles."""
        target = consensus(views, embeddings)
        values = [mic_objective(views, embeddings, bases, target, self.alpha, self.beta)]
        residuals: list[float] = []
        while len(residuals) < self.max_iter and (not residuals or residuals[-1] >= self.tol):
            for v, view in enumerate(views):
                embeddings[v], bases[v] = refine(
                    view, embeddings[v], bases[v], target, alpha=self.alpha, beta=self.beta, n_steps=self.n_steps
                )
            target = consensus(views, embeddings)
            values.append(mic_objective(views, embeddings, bases, target, self.alpha, self.beta))
            residuals.append(abs(values[-1] - values[-2]) / max(values[-2], np.finfo(float).tiny))
        self.objective_ = np.array(values[1:])
        self._set_rounds(residuals, residuals[-1] < self.tol)
        return tuple(bases)

    def _close(self, X: Any, views: list[Filled], bases: tuple[Array, ...], prepared: Prepared) -> None:
        """Set the exact embeddings of the samples with these bases, and what follows from them."""
        stacked = embed_views(views, bases, self.alpha, self.beta)
        embeddings = [stacked[v, :, :] for v in range(len(views))]
        target = consensus(views, embeddings)
        self.objective_[-1] = mic_objective(views, embeddings, bases, target, self.alpha, self.beta)
        self.embedding_, *own = (prepared.views.place(U, prepared.rows) for U in (target, *embeddings))
        self.view_embeddings_ = collect(own, X, self.view_names_in_)
        self.bases_ = collect(bases, X, self.view_names_in_)
        readout = MICReadout(
            "MIC",
            prepared.scaling,
            bases,
            self.on_empty,
            prepared.fit_samples(target),
            means=tuple(view.mean for view in views),
            shares=tuple(float(view.presence().mean()) for view in prepared.scaled),
            alpha=self.alpha,
            beta=self.beta,
        )
        self._set_answers(readout, target, prepared)
