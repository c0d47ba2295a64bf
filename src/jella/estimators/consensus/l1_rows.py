"""Exact rows on the simplex that are nearest to several given rows in a weighted ℓ1 norm, with a cost per entry."""

from __future__ import annotations

import numpy as np

#: slopes closer than this, in units of the sum of the weights, are equal
TIE = 1e-9


def nearest_rows(values: np.ndarray, weights: np.ndarray, cost: np.ndarray, possible: np.ndarray) -> np.ndarray:
    """Rows s ≥ 0, Σ_j s_j = 1, that minimise Σ_v w_v ‖s − a_v‖₁ + Σ_j cost_j s_j, (n, K).

    In each entry the objective is convex and piecewise linear, with breaks at the a_vj: it rises by its slope on each
    segment between two breaks. Mass one goes to the segments of least slope; segments of equal slope share the rest
    in proportion to their lengths, so that neither the order of samples nor of views matters.

    Parameters
    ----------
    values : array (V, n, K)
        a_v, in [0, 1].
    weights : array (V,)
    cost : array (n, K)
    possible : bool array (n, K)
        Where s may be positive; at least one entry in each row.
    """
    lengths, slopes = _segments(values, weights, cost, possible)
    order = np.argsort(slopes, axis=1)
    filled = np.cumsum(np.take_along_axis(lengths, order, axis=1), axis=1)
    # the segment at which the mass runs out; rounding must not push it past the last one of some length
    last = np.take_along_axis(order, np.argmax(filled >= 1.0 - 1e-12, axis=1)[:, None], axis=1)
    price, near = np.take_along_axis(slopes, last, axis=1), TIE * weights.sum()
    whole = np.where(slopes < price - near, lengths, 0.0)
    tied = np.where(np.abs(slopes - price) <= near, lengths, 0.0)
    left = 1.0 - whole.sum(axis=1, keepdims=True)
    taken = whole + tied * (left / tied.sum(axis=1, keepdims=True))
    return taken.reshape(cost.shape[0], -1, cost.shape[1]).sum(axis=1)


def _segments(
    values: np.ndarray, weights: np.ndarray, cost: np.ndarray, possible: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The length and slope of the V + 1 segments of each entry, (n, (V + 1)·K) each."""
    by_value = np.argsort(values, axis=0)
    breaks = np.take_along_axis(values, by_value, axis=0)
    edge = np.zeros((1, *cost.shape))
    lengths = np.diff(np.concatenate([edge, breaks, edge + 1.0]), axis=0)
    passed = np.concatenate([edge, np.cumsum(weights[by_value], axis=0)])  # weight of the a_vj below
    slopes = 2.0 * passed - weights.sum() + cost
    lengths, slopes = np.where(possible, lengths, 0.0), np.where(possible, slopes, np.inf)
    return _by_row(lengths), _by_row(slopes)


def _by_row(segments: np.ndarray) -> np.ndarray:
    return np.moveaxis(segments, 0, 1).reshape(segments.shape[1], -1)
