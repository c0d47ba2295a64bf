"""How stable the clusters are: they are computed again from parts of the samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from jella.describe.affinity import symmetric_affinity
from jella.describe.subject import Absent, Subject
from jella.evidence.gather import ClusterEvidence
from jella.evidence.refits import MOST_SAMPLES
from jella.evidence.refits import SHARE as REFIT_SHARE
from jella.graphs.spectral import spectral_labels
from jella.metrics import adjusted_rand
from jella.numerics.arrays import to_numpy
from jella.numerics.kmeans import kmeans
from jella.numerics.words import counted
from jella.report.refit import refit
from jella.report.sampling import drawn_words, some_rows

N_RESTARTS = 10
#: share of the samples in each restart
SHARE = 0.8
#: with more samples, parts of this many of them are labelled again
MOST_RELABELLED = 10_000
#: methods that find labels within the fit need one whole fit per restart
MOST_REFITTED = 2000

#: rows among the kept samples, seed -> labels of these rows
Relabel: TypeAlias = Callable[[np.ndarray, int], np.ndarray]


@dataclass(frozen=True, eq=False)
class Stability:
    """The agreement of runs on parts of the samples.

    Attributes
    ----------
    what : str
        What was repeated, in words.
    between : float
        Mean adjusted Rand index of pairs of runs, over the samples that both have.
    compared : str
        What else `between` is to be compared with, in words.
    by_cluster : array (k,)
        How well each cluster is found again, from 0 to 1; NaN if no run had samples of it.
    measure, axis : str
        What `by_cluster` is, in a sentence and in a few words.
    drawn : str
        That it comes from some samples only, in a sentence; empty if from all.
    """

    what: str
    between: float
    compared: str
    by_cluster: np.ndarray
    measure: str
    axis: str
    drawn: str = ""


def find_stability(subject: Subject, evidence: ClusterEvidence | Absent) -> Stability | Absent:
    """The refits of a model that has evidence; otherwise label parts of the samples again, and compare."""
    if subject.labels is None or subject.clusters.size < 2:
        return Absent("There are fewer than two clusters, so there is nothing to find again.")
    if not hasattr(subject.model, "gather_evidence"):
        return _relabelled(subject)
    return evidence if isinstance(evidence, Absent) else _of_refits(subject, evidence)


def _of_refits(subject: Subject, evidence: ClusterEvidence) -> Stability | Absent:
    path, confidence = evidence.path, evidence.confidence
    at = np.flatnonzero(path.numbers == subject.model.n_clusters_)
    if not at.size or not np.isfinite(path.stability[at[0]]) or not confidence.n_refits:
        return Absent("There are too few samples to find the clusters again.")
    m, n = evidence.n_samples, int(subject.kept.sum())
    of = f"of {m:,} samples, drawn at random," if m < n else "of the samples"
    more = (
        " From more samples, clusters are found again more surely: call gather_evidence() before the report, which "
        f"takes up to {MOST_SAMPLES:,}."
    )
    is_part = m < min(n, MOST_SAMPLES)
    return Stability(
        what=f"The whole model was fitted {confidence.n_refits} times again, each time on a random {REFIT_SHARE:.0%} "
        f"{of} and its clusters were found anew.{more if is_part else ''}",
        between=float(path.stability[at[0]]),
        compared=f"without groups, {path.expected_stability[at[0]]:.2f} is expected",
        by_cluster=confidence.by_cluster[subject.clusters],
        measure="How often a sample of the cluster is in the same cluster again, in "
        f"{counted(confidence.n_refits, 'other refit')}, to halves of the samples",
        axis="refits that agree",
        drawn=f" This is about {m:,} of the {n:,} samples, drawn at random." if is_part else "",
    )


def _relabelled(subject: Subject) -> Stability | Absent:
    """Label parts of the samples again, as far as the method allows it, and compare."""
    rows = some_rows(int(subject.kept.sum()), MOST_RELABELLED, subject.seed)
    relabel, what = _relabelling(subject)
    if relabel is None or SHARE * rows.size <= max(subject.clusters.size, 2):
        return Absent(what if relabel is None else "There are too few samples to find the clusters again.")
    assert subject.labels is not None
    labels, rng = subject.labels[subject.kept], np.random.default_rng(subject.seed)
    parts = [np.sort(rng.choice(rows, int(SHARE * rows.size), replace=False)) for _ in range(N_RESTARTS)]
    try:
        with warnings.catch_warnings():
            # k-means on a part may have fewer distinct samples than clusters; the figures show this
            warnings.simplefilter("ignore", ConvergenceWarning)
            runs = [(rows, relabel(rows, subject.seed + number)) for number, rows in enumerate(parts, 1)]
    except ValueError as error:
        return Absent(f"The clusters could not be found again from a part of the samples: {error}.")
    ours = np.array([adjusted_rand(labels[rows], found) for rows, found in runs])
    return Stability(
        what=f"{what}{drawn_words(rows.size, int(subject.kept.sum()))}",
        between=float(np.mean([_agreement(*pair) for pair in combinations(runs, 2)])),
        compared=f"of a run with the clusters shown: {ours.mean():.2f}, from {ours.min():.2f} to {ours.max():.2f}",
        by_cluster=np.mean([overlaps(labels[rows], found, subject.clusters) for rows, found in runs], axis=0),
        measure=f"Largest overlap (Jaccard) with a cluster of a new run, mean of {N_RESTARTS} runs",
        axis="overlap when found again",
    )


def overlaps(labels: np.ndarray, found: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Largest Jaccard overlap of each cluster with one of those found, (k,).

    >>> overlaps(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 7]), np.array([0, 1])).round(2).tolist()
    [0.67, 0.5]
    """
    ours, theirs = labels[:, None] == clusters, found[:, None] == np.unique(found)  # (m, k) and (m, l)
    both = ours.T.astype(np.float64) @ theirs
    either = ours.sum(axis=0)[:, None] + theirs.sum(axis=0) - both
    return np.asarray((both / either).max(axis=1))


