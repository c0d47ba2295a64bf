"""Neighbours in an embedding, weighted by the views that confirm them: the graph that labels come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import sparse

from jella.graphs.neighbours import nearest, neighbour_graph
from jella.numerics.arrays import Array, to_numpy
from jella.views import AnyViews, Views

#: weight of an edge that no view confirms; if all views confirm it in both directions, it weighs two more
UNCONFIRMED = 0.1


def confirmed_graph(
    near: np.ndarray, views: AnyViews, W: Array, bases: Sequence[Array], weights: Sequence[float], n_neighbors: int
) -> sparse.csr_array:
    """Graph (n, n) of neighbours in an embedding; an edge weighs more, the more views have both samples as neighbours.

    An embedding of a few components puts some samples next to each other that are not near in any view. Such edges run
    between groups more often than others. They stay, so that no sample is cut off, but with a small weight.

    Parameters
    ----------
    near : int array (n, q)
        Neighbours in the embedding.
    views : Views
        Scaled. In each view, the samples that have it confirm edges. Entries that they lack are imputed by the model:
        two samples with many missing entries share too few entries for a comparison.
    W, bases : array (n, r) and sequence of arrays (d_v, r)
        The model.
    weights : sequence of V numbers
        Weights of the views. They are squared, because what an unclear view confirms is often an accident.
    n_neighbors : int
        Neighbours of each sample in a view.
    """
    directed = neighbour_graph(near)
    edges = sparse.csr_array(directed + directed.T)
    votes = np.square(weights) / np.sum(np.square(weights))
    strength = UNCONFIRMED * edges
    for v, (U, vote) in enumerate(zip(bases, votes, strict=True)):
        own = neighbour_graph(_neighbours(views, v, to_numpy(W), to_numpy(U), n_neighbors))
        strength = strength + vote * (edges * sparse.csr_array(own + own.T))
    return sparse.csr_array(strength)


def _neighbours(views: AnyViews, v: int, W: np.ndarray, U: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Neighbours (n, q) in one view; a sample without the view has none, and is none."""
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
    """The one view of samples that all have it, marked as complete."""
    return Views((replace(views[0], mask=np.ones((1, 1), dtype=bool)),))


def _completed(U: np.ndarray, views: Views, W: np.ndarray) -> Views:
    """The one view of samples that have it, with missing entries imputed by the model."""
    (view,) = views
    X = view.X.toarray() if view.is_sparse else to_numpy(view.X)
    return _as_complete(Views((replace(view, X=np.where(to_numpy(view.mask), X, W @ U.T)),)))
