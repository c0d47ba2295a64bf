"""k-means on the rows of an embedding."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from jella.numerics.arrays import Array, namespace

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
