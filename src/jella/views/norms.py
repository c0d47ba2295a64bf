"""Norms of samples in views: estimated from what was observed, and predicted for views that a sample lacks."""

from __future__ import annotations

import numpy as np

from jella.numerics.arrays import norms_along, to_numpy
from jella.views.model import View


def view_norms(view: View) -> np.ndarray:
    """Estimated norm of each sample, (n,), as if all its entries were observed; zero where none is."""
    count = np.maximum(to_numpy(view.count_by_sample()), 1)
    return norms_along(view.X, axis=1) * np.sqrt(view.n_features / count)


def predict_log_norms(known: np.ndarray, training: np.ndarray | None) -> np.ndarray:
    """Log norms, where unknown ones are predicted from other views of the sample, or are the median of the view.

    The prediction is by least squares, from samples that have the same views and the missing one.

    Parameters
    ----------
    known : (n, V), not finite where unknown
    training : (m, V), not finite where unknown; the samples to learn from, by default `known`
    """
    training = known if training is None else training
    finite, learned = np.isfinite(known), np.isfinite(training)
    filled = known.copy()
    for v in range(known.shape[1]):
        todo = ~finite[:, v]
        seen = training[learned[:, v], v]
        filled[todo, v] = np.median(seen) if seen.size else 0.0
        for pattern in np.unique(finite[todo], axis=0):
            rows = todo & (finite == pattern).all(axis=1)
            usable = learned[:, v] & learned[:, pattern].all(axis=1)
            if pattern.any() and usable.sum() >= 5 * (pattern.sum() + 1):
                filled[rows, v] = _regress(training[usable][:, pattern], training[usable, v], known[rows][:, pattern])
    return filled


def _regress(inputs: np.ndarray, outputs: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Least squares with intercept, limited to the range of the given outputs."""
    mean, target = inputs.mean(axis=0), outputs.mean()
    slope = np.linalg.lstsq(inputs - mean, outputs - target, rcond=1e-8)[0]
    return np.clip((queries - mean) @ slope + target, outputs.min(), outputs.max())
