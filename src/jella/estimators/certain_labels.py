"""How sure labels are: evidence from refits, probabilities, and samples that belong nowhere."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import LocalOutlierFactor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from jella.estimators.base import Prepared, seed_of
from jella.estimators.batches import BATCHES
from jella.estimators.framework import BaseClusterer
from jella.estimators.interrupted import was_interrupted
from jella.estimators.known_classes import refuse_large
from jella.estimators.transformer import has_clusters
from jella.evidence.confidence import Confidence
from jella.evidence.gather import FEWEST_SAMPLES, ClusterEvidence, Gathered, conclude, look_for_evidence
from jella.graphs.compared import compared_rows
from jella.numerics.arrays import to_numpy
from jella.numerics.words import counted
from jella.readout.base import Readout
from jella.readout.clusters import Clusters, rank_votes
from jella.readout.landmarks import Landmarks
from jella.readout.neighbours import NeighbourReadout
from jella.views import Views
from jella.views.scaling import Scaling
from jella.views.steps import are_narrow, spread_over_steps

#: a sample with a larger local outlier factor, over this many neighbours, lies apart
OUTLIER, OUTLIER_NEIGHBOURS = 1.5, 20


class NoClearClustersWarning(UserWarning):
    """The data show no clear clusters."""


class BaseCertain(BaseClusterer):
    """Labels with evidence and probabilities, for a method that relates samples."""

    evidence: bool
    n_components: int | None
    n_jobs: int | None

    evidence_: ClusterEvidence | None
    landmarks_: Landmarks
    n_blocks: Any

    @available_if(has_clusters)
    def predict_proba(self, X: Any, *, observed: Any = None, covariates: Any = None) -> np.ndarray:
        """The probabilities (n, k) that samples belong to the clusters; NaN for samples without any value.

        A sample of the fit, with the same values and the same missing entries, gets its row of
        `label_probabilities_`. The first call takes a few refits, unless evidence=False or they were made before.

        Parameters
        ----------
        X, observed : as in fit
        covariates : optional
            For a model of adjusted views, as in `read`.
        """
        check_is_fitted(self, "readout_")
        readout, views = self._answers(), self.read(X, observed, covariates)
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
        rows = compared_rows(to_numpy(known.own))
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
                evidence = conclude(found, known.labels, self.n_init, seed_of(self.random_state))
            if most_samples is not None:
                return evidence
            self.evidence_ = evidence
        return self.evidence_

    def _gathered(
        self, readout: Any, n_clusters: int | None, n_given: int, most_samples: int | None = None
    ) -> Gathered | None:
        if not isinstance(readout, NeighbourReadout):
            return None
        if not self.evidence or n_clusters == 1 or was_interrupted(self):
            return None
        refit, related = partial(self._refit_part, like=readout.scaling), self._related(readout)
        seed = seed_of(self.random_state)
        found = look_for_evidence(related, refit, n_clusters, seed, self.n_jobs, n_given, most_samples)
        return None if found is None else replace(found, readout=readout)

    def _related(self, readout: NeighbourReadout) -> NeighbourReadout:
        """The readout in which clusters are looked for; of values in steps, that of a refit to spread values."""
        if was_interrupted(self) or not are_narrow(readout.samples):
            return readout
        samples = readout.scaling.undo(readout.samples)
        spread = spread_over_steps(samples, np.random.default_rng(seed_of(self.random_state)))
        if spread is samples:
            return readout
        again = self._refit_part(spread, like=readout.scaling)
        assert isinstance(again, NeighbourReadout)
        assert again.known is not None
        assert readout.known is not None
        return replace(again, known=replace(again.known, places=readout.known.places))

    def _refit_part(self, views: Views, like: Scaling | None) -> Readout:
        """A refit to a part of the samples, which may be fewer than components or clusters."""
        most = min(views.n_samples, views.n_features)
        trial = self if self.n_components is None else clone(self).set_params(n_components=min(self.n_components, most))
        return trial._refit(views, like=like, n_clusters=min(self.n_blocks, views.n_samples))

    @contextmanager
    def _cut_short(self, what: str) -> Iterator[None]:
        """Go on without evidence after Ctrl-C, since the fit itself is finished; it is not looked for again."""
        try:
            yield
        except KeyboardInterrupt:
            warnings.warn(f"interrupted while evidence was gathered: {what}", UserWarning, stacklevel=12)
            self.evidence_ = None

    def _find_clusters(self, readout: Readout, W: Any, prepared: Prepared) -> tuple[Clusters | None, Any]:
        assert isinstance(readout, NeighbourReadout)
        known, k = prepared.y, self.n_clusters
        part = None if known is None else known.take(prepared.rows)
        if part is not None and k is None and (part.classes >= 0).any():
            refuse_large(part.classes, prepared.used.n_samples)
            k = max(known.fewest, int(part.classes.max()) + 1)
        found, related = None, readout
        with self._cut_short("clusters are those of values as they are, in steps"):
            related = self._related(readout)
        if k is None:
            with self._cut_short("the number of clusters was chosen by the graph alone"):
                found = self._gathered(readout, None, prepared.views.n_samples)
        path, chosen = None if found is None else found.path, k
        if k is None and known is not None:
            path = related.cluster_path() if path is None else path
            chosen = max(known.fewest, path.n_clusters)
            path = replace(path, n_clusters=chosen)
            found = None if found is None else replace(found, path=path)
        clusters, labels = readout.find_clusters(
            prepared.scaled,
            W,
            chosen,
            self.n_init,
            self.random_state,
            unit=False,
            path=path,
            known=part if part is not None and part.classes.size else None,
            related=related,
        )
        if found is not None:
            with self._cut_short("probabilities of labels are not calibrated"):
                self.evidence_ = conclude(found, labels, self.n_init, seed_of(self.random_state))
            if not found.path.is_clear:
                words = f"n_clusters_ is {found.path.n_clusters}: pass n_clusters to divide the samples all the same"
                warnings.warn(f"{found.path.words()}; {words}", NoClearClustersWarning, stacklevel=10)
        elif k is None and self.evidence and labels.size < FEWEST_SAMPLES:
            words = "the number is by their neighbour graph alone: do not trust it, or pass n_clusters"
            are = "is" if labels.size == 1 else "are"
            few = f"no clear clusters: {counted(labels.size, 'sample')} {are} too few to tell; {words}"
            warnings.warn(few, NoClearClustersWarning, stacklevel=10)
        return clusters, labels

    def _confidence(self) -> Confidence:
        found = self.gather_evidence()
        return Confidence() if found is None else found.confidence
