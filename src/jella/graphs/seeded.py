"""Labels of a graph in which something is known about the clusters of some samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp
from scipy.spatial.distance import cdist

from jella.graphs.spectral import Graph, diffused_vectors
from jella.numerics.sparse_arrays import to_scipy

#: weight of the edges of a sample to others of its group, all together, relative to the median degree
TIES = 2.0
MOST_STEPS = 100
#: how long clusters for groups that are kept apart are looked for, in nodes of a tree
MOST_NODES = 500


@dataclass(frozen=True, eq=False)
class KnownGroups:
    """What is known about the clusters of n samples.

    Attributes
    ----------
    groups : int array (n,)
        Samples of one group share a cluster; -1 for samples of which nothing is known.
    classes : int array (g,)
        The number of the cluster of each group, -1 where it is unknown; no two groups have the same.
    apart : int array (p, 2)
        Pairs of groups that are in different clusters.
    """

    groups: np.ndarray
    classes: np.ndarray
    apart: np.ndarray

    @cached_property
    def class_of(self) -> np.ndarray:
        """The class of each sample, (n,), negative where it is unknown."""
        return np.where(self.groups >= 0, np.append(self.classes, -1)[self.groups], -1)

    def take(self, rows: np.ndarray) -> KnownGroups:
        """What is known about some of the samples; groups are numbered by class, then as the samples come."""
        groups = self.groups[rows]
        found, first = np.unique(groups[groups >= 0], return_index=True)
        order = found[np.lexsort((first, self.classes[found], self.classes[found] < 0))]
        number = np.full(self.classes.size + 1, -1)  # the last one is for samples without a group
        number[order] = np.arange(order.size)
        apart = np.sort(number[self.apart], axis=1)
        return KnownGroups(number[groups], self.classes[order], np.unique(apart[apart[:, 0] >= 0], axis=0))

    @cached_property
    def fewest(self) -> int:
        """So many groups, at least, are all apart from each other that a greedy search finds them: it takes as many."""
        beside: list[set[int]] = [set() for _ in self.classes]
        named = np.flatnonzero(self.classes >= 0)
        for one, other in (*self.apart.tolist(), *combinations(named.tolist(), 2)):
            beside[one].add(other)
            beside[other].add(one)
        found = int(self.classes.size > 0)
        for start, others in enumerate(beside):
            all_apart = {start}
            for group in sorted(others, key=lambda one: (-len(beside[one]), one)):
                if all_apart <= beside[group]:
                    all_apart.add(group)
            found = max(found, len(all_apart))
        return found

    def assigned(self, distance: np.ndarray) -> np.ndarray:
        """The nearest clusters (n,) that what is known allows, from squared distances (n, k)."""
        labels, has = distance.argmin(axis=1), self.groups >= 0
        cost = np.zeros((self.classes.size, distance.shape[1]))
        np.add.at(cost, self.groups[has], distance[has])
        best = self._kept_apart(cost)
        if best is None:
            raise too_few(distance.shape[1])
        labels[has] = best[self.groups[has]]
        return labels

    def kept(self, labels: np.ndarray, n_clusters: int, rows: np.ndarray) -> np.ndarray:
        """Labels (n,) that agree with what is known, changed at as few samples as can be, least of all at these rows.

        Samples with a negative label keep it.
        """
        told = np.flatnonzero((self.groups >= 0) & (labels >= 0))
        cost = (labels[told, None] != np.arange(n_clusters)).astype(float)
        cost[np.isin(told, rows)] *= labels.size
        labels = labels.copy()
        labels[told] = self.take(told).assigned(cost)
        return labels

    def _kept_apart(self, cost: np.ndarray) -> np.ndarray | None:
        """The clusters (g,) of groups with the least cost (g, k) in sum; None if none were found."""
        (g, k), pairs = cost.shape, len(self.apart)
        best = np.where(self.classes >= 0, self.classes, cost.argmin(axis=1))
        if not (best[self.apart[:, 0]] == best[self.apart[:, 1]]).any():
            return best
        ends = np.repeat(np.arange(pairs), 2), self.apart.ravel()
        of_pairs = sparse.csr_array((np.ones(2 * pairs), ends), shape=(pairs, g))
        one_each = sparse.kron(sparse.eye_array(g), np.ones((1, k)))
        rules = (LinearConstraint(one_each, 1, 1), LinearConstraint(sparse.kron(of_pairs, sparse.eye_array(k)), 0, 1))
        free = (self.classes[:, None] < 0) | (self.classes[:, None] == np.arange(k))
        limits, more = Bounds(0, free.astype(float).ravel()), (cost - cost.min(axis=1, keepdims=True)).ravel()
        found = milp(more, integrality=1, bounds=limits, constraints=rules, options={"node_limit": MOST_NODES})
        return None if found.x is None else np.asarray(found.x.reshape(g, k).argmax(axis=1))


def too_few(n_clusters: int) -> ValueError:
    """The error for cannot_link pairs that need more clusters than there are."""
    return ValueError(
        f"expected cannot_link pairs that {n_clusters} clusters can keep apart, found none that do; increase "
        "n_clusters, or leave some pairs out"
    )


def seeded_labels(graph: Graph, labels: np.ndarray, known: KnownGroups, n_clusters: int) -> np.ndarray:
    """Labels (n,) of a symmetric affinity that agree with what is known.

    Edges between samples of different clusters are removed, and samples of one group are tied together. Then k-means
    on the diffused eigenvectors keeps each group in one cluster, groups apart that should be, and known samples in
    their class. It starts from the clusters that were found without what is known and, if classes are known, also from
    their means; then the labels with the lower sum of squared distances count. A sample that is the only known one of
    its class is left out of this sum: it may lie at the edge of its class, and nothing confirms what it says against a
    cluster.

    Parameters
    ----------
    graph : array (n, n)
        The one in which the clusters were found.
    labels : int array (n,)
        These clusters.
    known : KnownGroups
        With classes from 0 to n_clusters − 1.
    """
    classes = known.class_of
    has, rows = classes >= 0, diffused_vectors(_with_ties(sparse.csr_array(to_scipy(graph)), known), n_clusters)
    distance = cdist(rows, _means(rows, labels, n_clusters), "sqeuclidean")
    centres = _means(rows, np.where(has, classes, _names(distance, classes)[labels]), n_clusters)
    counts = np.bincount(classes[has], minlength=n_clusters)
    of_known = np.where(counts[:, None] > 0, _means(rows[has], classes[has], n_clusters), centres)
    judges = ~has | (counts[np.maximum(classes, 0)] > 1)
    starts = (centres, of_known) if has.any() else (centres,)
    ends = [_k_means(rows, start, known) for start in starts]
    return min(ends, key=lambda end: float(end[1][judges].sum()))[0]


def _names(distance: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The class (k,) that each cluster stands for: known samples are as near as can be to the clusters of their class.

    Parameters
    ----------
    distance : array (n, k)
        Squared distances of the samples to the centres of the clusters.
    """
    cost = np.zeros((distance.shape[1],) * 2)
    np.add.at(cost, classes[classes >= 0], distance[classes >= 0])
    named, clusters = linear_sum_assignment(cost)
    return np.asarray(named[np.argsort(clusters)])


