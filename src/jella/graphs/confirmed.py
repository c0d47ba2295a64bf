"""Neighbours in an embedding, weighted by their ranks in the views: the graph that labels come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from jella.graphs.neighbours import nearest
from jella.numerics.arrays import Array, to_numpy
from jella.numerics.sparse_arrays import neighbour_graph
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
) -> sparse.csr_array:
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
    directed = ranked_graph(near)
    edges = sparse.csr_array(directed.maximum(directed.T))
    votes = np.square(weights) / np.sum(np.square(weights))
    strength = UNCONFIRMED * (directed + directed.T)
    for v, (U, vote) in enumerate(zip(bases, votes, strict=True)):
        own = ranked_graph(_neighbours(views, v, to_numpy(W), to_numpy(U), q), q)
        strength = strength + vote * (edges.minimum(own) + edges.minimum(sparse.csr_array(own.T)))
    return sparse.csr_array(strength)


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


def _neighbours(views: Views, v: int, W: np.ndarray, U: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Neighbours (n, q) in one view; a sample without the view has none, and is none."""
    has = views[v].presence()
    rows = np.flatnonzero(has)
    own = views.only(v).take(has)
    _, found = nearest(_as_complete(own) if own.is_rowwise else _completed(U, own, W[rows]), n_neighbors)
    spread = np.full((has.size, found.shape[1]), -1)
    spread[rows] = np.where(found >= 0, rows[found], -1)
    return spread


def _as_complete(views: Views) -> Views:
    """The one view of samples that all have it, marked as complete."""
    return Views((replace(views[0], mask=np.ones((1, 1), dtype=bool)),))


def _completed(U: np.ndarray, views: Views, W: np.ndarray) -> Views:
    """The one view of samples that have it, with missing entries imputed by the model."""
    (view,) = views
    X = view.X.toarray() if view.is_sparse else to_numpy(view.X)
    return _as_complete(Views((replace(view, X=np.where(to_numpy(view.mask), X, W @ U.T)),)))
