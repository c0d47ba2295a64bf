"""Nearest neighbours of samples with missing values: exact for thousands of samples, by cells for millions.

Libraries for neighbours compare complete rows. This search compares two samples over the entries that both have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from jella.graphs.cells import CELL_BLOCK_BYTES, PROJECTED, Cells, Projection, groups, locality_order
from jella.graphs.host_search import BLOCK_BYTES, Search
from jella.graphs.panels import among_all
from jella.graphs.tiles import Tiles, is_elsewhere
from jella.numerics.arrays import Array, beside, namespace, on_accelerator, taken, to_numpy
from jella.numerics.sparse_arrays import (
    csr_parts,
    lines_of,
    neighbour_graph,
    sparse_elsewhere,
    stored_values,
    symmetric_sum,
    with_entries,
)
from jella.views.model import View, Views

#: Up to this many samples, all pairs are compared.
EXACT = 20_000
#: With more samples than this, near samples are put next to each other before the sweeps.
ORDERED = 20_000
#: For this order, embeddings are averaged over neighbours this many times, which brings neighbours closer.
AVERAGED = 3
#: Cells that are searched for the neighbours of each sample, its own cell included: as many as hold this share of the
#: nearest neighbours, and at most this many.
FOUND, PROBES = 0.9, 24
#: Samples whose neighbours are searched among all, to measure what cells hold.
QUERIES = 40


def nearest(
    views: Views,
    n_neighbors: int,
    *,
    queries: Views | None = None,
    coordinates: np.ndarray | None = None,
    query_coordinates: np.ndarray | None = None,
) -> np.ndarray:
    """The nearest other samples of each sample, or the nearest samples of each query.

    Two samples are compared over the entries that both have.

    Parameters
    ----------
    views : Views
        The samples that are searched.
    n_neighbors : int
        At most as many neighbours are returned as there are samples.
    queries : Views, optional
        Samples of the same views. By default the samples themselves; then no sample is its own neighbour.
    coordinates : array (n, p), optional
        A few dense coordinates of each sample, such as a low-rank embedding. With more than `EXACT` samples, the cells
        are made from them. By default principal coordinates.
    query_coordinates : array (m, p), optional
        The same coordinates of each query; needed where both queries and coordinates are given.

    Returns
    -------
    int array (m, q)
        Positions of the nearest samples, the nearest first, in NumPy; ties are in the order of the samples. -1 where
        fewer than q samples have anything in common with a sample.

    Notes
    -----
    The distance of two samples is a ratio. Its numerator is the sum of the squared differences over all entries that
    both samples have. Its denominator adds up, over the views, the share of the view's features that these entries are.
    Matrix products find the neighbours. Those that rounding may have put in another order are then compared by their
    differences, so that duplicates come first in single precision too.

    Arrays of another library than NumPy are searched where they lie. An accelerator compares all pairs, however many.

    With more than `EXACT` samples on the host, k-means on the coordinates puts samples into cells. A sample is compared
    with the samples of its own cell and of the nearest cells: of as many cells as hold the share `FOUND` of the nearest
    neighbours, which is measured on `QUERIES` samples, at most `PROBES`; and with at least four times as many samples
    as neighbours. Queries always look into `PROBES` cells. Samples that have too little in common with these are
    compared with more cells. What is drawn for this has a fixed seed.

    Examples
    --------
    >>> from jella.views.read import read_views
    >>> nearest(read_views([[0.0, 0.0], [1.0, float("nan")], [5.0, 5.0]]), 1)
    array([[1],
           [0],
           [1]])
    """
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors must be at least 1, got {n_neighbors}")
    if queries is not None and [view.n_features for view in queries] != [view.n_features for view in views]:
        raise ValueError("the queries must have the views and features of the samples")
    n = views.n_samples
    q = min(n_neighbors, n - 1 if queries is None else n)
    if by_tiles(views) and q > 0:
        return Tiles(views, views if queries is None else queries, queries is None).nearest(q)
    base = views.on_host()
    asked = base if queries is None else queries.on_host()
    search = Search(base, asked, q, queries is None)
    rows = np.arange(asked.n_samples)
    if n <= EXACT:
        return among_all(search) if queries is None else search(rows, np.arange(n), BLOCK_BYTES)
    if coordinates is None:
        project = Projection.of(base)
        coordinates, query_coordinates = project(base), project(asked) if queries is not None else None
    elif queries is not None and query_coordinates is None:
        raise ValueError("queries need query_coordinates where coordinates are given")
    cells = Cells.of(to_numpy(coordinates))
    if query_coordinates is None:
        return _search_cells(search, cells, cells.labels, _enough_cells(search, cells)[0])
    return _search_cells(search, cells, cells.assign(to_numpy(query_coordinates)), PROBES)


def search_recall(views: Views, n_neighbors: int) -> float:
    """The share of the nearest neighbours that `nearest` finds among these samples, measured on `QUERIES` of them.

    >>> rng = np.random.default_rng(0)
    >>> search_recall(Views((View("view", rng.normal(size=(30, 4)), np.ones((1, 1), dtype=bool)),)), 3)
    1.0
    """
    n = views.n_samples
    if n <= EXACT or by_tiles(views):
        return 1.0
    base = views.on_host()
    search = Search(base, base, min(n_neighbors, n - 1), True)
    cells = Cells.of(Projection.of(base)(base))
    return _enough_cells(search, cells)[1]


def dense_nearest(W: Array, n_neighbors: int, *, queries: Array | None = None) -> np.ndarray:
    """The nearest rows of one complete dense matrix of any array library, such as an embedding; otherwise as `nearest`.

    >>> dense_nearest(np.array([[0.0], [1.0], [3.0]]), 1).ravel().tolist()
    [1, 0, 1]
    """
    small, mask = W.shape[1] <= PROJECTED, beside(np.ones((1, 1), dtype=bool), W)
    return nearest(
        Views((View("view", W, mask),)),
        n_neighbors,
        queries=None if queries is None else Views((View("view", queries, mask),)),
        coordinates=W if small else None,
        query_coordinates=queries if small else None,
    )


def sweep_order(neighbours: np.ndarray, W: Any) -> np.ndarray | None:
    """An order (n,) of samples that puts near ones next to each other, or None where it is not worth the effort.

    In this order, products with a neighbour graph stay in the cache. It pays only for many samples in NumPy.

    Parameters
    ----------
    neighbours : int array (n, q)
    W : array (n, r)
        The embedding of the samples.
    """
    if W.shape[0] <= ORDERED or not isinstance(W, np.ndarray):
        return None
    return locality_order(averaged(W, neighbour_graph(neighbours), AVERAGED))


def averaged(W: np.ndarray, graph: sparse.csr_array, times: int) -> np.ndarray:
    """W after its rows have moved halfway to the mean of their neighbours, this many times.

    >>> averaged(np.array([[0.0], [4.0]]), sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]), 1).ravel().tolist()
    [2.0, 2.0]
    """
    graph = graph.astype(W.dtype, copy=False)
    share = 0.5 / np.maximum(np.asarray(graph.sum(axis=1)), 1)[:, None]
    for _ in range(times):
        W = 0.5 * W + share * (graph @ W)
    return W


def symmetric_support(A: Any) -> Any:
    """Ones where A or its transpose is not zero, without the diagonal; indices sorted; in the library of A.

    >>> symmetric_support(sparse.csr_array([[3.0, 1.0], [0.0, 0.0]])).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    if sparse_elsewhere(A):
        (values, columns, _), lines = csr_parts(A), lines_of(A)
        some = namespace(values).nonzero((lines != columns) & (values != 0))[0]
        both = symmetric_sum(taken(lines, some), taken(columns, some), taken(values, some), A.shape[0])
        return with_entries(both, namespace(values).ones_like(stored_values(both)))
    entries = A.tocoo()
    rows, columns = entries.coords
    keep = (rows != columns) & (entries.data != 0)
    pattern = sparse.csr_array((np.ones(int(keep.sum())), (rows[keep], columns[keep])), shape=A.shape)
    pattern = (pattern + pattern.T).tocsr()
    pattern.sort_indices()
    pattern.data[:] = 1.0
    return pattern


