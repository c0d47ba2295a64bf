"""Samples that come in batches: the landmarks of a model are those of all samples seen so far."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from jella.estimators.framework import BaseClusterer
from jella.estimators.landmarks import wanted_landmarks
from jella.evidence.refits import matched_numbers
from jella.numerics.words import listed
from jella.readout.clusters import NeighbourClusters
from jella.readout.landmarks import Landmarks
from jella.readout.neighbours import NeighbourReadout
from jella.views import View, Views
from jella.views.checks import kept_samples
from jella.views.fingerprints import fingerprints

#: a batch leads to a new fit if at least this share of the landmarks would be new
REFIT = 0.05
#: why a model of several batches has its landmarks
BATCHES = "those of all batches"


class BaseBatches(BaseClusterer):
    """A method with landmarks that goes on with further batches of samples."""

    landmarks: Any

    landmarks_: Landmarks

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
        if self.adjusted_for_:
            raise ValueError(
                "expected batches for a model of views as they are, got a model of views adjusted for "
                f"{listed(self.adjusted_for_)}; fit adjusted samples with jella.Adjuster instead"
            )
        batch, seen = self.read(X, observed), self.landmarks_
        if not isinstance(batch, Views):
            raise ValueError("expected batches in memory, got a Dask collection; pass all of it to fit")
        some = batch.take(kept_samples(batch, self.on_empty))
        most = wanted_landmarks("auto" if self.landmarks is None else self.landmarks, 0, some.n_features)
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

    def _take_over(self, again: BaseBatches, old: NeighbourReadout, prints: np.ndarray) -> None:
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
        if known.labels is not None and isinstance(clusters, NeighbourClusters):
            known = replace(known, labels=numbered_as_before(known.labels, clusters.n_clusters, known.prints, old))
        readout = replace(readout, known=known)
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
        self.embedding_, self.landmarks_ = tied.shown, replace(self.landmarks_, near=tied.near)
        self._remember_samples(views, np.flatnonzero(~views.presence().any(axis=1)))
        if tied.labels is not None:
            self.labels_ = tied.labels


def landmarks_with(readout: NeighbourReadout, batch: Views, most: int) -> tuple[Views, np.ndarray, float]:
    """The landmarks of all samples seen so far, in the user's units, their fingerprints, and the share that is new.

    Landmarks are the samples with the lowest fingerprints, so those of earlier batches and a new batch hold all that
    are needed.
    """
    for view in (*readout.samples, *batch):
        if view.is_sparse:
            raise ValueError(
                f"expected dense views for partial_fit, got view {view.name!r}, which is sparse; fit all at once"
            )
    old = readout.scaling.undo(readout.samples)
    assert readout.known is not None
    prints = np.concatenate([readout.known.prints, fingerprints(batch)])
    _, rows = np.unique(prints, return_index=True)
    rows = rows[:most]
    items = (_joined(one, other) for one, other in zip(old, batch, strict=True))
    both = Views(tuple(items)).take(rows)
    return both, prints[rows], float(np.mean(rows >= old.n_samples))


def _joined(old: View, new: View) -> View:
    """Two groups of samples of one view."""
    return replace(View.joined([old, new]), name=new.name, feature_names=new.feature_names)


def numbered_as_before(labels: np.ndarray, n_clusters: int, prints: np.ndarray, old: NeighbourReadout) -> np.ndarray:
    """Labels (m,) of landmarks, numbered so that they agree with those of an earlier fit as often as possible."""
    assert old.known is not None
    _, here, there = np.intersect1d(prints, old.known.prints, return_indices=True)
    before = old.known.labels
    if before is None or not here.size:
        return labels
    common = before[there] < n_clusters
    return matched_numbers(labels[here][common], before[there][common], n_clusters)[labels]
