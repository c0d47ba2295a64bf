"""The evidence for the clusters of a fit: refits on parts of its samples, against clouds and data without groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from jella.evidence.confidence import Confidence
from jella.evidence.permuted import permuted
from jella.evidence.refits import (
    HALF,
    MOST_SAMPLES,
    SHARE,
    RefitModel,
    agreement,
    drawn_samples,
    graph_of,
    groups_in,
    in_parallel,
    matched_labels,
    refit_on_parts,
)
from jella.graphs.cluster_path import (
    APART,
    STEADY,
    ClusterPath,
    choose_n_clusters,
    nearly_best,
    number_ladder,
    partitions_of,
)
from jella.graphs.gaps import surely_joining
from jella.graphs.spectral import modularity
from jella.graphs.surrogates import clouds_like
from jella.graphs.valleys import dimension_of, least_valley, valley
from jella.numerics.arrays import to_numpy
from jella.numerics.progress import doing
from jella.readout.neighbours import NeighbourReadout
from jella.views import Views

#: clouds without groups, at most and at least, and fits to permuted data
CLOUDS, FEWEST_CLOUDS, PERMUTED = 20, 6, 2
#: as many clouds as have this many samples together
CLOUD_SAMPLES = 12_000
#: of few samples, one neighbour per this many; more would join most of them
SAMPLES_PER_NEIGHBOUR = 8
#: fewer samples say nothing about clusters
FEWEST_SAMPLES = 20


@dataclass(frozen=True, eq=False)
class ClusterEvidence:
    """What speaks for the clusters of a fit.

    Attributes
    ----------
    path : ClusterPath
        Evidence for numbers of clusters; only for the given one where a number was given.
    confidence : Confidence
        How votes of neighbours become probabilities.
    n_samples : int
        Samples that the evidence was taken from.
    seconds : float
    """

    path: ClusterPath
    confidence: Confidence
    n_samples: int
    seconds: float

    def words(self, n: int) -> str:
        """What it says about the clusters of n samples, and from how many of them it was taken, if not from all."""
        part = "" if self.n_samples >= n else f" (from {self.n_samples:,} of {n:,} samples, drawn at random)"
        return f"{self.path.words()}{part}"


@dataclass(frozen=True, eq=False)
class Gathered:
    """A path with evidence, the readout that it is about, and what it takes to refit the model to halves."""

    path: ClusterPath
    readout: NeighbourReadout
    samples: Views
    refit: RefitModel
    n_jobs: int | None
    rows: np.ndarray
    seconds: float


def look_for_evidence(
    readout: NeighbourReadout,
    refit: RefitModel,
    n_clusters: int | None,
    seed: int,
    n_jobs: int | None = None,
    n_given: int | None = None,
    most_samples: int | None = None,
) -> Gathered | None:
    """Evidence for numbers of clusters, or for the given one; None for too few samples.

    Parameters
    ----------
    readout : NeighbourReadout
        Of a fit to samples in memory.
    refit : callable
        Fits the same model to other samples.
    n_given : int, optional
        Number of samples that the user gave, for partitions in their order; by default those of the fit.
    most_samples : int, optional
        Samples that the evidence is taken from, at most; by default 4000.
    """
    if readout.known is None or len(readout.known.places) < FEWEST_SAMPLES:
        return None
    with threadpool_limits(limits=1):  # many small problems: more threads would only wait for each other
        return _gather(readout, refit, n_clusters, seed, n_jobs, n_given, most_samples or MOST_SAMPLES)


def _gather(
    readout: NeighbourReadout,
    refit: RefitModel,
    n_clusters: int | None,
    seed: int,
    n_jobs: int | None,
    n_given: int | None,
    most_samples: int,
) -> Gathered:
    assert readout.known is not None
    begin, rows = perf_counter(), drawn_samples(readout.samples, most_samples)
    W = np.asarray(to_numpy(readout.known.own)[rows], dtype=np.float64)
    some = readout.samples.fetch(rows)
    assert isinstance(some, Views)
    samples = readout.scaling.undo(some, rows)
    q = min(readout.n_neighbors, max(len(rows) // SAMPLES_PER_NEIGHBOUR, 3))
    graph = graph_of(W, q)
    path = choose_n_clusters(graph) if n_clusters is None else _only(graph, n_clusters)
    numbers = _compared(path)
    doing("refitting on parts of the samples, for evidence of clusters")
    parts = refit_on_parts(samples, refit, seed, n_jobs)
    stability = _stability([(part.rows, part.partitions(numbers, q)) for part in parts], numbers)
    doing("comparing the clusters with those of data without groups")
    rng = np.random.default_rng(seed)
    n_clouds = min(max(CLOUD_SAMPLES // len(W), FEWEST_CLOUDS), CLOUDS)
    clouds = clouds_like(W, n_clouds, rng)
    null = np.array([_modularities(cloud, numbers, q) for cloud in clouds])
    dealt = in_parallel(refit, [permuted(samples, rng) for _ in range(PERMUTED)], n_jobs)
    mixed = np.array([_modularities(to_numpy(one.known.own), numbers, q) for one in dealt if one.known is not None])
    found = [_cloud_parts(cloud, numbers, q, rng) for cloud in clouds[:FEWEST_CLOUDS]]
    expected = np.fmax(null.mean(axis=0), mixed.mean(axis=0))
    of_clouds = np.array([_stability(each, numbers) for each in found]).mean(axis=0)
    path = _with_evidence(path, numbers, expected, null.std(axis=0), stability, of_clouds)
    own = partitions_of(graph, [k for k in numbers if k < len(W)] or [1]).labels
    path = _with_valleys(path, own, W, clouds[:FEWEST_CLOUDS], q, rng)
    path = replace(path, n_clusters=n_clusters or (path.best if path.is_clear else 1))
    places = readout.known.places
    partitions = [own[int(k)] for k in path.supported if int(k) in own]
    if partitions:
        kept = np.full((len(partitions), places.size if n_given is None else n_given), -1)
        kept[:, places[rows]] = partitions
        path = replace(path, partitions=kept)
    return Gathered(path, readout, samples, refit, n_jobs, rows, perf_counter() - begin)


def conclude(found: Gathered, labels: np.ndarray, n_init: int, seed: int) -> ClusterEvidence:
    """The evidence with the probabilities of the labels (n,) of the fit: how often refits to halves agree with them.

    These refits choose scaling and weights of views anew, as a user would who has half of the samples.
    """
    begin, k = perf_counter(), int(labels.max()) + 1
    votes, theirs, ours, halves = [], [], [], []
    if k > 1:
        with threadpool_limits(limits=1):
            halves = refit_on_parts(found.samples, partial(found.refit, like=None), seed, found.n_jobs, HALF)
    for part in halves:
        if k >= part.rows.size:
            continue
        rows = found.rows[part.rows]
        votes.append(found.readout.votes(labels, k, rows))
        ours.append(labels[rows])
        theirs.append(matched_labels(part.labels(k, n_init, seed), labels[rows], k))
    confidence = Confidence.learn(votes, theirs, ours) if votes else Confidence()
    return ClusterEvidence(found.path, confidence, found.rows.size, found.seconds + perf_counter() - begin)


def _only(graph: Any, n_clusters: int) -> ClusterPath:
    """The path that has the given number only."""
    k = min(n_clusters, graph.shape[0] - 1)
    clear = np.array([modularity(graph, partitions_of(graph, [k]).labels[k])])
    unknown = np.full(1, np.nan)
    return ClusterPath(
        n_clusters, n_clusters, np.array([n_clusters]), clear, unknown, unknown, unknown, unknown, unknown
    )


def _compared(path: ClusterPath) -> list[int]:
    """The numbers that evidence is looked for: the ladder up to the largest with nearly the best modularity."""
    ladder = number_ladder(int(path.numbers.max())) if path.numbers.size > 1 else path.numbers
    nearly = path.numbers[path.modularity >= nearly_best(path.modularity)]
    return [int(k) for k in ladder if k <= nearly.max()] or [path.best]


def _modularities(W: np.ndarray, numbers: list[int], q: int) -> list[float]:
    graph, found = graph_of(W, q), groups_in(W, numbers, q)
    return [modularity(graph, found[k]) if k in found else float("nan") for k in numbers]


def _stability(found: list[tuple[np.ndarray, dict[int, np.ndarray]]], numbers: list[int]) -> np.ndarray:
    return np.array([agreement(found, k) for k in numbers])


def _cloud_parts(
    cloud: np.ndarray, numbers: list[int], q: int, rng: np.random.Generator
) -> list[tuple[np.ndarray, dict[int, np.ndarray]]]:
    """Groups of two parts of a cloud; nothing is fitted again, so they agree rather too often."""
    n = len(cloud)
    parts = [np.sort(rng.permutation(n)[: int(SHARE * n)]) for _ in range(2)]
    return [(rows, groups_in(cloud[rows], numbers, q)) for rows in parts]


def _with_evidence(
    path: ClusterPath,
    numbers: list[int],
    expected: np.ndarray,
    spread: np.ndarray,
    stability: np.ndarray,
    of_clouds: np.ndarray,
) -> ClusterPath:
    """The path with the figures of these numbers; of those in question, the most stable is the best."""
    at = np.searchsorted(path.numbers, numbers)

    def placed(values: np.ndarray) -> np.ndarray:
        full = np.full(path.numbers.size, np.nan)
        full[at] = values
        return full

    path = replace(
        path,
        expected=placed(expected),
        spread=placed(spread),
        stability=placed(stability),
        expected_stability=placed(of_clouds),
    )
    steady = np.where(path.in_question, np.nan_to_num(path.stability, nan=-np.inf), -np.inf)
    return replace(path, best=int(path.numbers[steady.argmax()])) if np.isfinite(steady).any() else path


def _with_valleys(
    path: ClusterPath,
    own: dict[int, np.ndarray],
    W: np.ndarray,
    clouds: list[np.ndarray],
    q: int,
    rng: np.random.Generator,
) -> ClusterPath:
    """The path with valleys: how rare samples are between clusters of the best number and of the least in question.

    If clusters are not clear with these, the largest number is looked for that is stable and has valleys all around.
    """
    least = path.numbers[path.in_question][:1]
    valleys, apart = np.full((2, path.numbers.size), np.nan)
    for k in {path.best, *least.tolist()} & set(own):
        valleys[path.numbers == k] = valley(W, own[k], rng)
    path = replace(path, valley=valleys, dimension=dimension_of(W))
    if path.is_clear and path.best > path.dimension and path.best in own:
        cut = [(cloud, groups_in(cloud, [path.best], q)[path.best]) for cloud in clouds]
        path = replace(path, cloud_valley=float(np.median([valley(cloud, labels, rng) for cloud, labels in cut])))
    if path.is_clear:
        return path
    best, around = path.best, graph_of(W, surely_joining(len(W)))
    for k in path.numbers[path.stability >= STEADY].tolist()[::-1]:
        apart[path.numbers == k] = least_valley(W, own[k], around, rng)
        if apart[path.numbers == k] >= APART:
            best = k
            break
    return replace(path, best=best, apart=apart)
