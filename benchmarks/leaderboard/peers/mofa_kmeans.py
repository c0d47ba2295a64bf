"""MOFA+ (the package mofapy2), then k-means on its factors."""

from __future__ import annotations

import numpy as np

from leaderboard.scaling import unit_samples

NAME = "MOFA+ + k-means"
PACKAGES: tuple[str, ...] = ("mofapy2", "numpy", "scikit-learn")
ENVIRONMENT = ".venv-mofa"
ENTRIES = True
HOW = (
    "Samples of each view at unit norm (its guide asks to remove differences in size), without constant features; "
    "views at unit variance (`scale_views=True`), 10 factors (its default), `KMeans(k, n_init=10)` on the factors."
)


def labels(views: list[np.ndarray], k: int, seed: int) -> np.ndarray:
    from mofapy2.run.entry_point import entry_point
    from sklearn.cluster import KMeans

    model = entry_point()
    model.set_data_options(scale_views=True)
    varying = [X[:, np.nan_to_num(np.nanvar(X, axis=0)) > 0] for X in unit_samples(views)]
    model.set_data_matrix([[X] for X in varying], likelihoods=["gaussian"] * len(views))
    model.set_model_options()
    model.set_train_options(seed=seed + 1, quiet=True)  # it takes a seed of 0 for none
    model.build()
    model.run()
    return KMeans(k, n_init=10, random_state=seed).fit_predict(model.model.nodes["Z"].getExpectation())
