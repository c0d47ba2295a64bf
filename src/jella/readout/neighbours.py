"""The answers of a model that relates samples: a new sample is placed by its neighbours among those of the fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from jella.graphs.cluster_path import ClusterPath, choose_n_clusters
from jella.graphs.compared import compared_rows
from jella.graphs.confirmed import confirmed_graph, label_neighbours
from jella.graphs.expected import FitExpected
from jella.graphs.gaps import groups_apart
from jella.graphs.lending import lent_embedding, lent_residual
from jella.graphs.neighbours import dense_nearest, nearest
from jella.graphs.pieces import graph_labels
from jella.graphs.seeded import KnownGroups, seeded_labels
from jella.graphs.spectral import Graph
from jella.numerics.arrays import (
    Array,
    at_least,
    beside,
    like,
    namespace,
    on_accelerator,
    row_blocks,
    take_rows,
    taken,
    to_numpy,
)
from jella.numerics.finite import refuse_nonfinite
from jella.numerics.progress import doing
from jella.numerics.sparse_arrays import joined_neighbours, to_scipy
from jella.problem.residuals import ViewData
from jella.problem.terms import Ridge
from jella.readout.base import AT_ONCE, Expected, FitSamples
from jella.readout.clusters import Clusters, NeighbourClusters, rank_votes
from jella.readout.low_rank import LowRankReadout
from jella.solve.samples import embed, embed_pulled
from jella.views import AnyViews, Views

#: up to this many samples of a fit are compared with new samples entry by entry
COMPARED = 5000
#: an accelerator ties this many times as many samples at once, since fewer calls are faster there
MORE = 4


@dataclass(frozen=True, eq=False)
class Placed:
    """New samples among those of a fit.

    Attributes
    ----------
    own : array (n, r)
        The embedding that the model computes with.
    near : int array (n, q)
        Neighbours in the fit, the nearest first.
    donors : int array (n, p)
        Samples of the fit that lend missing values, in this order; -1 means none.
    """

    own: Array
    near: np.ndarray
    donors: np.ndarray


@dataclass(frozen=True, eq=False)
class Tied:
    """All n samples of a fit: the landmarks, and those that are tied to them.

    Attributes
    ----------
    shown : array (n, r)
        The embedding that users see; NaN for samples without any value.
    near : int array (n, q + 1)
        Nearest landmarks of each sample, itself first if it is one; -1 means none.
    labels : int array (n,) or None
        -1 for samples without any value.
    """

    shown: Array
    near: np.ndarray
    labels: np.ndarray | None


@dataclass(frozen=True, eq=False)
class NeighbourReadout(LowRankReadout):
    """The answers of a model that keeps the samples of its fit.

    Values that a model expects vary less than observed ones, so its own embedding shows which views a sample lacks.
    The embedding that users see is different: it imputes missing values from donors among the neighbours.

    Attributes
    ----------
    samples : Views
        The samples of the fit, scaled, in the order of `known`.
    near : int array (m, q)
        Neighbours of each of these samples in the embedding.
    n_neighbors : int
    pull : float
        Weight of the squared distance between a new sample and the mean of its neighbours.
    found : int array (m, p) or None
        All neighbours that the search for `near` found, for the labels of the fit; neither copied nor saved.
    """

    samples: Views = field(default_factory=lambda: Views(()))
    near: np.ndarray = field(default_factory=lambda: np.empty((0, 0), dtype=np.intp))
    n_neighbors: int = 10
    pull: float = 0.0
    found: np.ndarray | None = field(default=None, init=False)

    @classmethod
    def of(
        cls,
        readout: LowRankReadout,
        samples: Views,
        neighbours: np.ndarray,
        pull: float,
        prints: np.ndarray,
        places: np.ndarray,
        W: Array,
        n_clusters: int | None,
    ) -> NeighbourReadout:
        """A readout with the samples of its fit.

        Parameters
        ----------
        readout : LowRankReadout
            The part that needs no samples.
        samples : Views
            The m samples of the fit, scaled.
        neighbours : int array (m, q)
            Neighbours of each sample in the data.
        pull : float
        prints, places, W
            As in FitSamples; W is the model's own embedding.
        n_clusters : int, optional
            Number of clusters that will be looked for, if it is known: the embedding is then searched only once.
        """
        q = max(neighbours.shape[1], 1)
        most = q if n_clusters is None else max(q, label_neighbours(samples.n_samples, n_clusters, q))
        found = dense_nearest(compared_rows(W), most)
        near = found[:, :q].copy()
        donors = np.concatenate([neighbours, near], axis=1)
        shown = lent_embedding(samples, samples, W, donors, readout.bases, in_turn=True)
        parts = {one.name: getattr(readout, one.name) for one in fields(readout)}
        parts["known"] = FitSamples(prints, places, W, shown)
        made = cls(**parts, samples=samples, near=near, n_neighbors=q, pull=pull)
        object.__setattr__(made, "found", found)
        return made

    @property
    def _fit(self) -> FitSamples:
        assert self.known is not None
        return self.known

    @cached_property
    def _expected(self) -> FitExpected:
        return FitExpected(self._fit.own, self.bases)

    @cached_property
    def _rows(self) -> Array:
        return compared_rows(self._fit.own)

    def _as_compared(self, W: Array) -> Array:
        return compared_rows(W, self._fit.own)

    def solve(self, views: Views) -> Array:
        """The embedding (n, r) of new samples: from their observed values, pulled to the mean of their neighbours."""
        return self.place(views).own

    def place(self, views: Views) -> Placed:
        """New samples, scaled, among those of the fit.

        Up to `COMPARED` samples of the fit are compared with new ones over the entries that both have, which takes too
        long for more. Of these, the neighbours are the samples whose expected values fit the observed ones best.
        """
        q = self.n_neighbors
        if self._fit.places.size <= COMPARED:
            alike = nearest(self.samples, q, queries=views)
            own = self.placed(views, alike)
            near = self._near(own)
            return Placed(own, near, np.concatenate([alike, near], axis=1))
        near = self._expected.nearest(views, q)
        return Placed(self.placed(views, near), near, near)

    def tie(self, views: Views) -> Tied:
        """All samples of a fit, in the user's units, of which this readout knows the landmarks."""
        fit, n, q = self._fit, views.n_samples, self.n_neighbors
        kept, found = self._recognised(views)
        near, own = np.full((n, q + 1), -1, dtype=np.int32), found[found >= 0]
        near[found >= 0] = np.concatenate([own[:, None], self.near[own]], axis=1)[:, : q + 1]
        rest = np.flatnonzero(kept & (found < 0))
        nothing = like(np.full((1, self.width), np.nan), fit.shown)
        # rows of the fit, a row for samples without any value, and the rows of all others, in this order
        shown, at = [fit.shown, nothing], np.where(found >= 0, found, fit.places.size)
        at[rest] = fit.places.size + 1 + np.arange(rest.size)
        for block in row_blocks(rest.size, 1, AT_ONCE * (MORE if on_accelerator(fit.own) else 1)):
            doing(f"tying {rest.size:,} samples to the landmarks")
            rows = rest[block]
            scaled = self.scaling.apply(views.take(rows))
            placed = self.place(scaled)
            near[rows, :q] = placed.near
            shown.append(self._shown(scaled, placed))
        labels = None
        if fit.labels is not None and isinstance(self.clusters, NeighbourClusters):
            labels = np.full(n, -1, dtype=np.intp)
            labels[found >= 0] = fit.labels[own]
            labels[rest] = rank_votes(near[rest], fit.labels, self.clusters.n_clusters).argmax(axis=1)
        return Tied(take_rows(namespace(nothing).concat(shown, axis=0), at), near, labels)

    def _near(self, W: Array) -> np.ndarray:
        """Neighbours (n, q), in the fit, of embeddings (n, r)."""
        return dense_nearest(self._rows, self.n_neighbors, queries=self._as_compared(W))

    def _mean_of(self, found: np.ndarray) -> Array:
        """The mean embedding of samples of the fit (n, q), -1 where there is none."""
        own = self._fit.own
        xp, there = namespace(own), beside(found, own)
        has = there >= 0
        places = xp.reshape(xp.where(has, there, xp.zeros_like(there)), (-1,))
        close = xp.reshape(taken(own, places), (*found.shape, self.width))
        count = at_least(xp.sum(xp.astype(has, own.dtype), axis=1), 1.0)[:, None]
        return xp.sum(xp.where(has[:, :, None], close, 0.0), axis=1) / count

    def placed(self, views: Views, found: np.ndarray) -> Array:
        """The embedding (n, r) of new samples with given neighbours (n, q) in the fit, -1 where there is none."""
        data = [ViewData(view) for view in views]
        if self.pull == 0.0 or self._fit.places.size <= COMPARED:
            drawn = replace(self.problem, embedding=(Ridge(self.pull),))
            return embed(data, self.bases, drawn, towards=self.pull * self._mean_of(found))
        return embed_pulled(data, self.bases, self.problem, self.pull, self._mean_of(found))

    def expect(self, W: Array) -> Expected:
        """The values of the low-rank model, plus the mean residual of each sample's neighbours in the fit."""
        plain, near = super().expect(W), self._graph_to(W)

        def with_residual(v: int, rows: np.ndarray | None) -> Array:
            values = plain(v, rows)
            chosen = near if rows is None else near[rows]
            return values + like(lent_residual(self.samples[v], self._fit.own, chosen, self.bases[v]), values)

        return with_residual

    def _graph_to(self, W: Array) -> sparse.csr_array:
        """A graph (n, m) of ones at the neighbours of embeddings (n, r) in the fit; none for rows of NaN."""
        rows, xp = self._rows, namespace(W)
        known = ~to_numpy(xp.any(xp.isnan(W), axis=1))
        found = np.full((known.size, min(self.n_neighbors, rows.shape[0])), -1)
        if known.any():
            found[known] = dense_nearest(rows, found.shape[1], queries=self._as_compared(take_rows(W, known)))
        lines, places = np.nonzero(found >= 0)
        ones = np.ones(lines.size, dtype=np.dtype(str(rows.dtype).rpartition(".")[2]))
        return sparse.csr_array((ones, (lines, found[lines, places])), shape=(known.size, rows.shape[0]))

    def find_clusters(
        self,
        views: AnyViews,
        W: Any,
        n_clusters: int | None,
        n_init: int,
        random_state: Any,
        *,
        unit: bool,
        path: ClusterPath | None = None,
        known: KnownGroups | None = None,
        related: NeighbourReadout | None = None,
    ) -> tuple[Clusters, np.ndarray]:
        """The groups of the neighbour graph of the embedding, whose edges weigh more if more views confirm them.

        Parameters
        ----------
        path : ClusterPath, optional
            What is known about numbers of clusters; by default what the graph says.
        known : KnownGroups, optional
            What is known about the clusters of the samples.
        related : NeighbourReadout, optional
            Of a fit to other values of the same samples, whose clusters are taken; by default this one.
        """
        related = self if related is None else related
        if n_clusters is None:
            path = related.cluster_path() if path is None else path
            n_clusters = path.n_clusters
        labels = related.find_labels(n_clusters, n_init, random_state, known)
        if related is not self and known is None:
            labels = self._voted(labels, n_clusters)
        return NeighbourClusters(n_clusters, path), labels

    def _voted(self, labels: np.ndarray, n_clusters: int) -> np.ndarray:
        """Labels (m,) that neighbours vote for, nearly always the same for equal samples; unless a cluster ends."""
        voted = self.votes(labels, n_clusters).argmax(axis=1)
        return largest_first(voted) if np.unique(voted).size == n_clusters else labels

    def cluster_path(self) -> ClusterPath:
        """What the neighbour graph of the embedding says about numbers of clusters."""
        return choose_n_clusters(to_scipy(self._narrow_graph()))

    def find_labels(
        self, n_clusters: int, n_init: int, random_state: Any, known: KnownGroups | None = None
    ) -> np.ndarray:
        """Labels (m,) of the samples of the fit: the largest cluster first, or known classes as they are numbered."""
        graph = self._narrow_graph()
        labels = groups_apart(graph, n_clusters)
        if labels is None:
            graph = self._label_graph(n_clusters)
            labels = graph_labels(graph, n_clusters, n_init, random_state)
        if known is None:
            return largest_first(labels)
        labels = seeded_labels(graph, labels, known, n_clusters)
        return labels if (known.classes >= 0).any() else largest_first(labels)

    def votes(self, labels: np.ndarray, n_clusters: int, rows: np.ndarray | None = None) -> np.ndarray:
        """Votes (m, k) for the clusters of samples of the fit, by default all: of their neighbours, and their own."""
        rows = np.arange(len(self.near)) if rows is None else rows
        return rank_votes(np.concatenate([rows[:, None], self.near[rows]], axis=1), labels, n_clusters)

    def probable(self, views: Views, confidence: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Probabilities (n, k) of the clusters; NaN for samples without any value.

        Parameters
        ----------
        confidence : callable
            From votes (m, k) to probabilities (m, k).
        """
        clusters, labels = self.clusters, self._fit.labels
        assert isinstance(clusters, NeighbourClusters)
        assert labels is not None
        own = confidence(self.votes(labels, clusters.n_clusters))
        return self._answer(views, own, lambda new: confidence(self._votes_of(self.place(new))), np.nan)

    def _narrow_graph(self) -> Graph:
        """The graph of the nearest neighbours in the embedding, where the embedding lies."""
        return joined_neighbours(self.near, self._fit.own)

    def _label_graph(self, n_clusters: int) -> Graph:
        """The graph that the labels of the fit come from."""
        weights, W = [scale.root_weight**2 for scale in self.scaling.scales], self._fit.own
        q = label_neighbours(self.samples.n_samples, n_clusters, self.n_neighbors)
        found = self.found
        if found is None or found.shape[1] < min(q, len(found) - 1):
            found = dense_nearest(self._rows, q)
        return confirmed_graph(found[:, :q], self.samples, W, self.bases, weights)

    def _present_new(self, views: Views) -> Array:
        """The embedding (n, r) of new samples whose missing values come from donors in the fit."""
        return self._shown(views, self.place(views))

    def _shown(self, views: Views, placed: Placed) -> Array:
        return lent_embedding(self.samples, views, placed.own, placed.donors, self.bases)

    def _label_new(self, views: Views) -> np.ndarray:
        return self._votes_of(self.place(views)).argmax(axis=1)

    def _votes_of(self, placed: Placed) -> np.ndarray:
        """Votes (n, k) of the neighbours of new samples for the clusters."""
        clusters, labels = self.clusters, self._fit.labels
        assert isinstance(clusters, NeighbourClusters)
        assert labels is not None
        refuse_nonfinite(placed.own, f"new samples of {self.method}")
        return rank_votes(placed.near, labels, clusters.n_clusters)


def largest_first(labels: np.ndarray) -> np.ndarray:
    """The same clusters, numbered by size, the largest first; of equal ones, the one with the earliest sample first.

    >>> largest_first(np.array([2, 0, 0, 1, 2, 2])).tolist()
    [0, 1, 1, 2, 0, 0]
    """
    sizes = np.bincount(labels)
    first = np.empty_like(sizes)
    first[labels[::-1]] = np.arange(labels.size)[::-1]  # of several samples, the last one written counts
    rank = np.empty_like(sizes)
    found = np.flatnonzero(sizes)
    rank[found[np.lexsort((first[found], -sizes[found]))]] = np.arange(found.size)
    return rank[labels]
