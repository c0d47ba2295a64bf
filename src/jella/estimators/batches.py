"""A model of samples that come in batches: its landmarks are those of all samples seen so far."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from jella.readout.neighbours import NeighbourReadout
from jella.views import View, Views
from jella.views.fingerprints import fingerprints

#: a batch leads to a new fit if at least this share of the landmarks would be new
REFIT = 0.05
#: why a model of several batches has its landmarks
BATCHES = "those of all batches"


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
    counts = np.zeros((n_clusters, max(n_clusters, int(before.max()) + 1)))
    np.add.at(counts, (labels[here], before[there]), 1.0)
    counts = counts[:, :n_clusters]
    new, names = linear_sum_assignment(-counts)
    return np.asarray(names[np.argsort(new)][labels])
