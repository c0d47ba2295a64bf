"""Probabilities that entries go missing, where they depend on values: at random (MAR) and not at random (MNAR).

The probability is logistic in a standardised score. Its intercept makes the expected share of missing entries of each
view equal to the rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

#: the largest probability of an entry that may stay observed; above it, rounding errors matter
CERTAIN = 1 - 1e-9
#: change of the log-odds per standard deviation of the score
SLOPE = 2.0
#: share of the features of a view that the others depend on under MAR
DRIVER_SHARE = 0.1


def mar_chances(
    observed: Sequence[Mask], values: Sequence[Floats], rate: float, rng: np.random.Generator
) -> list[Floats]:
    """Probabilities (n, d) per view that depend on some features, the drivers, which never go missing.

    A tenth of the features of each view, at least one, are drivers. The score of a sample is a random combination of
    its drivers, and the probability of its other entries grows with the score.

    Parameters
    ----------
    observed, values : sequences of arrays (n, d), one per view
    rate : float
        Expected share of the observed entries of each view outside its drivers.
    """
    drivers = [_draw_drivers(mask.shape[1], rng) for mask in observed]
    free = [mask & ~driver for mask, driver in zip(observed, drivers, strict=True)]
    if rate > 0 and not any(mask.any() for mask in free):
        raise ValueError(
            "expected observed entries beside the driver features (at least one per view) for 'mar', "
            f"got none in views with {[mask.shape[1] for mask in observed]} feature(s); use 'mcar' or 'mnar'"
        )
    score = _driver_score(observed, values, drivers, rng)
    return [_chance(score, mask.sum(axis=1, keepdims=True), rate) * ~d for mask, d in zip(free, drivers, strict=True)]


def mnar_chances(observed: Sequence[Mask], values: Sequence[Floats], rate: float) -> list[Floats]:
    """Probabilities (n, d) per view that grow with the value itself, relative to its feature.

    Parameters
    ----------
    observed, values : sequences of arrays (n, d), one per view
    rate : float
        Expected share of the observed entries of each view.
    """
    return [_chance(_standardised(x, mask), mask, rate) for mask, x in zip(observed, values, strict=True)]


def _draw_drivers(n_features: int, rng: np.random.Generator) -> Mask:
    count = min(n_features, max(1, round(DRIVER_SHARE * n_features)))
    drivers = np.zeros(n_features, dtype=bool)
    drivers[rng.choice(n_features, count, replace=False)] = True
    return drivers


def _driver_score(
    observed: Sequence[Mask], values: Sequence[Floats], drivers: list[Mask], rng: np.random.Generator
) -> Floats:
    """Standardised random combination of the drivers of all views, (n, 1)."""
    parts = [_standardised(x[:, d], mask[:, d]) for mask, x, d in zip(observed, values, drivers, strict=True)]
    columns = np.hstack(parts)
    score = columns @ rng.standard_normal((columns.shape[1], 1))
    return _standardised(score, np.ones(score.shape, dtype=bool))


def _standardised(values: Floats, observed: Mask) -> Floats:
    """Each feature with mean 0 and variance 1 over its observed entries; 0 where missing or constant."""
    known = np.where(observed, values, 0.0)
    count = np.maximum(observed.sum(axis=0), 1)
    mean = known.sum(axis=0) / count
    centred = np.where(observed, known - mean, 0.0)
    scale = np.sqrt(np.einsum("ij,ij->j", centred, centred) / count)
    varies = scale > 1e-12 * np.abs(mean)  # rounding errors of the mean of equal values must not be scaled up
    return np.where(varies, centred / np.where(varies, scale, 1.0), 0.0)


def _chance(z: Floats, weights: NDArray[Any], rate: float) -> Floats:
    """Probabilities that are logistic in `z`; their intercept makes their weighted mean equal to `rate`."""
    from scipy.optimize import brentq
    from scipy.special import expit, logit

    used = weights > 0
    if rate == 0 or not used.any():
        return np.zeros_like(z)
    rate = min(max(rate, 1 - CERTAIN), CERTAIN)
    slopes, shares = SLOPE * z[used], weights[used] / weights[used].sum()
    # At these two intercepts all probabilities are below, and above, the rate; the 1 separates them for constant z.
    low, high = logit(rate) - slopes.max() - 1, logit(rate) - slopes.min() + 1
    intercept = brentq(lambda b: expit(b + slopes) @ shares - rate, low, high, xtol=1e-9)
    return np.minimum(expit(intercept + SLOPE * z), CERTAIN)
