"""SparseBDR: block-diagonal representation on a sparse support, with a fixed scale and settings without labels."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from jella.estimators.base import Prepared
from jella.estimators.batches import BaseBatches
from jella.estimators.calibrated_completion import BaseCalibrated
from jella.estimators.certain_labels import BaseCertain
from jella.estimators.known_classes import Told, checked_known
from jella.estimators.landmarks import Chosen, check_landmarks, choose_landmarks, wanted_landmarks
from jella.estimators.needs import Needs
from jella.graphs.neighbours import nearest, sweep_order, symmetric_support
from jella.graphs.view_choice import choose_scaling
from jella.numerics.sparse_arrays import neighbours_beside
from jella.problem.model import Data, Problem
from jella.problem.terms import Orthonormal, Ridge, SparseBlockDiagonal, Support
from jella.readout.neighbours import NeighbourReadout
from jella.solve.solver import Result
from jella.views import AnyViews, Views
from jella.views.kinds import Kinds
from jella.views.scaling import Scaling

#: components per cluster, and the fewest, where the number of components is not given
COMPONENTS_PER_CLUSTER, FEWEST_COMPONENTS = 2, 10
#: clusters that the model is fitted for where their number is not given; fewer would hide a large number
UNKNOWN_CLUSTERS = 20
#: but at most one component per this many features, above the fewest: a rank near the number of features completes
#: nothing, but fewer than ten features are their own embedding
FEATURES_PER_COMPONENT = 3
#: of a sample that is tied to landmarks: numbers that it needs besides embedding and neighbours, seconds per number
PLACED_NUMBERS, PLACED_SECONDS = 10, 2e-6


class SparseBDR(BaseBatches, BaseCertain, BaseCalibrated):
    """Block-diagonal representation on a sparse support: the method to try first.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + alpha·‖W − PᵀW‖² + beta·‖P − B‖² + gamma·(sum of the k lowest eigenvalues of
    L_B) + ridge·‖W‖² over orthonormal stacked bases U and an affinity B that joins neighbours only: IML-BDR [1]_ with
    its scale fixed, at a cost that grows with the number of samples and not with its square. It takes missing views and
    entries, values of any sign and sparse views. Neighbours are compared over the entries that both samples have. A new
    sample is embedded near its neighbours in the fit and takes the label that they vote for. `complete` weighs several
    predictions of each value by how well they predict hidden values. The answer does not depend on the order of the
    samples.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters k; chosen from the data by default.
    n_components : int, optional
        Rank r. By default 2 per cluster (40 without n_clusters), at least 10, above that at most one per three
        features, and at most one per feature.
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
        'standardize' and 'center' whose neighbours agree most with those of the other views; in a single view, halves
        of its features take their place.
    view_weights : 'auto', or sequence or dict of float, default='auto'
        Weights in the loss, None for equal ones. 'auto' gives more to a view whose own graph falls into clearer groups.
    solver : {'basic', 'sor'} or Relaxation, default='sor'
        Plain alternation, or successive over-relaxation of the completed data.
    init : {'svd', 'random'}, array (n, r) or dict, default='svd'
        The SVD of the views completed from neighbours; random; an embedding; or a dict of 'embedding' and 'bases'.
    n_init : int, default=10
        Starts of k-means in the spectral clustering, and of the fit where init='random'.
    max_iter : int, default=20
        Maximum number of sweeps; few are meant, since they refine a completion from neighbours.
    tol : float, default=1e-4
        The fit ends when a sweep lowers the objective by less than this share.
    warm_start : bool, default=False
        Continue from the blocks of the last fit.
    calibrate : bool, default=True
        Whether the first call of `complete` hides observed values a few times, to weigh and correct predictions by
        them. It takes a few fits. False: the value of this model plus the mean residual of the neighbours.
    evidence : bool, default=True
        Whether a number of clusters that is not given is chosen with evidence from refits on parts of the samples and
        from data without clusters, which takes six to eighteen fits of at most 4000 samples; without clear clusters
        it is 1, with a warning. False: by the neighbour graph alone, and probabilities of labels are not calibrated.
    n_jobs : int, optional
        Threads for the refits that give evidence; None means one, -1 all.
    landmarks : 'auto', int or None, default='auto'
        The number of samples that are related to each other. All other samples are tied to the nearest of these
        landmarks, which costs the same per sample however many there are. 'auto': all up to 20 000 samples, and all up
        to 100 000 if a search finds most of their nearest neighbours; otherwise 20 000. None: all.
    kinds : str or dict, optional
        Kinds of values: 'real', 'amount' (non-negative), 'count', 'proportion' or 'binary', for all views; or a dict
        of view -> kind, or of view -> dict of feature -> kind. By default detected; `complete` stays in their range.
    on_empty : {'raise', 'drop'}, default='raise'
        A sample without any observed value: an error, or left out of the fit (its embedding is NaN, its label -1).
    callback : callable or sequence of callables, optional
        Called with a `jella.Progress` after each accepted sweep; a true value ends the fit.
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
    label_probabilities_ : array (n, k)
        Probability that a refit on half of the samples puts a sample into a cluster; NaN for samples without any
        value. Computed when it is first asked for, from refits; see `gather_evidence`.
    evidence_ : ClusterEvidence or None
        What `gather_evidence` has found.
    kinds_ : Kinds
        Kind of each feature; ``kinds_.summary(view_names_in_)`` says it in words.
    imputer_ : Imputer or None
        What `complete` has learned from hidden values, after its first call: ``imputer_.overall`` and
        ``imputer_.by_view`` are estimates of the error.
    landmarks_ : Landmarks
        Which samples are related to each other, and why; printed by ``print(model.landmarks_)``.
    affinity_, graph_ : sparse arrays (m, m)
        B, and the neighbours that its support comes from, over the landmarks, in the order of the samples.
    bases_, objective_, history_, n_iter_, converged_, result_, scaling_, dropped_
        As in `jella.MVLIV`; also `n_features_in_`, `feature_names_in_`, `view_names_in_` and `sample_names_in_`.

    Notes
    -----
    ``fit(X, y)`` takes known classes of some samples: an int array (n,), from 0, with -1 where unknown. They are the
    labels of these samples and help to find those of the others; embedding and completion do not use them. Without
    n_clusters there are then as many clusters as classes, which must not skip a number. A y without unknown classes is
    ignored, as scikit-learn's tools pass y to all estimators.

    ``fit(X, must_link=pairs, cannot_link=pairs)`` takes pairs of samples that share a cluster, or do not, also beside
    y. The labels agree with all of them; pairs that contradict each other, or that n_clusters cannot keep apart, are
    refused. Without n_clusters there are at least as many clusters as it takes.

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

    _chooses_n_clusters = True
    has_minimiser = False  # stopping early is meant

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
        calibrate: bool = True,
        evidence: bool = True,
        n_jobs: int | None = None,
        landmarks: Any = "auto",
        kinds: Any = None,
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
        self.calibrate = calibrate
        self.evidence = evidence
        self.n_jobs = n_jobs
        self.landmarks = landmarks
        self.kinds = kinds
        self.on_empty = on_empty
        self.callback = callback
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any = None, *, observed: Any = None, must_link: Any = None, cannot_link: Any = None
    ) -> Any:
        """Learn from views, and from what is known about the clusters of some samples.

        Parameters
        ----------
        X, observed : as in the fit of `jella.MVLIV`
        y : int array (n,) or Series, optional
            Known classes of samples, -1 where unknown.
        must_link, cannot_link : sequence of pairs of samples, optional
            Samples that share a cluster, and samples that do not: pairs of their ids if the views have ids (DataFrames,
            MuData), else of their positions.

        Returns
        -------
        self
        """
        return super().fit(X, Told(y, must_link, cannot_link), observed=observed)

    def declare(self, data: Data) -> Problem:
        """Squared loss, orthonormal bases, a ridge, and the block-diagonal term on the neighbours of the data."""
        check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
        assert isinstance(data.views, Views)
        neighbours = nearest(data.views, self.n_neighbors)
        support = Support.averaging(symmetric_support(neighbours_beside(neighbours, data.views[0].X)))
        blocks = SparseBlockDiagonal(support, self.n_blocks, alpha=self.alpha, beta=self.beta, gamma=self.gamma)
        terms, order = (Ridge(self.ridge), blocks), partial(sweep_order, neighbours)
        return Problem(basis=(Orthonormal(),), embedding=terms, neighbours=neighbours, order=order)

    @property
    def n_blocks(self) -> int:
        """The number of groups that the block-diagonal term looks for."""
        return self.n_clusters or self.n_components or UNKNOWN_CLUSTERS

    def _learn_scaling(self, views: AnyViews) -> Scaling:
        return choose_scaling(views, self.scale, self.view_weights, self.n_blocks)

    def _rank(self, views: AnyViews) -> int:
        wanted = max(COMPONENTS_PER_CLUSTER * self.n_blocks, FEWEST_COMPONENTS)
        few = min(views.n_features, FEWEST_COMPONENTS)
        most = min(views.n_samples, max(views.n_features // FEATURES_PER_COMPONENT, few))
        return min(wanted, most) if self.n_components is None else super()._rank(views)

    def _fit_views(self, views: AnyViews, X: Any, y: Any) -> None:
        super()._fit_views(views, X, checked_known(y if isinstance(y, Told) else Told(y), views, self.n_clusters))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_landmarks(self.landmarks)

    def _needs(self, views: Views) -> Needs:
        n = views.n_samples
        related = min(n, wanted_landmarks(self.landmarks, n, views.n_features))
        few = super()._needs(views.take(np.arange(related)) if related < n else views)
        rest = (n - related) * (2 * self._rank(views) + self.n_neighbors + PLACED_NUMBERS)
        return Needs(few.memory + 8 * rest, few.seconds + rest * PLACED_SECONDS)

    def _prepare(self, views: AnyViews, y: Any = None) -> Prepared:
        prepared = super()._prepare(views, y)
        return replace(prepared, kinds=Kinds.learn(prepared.used, self.kinds))

    def _choose_samples(self, views: AnyViews, kept: np.ndarray, y: Any) -> Chosen | None:
        if self._keeps_order:
            return None
        return choose_landmarks(views, kept, None if y is None else y.groups, self.landmarks, self.n_neighbors)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        words = super().__repr__(N_CHAR_MAX)
        found = vars(self).get("landmarks_")
        return f"{words}\n# {found}" if found is not None and found.is_worth_a_word else words

    def _set_fitted(self, X: Any, problem: Problem, result: Result, prepared: Prepared) -> None:
        if "imputer_" in vars(self):
            del self.imputer_  # it belongs to the last fit
        assert prepared.kinds is not None
        assert prepared.landmarks is not None
        self.kinds_, self.landmarks_ = prepared.kinds, prepared.landmarks
        super()._set_fitted(X, problem, result, prepared)
        if prepared.is_part:
            self._tie_the_rest(prepared)

    def _tie_the_rest(self, prepared: Prepared) -> None:
        """Set embedding and labels of all samples, where the fit used landmarks only."""
        readout, views = self._answers(), prepared.views
        assert isinstance(readout, NeighbourReadout)
        if not isinstance(views, Views):
            self.embedding_ = views.as_given(readout.present(views))
            if self._seeks_clusters:
                self.labels_ = views.as_given(readout.assign(views))
            return
        tied = readout.tie(views)
        self.landmarks_ = replace(self.landmarks_, near=tied.near)
        self.embedding_ = tied.shown
        if tied.labels is not None:
            self.labels_ = (
                tied.labels if prepared.y is None else prepared.y.kept(tied.labels, self.n_clusters_, prepared.rows)
            )

    @property
    def affinity_(self) -> Any:
        """The affinity of the samples that were kept."""
        return self.result_.blocks.embedding_states[-1].affinity
