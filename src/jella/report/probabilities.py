"""How sure the labels are: the probability of each sample's own cluster, and the samples that are least sure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jella.describe.subject import Absent, Subject
from jella.evidence.confidence import UNCERTAIN, Confidence
from jella.evidence.gather import ClusterEvidence
from jella.report.sampling import PROBABILITY_SAMPLES, some_rows


@dataclass(frozen=True)
class Doubt:
    """A sample whose label is uncertain."""

    sample: str
    cluster: int
    probability: float
    next_cluster: int  # the most probable of the others
    next_probability: float


@dataclass(frozen=True, eq=False)
class Probabilities:
    """The probabilities of the labels.

    Attributes
    ----------
    own : array (m,)
        Of the label of each sample that has one, or of some of them if there are many.
    labels : int array (m,)
        These labels.
    doubts : tuple of Doubt
        The uncertain samples, the least sure first.
    table : array (c, 3)
        As in `Confidence`; without rows if refits did not check the probabilities.
    n_samples : int
        Samples that have a label.
    """

    own: np.ndarray
    labels: np.ndarray
    doubts: tuple[Doubt, ...]
    table: np.ndarray
    n_samples: int


def find_probabilities(subject: Subject, evidence: ClusterEvidence | Absent) -> Probabilities | Absent:
    """The probabilities of the labels of a model that has them."""
    model = subject.model
    if not hasattr(model, "predict_proba"):
        return Absent(f"{subject.method} gives labels without probabilities.")
    if subject.labels is None or subject.clusters.size < 2:
        return Absent("There are fewer than two clusters, so no label is in doubt.")
    if not isinstance(model.labels_, np.ndarray):
        return Absent("The samples of the fit are in chunks; probabilities need them in memory.")
    confidence = Confidence() if isinstance(evidence, Absent) else evidence.confidence
    every = np.flatnonzero(subject.labels >= 0)
    rows = every[some_rows(every.size, PROBABILITY_SAMPLES, subject.seed)]
    others, labels = confidence.probabilities(model.label_votes()[rows]), subject.labels[rows]
    own = others[np.arange(rows.size), labels]
    others[np.arange(rows.size), labels] = -1.0
    doubts = tuple(
        Doubt(subject.names[rows[i]], int(labels[i]), float(own[i]), int(others[i].argmax()), float(others[i].max()))
        for i in np.argsort(own, kind="stable")
        if own[i] < UNCERTAIN
    )
    return Probabilities(own, labels, doubts, confidence.table, every.size)
