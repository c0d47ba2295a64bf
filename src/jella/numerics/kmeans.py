"""k-means on the rows of an embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans


def unit_rows(W: np.ndarray) -> np.ndarray:
    """Rows divided by their norms; zero rows stay zero."""
    norms = np.linalg.norm(W, axis=1, keepdims=True)
    return W / np.where(norms > 0, norms, 1.0)


def kmeans(W: np.ndarray, n_clusters: int, n_init: int, random_state: Any) -> KMeans:
    """Fitted k-means of the rows of an embedding (n, r), the best of n_init starts."""
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    return KMeans(n_clusters, n_init=n_init, random_state=random_state).fit(W)