def _enough_cells(search: Search, cells: Cells) -> tuple[int, float]:
    """The number of cells to look into, and the share of the nearest neighbours that they hold."""
    n = search.base.n_samples
    rows = np.sort(np.random.default_rng(0).choice(n, min(QUERIES, n), replace=False))
    true = search(rows, np.arange(n), BLOCK_BYTES)
    needed = np.zeros(true.shape, dtype=np.intp)
    for line, row in enumerate(rows):
        rank = np.argsort(cells.near(int(cells.labels[row])))
        needed[line] = np.where(true[line] >= 0, rank[cells.labels[true[line]]], 0)
    shares = np.array([np.mean(needed < count) for count in range(1, PROBES + 1)])
    count = min(int(np.searchsorted(shares, FOUND)) + 1, PROBES)
    return count, float(shares[count - 1])


def _search_cells(search: Search, cells: Cells, labels: np.ndarray, least: int) -> np.ndarray:
    """Indices (m, q) of neighbours from the own and the nearest cells; from more cells where too few are found.

    Parameters
    ----------
    labels : int array (m,)
        The cells of the queries.
    least : int
        Cells to look into, if these find enough.
    """
    n = search.base.n_samples
    indices = np.full((len(labels), search.q), -1, dtype=np.intp)
    anything = np.asarray(search.asked.presence().any(axis=1))
    for members in groups(labels):
        rows, probes = members[anything[members]], least
        while rows.size:
            candidates = cells.around(int(labels[rows[0]]), min(4 * search.q + 1, n), probes)
            indices[rows] = search(rows, candidates, CELL_BLOCK_BYTES)
            rows = rows[indices[rows, -1] < 0] if len(candidates) < n else rows[:0]
            probes *= 4
    return indices


def by_tiles(views: Views) -> bool:
    """Whether values are searched where they lie: on an accelerator, and up to `EXACT` samples elsewhere."""
    return is_elsewhere(views) and (views.n_samples <= EXACT or on_accelerator(views[0].X))
