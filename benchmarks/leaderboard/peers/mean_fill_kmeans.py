"""Missing values become the mean of their feature; then k-means."""

from __future__ import annotations

import numpy as np

from leaderboard.scaling import side_by_side, unit_samples

NAME = "mean-fill + k-means"
PACKAGES: tuple[str, ...] = ("numpy", "scikit-learn")
ENVIRONMENT = None
ENTRIES = True
HOW = "Samples of each view at unit norm, views side by side, mean of the feature, `KMeans(k, n_init=10)`."


def labels(views: list[np.ndarray], k: int, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    X = side_by_side(unit_samples(views))
    return KMeans(k, n_init=10, random_state=seed).fit_predict(np.where(np.isnan(X), np.nanmean(X, axis=0), X))
