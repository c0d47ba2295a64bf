"""From an embedding or an affinity to clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.cluster import KMeans


def unit_rows(W: np.ndarray) -> np.ndarray:
    """Rows at unit norm; zero rows stay zero."""
    norms = np.linalg.norm(W, axis=1, keepdims=True)
    return W / np.where(norms > 0, norms, 1.0)


def kmeans(W: np.ndarray, n_clusters: int, n_init: int, random_state: Any) -> KMeans:
    """k-means on the rows of an embedding (n, r), the best of n_init starts."""
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    return KMeans(n_clusters, n_init=n_init, random_state=random_state).fit(W)


def spectral(affinity: np.ndarray, n_clusters: int, n_init: int, random_state: Any) -> np.ndarray:
    """Labels (n,) of a dense affinity: k-means on row-normalised eigenvectors of its normalised Laplacian."""
    n = affinity.shape[0]
    degree = affinity.sum(axis=1)
    root = 1.0 / np.sqrt(np.where(degree > 0, degree, 1.0))
    _, vectors = eigh(affinity * root[:, None] * root, subset_by_index=[n - n_clusters, n - 1])
    return np.asarray(kmeans(unit_rows(vectors), n_clusters, n_init, random_state).labels_)
