"""Scalings for peers that do not scale by themselves. Needs NumPy only; NaN stays NaN."""

from __future__ import annotations

import warnings

import numpy as np


def unit_samples(views: list[np.ndarray]) -> list[np.ndarray]:
    """Each sample of each view at unit norm over its known values; samples of zeros stay zero."""
    norms = [np.sqrt(np.nansum(X**2, axis=1, keepdims=True)) for X in views]
    return [X / np.where(norm > 0, norm, 1.0) for X, norm in zip(views, norms, strict=True)]


def standardised(views: list[np.ndarray]) -> list[np.ndarray]:
    """Each feature with mean 0 and deviation 1 over its known values; constant features become 0."""
    scaled = []
    for X in views:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # features without any value
            mean, deviation = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        scaled.append((X - mean) / np.where(deviation > 1e-12 * np.abs(mean), deviation, np.inf))
    return scaled


def side_by_side(views: list[np.ndarray]) -> np.ndarray:
    """The features of all views that have a value, (n, d)."""
    X = np.hstack(views)
    return X[:, ~np.isnan(X).all(axis=0)]
