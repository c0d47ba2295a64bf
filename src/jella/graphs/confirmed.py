"""Neighbours in an embedding, weighted by their ranks in the views: the graph that labels come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from jella.graphs.neighbours import nearest
from jella.graphs.spectral import Graph
from jella.numerics.arrays import Array, beside, namespace, row_blocks, take_rows, taken, target_bytes
from jella.numerics.sparse_arrays import has_sparse, neighbour_graph, symmetric_sum
from jella.views import Views

#: share of an edge's weight that needs no view to confirm it
UNCONFIRMED = 0.1
#: fewest and most neighbours of a sample in the graph of labels
FEWEST_NEIGHBOURS, MOST_NEIGHBOURS = 7, 100
#: neighbours of all samples together, at most, unless each has only `n_neighbors`; larger graphs take too long
MOST_EDGES = 2_000_000


def label_neighbours(n_samples: int, n_clusters: int, n_neighbors: int) -> int:
    """The number of neighbours in the graph of labels: as many as an average cluster has samples, within limits.

    A neighbourhood larger than a cluster leaves it. A smaller one stays inside bursts of near-duplicates and cuts the
    cluster where it is thin.

    >>> label_neighbours(210, 7, 10), label_neighbours(1350, 150, 10), label_neighbours(10**6, 10, 10)
    (30, 9, 10)
    """
    most = min(MOST_NEIGHBOURS, max(n_neighbors, MOST_EDGES // max(n_samples, 1)))
    return min(max(n_samples // max(n_clusters, 1), FEWEST_NEIGHBOURS), most)


def confirmed_graph(
    near: np.ndarray, views: Views, W: Array, bases: Sequence[Array], weights: Sequence[float]
) -> Graph:
    """Graph (n, n) of neighbours in an embedding, whose edges weigh more if views have both samples as neighbours too.

    A neighbour of rank r, of q, weighs 1/r − 1/(q + 1). This is the sum of the graphs of the neighbourhoods of all
    sizes up to q, each with the same total weight: no single size has to be right. A view confirms an edge with the
    weight that its ranks allow, and no more than the rank in the embedding allows.

    An embedding of a few components puts some samples next to each other that are not near in any view. Such edges run
    between groups more often than others. They stay, so that no sample is cut off, but with a small weight.

    Parameters
    ----------
    near : int array (n, q)
        Neighbours in the embedding, the nearest first.
    views : Views
        Scaled. In each view, the samples that have it confirm edges. Entries that they lack are imputed by the model:
        two samples with many missing entries share too few entries for a comparison.
    W, bases : array (n, r) and sequence of arrays (d_v, r)
        The model.
    weights : sequence of V numbers
        Weights of the views. They are squared, because what an unclear view confirms is often an accident.
    """
    q = max(near.shape[1], 1)
    votes = np.square(weights) / np.sum(np.square(weights))
    found = [_neighbours(views, v, W, U, q) for v, U in enumerate(bases)]
    if has_sparse(W) and near.shape[1]:
        return _confirmed_beside(near, found, votes, W)
    directed = ranked_graph(near)
    edges = sparse.csr_array(directed.maximum(directed.T))
    strength = UNCONFIRMED * (directed + directed.T)
    for each, vote in zip(found, votes, strict=True):
        own = ranked_graph(each, q)
        strength = strength + vote * (edges.minimum(own) + edges.minimum(sparse.csr_array(own.T)))
    return sparse.csr_array(strength)


def _confirmed_beside(near: np.ndarray, found: Sequence[np.ndarray], votes: np.ndarray, place: Array) -> Graph:
    """The same graph, on the device of an array, by comparing lists of neighbours instead of merging graphs."""
    xp, (n, q) = namespace(place), near.shape
    by_rank = beside(1.0 / np.arange(1.0, q + 1) - 1.0 / (q + 1.0), place)
    lists = beside(near, place)
    values = [UNCONFIRMED * xp.broadcast_to(by_rank[None, :], (n, q))]
    for each, vote in zip(found, votes, strict=True):
        own = beside(np.maximum(each, 0), place)
        weights = xp.where(beside(each >= 0, place), by_rank[None, : own.shape[1]], 0.0)
        parts: list[Array] = []
        for rows in row_blocks(n, 16 * q * q, target_bytes(place)):
            some, me = own[rows, :], beside(np.arange(rows.start, rows.stop), place)
            there = xp.sum(xp.where(some[:, :, None] == lists[rows, None, :], by_rank, 0.0), axis=2)
            theirs = xp.reshape(taken(lists, xp.reshape(some, (-1,))), (*some.shape, q))
            back = xp.sum(xp.where(theirs == me[:, None, None], by_rank, 0.0), axis=2)
            edge = xp.where(there > back, there, back)
            parts.append(vote * xp.where(edge < weights[rows, :], edge, weights[rows, :]))
        values.append(xp.concat(parts, axis=0))
    columns = [lists, *(beside(np.maximum(each, 0), place) for each in found)]
    lines = [xp.broadcast_to(beside(np.arange(n)[:, None], place), tuple(one.shape)) for one in columns]
    i, j, weights = (xp.concat([xp.reshape(one, (-1,)) for one in parts]) for parts in (lines, columns, values))
    some = xp.nonzero(weights > 0)[0]
    return symmetric_sum(taken(i, some), taken(j, some), taken(weights, some), n)


def ranked_graph(near: np.ndarray, width: int | None = None) -> sparse.csr_array:
    """Adjacency matrix (n, n) of neighbours (n, q), the nearest first: 1/r − 1/(width + 1) for rank r; -1 means none.

    Parameters
    ----------
    width : int, optional
        q by default; a sample may have fewer neighbours than others.

    >>> ranked_graph(np.array([[1, 2], [0, 2], [1, -1]])).toarray().round(2)
    array([[0.  , 0.67, 0.17],
           [0.67, 0.  , 0.17],
           [0.  , 0.67, 0.  ]])
    """
    ranks = np.arange(1.0, near.shape[1] + 1)
    weights = 1.0 / ranks - 1.0 / ((near.shape[1] if width is None else width) + 1.0)
    return neighbour_graph(near, weights=weights)


def _neighbours(views: Views, v: int, W: Array, U: Array, n_neighbors: int) -> np.ndarray:
    """Neighbours (n, q) in one view; a sample without the view has none, and is none."""
    has = views[v].presence()
    rows = np.flatnonzero(has)
    own = views.only(v).take(has)
    found = nearest(_as_complete(own) if own.is_rowwise else _completed(U, own, take_rows(W, rows)), n_neighbors)
    spread = np.full((has.size, found.shape[1]), -1)
    spread[rows] = np.where(found >= 0, rows[found], -1)
    return spread


def _as_complete(views: Views) -> Views:
    """The one view of samples that all have it, marked as complete."""
    return Views((replace(views[0], mask=beside(np.ones((1, 1), dtype=bool), views[0].X)),))


def _completed(U: Array, views: Views, W: Array) -> Views:
    """The one view of samples that have it, with missing entries imputed by the model."""
    (view,) = views
    X = view.X.toarray() if view.is_sparse else view.X
    return _as_complete(Views((replace(view, X=namespace(X).where(view.mask, X, W @ U.T)),)))
