"""Neighbours in an embedding, weighed by the views that confirm them: the graph that labels come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import sparse

from jella.graphs.neighbours import nearest, neighbour_graph
from jella.numerics.arrays import Array, to_numpy
from jella.views import AnyViews, Views

#: what an edge weighs that no view confirms; confirmed by all views, and both ways, it weighs two more
UNCONFIRMED = 0.1


def confirmed_graph(
    near: np.ndarray, views: AnyViews, W: Array, bases: Sequence[Array], weights: Sequence[float], n_neighbors: int
) -> sparse.csr_array:
    """Graph (n, n) that joins neighbours in an embedding, the more strongly the more views they are neighbours in.

    An embedding of a few components puts some samples side by side that no view has near each other. Such edges run
    between groups more often than others. They stay, so that no sample is cut off, but count little.

    Parameters
    ----------
    near : int array (n, q)
        Neighbours in the embedding.
    views : Views
        Scaled. The samples that have a view confirm in it, with the entries that they lack as the model expects them:
        two samples with many holes share too few entries to tell.
    W, bases : array (n, r) and sequence of arrays (d_v, r)
        The model.
    weights : sequence of V numbers
        Of the views. They count squared: what an unclear view confirms is often an accident.
    n_neighbors : int
        Neighbours in a view.
    """
    edges = _both_ways(neighbour_graph(near))
    votes = np.square(weights) / np.sum(np.square(weights))
    strength = UNCONFIRMED * edges
    for v, (U, vote) in enumerate(zip(bases, votes, strict=True)):
        own = neighbour_graph(_neighbours(views, v, to_numpy(W), to_numpy(U), n_neighbors))
        strength = strength + vote * (edges * _both_ways(own))
    return sparse.csr_array(strength)


def _neighbours(views: AnyViews, v: int, W: np.ndarray, U: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Neighbours (n, q) in one view; a sample without it has none, and is none."""
    has = views[v].presence()
    rows = np.flatnonzero(has)
    own = views.only(v).take(has)
    full = (
        own.map_samples(_as_complete)
        if own.is_rowwise
        else own.rebuild(partial(_completed, U), own.cut(W[rows])).persist()
    )
    _, found = nearest(full, n_neighbors)
    spread = np.full((has.size, found.shape[1]), -1)
    spread[rows] = rows[found]
    return spread


def _as_complete(views: Views) -> Views:
    """Samples of one view, all of which have it."""
    return Views((replace(views[0], mask=np.ones((1, 1), dtype=bool)),))


def _completed(U: np.ndarray, views: Views, W: np.ndarray) -> Views:
    """Samples that have a view, with the entries that they lack as the model expects them."""
    (view,) = views
    X = view.X.toarray() if view.is_sparse else to_numpy(view.X)
    return _as_complete(Views((replace(view, X=np.where(to_numpy(view.mask), X, W @ U.T)),)))


def _both_ways(directed: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array(directed + directed.T)
