"""KNNImputer and SpectralClustering of scikit-learn, on samples at unit norm."""

from __future__ import annotations

import numpy as np

from leaderboard.scaling import side_by_side, unit_samples

NAME = "KNNImputer + SpectralClustering"
PACKAGES: tuple[str, ...] = ("numpy", "scikit-learn")
ENVIRONMENT = None
ENTRIES = True
HOW = (
    "Samples of each view at unit norm, views side by side, `KNNImputer()`, "
    '`SpectralClustering(k, affinity="nearest_neighbors")`.'
)


def labels(views: list[np.ndarray], k: int, seed: int) -> np.ndarray:
    return imputed_spectral(side_by_side(unit_samples(views)), k, seed)


def imputed_spectral(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    from sklearn.cluster import SpectralClustering
    from sklearn.impute import KNNImputer

    full = KNNImputer().fit_transform(X)
    return SpectralClustering(k, affinity="nearest_neighbors", random_state=seed).fit_predict(full)
