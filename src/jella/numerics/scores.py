"""Scores of completed values against the true ones, for each kind of value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jella.numerics.arrays import to_numpy

#: probabilities closer to 0 and 1 than this count as this
LEAST_CHANCE = 1e-6


def brier_score(true: ArrayLike, probability: ArrayLike) -> float:
    """Mean squared error of probabilities; lower is better.

    Parameters
    ----------
    true : array-like of 0 and 1, (n,) or (n, L)
        Binary values, or the indicators of a category with L levels.
    probability : array-like, same shape
        Probability of a one. Completed values outside 0 to 1 count as 0 or 1.

    Returns
    -------
    float
        From 0 to 1 for binary values, where 0.25 is the score of always 0.5. For a category, the squared errors of
        its levels are added, as Brier did: from 0 to 2.

    Examples
    --------
    >>> from jella.metrics import brier_score
    >>> brier_score([0, 1], [0.0, 0.5]), brier_score([[0, 1]], [[0.5, 0.5]])
    (0.125, 0.5)
    """
    y, p = _indicators_and_chances(true, probability)
    return float(np.mean(np.sum((p - y) ** 2, axis=1)))


def log_loss(true: ArrayLike, probability: ArrayLike) -> float:
    """Mean of -log(probability of what is true); lower is better.

    Parameters
    ----------
    true : array-like of 0 and 1, (n,) or (n, L)
        Binary values, or the indicators of a category with L levels.
    probability : array-like, same shape
        Probability of a one; closer to 0 or 1 than 1e-6 counts as 1e-6 from it, so that the loss is finite.

    Returns
    -------
    float
        log(2), about 0.69, is the loss of always 0.5 for binary values; log(L) that of equal chances for a category.

    Examples
    --------
    >>> from jella.metrics import log_loss
    >>> round(log_loss([0, 1], [0.5, 0.5]), 3), round(log_loss([[1, 0, 0]], [[0.25, 0.5, 0.25]]), 3)
    (0.693, 1.386)
    """
    y, p = _indicators_and_chances(true, probability)
    p = np.clip(p, LEAST_CHANCE, 1 - LEAST_CHANCE)
    likelihood = np.where(y == 1, p, 1 - p) if y.shape[1] == 1 else np.sum(y * p, axis=1)
    return float(-np.mean(np.log(likelihood)))


def relative_error(true: ArrayLike, completed: ArrayLike) -> float:
    """Sum of the absolute errors, relative to the sum of the true values; for counts and amounts. Lower is better.

    Parameters
    ----------
    true, completed : array-likes of the same shape

    Returns
    -------
    float
        0 if all values are right; 1 is the error of zeros. NaN if all true values are zero.

    Examples
    --------
    >>> from jella.metrics import relative_error
    >>> relative_error([4, 0, 6], [3.0, 1.0, 6.0])
    0.2
    """
    truth, values = _pair(true, completed)
    return _ratio(float(np.abs(values - truth).sum()), float(np.abs(truth).sum()))


def total_bias(true: ArrayLike, completed: ArrayLike) -> float:
    """How far the total of completed values is from the true total, relative to it; for counts and amounts.

    Parameters
    ----------
    true, completed : array-likes of the same shape

    Returns
    -------
    float
        0 if the totals are equal, 0.1 if the completed one is a tenth too large, -0.1 if it is a tenth too small. NaN
        if all true values are zero.

    Examples
    --------
    >>> from jella.metrics import total_bias
    >>> total_bias([4, 0, 6], [3.0, 1.0, 5.0])
    -0.1
    """
    truth, values = _pair(true, completed)
    return _ratio(float((values - truth).sum()), float(np.abs(truth).sum()))


def scores_of_kind(kind: str, true: ArrayLike, completed: ArrayLike) -> dict[str, float]:
    """The scores that fit a kind of value, at hidden entries.

    Parameters
    ----------
    kind : {'real', 'amount', 'count', 'proportion', 'binary', 'categorical'}
    true, completed : array-likes of the same shape, (n,); (n, L) for a category with L levels

    Returns
    -------
    dict of name -> float
        'brier' and 'log_loss' for binary values and categories; 'rmse', 'relative_error' and 'total_bias' for counts;
        'rmse' for the others.

    Examples
    --------
    >>> from jella.metrics import scores_of_kind
    >>> scores_of_kind("count", [4, 0, 6], [3.0, 1.0, 6.0])
    {'rmse': 0.816496580927726, 'relative_error': 0.2, 'total_bias': 0.0}
    """
    if kind in ("binary", "categorical"):
        return {"brier": brier_score(true, completed), "log_loss": log_loss(true, completed)}
    if kind not in ("real", "amount", "count", "proportion"):
        raise ValueError(f"expected a kind of value, got {kind!r}; pass for example 'real' or 'count'")
    truth, values = _pair(true, completed)
    scores = {"rmse": float(np.sqrt(np.mean((values - truth) ** 2)))}
    if kind == "count":
        scores |= {"relative_error": relative_error(truth, values), "total_bias": total_bias(truth, values)}
    return scores


def _pair(true: Any, completed: Any) -> tuple[np.ndarray, np.ndarray]:
    truth, values = (to_numpy(one).astype(np.float64) for one in (true, completed))
    if truth.shape != values.shape or truth.size == 0:
        raise ValueError(
            f"expected as many completed as true values, and at least one, got shapes {values.shape} and "
            f"{truth.shape}; pass the same entries of both"
        )
    if not (np.isfinite(truth).all() and np.isfinite(values).all()):
        raise ValueError("expected finite values to score, got NaN or infinite ones; leave them out")
    return truth, values


def _indicators_and_chances(true: Any, probability: Any) -> tuple[np.ndarray, np.ndarray]:
    """Zeros and ones, and probabilities, (n, 1) or (n, L)."""
    y, p = _pair(true, probability)
    if not np.isin(y, (0.0, 1.0)).all():
        raise ValueError(f"expected true values 0 and 1, got values from {y.min():g} to {y.max():g}; pass indicators")
    if y.ndim > 2:
        raise ValueError(f"expected values (n,) or indicators (n, L), got shape {y.shape}; pass one row per entry")
    if y.ndim == 2 and y.shape[1] > 1 and not (y.sum(axis=1) == 1).all():
        raise ValueError("expected one level for each row of indicators, got rows with none or several; leave them out")
    y, p = (one[:, None] if one.ndim == 1 else one for one in (y, p))
    return y, np.clip(p, 0.0, 1.0)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
