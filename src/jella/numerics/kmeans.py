"""k-means on the rows of an embedding."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from jella.numerics.arrays import (
    Array,
    at_least,
    beside,
    is_numpy,
    namespace,
    row_blocks,
    row_sqnorms,
    take_rows,
    target_bytes,
    to_numpy,
)

#: steps of k-means at most, and the share of the variance below which a move of its centres ends it, as in scikit-learn
MOST_STEPS, TOLERANCE = 300, 1e-4
#: at most this many rows are compared to choose among starts, but at least this many per cluster
COMPARED, PER_CLUSTER = 20_000, 100


def unit_rows(W: Array) -> Array:
    """Rows divided by their norms, in any array library; zero rows stay zero."""
    xp = namespace(W)
    norms = xp.linalg.vector_norm(W, axis=1, keepdims=True)
    return W / xp.where(norms > 0, norms, xp.ones_like(norms))


def kmeans(W: np.ndarray, n_clusters: int, n_init: int, random_state: Any) -> KMeans:
    """Fitted k-means of the rows of an embedding (n, r), the best of n_init starts.

    Of more than `COMPARED` rows, a part decides which start is the best, and it continues on all.
    """
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    n, most = len(W), max(COMPARED, PER_CLUSTER * n_clusters)
    with one_thread():
        if n <= most:
            return KMeans(n_clusters, n_init=n_init, random_state=random_state).fit(W)
        some = W[np.sort(np.random.default_rng(0).choice(n, most, replace=False))]
        best = KMeans(n_clusters, n_init=n_init, random_state=random_state).fit(some)
        return KMeans(n_clusters, init=best.cluster_centers_, n_init=1).fit(W)


def kmeans_labels(W: Array, n_clusters: int, n_init: int, random_state: Any) -> np.ndarray:
    """Labels (n,) of the rows of an embedding in any array library, as `kmeans` finds them.

    Where the rows are in another library than NumPy, only those that decide among starts come to the host.
    """
    n, most = W.shape[0], max(COMPARED, PER_CLUSTER * n_clusters)
    if is_numpy(W) or n <= most:
        return np.asarray(kmeans(to_numpy(W), n_clusters, n_init, random_state).labels_)
    some = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    best = kmeans(to_numpy(take_rows(W, some)), n_clusters, n_init, random_state)
    return continued_kmeans(W, best.cluster_centers_, MOST_STEPS)


def continued_kmeans(rows: Array, centres: np.ndarray, max_iter: int) -> np.ndarray:
    """Labels (n,) by k-means from given centres (k, r), as scikit-learn has it.

    Rows of another library stay where they are; if a cluster loses all of its rows, scikit-learn goes on.
    """
    if is_numpy(rows):
        return np.asarray(KMeans(len(centres), init=centres, n_init=1, max_iter=max_iter).fit(rows).labels_)
    xp, numbers, at = namespace(rows), beside(np.arange(len(centres)), rows), beside(centres, rows)
    enough = TOLERANCE * xp.mean(xp.var(rows, axis=0))
    last = _nearest(rows, at)
    for _ in range(max_iter):
        members = xp.astype(last[:, None] == numbers, rows.dtype)
        counts, old = xp.sum(members, axis=0), at
        at = (members.T @ rows) / at_least(counts, 1.0)[:, None]
        labels, moved = _nearest(rows, at), xp.sum((at - old) ** 2)
        # one look for all: whether a cluster is empty, labels are the same, or the centres hardly move
        state = to_numpy(xp.stack([xp.min(counts) == 0, xp.all(labels == last), moved <= enough]))
        if state[0]:
            return continued_kmeans(to_numpy(rows), to_numpy(old), max_iter)
        last = labels
        if state[1:].any():
            break
    return to_numpy(last).astype(np.intp)


def nearest_centres(rows: Array, centres: np.ndarray) -> np.ndarray:
    """The centre (n,) that is nearest to each row, in any array library."""
    at, blocks = beside(centres, rows), row_blocks(rows.shape[0], 8 * len(centres), target_bytes(rows))
    return np.concatenate([to_numpy(_nearest(rows[block, :], at)) for block in blocks]).astype(np.intp)


def _nearest(rows: Array, at: Array) -> Array:
    """The nearest of some centres (k, r) to each row (n, r), all where the rows lie."""
    return namespace(rows).argmin(row_sqnorms(at)[None, :] - 2.0 * (rows @ at.T), axis=1)


def one_thread() -> AbstractContextManager[Any]:
    """A block in which k-means, or t-SNE, uses one thread.

    Its threads wait for each other after every step, which takes a hundred times as long as the step where other work
    keeps a core busy; and the order in which they add up changes the last digits.
    """
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="openmp")
    return limited


@cache
def _controller() -> Any:
    """The libraries with threads; finding them takes longer than k-means of a thousand samples."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
