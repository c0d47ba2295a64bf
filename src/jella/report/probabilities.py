"""How sure the labels are: the probability of each sample's own cluster, and the samples that are least sure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jella.describe.subject import Absent, Subject
from jella.evidence.gather import ClusterEvidence

#: a label is uncertain if its probability is below this
UNCERTAIN = 0.6


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
        Of the label of each sample that has one.
    doubts : tuple of Doubt
        The uncertain samples, the least sure first.
    table : array (c, 3)
        As in `Confidence`; without rows if refits did not check the probabilities.
    """

    own: np.ndarray
    doubts: tuple[Doubt, ...]
    table: np.ndarray


def find_probabilities(subject: Subject, evidence: ClusterEvidence | Absent) -> Probabilities | Absent:
    """The probabilities of the labels of a model that has them."""
    model = subject.model
    if not hasattr(model, "predict_proba"):
        return Absent(f"{subject.method} gives labels without probabilities.")
    if subject.labels is None or subject.clusters.size < 2:
        return Absent("There are fewer than two clusters, so no label is in doubt.")
    every, rows = np.asarray(model.label_probabilities_), np.flatnonzero(subject.labels >= 0)
    labels = subject.labels[rows]
    own = every[rows, labels]
    others = every[rows]
    others[np.arange(rows.size), labels] = -1.0
    doubts = tuple(
        Doubt(subject.names[rows[i]], int(labels[i]), float(own[i]), int(others[i].argmax()), float(others[i].max()))
        for i in np.argsort(own, kind="stable")
        if own[i] < UNCERTAIN
    )
    table = np.empty((0, 3)) if isinstance(evidence, Absent) else evidence.confidence.table
    return Probabilities(own, doubts, table)
