"""Values and residuals from donors of samples in chunks: workers fetch donors and use the functions for memory."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from jella.distributed.fetch import Request, most_rows, named, stretches, worked_on
from jella.distributed.scheduler import n_threads
from jella.distributed.views import ChunkedView, ChunkedViews
from jella.graphs.cells import Projection, locality_order
from jella.graphs.lending import lent_embedding, lent_entries, lent_residual, lent_rows, product
from jella.solve.start import NeighbourFilled
from jella.views.model import Views

#: copies of its samples that a task has at the same time
LENDING, FILLING = 4, 6


@lent_embedding.register
def _(
    lenders: ChunkedViews,
    views: Any,
    W: np.ndarray,
    donors: np.ndarray,
    bases: Sequence[np.ndarray],
    *,
    in_turn: bool = False,
) -> np.ndarray:
    """As in memory, for samples in chunks or in memory."""
    donors = donors if donors.shape[1] else np.full((len(donors), 1), -1)
    by_row = [view.is_rowwise and other.is_rowwise for view, other in zip(views, lenders, strict=True)]
    total = np.zeros_like(W)
    whole = [v for v, one in enumerate(by_row) if one]
    if whole:
        own = views.gather(partial(_products, bases, whole))
        lent = own if views is lenders else lenders.gather(partial(_products, bases, whole))
        for number, v in enumerate(whole):
            has, lends = views[v].presence(), lenders[v].presence()
            total += lent_rows(has, own[:, number], W, donors, lends, lent[:, number], bases[v], in_turn=in_turn)
    entries = [v for v, one in enumerate(by_row) if not one]
    return total + _lent_entries(views, W, donors, lenders, bases, entries) if entries else total


def _products(bases: Sequence[np.ndarray], which: Sequence[int], views: Views) -> np.ndarray:
    """The products of some views with their bases, (n, views, r)."""
    return np.stack([product(views[v], bases[v]) for v in which], axis=1)


def _lent_entries(
    views: Any,
    W: np.ndarray,
    donors: np.ndarray,
    lenders: ChunkedViews,
    bases: Sequence[np.ndarray],
    which: Sequence[int],
) -> np.ndarray:
    in_chunks = isinstance(views, ChunkedViews)
    owns = list(stretches(locality_order(W), donors, most_rows(lenders, LENDING), n_threads()))
    requests = []
    for own in owns:
        wanted, local = _local(donors[own])
        values = (W[own], local)
        requests.append(Request((wanted, own), values) if in_chunks else Request((wanted,), (views.take(own), *values)))
    found = worked_on(partial(_lent_parts, bases, which), [lenders, views] if in_chunks else [lenders], requests)
    total = np.zeros_like(W)
    for own, part in zip(owns, found, strict=True):
        total[own] = part
    return total


def _lent_parts(
    bases: Sequence[np.ndarray], which: Sequence[int], lenders: Views, views: Views, W: np.ndarray, donors: np.ndarray
) -> np.ndarray:
    return np.sum([lent_entries(views[v], W, donors, lenders[v], bases[v]) for v in which], axis=0)


@lent_residual.register
def _(view: ChunkedView, W: np.ndarray, neighbours: sparse.csr_array, U: np.ndarray) -> np.ndarray:
    """As in memory; the m samples that receive residuals are on the client."""
    lenders, most = view.owner.only(view.position), most_rows(view.owner, LENDING)
    owns = np.array_split(np.arange(neighbours.shape[0]), max(-(-2 * neighbours.nnz // most), 1))
    requests = []
    for own in owns:
        asked = neighbours[own]
        wanted = named(asked.indices)
        requests.append(Request((wanted,), (W[wanted], asked[:, wanted], U)))
    return np.concatenate(list(worked_on(_residual, [lenders], requests)))


def _residual(views: Views, W: np.ndarray, neighbours: sparse.csr_array, U: np.ndarray) -> np.ndarray:
    return lent_residual(views[0], W, neighbours, U)


def filled_gram(views: ChunkedViews, graph: sparse.csr_array, means: Sequence[np.ndarray]) -> np.ndarray:
    """FᵀF, where F (n, Σ d_v) are the views imputed from neighbours."""
    _, requests = _to_fill(views, graph)
    sums = worked_on(partial(_gram_of_filled, means), [views], requests, combine=operator.add)
    return sum(sums, start=views.reduce(_gram_of_complete))


def filled_times(
    views: ChunkedViews, graph: sparse.csr_array, means: Sequence[np.ndarray], V: np.ndarray
) -> np.ndarray:
    """F V, (n, r), where F (n, Σ d_v) are the views imputed from neighbours."""
    owns, requests = _to_fill(views, graph)
    out = views.gather(partial(_times, V))  # correct for samples that lack nothing
    for own, rows in zip(owns, worked_on(partial(_filled_times, means, V), [views], requests), strict=True):
        out[own] = rows
    return out


def _to_fill(views: ChunkedViews, graph: sparse.csr_array) -> tuple[list[np.ndarray], list[Request]]:
    """Groups of samples that lack something, and requests for them and their neighbours."""
    needed, lacking = _padded(graph), views.gather(lacks_something)
    most = most_rows(views, FILLING)
    small = views.n_samples <= most // 2
    order = np.arange(views.n_samples) if small else locality_order(views.gather(Projection.of(views, 0)))
    owns = list(stretches(order[lacking[order]], needed, most, n_threads()))
    requests = []
    for own in owns:
        wanted = np.union1d(own, needed[own][needed[own] >= 0])
        places = np.searchsorted(wanted, own)
        local = graph[own][:, wanted].tocoo()
        edges = (local.data, (places[local.coords[0]], local.coords[1]))
        requests.append(Request((wanted,), (places, sparse.csr_array(edges, shape=(wanted.size, wanted.size)))))
    return owns, requests


def lacks_something(views: Views) -> np.ndarray:
    """Whether each sample lacks an entry or a view, (n,)."""
    return np.any([~np.broadcast_to(view.mask.all(axis=1), (view.n_samples,)) for view in views], axis=0)


def _gram_of_complete(views: Views) -> np.ndarray:
    X = _side_by_side(views)[~lacks_something(views)]
    return np.asarray(X.T @ X)


def _times(V: np.ndarray, views: Views) -> np.ndarray:
    return _side_by_side(views) @ V


def _side_by_side(views: Views) -> np.ndarray:
    return np.concatenate([view.X for view in views], axis=1)


def _filled(means: Sequence[np.ndarray], views: Views, places: np.ndarray, graph: sparse.csr_array) -> np.ndarray:
    pairs = zip(views, means, strict=True)
    return np.concatenate([NeighbourFilled.by(view, graph, mean).dense()[places] for view, mean in pairs], axis=1)


def _gram_of_filled(
    means: Sequence[np.ndarray], views: Views, places: np.ndarray, graph: sparse.csr_array
) -> np.ndarray:
    F = _filled(means, views, places, graph)
    return np.asarray(F.T @ F)


def _filled_times(
    means: Sequence[np.ndarray], V: np.ndarray, views: Views, places: np.ndarray, graph: sparse.csr_array
) -> np.ndarray:
    return _filled(means, views, places, graph) @ V


def _padded(graph: sparse.csr_array) -> np.ndarray:
    """The neighbours of each sample, (n, q), -1 where there are fewer."""
    counts = np.diff(graph.indptr)
    out = np.full((graph.shape[0], int(counts.max(initial=0))), -1, dtype=np.intp)
    out[np.arange(out.shape[1]) < counts[:, None]] = graph.indices
    return out


def _local(indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The samples among indices, ascending, and the same indices as positions among these samples."""
    wanted = named(indices)
    return wanted, np.where(indices >= 0, np.searchsorted(wanted, indices), -1)
