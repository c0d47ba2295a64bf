"""Whether samples are rare between neighbouring groups, and how many dimensions a cloud has."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from jella.graphs.gaps import is_crumb, pairs_with_edges
from jella.graphs.spectral import Graph

#: groups that each group is compared with, and how often samples are divided into halves for it
NEIGHBOURS, DIVISIONS = 2, 2
#: groups with fewer samples are left out: each half needs two
FEWEST = 4
#: a valley of fewer standard errors may be chance
SURE = 2.0
#: share of the variance that the dimensions of a cloud hold
SHARE = 0.9


def valley(W: np.ndarray, labels: np.ndarray, rng: np.random.Generator, within: np.ndarray | None = None) -> float:
    """How many times as many samples lie beside as between neighbouring groups of the rows of an embedding (n, r).

    A cloud with one mode can be cut into groups, but its samples are not rare at the cuts. So the samples of each
    group and of one of the two nearest groups are projected onto the line that divides both best. On the way from the
    median of one group to that of the other, the middle third is compared with the outer third that has fewer samples.
    The line comes from one half of the samples and projections from the other, so that noise makes no valley. Of all
    pairs, the median counts: one far group makes no valleys between the others.

    Clouds with one mode have about 1 to 1.7 times as many: samples near a cut may belong to a third group.

    Parameters
    ----------
    within : int array (n,), optional
        Larger groups: only pairs of which most samples lie in the same one are compared.
    """
    pairs = _neighbouring(W, labels)
    if within is not None:
        most = {int(c): int(np.bincount(within[labels == c]).argmax()) for c in np.unique(labels)}
        pairs = [(a, b) for a, b in pairs if most[a] == most[b]]
    beside, between = _counted(W, labels, pairs, rng)
    return float(np.median((beside + 1.0) / (between + 1.0))) if beside.size else 1.0


def least_valley(W: np.ndarray, labels: np.ndarray, graph: Graph, rng: np.random.Generator) -> float:
    """As `valley`, of the two groups that are least apart; 1 where it may be chance, inf if all are far apart.

    Groups without any edge between them in a graph of `surely_joining` neighbours are far apart, whatever their shape.
    For others it may be chance if the difference is below two standard errors, or if a group has fewer than
    four samples.
    """
    sizes = np.bincount(labels)
    if sizes.size < 2 or sizes.min() < FEWEST or is_crumb(sizes):
        return 1.0
    least = np.inf
    for pair in pairs_with_edges(graph, labels):
        beside, between = (float(one[0]) for one in _counted(W, labels, [pair], rng))
        if beside - between < SURE * (beside + between + 1.0) ** 0.5:
            return 1.0
        least = min(least, (beside + 1.0) / (between + 1.0))
    return least


def _counted(
    W: np.ndarray, labels: np.ndarray, pairs: list[tuple[int, int]], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Samples beside and between groups, (p,) each, for pairs of groups."""
    thirds = np.array([_thirds(W[labels == a], W[labels == b], rng) for a, b in pairs]).reshape(-1, 3)
    return thirds[:, [0, 2]].min(axis=1), thirds[:, 1]


def _neighbouring(W: np.ndarray, labels: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of neighbouring groups of some samples."""
    groups = np.flatnonzero(np.bincount(labels) >= FEWEST)
    if groups.size < 2:
        return []
    pairs = _neighbours(np.stack([W[labels == c].mean(axis=0) for c in groups]))
    return [(int(groups[a]), int(groups[b])) for a, b in pairs]


def _neighbours(centres: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of each centre and the nearest others that no third centre lies between, in the ball around both."""
    square = cdist(centres, centres, "sqeuclidean")
    apart = square.copy()
    for a, row in enumerate(square):
        between = (row[:, None] + square).min(axis=0, where=~np.eye(len(row), dtype=bool), initial=np.inf)
        apart[a, between < row] = np.inf
    np.fill_diagonal(apart, np.inf)
    near = apart.argsort(axis=1, kind="stable")[:, :NEIGHBOURS]
    return sorted({(min(a, b), max(a, b)) for a, row in enumerate(near.tolist()) for b in row if apart[a, b] < np.inf})


def _thirds(one: np.ndarray, other: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Samples (3,) in the thirds of the way from one group to another, the mean of several divisions into halves."""
    total = np.zeros(3)
    for _ in range(DIVISIONS):
        first, second = (rng.permutation(len(rows)) % 2 == 0 for rows in (one, other))
        for own, its in ((first, second), (~first, ~second)):
            line = _line(one[own], other[its])
            start, end = one[~own] @ line, other[~its] @ line
            low, high = np.median(start), np.median(end)
            if high > low:
                total += np.histogram(np.concatenate([start, end]), np.linspace(low, high, 4))[0]
            else:  # nothing lies between groups that are not apart
                total[1] += len(start) + len(end)
    return np.asarray(total / DIVISIONS)


def _line(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The direction (r,) that divides two groups best, if both have the same spread: Fisher's discriminant.

    Groups may be long and lie side by side: the line through their centres says little. The more components per
    sample, the nearer is the spread to one that is the same in all directions, so that it can be trusted.
    """
    inside = np.concatenate([one - one.mean(axis=0), other - other.mean(axis=0)])
    (m, r), apart = inside.shape, other.mean(axis=0) - one.mean(axis=0)
    spread, share = inside.T @ inside / m, min(1.0, r / m)
    level = np.trace(spread) / r
    if share == 1.0 or level == 0.0:
        return np.asarray(apart)
    return np.linalg.solve((1.0 - share) * spread + share * level * np.eye(r), apart)


def dimension_of(W: np.ndarray) -> int:
    """The number of principal axes that hold nine tenths of the variance of the rows of an embedding (n, r).

    >>> dimension_of(np.array([[1.0, 1.0], [2.0, 2.0]])), dimension_of(np.full((3, 2), 0.1))
    (1, 0)
    """
    power = np.linalg.svd(W - W.mean(axis=0), compute_uv=False) ** 2
    if not power.sum() > np.finfo(np.float64).eps * np.sum(W**2):
        return 0
    return int(np.searchsorted(np.cumsum(power), SHARE * power.sum())) + 1
