"""k-means on the rows of an embedding."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from jella.numerics.arrays import Array, namespace


def unit_rows(W: Array) -> Array:
    """Rows divided by their norms, in any array library; zero rows stay zero."""
    xp = namespace(W)
    norms = xp.linalg.vector_norm(W, axis=1, keepdims=True)
    return W / xp.where(norms > 0, norms, xp.ones_like(norms))


def kmeans(W: np.ndarray, n_clusters: int, n_init: int, random_state: Any) -> KMeans:
    """Fitted k-means of the rows of an embedding (n, r), the best of n_init starts."""
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    with one_thread():
        return KMeans(n_clusters, n_init=n_init, random_state=random_state).fit(W)


def one_thread() -> AbstractContextManager[Any]:
    """A block in which k-means uses one thread.

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
