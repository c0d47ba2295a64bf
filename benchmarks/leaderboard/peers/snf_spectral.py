"""Similarity network fusion (the package snfpy) of completed views, then spectral clustering of the fused network."""

from __future__ import annotations

import numpy as np

from leaderboard.scaling import unit_samples

NAME = "KNNImputer + SNF"
PACKAGES: tuple[str, ...] = ("snfpy", "numpy", "scikit-learn")
ENVIRONMENT = ".venv-mofa"
ENTRIES = True
HOW = (
    "snfpy refuses missing values, so samples of each view at unit norm and `KNNImputer()` of all views first; then "
    "`snf.make_affinity` (it standardises the features), `snf.snf`, `sklearn.cluster.spectral_clustering`."
)


def labels(views: list[np.ndarray], k: int, seed: int) -> np.ndarray:
    import snf
    from sklearn.cluster import spectral_clustering
    from sklearn.impute import KNNImputer

    full = KNNImputer(keep_empty_features=True).fit_transform(np.hstack(unit_samples(views)))
    completed = np.split(full, np.cumsum([X.shape[1] for X in views])[:-1], axis=1)
    return spectral_clustering(snf.snf(snf.make_affinity(completed)), n_clusters=k, random_state=seed)