def _with_ties(graph: sparse.csr_array, known: KnownGroups) -> sparse.csr_array:
    """The graph without edges between clusters that are known to be different, and with ties inside groups."""
    edges = sparse.coo_array(graph)
    keep = ~_parted(known, edges.row, edges.col)
    strength = TIES * float(np.median(np.asarray(graph.sum(axis=1))))
    rows, columns, values = [edges.row[keep]], [edges.col[keep]], [edges.data[keep]]
    order = np.argsort(known.groups, kind="stable")[np.count_nonzero(known.groups < 0) :]
    for members in np.split(order, np.flatnonzero(np.diff(known.groups[order])) + 1):
        if members.size > 1:  # a ring with chords: each member has few ties, however large the group is
            for step in {1, *(int(s) for s in np.geomspace(1, members.size // 2, 5) if s >= 1)}:
                there = np.roll(members, step)
                for a, b in ((members, there), (there, members)):
                    rows.append(a)
                    columns.append(b)
                    values.append(np.full(members.size, strength / 10))
    parts = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array(sparse.coo_array(parts, shape=graph.shape))


def _parted(known: KnownGroups, some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which samples are known to be in another cluster than the one beside them, (m,) booleans."""
    one, other, g = known.class_of[some], known.class_of[others], known.classes.size
    codes = np.sort(known.apart, axis=1) @ [g, 1]
    ends = np.sort(np.stack([known.groups[some], known.groups[others]]), axis=0)
    return ((one >= 0) & (other >= 0) & (one != other)) | ((ends[0] >= 0) & np.isin(g * ends[0] + ends[1], codes))


def _means(rows: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Means (k, r) of the rows of each cluster; zero where there are none."""
    sums = np.zeros((n_clusters, rows.shape[1]))
    np.add.at(sums, labels, rows)
    return np.asarray(sums / np.maximum(np.bincount(labels, minlength=n_clusters), 1)[:, None])


def _k_means(rows: np.ndarray, centres: np.ndarray, known: KnownGroups) -> tuple[np.ndarray, np.ndarray]:
    """Labels (n,) that agree with what is known, and the squared distances (n,) to the centres of these."""
    labels = np.full(len(rows), -1)
    for _ in range(MOST_STEPS):
        distance = cdist(rows, centres, "sqeuclidean")
        last, labels = labels, known.assigned(distance)
        if np.array_equal(last, labels):
            break
        is_used = np.bincount(labels, minlength=len(centres))[:, None] > 0
        centres = np.where(is_used, _means(rows, labels, len(centres)), centres)
    return labels, distance[np.arange(len(rows)), labels]
