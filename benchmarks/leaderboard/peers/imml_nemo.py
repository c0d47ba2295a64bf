"""NEMO of the package iMML, its engine in Python."""

from __future__ import annotations

import numpy as np

from leaderboard.scaling import unit_samples

NAME = "iMML NEMO"
PACKAGES: tuple[str, ...] = ("imml", "numpy", "scikit-learn")
ENVIRONMENT = ".venv-imml"
ENTRIES = False
HOW = "Samples of each view at unit norm, `imml.cluster.NEMO(n_clusters=k, random_state=seed)`."


def labels(views: list[np.ndarray], k: int, seed: int) -> np.ndarray:
    from imml.cluster import NEMO

    return NEMO(n_clusters=k, random_state=seed).fit_predict(unit_samples(views))
