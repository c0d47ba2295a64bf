"""Clouds of the same shape as an embedding, but without groups: what clusters are compared with."""

from __future__ import annotations

import numpy as np
from sklearn.isotonic import isotonic_regression

#: quantiles at which the mode of a score is tried
MODES = np.linspace(0.0, 1.0, 21)


def clouds_like(W: np.ndarray, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Clouds (n, r) with the mean and the covariance of an embedding, and the shapes of its principal scores.

    Scores are made unimodal and shuffled, each principal axis by itself. So skewed and heavy-tailed axes stay as they
    are. Groups do not: few of them show as several modes of an axis, many need several axes at once.
    """
    centre = W.mean(axis=0)
    _, _, axes = np.linalg.svd(W - centre, full_matrices=False)
    scores = (W - centre) @ axes.T
    smooth = np.stack([with_one_mode(one) for one in scores.T], axis=1)
    return [np.asarray(centre + rng.permuted(smooth, axis=0) @ axes) for _ in range(count)]


def with_one_mode(values: np.ndarray) -> np.ndarray:
    """Values (n,), ascending, of the unimodal distribution nearest to these values; with their mean and variance.

    Its density rises up to the mode and falls after it: monotone regressions of the density of the values.
    """
    places, counts = np.unique(values, return_counts=True)
    if places.size < 3 or np.ptp(values) <= 1e-12 * np.abs(values).max():
        return np.sort(values)
    widths, steps = np.diff(places), (counts[:-1] + counts[1:]) / (2.0 * values.size)
    steps[0], steps[-1] = steps[0] + counts[0] / (2.0 * values.size), steps[-1] + counts[-1] / (2.0 * values.size)
    exact, best, least = np.cumsum(steps), None, np.inf
    for mode in np.unique((MODES * widths.size).astype(int)):
        density = np.concatenate(
            [
                isotonic_regression((steps / widths)[part], sample_weight=widths[part], increasing=rises)
                for part, rises in ((slice(mode), True), (slice(mode, None), False))
                if widths[part].size
            ]
        )
        reached = np.cumsum(density * widths)
        distance = np.abs(reached - exact).max()
        if distance < least:
            best, least = reached, distance
    assert best is not None
    middle = (np.arange(values.size) + 0.5) / values.size
    found = np.interp(middle, np.append(0.0, best) / best[-1], places)
    return np.asarray(values.mean() + (found - found.mean()) * (values.std() / max(found.std(), 1e-300)))
