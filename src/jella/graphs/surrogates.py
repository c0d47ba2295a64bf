"""Clouds of the same shape as an embedding, but without groups: what clusters are compared with."""

from __future__ import annotations

import numpy as np


def cloud_like(W: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A cloud (n, r) with the mean and the covariance of an embedding, and the marginals of its principal scores.

    Scores are shuffled, each principal axis by itself. So skewed and heavy-tailed axes stay as they are, and groups,
    which need several axes at once, do not.
    """
    centre = W.mean(axis=0)
    _, _, axes = np.linalg.svd(W - centre, full_matrices=False)
    scores = (W - centre) @ axes.T
    return np.asarray(centre + rng.permuted(scores, axis=0) @ axes)
