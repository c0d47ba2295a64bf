"""Groups of a graph whose neighbourhoods are small beside a group: merged from many small pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from jella.graphs.gaps import between, leaving, members_of, members_there
from jella.graphs.spectral import SPARE, Graph, faded_rows, leading_eigenvectors
from jella.numerics.arrays import Array, namespace, row_blocks, take_rows, to_numpy
from jella.numerics.kmeans import kmeans_labels, nearest_centres, one_thread, unit_rows
from jella.numerics.sparse_arrays import csr_parts, sparse_elsewhere, sparse_times

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


def graph_labels(graph: Graph, n_clusters: int, n_init: int = 10, random_state: Any = None) -> np.ndarray:
    """Labels (n,) of a symmetric affinity: k-means on its diffused eigenvectors, or merged pieces if these are better.

    Where neighbourhoods are small beside a group, a thin slice at the end of a long group is cut off with few edges.
    Then k-means takes several slices for groups, and leaves other groups together. So k-means also cuts the graph into
    many small pieces, in the same eigenvectors. They are merged by modularity, which counts how much a cut divides,
    too. Modularity alone would divide a large group rather than tell two small ones apart. So it has half its usual
    resolution, and the merged groups count only if they are better in both ways: no more edges leave a group, on
    average, and modularity is higher.
    """
    n = graph.shape[0]
    values, vectors = leading_eigenvectors(graph, min(n_clusters + SPARE, n))
    labels = kmeans_labels(faded_rows(values, vectors, n_clusters), n_clusters, n_init, random_state)
    edges = graph if sparse_elsewhere(graph) else sparse.csr_array(graph)
    n_pieces, n_edges = PIECES * n_clusters, csr_parts(edges)[0].shape[0] // 2
    if n_clusters == 1 or n_pieces > MOST_PIECES or n_pieces * n_edges > n * n:
        return labels
    found = grouped_pieces(edges, unit_rows(vectors), n_clusters)
    fewer = leaving(edges, found).mean() <= leaving(edges, labels).mean()
    return found if fewer and _modularity(edges, found) > _modularity(edges, labels) else labels


def grouped_pieces(graph: Graph, rows: Array, n_clusters: int) -> np.ndarray:
    """Labels (n,) of pieces of k-means on rows (n, m), merged; of several draws, those with the highest modularity.

    In the end samples join the group with which modularity is highest, every other sample in turn, as long as it rises.
    Modularity is of half its usual resolution throughout.

    Parameters
    ----------
    graph : sparse array (n, n)
        Symmetric, of any library, as the rows.
    """
    rng = np.random.default_rng(0)
    drawn = [merged_pieces(graph, _pieces(rows, PIECES * n_clusters, rng), n_clusters) for _ in range(DRAWS)]
    labels = best = max(drawn, key=lambda one: _modularity(graph, one, RESOLUTION))
    highest, places = -np.inf, np.arange(labels.size)
    for sweep in range(MOST_SWEEPS):
        total, wanted = _wanted(graph, labels)
        if total < highest or np.unique(labels).size < n_clusters:
            break
        highest, best = total, labels
        labels = np.where(places % 2 == sweep % 2, wanted, labels)
        if np.array_equal(best, wanted):
            break
    return best


def merged_pieces(graph: Graph, pieces: np.ndarray, n_clusters: int) -> np.ndarray:
    """Labels (n,) of pieces after those are merged, two by two, that leave modularity highest, at half its resolution.

    >>> chain = sparse.csr_array(np.diag([9.0, 1, 9, 1, 9], 1) + np.diag([9.0, 1, 9, 1, 9], -1))
    >>> merged_pieces(chain, np.arange(6), 3).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    shares = between(graph, pieces)
    shares /= shares.sum()
    name, degree = np.arange(len(shares)), shares.sum(axis=1)
    gain = shares - RESOLUTION * degree[:, None] * degree
    np.fill_diagonal(gain, -np.inf)
    for _ in range(len(shares) - n_clusters):
        first, second = np.sort(np.unravel_index(gain.argmax(), gain.shape))
        name[name == second] = first
        gain[first] += gain[second]
        gain[:, first] = gain[first]
        gain[first, first] = gain[second] = gain[:, second] = -np.inf
    return np.unique(name, return_inverse=True)[1][pieces]


def _pieces(rows: Array, n_pieces: int, rng: np.random.Generator) -> np.ndarray:
    """Labels (n,) of about this many pieces: k-means of some rows, and the nearest centres of all."""
    n = rows.shape[0]
    some = to_numpy(take_rows(rows, rng.choice(n, min(SEEN * n_pieces, n), replace=False)))
    with one_thread():
        centres = KMeans(n_pieces, n_init=1, random_state=int(rng.integers(2**31))).fit(some).cluster_centers_
    return np.unique(nearest_centres(rows, centres), return_inverse=True)[1]


def _modularity(graph: Graph, labels: np.ndarray, resolution: float = 1.0) -> float:
    """Modularity; with a lower resolution, the edges that groups would have by chance count less."""
    shares = between(graph, labels)
    shares /= shares.sum()
    return float(np.trace(shares) - resolution * np.sum(shares.sum(axis=1) ** 2))


def _wanted(graph: Graph, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """Modularity in units of edge weight, and the group (n,) with which it is highest for each sample by itself."""
    if sparse_elsewhere(graph):
        entries = csr_parts(graph)[0]
        xp, members = namespace(entries), members_there(labels, entries)
        weight = sparse_times(graph, members)
        degree = xp.sum(weight, axis=1)
        gain = weight - degree[:, None] * (RESOLUTION * (degree @ members) / xp.sum(degree))
        return float(xp.sum(gain * members)), to_numpy(xp.argmax(gain, axis=1)).astype(np.intp)
    members, degree = members_of(labels), np.asarray(graph.sum(axis=1)).ravel()
    share = RESOLUTION * (members.T @ degree) / degree.sum()
    total, wanted = 0.0, np.empty_like(labels)
    for block in row_blocks(labels.size, 8 * share.size):
        gain = (graph[block] @ members).toarray() - degree[block, None] * share
        total += float(gain[np.arange(len(gain)), labels[block]].sum())
        wanted[block] = gain.argmax(axis=1)
    return total, wanted
