"""PVC of jella."""

from __future__ import annotations

import numpy as np

NAME = "jella PVC"
PACKAGES: tuple[str, ...] = ("jella", "numpy", "scipy", "scikit-learn")
ENVIRONMENT = None
ENTRIES = True
HOW = "`jella.PVC(n_clusters=k, random_state=seed)` on the data as they are."


def labels(views: list[np.ndarray], k: int, seed: int) -> np.ndarray:
    import jella

    return jella.PVC(n_clusters=k, random_state=seed).fit(views).labels_
