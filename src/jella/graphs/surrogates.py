"""Clouds of the same shape as an embedding, but without groups: what clusters are compared with."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

#: shares of values below the quantiles that skewness and tails are read from
BELOW = np.array([0.02, 0.05, 0.1, 0.25])
#: largest skewness and heaviness of tails
MOST_SKEW, MOST_TAIL = 1.5, 0.5


def clouds_like(
    W: np.ndarray, count: int, rng: np.random.Generator, labels: np.ndarray | None = None
) -> list[np.ndarray]:
    """Clouds (n, r) with the mean and the variances of an embedding along its principal axes, each with one mode.

    Scores on each principal axis are drawn by themselves, as skewed and as heavy-tailed as those of the embedding:
    Tukey's g-and-h distribution, which has one mode. So a skewed cloud is compared with skewed clouds, and groups, of
    which the scores on an axis may have several modes, are not kept.

    Parameters
    ----------
    labels : int array (n,), optional
        Groups that are kept: each is replaced by a cloud of its own.
    """
    if labels is not None:
        drawn = np.empty((count, *W.shape))
        for group in np.unique(labels):
            drawn[:, labels == group] = clouds_like(W[labels == group], count, rng)
        return list(drawn)
    centre = W.mean(axis=0)
    _, _, axes = np.linalg.svd(W - centre, full_matrices=False)
    scores = (W - centre) @ axes.T
    normal = rng.normal(size=(count, *scores.shape))
    bent = [np.stack([with_one_mode(*pair) for pair in zip(scores.T, one.T, strict=True)], axis=1) for one in normal]
    return [np.asarray(centre + one @ axes) for one in bent]


def with_one_mode(values: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Normal values made as skewed and heavy-tailed as others, with their mean and standard deviation."""
    below = ndtri(BELOW)
    middle = np.median(values)
    upper = np.quantile(values, 1.0 - BELOW) - middle
    lower = middle - np.quantile(values, BELOW)
    spread = float(values.std())
    if spread == 0.0 or upper.min() <= 0.0 or lower.min() <= 0.0:
        return np.full(values.size, values.mean()) + spread * normal
    g = float(np.clip(np.mean(np.log(upper / lower) / -below), -MOST_SKEW, MOST_SKEW))
    width = -2.0 * below if abs(g) < 1e-6 else (np.exp(-g * below) - np.exp(g * below)) / g
    h = float(np.clip(np.polyfit(0.5 * below**2, np.log((upper + lower) / width), 1)[0], 0.0, MOST_TAIL))
    bent = (normal if abs(g) < 1e-6 else np.expm1(g * normal) / g) * np.exp(0.5 * h * normal**2)
    return np.asarray(values.mean() + (bent - bent.mean()) * (spread / bent.std()))
