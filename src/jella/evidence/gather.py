"""The evidence for the clusters of a fit: refits on parts of its samples, against clouds and data without groups."""

from __future__ import annotations

from collections.abc import Sequence
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
    W, shown = (one[rows] for one in _embeddings(readout))
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
    dealt = in_parallel(refit, [permuted(samples, rng) for _ in range(PERMUTED)], n_jobs)
    mixed = [_embeddings(one) for one in dealt if one.known is not None]
    own = partitions_of(graph, [k for k in numbers if k < len(W)] or [1]).labels
    path = replace(path, stability=_placed(path, numbers, stability))
    against = partial(_against_clouds, path, numbers, own, W, shown, mixed, q, rng)
    path = against(None)
    coarse = _largest_apart(path, own, shown, rng)
    if coarse is not None and path.is_clear and coarse.best < path.best:
        path = against(own[coarse.best])  # are there more groups than these?
    if coarse is not None and (coarse.best == path.best or not path.is_clear):
        path = coarse
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


def _embeddings(readout: NeighbourReadout) -> tuple[np.ndarray, np.ndarray]:
    """The embedding that the model computes with, and the one that users see."""
    assert readout.known is not None
    own, shown = (np.asarray(to_numpy(W), dtype=np.float64) for W in (readout.known.own, readout.known.shown))
    return own, shown


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


def _placed(path: ClusterPath, numbers: list[int], values: np.ndarray) -> np.ndarray:
    """Values of some numbers at their places among all of them."""
    full = np.full(path.numbers.size, np.nan)
    full[np.searchsorted(path.numbers, numbers)] = values
    return full


def _against_clouds(
    path: ClusterPath,
    numbers: list[int],
    own: dict[int, np.ndarray],
    W: np.ndarray,
    shown: np.ndarray,
    mixed: list[tuple[np.ndarray, np.ndarray]],
    q: int,
    rng: np.random.Generator,
    labels: np.ndarray | None,
) -> ClusterPath:
    """The path compared with clouds: one of all samples, or one for each of some groups.

    The most stable of the numbers in question is the best. Valleys are of this number.

    Parameters
    ----------
    shown : array (n, r)
        The embedding that users see. Valleys are looked for there: the model's own shows which views samples lack, and
        draws neighbours together, so that a dense curve may fall into lumps.
    mixed : list of pairs of arrays (m, r)
        Both embeddings of permuted data.
    """
    clouds = clouds_like(W, min(max(CLOUD_SAMPLES // len(W), FEWEST_CLOUDS), CLOUDS), rng, labels)
    null, dealt = (
        np.array([_modularities(each, numbers, q) for each in some]) for some in (clouds, [one for one, _ in mixed])
    )
    found = [_cloud_parts(cloud, numbers, q, rng) for cloud in clouds[:FEWEST_CLOUDS]]
    path = replace(
        path,
        expected=_placed(path, numbers, np.fmax(null.mean(axis=0), dealt.mean(axis=0))),
        spread=_placed(path, numbers, null.std(axis=0)),
        expected_stability=_placed(path, numbers, np.array([_stability(each, numbers) for each in found]).mean(axis=0)),
    )
    steady = np.where(path.in_question, np.nan_to_num(path.stability, nan=-np.inf), -np.inf)
    best = int(path.numbers[steady.argmax()]) if np.isfinite(steady).any() else path.best
    path = replace(path, best=best, dimension=dimension_of(W))
    if best not in own:
        return path
    path = replace(
        path,
        valley=np.where(path.numbers == best, valley(shown, own[best], rng, labels), np.nan),
        dealt_valley=min(_valleys(mixed, best, q, rng, None)),
    )
    if not path.is_clear or best <= path.dimension:
        return path
    return replace(
        path,
        cloud_valley=float(np.median(_valleys([(one, one) for one in clouds[:FEWEST_CLOUDS]], best, q, rng, labels))),
    )


def _valleys(
    found: Sequence[tuple[np.ndarray, np.ndarray]], k: int, q: int, rng: np.random.Generator, within: np.ndarray | None
) -> list[float]:
    """The valleys of some pairs of embeddings: the first is cut into k groups, the second has their valley."""
    return [valley(shown, groups_in(W, [k], q)[k], rng, within) for W, shown in found]


def _largest_apart(
    path: ClusterPath, own: dict[int, np.ndarray], shown: np.ndarray, rng: np.random.Generator
) -> ClusterPath | None:
    """The path with the largest number that is stable and has valleys all around as its best; None if there is none."""
    apart, around = np.full(path.numbers.size, np.nan), graph_of(shown, surely_joining(len(shown)))
    for k in path.numbers[path.stability >= STEADY].tolist()[::-1]:
        apart[path.numbers == k] = least_valley(shown, own[k], around, rng)
        if apart[path.numbers == k] >= APART:
            return replace(path, best=k, apart=apart)
    return None