def _agreement(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> float:
    _, mine, theirs = np.intersect1d(one[0], other[0], return_indices=True)
    return adjusted_rand(one[1][mine], other[1][theirs])


def _relabelling(subject: Subject) -> tuple[Relabel | None, str]:
    """The function that labels some of the samples again, and a text that says what it repeats."""
    model, k = subject.model, subject.clusters.size
    part = f"{N_RESTARTS} times, each on a random {SHARE:.0%} of the samples and with another seed"
    if hasattr(model, "kmeans_"):
        assert subject.embedding is not None
        W = model.readout_.clusters.compared(subject.embedding[subject.kept])
        return (
            lambda rows, seed: np.asarray(kmeans(W[rows], k, model.n_init, seed).labels_),
            f"k-means on the embedding was repeated {part}; the embedding itself was not fitted again.",
        )
    graph = symmetric_affinity(subject)
    if graph is not None:
        return (
            lambda rows, seed: spectral_labels(graph[rows][:, rows], k, model.n_init, seed),
            f"Spectral clustering of the affinity was repeated {part}; the affinity itself was not learned again.",
        )
    if subject.kept.sum() > MOST_REFITTED:
        return (
            None,
            f"{subject.method} would have to be fitted again, which is left out beyond {MOST_REFITTED:,} samples.",
        )
    return lambda rows, seed: _refitted(subject, rows, seed), f"The whole model was fitted {part}."


def _refitted(subject: Subject, rows: np.ndarray, seed: int) -> np.ndarray:
    views = subject.used().take(rows)
    masks = {view.name: np.broadcast_to(view.mask, (rows.size, view.mask.shape[1])) for view in views}
    values = {view.name: view.X for view in views}
    model = refit(subject.model, values, observed=masks, random_state=seed)
    return to_numpy(model.labels_)
