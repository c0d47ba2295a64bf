"""How many groups a graph has: partitions into several numbers of groups, and what supports each number."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import qr, svd
from sklearn.exceptions import ConvergenceWarning

from jella.graphs.spectral import Graph, leading_eigenvectors, modularity
from jella.numerics.arrays import Array, beside, is_numpy, namespace, row_sqnorms, take_rows, taken, to_numpy
from jella.numerics.kmeans import continued_kmeans, unit_rows
from jella.numerics.words import counted

#: a number of groups is in question if its modularity is at least this share of the best
NEAR_BEST = 0.95
#: or if its modularity above that of clouds without groups is at least this share of the best
NEAR_BEST_ABOVE = 0.9
#: groups are clear from this clarity on; in standard deviations of clouds without groups
CLEAR = 3.0
#: a stability higher by this much counts like a modularity higher by one standard deviation
STABILITY_UNIT = 0.2
#: and so do samples that are rarer between clusters than beside them by this share
RARE_UNIT = 1 / 3
#: a number is supported if its modularity is this many standard deviations above that of clouds
ABOVE = 2.0
#: standard deviations of a few clouds are uncertain; they count as at least this
LEAST_SPREAD = 0.01
#: clusters have valleys between them from this many times as many samples beside as between them on
VALLEY = 2.0
#: and more clusters than dimensions from this many times the same figure of clouds without groups on
VALLEY_OF_CLOUDS = 1.5
#: clusters with valleys all around need no modularity above that of clouds if they are at least this stable, and the
#: least of the valleys is at least this deep
STEADY, APART = 0.9, 1.5
#: steps of k-means on eigenvectors, at most
STEPS = 50
#: a number is supported if its stability is at most this much below that of the chosen one
NEARLY_AS_STABLE = 0.1


@dataclass(frozen=True, repr=False, eq=False)
class ClusterPath:
    """What supports each number of clusters.

    The number with the widest gap is chosen among those with nearly the best modularity. With evidence from refits, it
    is the number whose clusters are found again most surely, among those with nearly the best modularity, as it is or
    above that of clouds without groups. If its clusters are not clearer than those of clouds, there are no clear
    clusters, and one is chosen. The same holds if the samples have few dimensions and are not rare between clusters: a
    cloud of few dimensions, like a curve, can be cut into many clear parts. But if some number divides the samples into
    clusters that are found again surely and have a valley between any two neighbours, these are clear.

    Attributes
    ----------
    n_clusters : int
        The number chosen; 1 if there are no clear clusters.
    best : int
        The number with the best support, clear or not.
    numbers : int array (m,)
        The numbers that were compared: two and more.
    modularity : array (m,)
        How clear the partition into this many clusters is. It is computed for some numbers and interpolated between.
    gap : array (m,)
        Distance to the next eigenvalue of the graph's Laplacian, divided by the square root of that eigenvalue.
    expected, spread : arrays (m,)
        Mean and standard deviation of the modularity of clouds without groups; NaN where none was computed.
    stability : array (m,)
        Mean adjusted Rand index between refits of the model on parts of the samples; NaN where none was computed.
    expected_stability : array (m,)
        The same for clouds without groups; nothing is fitted again for them, so they agree rather too often.
    partitions : int array (s, n)
        Labels of the samples for each of the `supported` numbers, in the order of the samples; -1 for samples that the
        evidence was not taken from.
    valley : array (m,)
        How many times as many samples lie beside as between neighbouring clusters, for the best number; NaN where it
        was not computed, and without numbers if nothing was.
    apart : array (m,)
        The same for the two neighbouring clusters that are least apart, for numbers that were looked at because the
        others were not clear; 1 where it may be chance, inf where samples have no neighbours in other clusters.
    cloud_valley : float
        The valley of clouds without groups, cut into the best number; 0 if not computed.
    dealt_valley : float
        The least valley of permuted data cut into the best number; 1 if not computed.
    dimension : int
        The number of principal axes that hold nine tenths of the variance of the embedding; 0 if all samples are equal,
        and if not computed.
    """

    n_clusters: int
    best: int
    numbers: np.ndarray
    modularity: np.ndarray
    gap: np.ndarray
    expected: np.ndarray
    spread: np.ndarray
    stability: np.ndarray
    expected_stability: np.ndarray
    partitions: np.ndarray = field(default_factory=lambda: np.empty((0, 0), dtype=np.intp))
    valley: np.ndarray = field(default_factory=lambda: np.empty(0))
    apart: np.ndarray = field(default_factory=lambda: np.empty(0))
    cloud_valley: float = 0.0
    dealt_valley: float = 1.0
    dimension: int = 0

    @property
    def excess(self) -> np.ndarray:
        """Modularity above that of clouds without groups, in their standard deviations, (m,)."""
        return (self.modularity - self.expected) / np.maximum(self.spread, LEAST_SPREAD)

    @property
    def in_question(self) -> np.ndarray:
        """Which numbers are in question, (m,) booleans: with nearly the best modularity, or the best above clouds.

        Modularity favours many groups: a cloud of few dimensions is cut into several at little cost, and so is each of
        two groups. How far it is above that of clouds, with the same number of groups, does not.
        """
        above = self.modularity - self.expected
        known = np.isfinite(above)
        nearly = self.modularity >= nearly_best(self.modularity)
        if not known.any():
            return nearly
        return known & (nearly | (above >= nearly_best(above[known], NEAR_BEST_ABOVE)))

    @property
    def is_known(self) -> bool:
        """Whether the clusters were compared with clouds without groups."""
        return bool(np.isfinite(self.expected).any())

    @property
    def is_clear(self) -> bool:
        """Whether clusters are clear, or were not compared with clouds without groups."""
        return not self.is_known or (self.clarity >= CLEAR and not self.is_one_cloud) or self.is_apart

    @property
    def is_apart(self) -> bool:
        """Whether the clusters of the best number were found to have valleys between them, all around."""
        return self.apart.size > 0 and bool((self.apart[self.numbers == self.best] >= APART).any())

    @property
    def is_one_cloud(self) -> bool:
        """Whether there are more clusters than dimensions of the samples, without valleys.

        Clusters that lie in as many directions need no valley between them: they may touch. More clusters than that
        share directions, and without a valley they may as well be parts of one cloud. A valley is asked for if all
        numbers in question are above the dimensions plus one; and one deeper than that of clouds, which are cut where
        they happen to be thin, if the best number is above the dimensions.
        """
        if self.own_valley is None:
            return False
        least = int(self.numbers[self.in_question].min())
        if least - 1 > self.dimension and self.own_valley < VALLEY:
            return True
        return self.best > self.dimension and self.own_valley < VALLEY_OF_CLOUDS * self.cloud_valley

    @property
    def own_valley(self) -> float | None:
        """The valley of the best number; None if it was not computed."""
        own = self.valley[self.numbers == self.best] if self.valley.size else np.empty(0)
        return float(own[0]) if np.isfinite(own).any() else None

    @property
    def clarity(self) -> float:
        """How much clearer and more stable clusters are than those of clouds without groups; NaN if not compared.

        The mean excess over the numbers in question, plus the stability of the best number above that of clouds, in
        units of 0.2, plus the share by which samples are rarer between its clusters than beside them, in thirds. One
        number alone may have a high excess by chance. A cloud of a shape that the others do not have, like a bent one,
        has one too, but its samples are not rare at the cuts.
        """
        if not self.is_known:
            return float("nan")
        at = self.numbers == self.best
        steady = np.nan_to_num((self.stability - self.expected_stability)[at]).sum() / STABILITY_UNIT
        return float(np.nanmean(self.excess[self.in_question]) + steady + self.rarity / RARE_UNIT)

    @property
    def rarity(self) -> float:
        """The share by which samples are rarer between the best clusters than beside them; 0 if not computed.

        It is 0 if they are not rarer than between clusters of permuted data, which keep the gaps that single features
        have: amounts with many zeros fall into those with and without.
        """
        return 1.0 - min(max(self.dealt_valley, 1.0) / max(self.own_valley or 1.0, 1.0), 1.0)

    @property
    def supported(self) -> np.ndarray:
        """The numbers that the data support: clearer than clouds without groups, and nearly as stable as the best."""
        if not self.is_known:
            return np.array([self.n_clusters])
        if not self.is_clear:
            return np.empty(0, dtype=np.intp)
        least = self.stability[self.numbers == self.best] - NEARLY_AS_STABLE
        also = self.in_question & (self.excess >= ABOVE) & (self.stability >= least)
        return self.numbers[(self.numbers == self.best) | also]

    def hierarchy(self) -> list[tuple[int, int, float]]:
        """How the supported numbers nest: for neighbouring numbers (fewer, more, share of the samples that nest).

        A sample nests if it lies in the coarse cluster that most of its fine cluster lies in. With a share of 1, the
        finer clusters only divide the coarser ones.
        """
        return [
            (int(few.max()) + 1, int(more.max()) + 1, nested_share(few[few >= 0], more[few >= 0]))
            for few, more in zip(self.partitions, self.partitions[1:], strict=False)
        ]

    def words(self) -> str:
        """One sentence on what the data support."""
        if not self.is_known:
            number = counted(self.n_clusters, "cluster")
            return f"{number}, by the graph alone; not compared with data without clusters"
        at = self.numbers == self.best
        figures = f"{self.modularity[at][0]:.2f}, {self.expected[at][0]:.2f} expected without clusters"
        if not self.is_clear and self.valley.size and self.dimension == 0:
            return "no clear clusters: all samples are equal"
        if not self.is_clear and self.is_one_cloud and self.clarity >= CLEAR:
            axes = "dimension" if self.dimension == 1 else "dimensions"
            return (
                f"no clear clusters: the samples are one cloud of {self.dimension} {axes}, {self.best} clusters have "
                f"no gaps between them ({self.own_valley:.1f} times as many samples beside as between them)"
            )
        if not self.is_clear:
            what = f"the best number, {self.best}, has" if self.numbers.size > 1 else f"{self.best} clusters have"
            return f"no clear clusters: {what} modularity {figures}"
        own, chance = self.stability[at][0], self.expected_stability[at][0]
        stable = "" if np.isnan([own, chance]).any() else f"; stability {own:.2f}, {chance:.2f} expected"
        numbers = self.supported
        also = f" ({numbers.min()} to {numbers.max()} are supported)" if numbers.size > 1 else ""
        if self.is_apart:
            least = float(np.nanmax(self.apart))
            often = f"at least {least:.1f} times as many samples beside as between them"
            figures += f"; {often if np.isfinite(least) else 'far apart, no sample has neighbours in another one'}"
        return f"clear clusters: {self.best}{also}; modularity {figures}{stable}"

    def __repr__(self) -> str:
        nearly = self.in_question | (self.numbers == self.best)
        rows = [
            f"  {k:4d}  modularity {m:.3f}"
            + (f" ({e:.3f} without groups)" if np.isfinite(e) else "")
            + (f"  stability {s:.2f}" if np.isfinite(s) else "")
            + (f" ({t:.2f} without groups)" if np.isfinite(t) else "")
            + f"  gap {g:.3f}"
            + ("  <- best" if k == self.best else "")
            for k, m, e, s, t, g, keep in zip(
                self.numbers,
                self.modularity,
                self.expected,
                self.stability,
                self.expected_stability,
                self.gap,
                nearly,
                strict=True,
            )
            if keep and (np.isfinite(e) or not self.is_known)
        ]
        return f"ClusterPath: {self.words()}; in question:\n" + "\n".join(rows)


def choose_n_clusters(graph: Graph, largest: int | None = None) -> ClusterPath:
    """The number of groups of a graph: of the numbers with nearly the best modularity, the one with the widest gap.

    Modularity alone is flat around its best value. The gap alone is often widest at two or three groups, or at
    hundreds.

    Parameters
    ----------
    largest : int, optional
        The largest number that is considered; by default a quarter of the samples, and at most 150.
    """
    n = graph.shape[0]
    most = max(min(n // 4, 150) if largest is None else min(largest, n - 1), 1)
    ladder = number_ladder(most)
    found = partitions_of(graph, ladder, most)
    distance = np.maximum(1.0 - found.values, 0.0)
    gaps = np.append(np.diff(distance) / np.sqrt(np.maximum(distance[1:], 1e-12)), 0.0)
    numbers = np.arange(ladder[0], most + 1)
    clear = np.interp(numbers, ladder, [modularity(graph, found.labels[k]) for k in ladder])
    width = gaps[numbers - 1]
    chosen = int(numbers[np.argmax(np.where(clear >= nearly_best(clear), width, -np.inf))])
    unknown = np.full(numbers.size, np.nan)
    return ClusterPath(chosen, chosen, numbers, clear, width, unknown, unknown, unknown, unknown)


@dataclass(frozen=True, eq=False)
class Partitions:
    """Labels (n,) for each number of groups, and the leading eigenvalues of the graph, descending."""

    labels: dict[int, np.ndarray]
    values: np.ndarray


def partitions_of(graph: Graph, numbers: Any, most: int | None = None) -> Partitions:
    """Partitions of a graph into these numbers of groups, from one set of eigenvectors; no random numbers are used."""
    n = graph.shape[0]
    values, vectors = leading_eigenvectors(graph, min((max(numbers) if most is None else most) + 1, n))
    return Partitions({int(k): _cut(vectors[:, :k]) for k in numbers}, values)


def nearly_best(values: np.ndarray, share: float | None = None) -> float:
    """The lowest value that counts as nearly the best: this share of it, or `NEAR_BEST`; the best may be negative."""
    best = float(np.max(values))
    return best - (1.0 - (NEAR_BEST if share is None else share)) * abs(best)


def number_ladder(most: int) -> list[int]:
    """Two to twelve, then steps of about an eighth."""
    numbers = list(range(min(2, most), min(most, 12) + 1))
    while numbers[-1] < most:
        numbers.append(min(most, numbers[-1] + max(1, numbers[-1] // 8)))
    return numbers


def nested_share(coarse: np.ndarray, fine: np.ndarray) -> float:
    """The share of samples that lie in the coarse cluster that most of their fine cluster lies in.

    >>> nested_share(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
    0.75
    """
    counts = np.zeros((int(fine.max()) + 1, int(coarse.max()) + 1))
    np.add.at(counts, (fine, coarse), 1.0)
    return float(counts.max(axis=1).sum() / fine.size)


def _cut(vectors: Array) -> np.ndarray:
    """Labels (n,) from k eigenvectors: k-means on rows at unit norm, started from the pivots of a QR decomposition.

    The pivots are rows that point in different directions; each row first joins the one that it is rotated to.
    """
    xp, (n, k) = namespace(vectors), vectors.shape
    if k == 1:
        return np.zeros(n, dtype=np.intp)
    pivots = _pivots(vectors)
    left, _, right = svd(to_numpy(take_rows(vectors, pivots)).T)
    first = xp.argmax(xp.abs(vectors @ beside(left @ right, vectors)), axis=1)
    rows = unit_rows(vectors)
    own = to_numpy(take_rows(rows, pivots))
    counts, centres = (to_numpy(one) for one in _counts_and_sums(first, rows))
    centres = np.where(counts > 0, centres / np.maximum(counts, 1), own)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # there may be fewer different rows than groups
        return continued_kmeans(rows, centres, STEPS).astype(np.intp, copy=False)


def _counts_and_sums(labels: Array, rows: Array) -> tuple[Array, Array]:
    """How many of the rows (n, k) have each of k labels, (k, 1), and their sums (k, k)."""
    k = rows.shape[1]
    if is_numpy(rows):
        sums = np.zeros((k, k))
        np.add.at(sums, labels, rows)
        return np.bincount(labels, minlength=k)[:, None], sums
    xp = namespace(rows)
    members = xp.astype(labels[:, None] == beside(np.arange(k), rows), rows.dtype)
    return xp.sum(members, axis=0)[:, None], members.T @ rows


def _pivots(vectors: Array) -> np.ndarray:
    """The k rows (n, k) of eigenvectors that a QR decomposition with pivoting takes first: each the farthest from the
    space of those before it.
    """
    if is_numpy(vectors):
        return np.asarray(qr(vectors.T, mode="economic", pivoting=True)[2][: vectors.shape[1]])
    xp, left, found = namespace(vectors), vectors, list[Array]()
    for _ in range(vectors.shape[1]):
        found.append(xp.argmax(row_sqnorms(left), keepdims=True))
        row = unit_rows(taken(left, found[-1]))
        left = left - (left @ row.T) @ row
    return to_numpy(xp.concat(found))
