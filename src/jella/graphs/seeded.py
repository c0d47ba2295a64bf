"""Labels of a graph in which some samples have known classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from jella.graphs.spectral import Graph, diffused_vectors

#: weight of the edges of a sample to others of its class, all together, relative to the median degree
TIES = 1.0
MOST_STEPS = 100


def seeded_labels(
    graph: Graph, n_clusters: int, classes: np.ndarray, n_init: int = 10, random_state: Any = None
) -> np.ndarray:
    """Labels (n,) of a symmetric affinity; a sample with a known class has it as its label.

    Edges between samples of different classes are removed, and samples of one class are tied together. Then k-means
    on the diffused eigenvectors starts from the means of the classes, and known samples stay in their class. Clusters
    without known samples start from rows far from the others, the best of n_init draws.

    Parameters
    ----------
    classes : int array (n,)
        Known classes, from 0 to n_clusters − 1; negative where unknown.
    """
    rows = diffused_vectors(_with_ties(sparse.csr_array(graph), classes), n_clusters)
    rng = np.random.default_rng(random_state if isinstance(random_state, int | np.integer) else 0)
    known = np.unique(classes[classes >= 0])
    draws = 1 if known.size == n_clusters else n_init
    found = [_k_means(rows, _starts(rows, classes, known, n_clusters, rng), classes) for _ in range(draws)]
    return min(found, key=lambda pair: pair[1])[0]


def _with_ties(graph: sparse.csr_array, classes: np.ndarray) -> sparse.csr_array:
    """The graph without edges between classes, and with ties inside them."""
    edges = sparse.coo_array(graph)
    one, other = classes[edges.row], classes[edges.col]
    keep = (one < 0) | (other < 0) | (one == other)
    strength = TIES * float(np.median(np.asarray(graph.sum(axis=1))))
    rows, columns, values = [edges.row[keep]], [edges.col[keep]], [edges.data[keep]]
    for c in np.unique(classes[classes >= 0]):
        members = np.flatnonzero(classes == c)
        if members.size > 1:  # a ring with chords: each member has few ties, however large the class is
            for step in {1, *(int(s) for s in np.geomspace(1, members.size // 2, 5) if s >= 1)}:
                there = np.roll(members, step)
                for a, b in ((members, there), (there, members)):
                    rows.append(a)
                    columns.append(b)
                    values.append(np.full(members.size, strength / 10))
    parts = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array(sparse.coo_array(parts, shape=graph.shape))


def _starts(
    rows: np.ndarray, classes: np.ndarray, known: np.ndarray, n_clusters: int, rng: np.random.Generator
) -> np.ndarray:
    """Centres (k, r): means of the known classes, and rows that are drawn far from the other centres."""
    centres = np.zeros((n_clusters, rows.shape[1]))
    for c in known:
        centres[c] = rows[classes == c].mean(axis=0)
    distance = np.full(len(rows), np.inf)
    for c in known:
        distance = np.minimum(distance, np.sum((rows - centres[c]) ** 2, axis=1))
    for c in np.setdiff1d(np.arange(n_clusters), known):
        total = distance.sum()
        drawn = rng.choice(len(rows), p=distance / total if 0 < total < np.inf else None)
        centres[c] = rows[drawn]
        distance = np.minimum(distance, np.sum((rows - centres[c]) ** 2, axis=1))
    return centres


def _k_means(rows: np.ndarray, centres: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, float]:
    """Labels (n,), with known samples in their class, and the sum of the squared distances to the centres."""
    labels, known = np.full(len(rows), -1), classes >= 0
    for _ in range(MOST_STEPS):
        distance = np.sum(rows**2, axis=1)[:, None] - 2.0 * rows @ centres.T + np.sum(centres**2, axis=1)
        last, labels = labels, np.where(known, classes, distance.argmin(axis=1))
        if np.array_equal(last, labels):
            break
        sums = np.zeros_like(centres)
        np.add.at(sums, labels, rows)
        counts = np.bincount(labels, minlength=len(centres))[:, None]
        centres = np.where(counts > 0, sums / np.maximum(counts, 1), centres)
    return labels, float(distance[np.arange(len(rows)), labels].sum())
