"""KNNImputer and SpectralClustering of scikit-learn, on standardised features."""

from __future__ import annotations

import numpy as np

from leaderboard.peers.knn_spectral import imputed_spectral
from leaderboard.scaling import side_by_side, standardised

NAME = "KNNImputer + SpectralClustering (standardised)"
PACKAGES: tuple[str, ...] = ("numpy", "scikit-learn")
ENVIRONMENT = None
ENTRIES = True
HOW = "The same with standardised features in place of samples at unit norm."


def labels(views: list[np.ndarray], k: int, seed: int) -> np.ndarray:
    return imputed_spectral(side_by_side(standardised(views)), k, seed)
