"""Groups of a graph whose neighbourhoods are small beside a group: merged from many small pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from jella.graphs.gaps import leaving, members_of
from jella.graphs.spectral import SPARE, Graph, faded_rows, leading_eigenvectors, modularity
from jella.numerics.arrays import Array, row_blocks
from jella.numerics.kmeans import kmeans, one_thread, unit_rows

#: pieces per group; groups are merged where a piece has room for a neighbourhood
PIECES = 10
#: how much the edges count that two groups would have by chance, where pieces are merged
RESOLUTION = 0.5
#: more pieces than this take too long to merge
MOST_PIECES = 1000
#: how often pieces are drawn, and the samples that k-means sees, per piece
DRAWS, SEEN = 10, 50
#: how often all samples may change their group, at most
MOST_SWEEPS = 50


def graph_labels(
    graph: Graph, n_clusters: int, n_init: int = 10, random_state: Any = None, place: Array | None = None
) -> np.ndarray:
    """Labels (n,) of a symmetric affinity: k-means on its diffused eigenvectors, or merged pieces if these are better.

    Where neighbourhoods are small beside a group, a thin slice at the end of a long group is cut off with few edges.
    Then k-means takes several slices for groups, and leaves other groups together. So k-means also cuts the graph into
    many small pieces, in the same eigenvectors. They are merged by modularity, which counts how much a cut divides,
    too. Modularity alone would divide a large group rather than tell two small ones apart. So it has half its usual
    resolution, and the merged groups count only if they are better in both ways: no more edges leave a group, on
    average, and modularity is higher.

    Parameters
    ----------
    place : array, optional
        As in `jella.graphs.spectral.leading_eigenvectors`.
    """
    n = graph.shape[0]
    values, vectors = leading_eigenvectors(graph, min(n_clusters + SPARE, n), place)
    labels = np.asarray(kmeans(faded_rows(values, vectors, n_clusters), n_clusters, n_init, random_state).labels_)
    n_pieces, edges = PIECES * n_clusters, sparse.csr_array(graph)
    if n_clusters == 1 or n_pieces > MOST_PIECES or n_pieces * (edges.nnz // 2) > n * n:
        return labels
    found = grouped_pieces(edges, unit_rows(vectors), n_clusters)
    fewer = leaving(graph, found).mean() <= leaving(graph, labels).mean()
    return found if fewer and modularity(graph, found) > modularity(graph, labels) else labels


def grouped_pieces(graph: sparse.csr_array, rows: np.ndarray, n_clusters: int) -> np.ndarray:
    """Labels (n,) of pieces of k-means on rows (n, m), merged; of several draws, those with the highest modularity.

    In the end samples join the group with which modularity is highest, every other sample in turn, as long as it rises.
    Modularity is of half its usual resolution throughout.
    """
    rng = np.random.default_rng(0)
    drawn = [merged(graph, _pieces(rows, PIECES * n_clusters, rng), n_clusters) for _ in range(DRAWS)]
    labels = best = max(drawn, key=lambda one: modularity(graph, one, RESOLUTION))
    degree, highest, places = np.asarray(graph.sum(axis=1)).ravel(), -np.inf, np.arange(labels.size)
    for sweep in range(MOST_SWEEPS):
        members = members_of(labels)
        share = RESOLUTION * (members.T @ degree) / degree.sum()
        total, wanted = 0.0, np.empty_like(labels)
        for block in row_blocks(labels.size, 8 * n_clusters):
            gain = (graph[block] @ members).toarray() - degree[block, None] * share
            total += float(gain[np.arange(len(gain)), labels[block]].sum())
            wanted[block] = gain.argmax(axis=1)
        if total < highest or np.unique(labels).size < n_clusters:
            break
        highest, best = total, labels
        labels = np.where(places % 2 == sweep % 2, wanted, labels)
        if np.array_equal(best, wanted):
            break
    return best


def merged(graph: sparse.csr_array, pieces: np.ndarray, n_clusters: int) -> np.ndarray:
    """Labels (n,) of pieces after those are merged, two by two, that leave modularity highest, at half its resolution.

    >>> chain = sparse.csr_array(np.diag([9.0, 1, 9, 1, 9], 1) + np.diag([9.0, 1, 9, 1, 9], -1))
    >>> merged(chain, np.arange(6), 3).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    members = members_of(pieces)
    between = (members.T @ sparse.csr_array(graph @ members)).toarray()
    between /= between.sum()
    name, degree = np.arange(len(between)), between.sum(axis=1)
    gain = between - RESOLUTION * degree[:, None] * degree
    np.fill_diagonal(gain, -np.inf)
    for _ in range(len(between) - n_clusters):
        first, second = np.sort(np.unravel_index(gain.argmax(), gain.shape))
        name[name == second] = first
        gain[first] += gain[second]
        gain[:, first] = gain[first]
        gain[first, first] = gain[second] = gain[:, second] = -np.inf
    return np.unique(name, return_inverse=True)[1][pieces]


def _pieces(rows: np.ndarray, n_pieces: int, rng: np.random.Generator) -> np.ndarray:
    """Labels (n,) of about this many pieces: k-means of some rows, and the nearest centres of all."""
    some = rows[rng.choice(len(rows), min(SEEN * n_pieces, len(rows)), replace=False)]
    with one_thread():
        found = KMeans(n_pieces, n_init=1, random_state=int(rng.integers(2**31))).fit(some).predict(rows)
    return np.unique(found, return_inverse=True)[1]
