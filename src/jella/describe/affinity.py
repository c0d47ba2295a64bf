"""Which samples belong together: the model's affinity, or the neighbours in its embedding, ordered by cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from jella.describe.subject import Absent, Fit
from jella.graphs.neighbours import dense_nearest
from jella.graphs.spectral import Graph, modularity
from jella.numerics.arrays import to_numpy
from jella.numerics.kmeans import unit_rows
from jella.numerics.sparse_arrays import neighbour_graph

#: rows of the map; if there are more samples, several share a row
MOST_ROWS = 300
N_NEIGHBOURS = 10
#: samples whose neighbours in the embedding are searched, at most
MOST_SEARCHED = 20_000


@dataclass(frozen=True, eq=False)
class AffinityMap:
    """The affinity of the kept samples, ordered by cluster.

    Attributes
    ----------
    values : array (m, m)
        Means over the samples of a row and of a column.
    edges : int array (m + 1,)
        Row i holds the samples edges[i] to edges[i + 1] of the order.
    ends : array (k,)
        Where each cluster ends, in rows of the map.
    source : str
        A description in words.
    inside : float or None
        Share of the affinity that lies between samples of one cluster.
    modularity : float or None
        This share, minus the share expected at random.
    """

    values: np.ndarray
    edges: np.ndarray
    ends: np.ndarray
    source: str
    inside: float | None
    modularity: float | None

    @property
    def is_binned(self) -> bool:
        """Whether rows are means over several samples."""
        return int(self.edges[-1]) > self.values.shape[0]


def find_affinity(fit: Fit) -> AffinityMap | Absent:
    """The affinity that the model has learned, or the neighbour graph of its embedding."""
    related = fit.related()
    some = "" if related is fit else ", of its landmarks"
    graph, source = symmetric_affinity(related), f"the affinity that {fit.method} has learned{some}"
    if graph is not None:
        fit = related
    else:
        if fit.embedding is None:
            return Absent(f"{fit.method} has neither an affinity nor an embedding.")
        fit, source = _drawn(fit), "neighbours in the embedding (rows at unit length)"
        graph = _neighbours(fit)
    n = graph.shape[0]
    labels = np.zeros(n, dtype=np.intp) if fit.labels is None else fit.labels[fit.kept]
    order = np.lexsort((_along(graph), labels))
    edges = np.linspace(0, n, min(n, MOST_ROWS) + 1).astype(np.intp)
    ends = np.searchsorted(edges, np.flatnonzero(np.diff(labels[order], append=-1)) + 1)
    has_labels = fit.labels is not None
    return AffinityMap(
        values=_binned(graph[order][:, order], edges),
        edges=edges,
        ends=ends,
        source=source,
        inside=_inside(graph, labels) if has_labels else None,
        modularity=modularity(graph, labels) if has_labels else None,
    )


def symmetric_affinity(fit: Fit) -> Graph | None:
    """The model's own affinity of the samples that it relates, made symmetric; None where it has none."""
    fit = fit.related()
    affinity = getattr(fit.model, "affinity_", None)
    if affinity is None:
        return None
    graph = sparse.csr_array(affinity) if sparse.issparse(affinity) else to_numpy(affinity)
    if fit.kept.sum() < graph.shape[0] == fit.kept.size:
        rows = np.flatnonzero(fit.kept)
        graph = graph[rows][:, rows]
    if graph.shape[0] != fit.kept.sum():
        return None  # it is about samples of other batches too
    return 0.5 * (graph + graph.T)


def _drawn(fit: Fit) -> Fit:
    """The same with fewer samples, drawn at random, if there are too many to search for neighbours of each."""
    rows = np.flatnonzero(fit.kept)
    if rows.size <= MOST_SEARCHED:
        return fit
    kept = np.zeros(fit.kept.size, dtype=bool)
    kept[np.random.default_rng(fit.seed).choice(rows, MOST_SEARCHED, replace=False)] = True
    return replace(fit, kept=kept)


def _neighbours(fit: Fit) -> sparse.csr_array:
    assert fit.embedding is not None
    W = unit_rows(fit.embedding[fit.kept].astype(np.float64))
    directed = neighbour_graph(dense_nearest(W, N_NEIGHBOURS))
    return sparse.csr_array(0.5 * (directed + directed.T))


def _along(graph: Graph) -> np.ndarray:
    """A position for each sample that keeps connected samples close: a few rounds of averages over neighbours."""
    degree = np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()
    place = np.linspace(-1.0, 1.0, degree.size)
    for _ in range(20):
        place = 0.5 * (place + (graph @ place) / np.where(degree > 0, degree, 1.0))
    return place


def _binned(graph: Graph, edges: np.ndarray) -> np.ndarray:
    sizes = np.diff(edges)
    if sparse.issparse(graph):
        which = np.repeat(np.arange(sizes.size), sizes)
        members = sparse.csr_array((np.ones(which.size), (np.arange(which.size), which)))
        total = (members.T @ graph @ members).toarray()
    else:
        total = np.add.reduceat(np.add.reduceat(graph, edges[:-1], axis=0), edges[:-1], axis=1)
    return total / np.outer(sizes, sizes)


def _inside(graph: Graph, labels: np.ndarray) -> float:
    total = float(graph.sum())
    members = np.eye(int(labels.max()) + 1)[labels]
    return float(np.sum(members * (graph @ members))) / total if total > 0 else 0.0
