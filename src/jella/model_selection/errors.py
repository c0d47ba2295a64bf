"""Errors of completed views on hidden values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jella.numerics.arrays import dense_rows, to_numpy
from jella.views import Hidden, Schema, View, Views, read_views

SCALES = ("standardize", "none")


def units_of(views: Views, scale: str) -> list[np.ndarray]:
    """The unit of each feature, (d,) or (1,) per view; 0 for a constant feature."""
    if scale not in SCALES:
        raise ValueError(f"expected scale to be one of {SCALES}, got {scale!r}; pass one of these names")
    return [np.ones(1) if scale == "none" else _spread(view) for view in views]


def squared_errors(
    views: Views, estimates: Views, hidden: Hidden, units: Sequence[np.ndarray]
) -> list[tuple[float, int]]:
    """Sum of the squared errors on the hidden values, and their number, for each view.

    Parameters
    ----------
    views : Views
        The data.
    estimates : Views
        The same samples and features, with an estimate of each hidden value.
    hidden : Hidden
    units : as `units_of` returns them
    """
    order = np.arange(views.n_samples)
    if views.sample_names is not None:
        order = estimates.sample_names.get_indexer(views.sample_names)
    return [_squared_error(views[v], estimates[v], hidden, v, units[v], order) for v in range(len(views))]


def pooled(parts: Sequence[tuple[float, int]]) -> float:
    """Root mean square error over the hidden values of all views."""
    total, number = sum(part[0] for part in parts), sum(part[1] for part in parts)
    if number == 0:
        raise ValueError(
            "expected hidden values of features that vary, got none; hide a larger share, or score with scale='none'"
        )
    return root_mean(total, number)


def root_mean(total: float, number: int) -> float:
    """Root mean square from a sum of squares and a count; NaN if the count is 0."""
    return float(np.sqrt(total / number)) if number else float("nan")


def _squared_error(
    view: View, estimate: View, hidden: Hidden, v: int, unit: np.ndarray, order: np.ndarray
) -> tuple[float, int]:
    counts, total, number = unit > 0, 0.0, 0  # a constant feature has no unit
    for rows, where in hidden.blocks(v, 8 * view.n_features):
        theirs = order[rows]
        known = np.broadcast_to(to_numpy(estimate.mask), estimate.X.shape)[theirs]
        chosen = np.broadcast_to(where, known.shape)
        if (chosen & ~known).any() or (theirs < 0).any():
            raise ValueError(
                f"expected a number for each hidden value, got NaN in the completed view {view.name!r}; "
                "impute all of them"
            )
        error = (dense_rows(estimate.X, theirs) - dense_rows(view.X, rows)) / np.where(counts, unit, 1.0)
        error = error[chosen & counts]
        total, number = total + float(error @ error), number + error.size
    return total, number


def _spread(view: View) -> np.ndarray:
    if view.is_sparse:
        return np.sqrt(np.atleast_1d(view.X.multiply(view.X).sum()) / max(view.n_observed(), 1))
    X, mask = to_numpy(view.X).astype(np.float64), to_numpy(view.mask)
    count = np.maximum(to_numpy(view.count_by_feature()), 1)
    mean = X.sum(axis=0) / count
    centred = np.where(mask, X - mean, 0.0)
    spread = np.sqrt(np.einsum("ij,ij->j", centred, centred) / count)
    noise = 10.0 * float(np.finfo(to_numpy(view.X).dtype).eps) * np.abs(mean)  # only the rounding error of a constant
    return np.where(spread > noise, spread, 0.0)


def conforming(completed: Any, X: Any, views: Views) -> Views:
    """Completed data as views; they must have the samples and features of the data."""
    read = read_views(completed, schema=Schema.of(views, X))
    if read.n_samples != views.n_samples or (read.sample_names is None) != (views.sample_names is None):
        raise ValueError(
            f"expected completed views in the container of X with its {views.n_samples} samples, got {read.n_samples} "
            "samples or another container; pass what complete returns"
        )
    return read
