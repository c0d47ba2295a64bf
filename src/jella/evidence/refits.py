"""Refits of a model on parts of its samples, and how well their clusters agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.parallel import Parallel, delayed

from jella.graphs.cluster_path import partitions_of
from jella.graphs.compared import compared_rows
from jella.graphs.neighbours import dense_nearest
from jella.numerics.arrays import to_numpy
from jella.numerics.sparse_arrays import neighbour_graph
from jella.readout.neighbours import NeighbourReadout
from jella.views import AnyViews, Views

#: number of refits, at least and at most, and the share of the samples in each
FEWEST_REFITS, REFITS, SHARE = 4, 8, 0.75
#: share of the samples in the refits that probabilities are about
HALF = 0.5
#: evidence is taken from at most this many samples
MOST_SAMPLES = 4000

#: takes views in the user's units, in the order of the fit; returns the NeighbourReadout of a fit to them, with the
#: scaling and weights of views of the fit, or with its own if `like=None` is passed
RefitModel: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class PartFit:
    """A refit on a part of the samples.

    Attributes
    ----------
    rows : int array (m,)
        The samples, among those of the fit.
    readout : NeighbourReadout
    """

    rows: np.ndarray
    readout: NeighbourReadout

    def partitions(self, numbers: Sequence[int], n_neighbors: int) -> dict[int, np.ndarray]:
        """Labels (m,) for these numbers of clusters, from the graph of the embedding."""
        return groups_in(to_numpy(self.readout.known.own), numbers, n_neighbors)  # type: ignore[union-attr]

    def labels(self, n_clusters: int, n_init: int, seed: Any) -> np.ndarray:
        """Labels (m,) that the refit gives to its samples, as a fit does."""
        return self.readout.find_labels(n_clusters, n_init, seed)


def refit_on_parts(
    samples: Views, refit: RefitModel, seed: int, n_jobs: int | None = None, share: float = SHARE
) -> list[PartFit]:
    """Refits on parts that overlap, each a random share of the samples."""
    rng, n = np.random.default_rng(seed), samples.n_samples
    n_refits = min(max(MOST_SAMPLES // n, FEWEST_REFITS), REFITS)
    parts = [with_every_view(samples, rng.permutation(n)[: int(share * n)]) for _ in range(n_refits)]
    found = in_parallel(refit, [samples.take(rows) for rows in parts], n_jobs)
    return [
        PartFit(rows[readout.known.places], readout)
        for rows, readout in zip(parts, found, strict=True)
        if readout.known is not None
    ]


def drawn_samples(samples: AnyViews, most: int) -> np.ndarray:
    """At most this many samples, drawn at random, in ascending order; of each view there is at least one."""
    n = samples.n_samples
    return np.arange(n) if n <= most else with_every_view(samples, np.random.default_rng(0).permutation(n)[:most])


def with_every_view(samples: AnyViews, rows: np.ndarray) -> np.ndarray:
    """These samples in ascending order, and one that has it for each view that none of them has."""
    has = [samples[v].presence() for v in range(len(samples))]
    added = [np.flatnonzero(one)[:1] for one in has if not one[rows].any()]
    return np.unique(np.concatenate([rows, *added]))


def in_parallel(function: Callable[..., Any], values: Sequence[Any], n_jobs: int | None) -> list[Any]:
    """The results of a function for several values; in threads if n_jobs says so."""
    if n_jobs in (None, 1):
        return [function(value) for value in values]
    return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(function)(value) for value in values))


def groups_in(W: np.ndarray, numbers: Sequence[int], n_neighbors: int) -> dict[int, np.ndarray]:
    """Labels (n,) of the rows of an embedding for these numbers of groups; those above n − 1 are left out."""
    usable = [int(k) for k in numbers if k < len(W)]
    return partitions_of(graph_of(W, n_neighbors), usable).labels if usable else {}


def graph_of(W: np.ndarray, n_neighbors: int) -> Any:
    """The symmetric neighbour graph of the rows of an embedding."""
    directed = neighbour_graph(dense_nearest(compared_rows(W), min(n_neighbors, len(W) - 1)))
    return directed + directed.T


def agreement(found: Sequence[tuple[np.ndarray, dict[int, np.ndarray]]], k: int) -> float:
    """Mean adjusted Rand index of pairs of partitions into k groups, over the samples that both have; NaN if none."""
    scores = []
    for (rows, labels), (others, theirs) in combinations(found, 2):
        if k in labels and k in theirs:
            _, here, there = np.intersect1d(rows, others, return_indices=True)
            scores.append(adjusted_rand_score(labels[k][here], theirs[k][there]))
    return float(np.mean(scores)) if scores else float("nan")


def matched_labels(found: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """The labels that were found, renumbered to agree with given labels as often as possible.

    >>> matched_labels(np.array([1, 1, 0]), np.array([0, 0, 1]), 2).tolist()
    [0, 0, 1]
    """
    return matched_numbers(found, labels, n_clusters)[found]


def matched_numbers(found: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """The number (k,) that each cluster that was found has among given labels, matched by how often both agree."""
    counts = np.zeros((n_clusters, n_clusters))
    np.add.at(counts, (found, labels), 1.0)
    theirs, ours = linear_sum_assignment(-counts)
    return np.asarray(ours[np.argsort(theirs)])
