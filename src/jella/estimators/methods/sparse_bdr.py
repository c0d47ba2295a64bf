"""SparseBDR: block-diagonal representation on a sparse support, with a fixed scale and settings without labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import LocalOutlierFactor
from sklearn.utils import check_scalar
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from jella.estimators.base import DEFAULT_RANK, Prepared, has_clusters
from jella.estimators.batches import BATCHES, REFIT, landmarks_with, numbered_as_before
from jella.estimators.framework import BaseClusterer
from jella.estimators.known_classes import checked_classes, known_classes, labels_of
from jella.estimators.landmarks import LANDMARKS, Chosen, check_landmarks, choose_landmarks, most_landmarks
from jella.estimators.needs import Needs
from jella.evidence.confidence import Confidence
from jella.evidence.gather import ClusterEvidence, Gathered, conclude, look_for_evidence
from jella.evidence.refits import drawn_samples
from jella.graphs.neighbours import nearest, sweep_order, symmetric_support
from jella.graphs.view_choice import choose_scaling
from jella.impute.estimates import Estimates, check_level
from jella.impute.imputer import Imputer
from jella.numerics.arrays import to_numpy
from jella.numerics.finite import overflow_refused
from jella.numerics.kmeans import unit_rows
from jella.numerics.sparse_arrays import neighbour_graph
from jella.problem.model import Data, Problem
from jella.problem.terms import Orthonormal, Ridge, SparseBlockDiagonal, Support
from jella.readout.base import Readout
from jella.readout.clusters import Clusters, NeighbourClusters, rank_votes
from jella.readout.completion import complete_views
from jella.readout.landmarks import Landmarks
from jella.readout.neighbours import NeighbourReadout
from jella.solve.solver import Result
from jella.views import AnyViews, Views
from jella.views.checks import kept_samples
from jella.views.kinds import Kinds
from jella.views.scaling import Scaling

#: components per cluster, and the fewest, where the number of components is not given
COMPONENTS_PER_CLUSTER, FEWEST_COMPONENTS = 2, 10
#: clusters that the model is fitted for where their number is not given; fewer would hide a large number
UNKNOWN_CLUSTERS = 20
#: a sample with a larger local outlier factor, over this many neighbours, lies apart
OUTLIER, OUTLIER_NEIGHBOURS = 1.5, 20
#: but at most one component per this many features: a rank near the number of features completes nothing
FEATURES_PER_COMPONENT = 3
#: of a sample that is tied to landmarks: numbers that it needs besides embedding and neighbours, seconds per number
PLACED_NUMBERS, PLACED_SECONDS = 10, 2e-6


class NoClearClustersWarning(UserWarning):
    """The data show no clear clusters."""


class SparseBDR(BaseClusterer):
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
        Rank r. By default 2 per cluster (40 without n_clusters), at least 10, at most one per three features.
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
        from data without clusters, which takes six to ten fits of at most 4000 samples; without clear clusters it is
        1, with a warning. False: by the neighbour graph alone, and probabilities of labels are not calibrated.
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
        Probability that a refit on a part of the samples puts a sample into a cluster; NaN for samples without any
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
    n_clusters there are then as many clusters as classes. A y without unknown classes is ignored, as scikit-learn's
    tools pass y to all estimators.

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

    kinds_: Kinds
    landmarks_: Landmarks
    imputer_: Imputer | None
    evidence_: ClusterEvidence | None

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

    def partial_fit(self, X: Any, y: Any = None, *, observed: Any = None) -> Any:
        """Go on with a further batch of samples, of the same views and features.

        The model keeps the landmarks of all samples seen so far: those that a fit to all batches together would have.
        It is fitted to them again if a twentieth of them is new; clusters keep their numbers. Afterwards `embedding_`
        and `labels_` are those of this batch; `predict` gives those of earlier ones.

        Parameters
        ----------
        X, observed : as in fit
            Dense samples in memory. The first batch is fitted as by `fit`, and sets the number of clusters.
        y : ignored

        Returns
        -------
        self

        Examples
        --------
        >>> import jella
        >>> views = jella.datasets.load_digits_views().data
        >>> model = jella.SparseBDR(n_clusters=10, random_state=0)
        >>> for start in (0, 300):
        ...     model = model.partial_fit({name: view[start : start + 300] for name, view in views.items()})
        >>> model.labels_.shape, model.landmarks_.n_landmarks
        ((300,), 600)
        """
        old = vars(self).get("readout_")
        if not isinstance(old, NeighbourReadout):
            return self.fit(X, observed=observed)
        batch, seen = self.read(X, observed), self.landmarks_
        if not isinstance(batch, Views):
            raise ValueError("expected batches in memory, got a Dask collection; pass all of it to fit")
        some = batch.take(kept_samples(batch, self.on_empty))
        most = most_landmarks(some.n_features) if self.landmarks in (None, "auto") else int(self.landmarks)
        both, prints, new = landmarks_with(old, some, most)
        if new >= REFIT:
            again = clone(self).set_params(landmarks=None, n_clusters=self.n_clusters or self.n_clusters_)
            again._fit_read(both, {view.name: view.X for view in both}, None)
            self._take_over(again, old, prints)
        known = self.readout_.known
        assert known is not None
        n_seen = seen.n_samples + some.n_samples
        self.landmarks_ = replace(seen, n_samples=n_seen, n_landmarks=known.prints.size, reason=BATCHES)
        self._answer_batch(batch)
        return self

    def _take_over(self, again: SparseBDR, old: NeighbourReadout, prints: np.ndarray) -> None:
        """Take the answers of a fit to the landmarks of all batches; clusters keep the numbers of the old ones.

        Parameters
        ----------
        prints : uint64 array (m,)
            The fingerprints of the landmarks as they came; scaling and undoing it may have changed last digits.
        """
        readout = again.readout_
        assert isinstance(readout, NeighbourReadout)
        assert readout.known is not None
        known, clusters = replace(readout.known, prints=prints[readout.known.places]), readout.clusters
        readout = replace(readout, known=known)
        if known.labels is not None and isinstance(clusters, NeighbourClusters):
            labels = numbered_as_before(known.labels, clusters.n_clusters, known.prints, old)
            readout = replace(readout, known=replace(known, labels=labels), clusters=replace(clusters, labels=labels))
        for name in {"imputer_", "evidence_"} & set(vars(self)):
            delattr(self, name)  # they belong to the last fit
        for name in ("scaling_", "objective_", "history_", "n_iter_", "converged_", "result_", "graph_", "kinds_"):
            setattr(self, name, getattr(again, name))
        self.bases_ = again.bases_ if isinstance(self.bases_, dict) else list(again.bases_.values())
        self.readout_ = readout

    def _answer_batch(self, views: Views) -> None:
        """Set what a fit sets for each sample, for the samples of a batch."""
        readout = self._answers()
        assert isinstance(readout, NeighbourReadout)
        tied = readout.tie(views)
        self.embedding_, self.sample_names_in_ = tied.shown, views.sample_names
        self.landmarks_ = replace(self.landmarks_, near=tied.near)
        self.dropped_ = np.flatnonzero(~views.presence().any(axis=1)).tolist()
        if tied.labels is not None:
            self.labels_ = tied.labels

    def declare(self, data: Data) -> Problem:
        """Squared loss, orthonormal bases, a ridge, and the block-diagonal term on the neighbours of the data."""
        check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
        assert isinstance(data.views, Views)
        _, neighbours = nearest(data.views, self.n_neighbors)
        support = Support.averaging(symmetric_support(neighbour_graph(neighbours)))
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
        most = min(views.n_samples, max(views.n_features // FEATURES_PER_COMPONENT, 1))
        return min(wanted, most) if self.n_components is None else super()._rank(views)

    def complete(self, X: Any, *, observed: Any = None, interval: float | None = None) -> Any:
        """X with its missing values imputed, in the same container and in the user's units.

        Observed values are returned bit for bit. Samples that a DataFrame lacks are appended to its rows. The first
        call learns how to weigh and correct predictions, which takes a few fits; see `calibrate`.

        Parameters
        ----------
        X : as in fit
            Samples of the fit or new ones. Whole views may be missing.
        observed : as in fit
        interval : float in (0, 1), optional
            Also return intervals that hold this share of the true values, if values are missing in the way in which
            they are missing in the samples of the fit, and not because of their size.

        Returns
        -------
        views : as X
            Or, with `interval`, an `Interval` of views, lower, upper and std.

        Examples
        --------
        >>> import jella
        >>> digits = jella.datasets.load_digits_views()
        >>> views = jella.datasets.make_incomplete([view[:200] for view in digits.data.values()], 0.3, random_state=0)
        >>> found = jella.SparseBDR(n_clusters=10, random_state=0).fit(views).complete(views, interval=0.9)
        >>> bool((found.lower[0] <= found.views[0]).all()), bool((found.views[0] <= found.upper[0]).all())
        (True, True)
        """
        views = self.read(X, observed)
        check_level(interval)
        with overflow_refused("completed values"):
            if isinstance(views, Views) and self.learn_completion() is not None:
                found = self.estimates(views, interval)
                return found.fill(X, self.schema_) if interval is None else found.interval(X, self.schema_)
            if interval is not None:
                raise ValueError(
                    "expected a model that can hide values of its samples for intervals, got one without calibration; "
                    "pass samples in memory, to a model with calibrate=True"
                )
            bounds = [self.kinds_.bounds(v) for v in range(len(self.schema_.names))]
            return complete_views(views, X, self._answers(), self.schema_, bounds)

    def estimates(self, views: Views, interval: float | None = None, imputer: Imputer | None = None) -> Estimates:
        """The imputed values of samples that were read, by an imputer of this model, by default its own."""
        imputer, readout = self.learn_completion() if imputer is None else imputer, self._answers()
        assert imputer is not None
        own = readout if imputer.readout is None else replace(imputer.readout, on_empty=self.on_empty)
        assert isinstance(own, NeighbourReadout)
        with overflow_refused("completed values"):
            return Estimates.make(views, own, imputer, self.kinds_, interval)

    def learn_completion(self, progress: Any = None, *, most_samples: int | None = None) -> Imputer | None:
        """Learn from hidden values how to weigh and correct predictions, if that was not done before.

        Parameters
        ----------
        progress : callable, optional
            Called before each trial with its number, from 1, and the number of trials.
        most_samples : int, optional
            With more samples than this, learn from a random part of this size; the model does not keep what is learned
            from a part.

        Returns
        -------
        imputer : Imputer or None
            Also in `imputer_`. None with calibrate=False, after a fit that was interrupted, and where nothing can be
            hidden.
        """
        check_is_fitted(self, "readout_")
        readout = self.readout_
        if not self.calibrate or not isinstance(readout, NeighbourReadout):
            return None
        if "imputer_" not in vars(self):
            stopped = self.result_.stop_reason == "interrupted"
            is_part = most_samples is not None and readout.samples.n_samples > most_samples
            samples = readout.samples
            if is_part and most_samples is not None:
                samples = samples.take(drawn_samples(samples, most_samples))
            with overflow_refused("completed values"):
                found = None if stopped else self._learned(readout.scaling.undo(samples), progress, is_part)
            if is_part:
                return found
            self.imputer_ = found
        return self.imputer_

    def _learned(self, samples: Views, progress: Any, is_part: bool = False) -> Imputer | None:
        """The imputer of samples of the fit; it does not depend on the number of clusters."""
        seed = int(self.random_state) if isinstance(self.random_state, Integral) else 0
        readout = self.readout_
        blocks = min(self.n_components or DEFAULT_RANK, samples.n_samples)
        same = self.n_blocks == blocks and isinstance(readout.bases[0], np.ndarray) and not is_part
        own = None if same else self._refit(samples, n_clusters=blocks)
        refit = partial(self._refit, like=(readout if own is None else own).scaling, n_clusters=blocks)
        imputer = Imputer.learn(samples, refit, self.kinds_, seed, progress)
        return replace(imputer, readout=own) if imputer is not None and isinstance(own, NeighbourReadout) else imputer

    @available_if(has_clusters)
    def predict_proba(self, X: Any, *, observed: Any = None) -> np.ndarray:
        """The probabilities (n, k) that samples belong to the clusters; NaN for samples without any value.

        A sample of the fit, with the same values and the same missing entries, gets its row of
        `label_probabilities_`. The first call takes a few refits, unless evidence=False or they were made before.

        Parameters
        ----------
        X, observed : as in fit
        """
        check_is_fitted(self, "readout_")
        readout, views = self._answers(), self.read(X, observed)
        assert isinstance(readout, NeighbourReadout)
        answer = partial(readout.probable, confidence=self._confidence().probabilities)
        return views.as_given(views.map_rows(answer, self.n_clusters_, dtype=np.dtype(np.float64)))

    @property
    def label_probabilities_(self) -> np.ndarray:
        """Probabilities (n, k) of the clusters of the samples of the fit."""
        check_is_fitted(self, "labels_")
        full = self.label_votes()
        kept = ~np.isnan(full[:, 0])
        full[kept] = self._confidence().probabilities(full[kept])
        return full

    def label_votes(self) -> np.ndarray:
        """Votes (n, k) of neighbours for the clusters of the samples of the fit; NaN for samples without any value."""
        check_is_fitted(self, "labels_")
        readout, near = self.readout_, self.landmarks_.near
        if not isinstance(self.labels_, np.ndarray) or not isinstance(readout, NeighbourReadout):
            raise AttributeError("expected a fit to samples in memory, got one to a Dask collection; use predict_proba")
        known = readout.known
        assert known is not None
        assert known.labels is not None
        full = np.full((len(self.labels_), self.n_clusters_), np.nan)
        if near is None:
            full[known.places] = readout.votes(known.labels, self.n_clusters_)
            return full
        tied = np.flatnonzero(near[:, 0] >= 0)
        full[tied] = rank_votes(near[tied], known.labels, self.n_clusters_)
        return full

    def belongs_nowhere(self) -> np.ndarray:
        """Which samples of the fit belong to no cluster, (n,) booleans.

        These are samples whose label has a probability below a half, landmarks that lie apart from their neighbours in
        the embedding (local outlier factor above 1.5), and samples without any value.
        """
        sure = self.label_probabilities_
        known = self.readout_.known
        assert known is not None
        labels = np.asarray(self.labels_)
        found = ~(sure[np.arange(labels.size), np.maximum(labels, 0)] >= 0.5)
        rows = unit_rows(to_numpy(known.own))
        if len(rows) > OUTLIER_NEIGHBOURS and self.landmarks_.reason != BATCHES:
            factor = LocalOutlierFactor(n_neighbors=OUTLIER_NEIGHBOURS).fit(rows).negative_outlier_factor_
            found[known.places] |= factor < -OUTLIER
        return found

    def __dir__(self) -> list[str]:
        # scikit-learn's looks at each attribute, also to display a model; that should not start refits
        lazy = set() if "evidence_" in vars(self) else {"label_probabilities_"}
        return [name for name in object.__dir__(self) if name not in lazy and hasattr(self, name)]

    def gather_evidence(self, *, most_samples: int | None = None) -> ClusterEvidence | None:
        """What speaks for the clusters: refits on parts of the samples, against data without clusters.

        It is computed when it is first asked for, and by a fit that chooses the number of clusters.

        Parameters
        ----------
        most_samples : int, optional
            Take it from at most this many samples, by default 4000. The model keeps evidence only if no number is
            given.

        Returns
        -------
        evidence : ClusterEvidence or None
            Also in `evidence_`. Its `path` compares the clusters with those of data without groups, its `confidence`
            says how often refits agree with the labels. None with evidence=False, for fewer
            than 20 samples, for one cluster that was given, and after an interrupted fit.
        """
        check_is_fitted(self, "labels_")
        if "evidence_" not in vars(self):
            readout = self.readout_
            found = self._gathered(readout, self.n_clusters_, len(self.labels_), most_samples)
            known, evidence = None if found is None else readout.known, None
            if found is not None and known is not None and known.labels is not None:
                evidence = conclude(found, known.labels, self.n_init, self._seed_of_score())
            if most_samples is not None:
                return evidence
            self.evidence_ = evidence
        return self.evidence_

    def _gathered(
        self, readout: Any, n_clusters: int | None, n_given: int, most_samples: int | None = None
    ) -> Gathered | None:
        if not isinstance(readout, NeighbourReadout):
            return None
        if not self.evidence or n_clusters == 1 or self.result_.stop_reason == "interrupted":
            return None
        refit = partial(self._refit_part, like=readout.scaling)
        seed = self._seed_of_score()
        return look_for_evidence(readout, refit, n_clusters, seed, self.n_jobs, n_given, most_samples)

    def _refit_part(self, views: Views, like: Scaling) -> Readout:
        """A refit to a part of the samples, which may be fewer than components or clusters."""
        most = min(views.n_samples, views.n_features)
        trial = self if self.n_components is None else clone(self).set_params(n_components=min(self.n_components, most))
        return trial._refit(views, like=like, n_clusters=min(self.n_blocks, views.n_samples))

    def _fit_views(self, views: AnyViews, X: Any, y: Any) -> None:
        super()._fit_views(views, X, checked_classes(y, views, self.n_clusters))

    @contextmanager
    def _cut_short(self, what: str) -> Iterator[None]:
        """Go on without evidence after Ctrl-C, since the fit itself is finished; it is not looked for again."""
        try:
            yield
        except KeyboardInterrupt:
            warnings.warn(f"interrupted while evidence was gathered: {what}", UserWarning, stacklevel=11)
            self.evidence_ = None

    def _find_clusters(self, readout: Readout, W: Any, prepared: Prepared) -> tuple[Clusters | None, Any]:
        assert isinstance(readout, NeighbourReadout)
        classes, k = known_classes(prepared, self.n_clusters), self.n_clusters
        if classes is not None and k is None:
            k = int(classes.max()) + 1
        found = None
        if k is None:
            with self._cut_short("the number of clusters was chosen by the graph alone"):
                found = self._gathered(readout, None, prepared.views.n_samples)
        path = None if found is None else found.path
        clusters, labels = readout.find_clusters(
            prepared.scaled, W, k, self.n_init, self.random_state, unit=False, path=path, classes=classes
        )
        if found is not None:
            with self._cut_short("probabilities of labels are not calibrated"):
                self.evidence_ = conclude(found, labels, self.n_init, self._seed_of_score())
            if not found.path.is_clear:
                words = f"{found.path.words()}; n_clusters_ is 1: pass n_clusters to divide the samples all the same"
                warnings.warn(words, NoClearClustersWarning, stacklevel=9)
        return clusters, labels

    def _confidence(self) -> Confidence:
        found = self.gather_evidence()
        return Confidence() if found is None else found.confidence

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_landmarks(self.landmarks)

    def _needs(self, views: Views) -> Needs:
        n, most = views.n_samples, most_landmarks(views.n_features)
        wanted = n if self.landmarks is None else most if self.landmarks == "auto" else int(self.landmarks)
        few = super()._needs(views.take(np.arange(min(n, wanted)))) if n > wanted else super()._needs(views)
        rest = (n - min(n, wanted)) * (2 * self._rank(views) + self.n_neighbors + PLACED_NUMBERS)
        return Needs(few.memory + 8 * rest, few.seconds + rest * PLACED_SECONDS)

    def _prepare(self, views: AnyViews, y: Any = None) -> Prepared:
        prepared = super()._prepare(views, y)
        return replace(prepared, kinds=Kinds.learn(prepared.used, self.kinds))

    def _choose_samples(self, views: AnyViews, kept: np.ndarray, y: Any) -> Chosen | None:
        if self._keeps_order:
            return None
        classes = None if y is None else labels_of(y, np.arange(views.n_samples), views.n_samples)
        return choose_landmarks(views, kept, classes, self.landmarks, self.n_neighbors)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        words = super().__repr__(N_CHAR_MAX)
        found = vars(self).get("landmarks_")
        return words if found is None or found.n_samples <= LANDMARKS else f"{words}\n# {found}"

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
            classes = np.full(views.n_samples, -1) if prepared.y is None else np.asarray(prepared.y).astype(int)
            self.labels_ = np.where((classes >= 0) & (tied.labels >= 0), classes, tied.labels)

    @property
    def affinity_(self) -> Any:
        """The affinity of the samples that were kept."""
        return self.result_.blocks.embedding_states[-1].affinity
