"""One row per cluster: its size, how sure its labels are, what its samples lack, and its features."""

from __future__ import annotations

import numpy as np

from jella.describe.markers import Markers, find_markers
from jella.describe.subject import Absent, Subject
from jella.evidence.confidence import UNCERTAIN, label_columns
from jella.evidence.gather import ClusterEvidence
from jella.numerics.arrays import to_numpy
from jella.numerics.words import signed

#: features named for a cluster
N_FEATURES = 3


def cluster_columns(
    subject: Subject, probabilities: np.ndarray | None = None, evidence: ClusterEvidence | None = None
) -> dict[str, np.ndarray]:
    """Columns of a table of clusters, and of the samples that have none, if there are some, as cluster -1."""
    labels = np.zeros(len(subject.names), dtype=np.intp) if subject.labels is None else subject.labels
    clusters = np.unique(labels)
    members = [labels == cluster for cluster in clusters]
    sizes = np.array([rows.sum() for rows in members])
    columns = {"cluster": clusters, "size": sizes, "share": sizes / labels.size}
    if probabilities is not None:
        sure = label_columns(labels, probabilities)["probability"]
        columns["mean_probability"] = np.array([sure[rows].mean() for rows in members])
        columns["n_uncertain"] = np.array([int(np.sum(sure[rows] < UNCERTAIN)) for rows in members])
    if evidence is not None and evidence.confidence.by_cluster.size:
        found = np.append(evidence.confidence.by_cluster, np.nan)  # the last one is for the label -1
        columns["found_again"] = found[clusters]
    for view in subject.views:
        there = view.presence()
        columns[f"lacks_{view.name}"] = np.array([1.0 - there[rows].mean() for rows in members])
    for view in subject.views:
        gaps = 1.0 - to_numpy(view.count_by_sample()) / view.n_features
        columns[f"missing_{view.name}"] = np.array([gaps[rows].mean() for rows in members])
    return columns | {"features": _features(subject, clusters)}


def _features(subject: Subject, clusters: np.ndarray) -> np.ndarray:
    """The features that differ most, of all views, in words; empty where nothing can be compared."""
    found = find_markers(subject)
    words = dict.fromkeys(clusters.tolist(), "")
    if not isinstance(found, Absent):
        words |= {cluster: strongest_words(found, i) for i, cluster in enumerate(found.clusters)}
    return np.array([words[cluster] for cluster in clusters.tolist()], dtype=object)


def strongest_words(found: Markers, i: int) -> str:
    """The features of the i-th cluster that differ most, of all views, in words."""
    every = [(name, one) for name, markers in zip(found.views, found.found[i], strict=True) for one in markers]
    first = sorted(every, key=lambda pair: -abs(pair[1].difference))[:N_FEATURES]
    return ", ".join(f"{one.feature} of {name} {signed(one.difference, '.1f')}" for name, one in first)
