"""The error of completed values, estimated from hidden ones and weighted as values are really missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jella.impute.hidden_values import HiddenValues
from jella.impute.recipe import Group

#: an estimate from fewer samples is called rough
FEW_ROWS = 20


@dataclass(frozen=True)
class ErrorEstimate:
    """Root mean square errors on hidden values, in standard deviations of a feature.

    Attributes
    ----------
    error, standard_error : float
        Of the completed values; NaN where nothing could be hidden.
    mean_error : float
        Of the means of features, on the same values.
    n_samples : int
        Samples, or parts of samples, that were hidden, counted in each trial.
    by_mean : bool
        Whether the completed values are means, because nothing predicts better.
    """

    error: float
    standard_error: float
    mean_error: float
    n_samples: int
    by_mean: bool

    @property
    def is_rough(self) -> bool:
        """Whether the estimate comes from few samples."""
        return self.n_samples < FEW_ROWS


def gains(evidence: HiddenValues, answers: np.ndarray, others: np.ndarray) -> dict[Group, tuple[float, float]]:
    """How much smaller the mean squared error of answers (N,) is than that of others, by group, and its standard error.

    Both are cross-fitted.
    """
    found = {}
    for v, whole, at in evidence.groups():
        truth = evidence.truth[at]
        gain = (truth - others[at]) ** 2 - (truth - answers[at]) ** 2
        found[v, whole] = float(gain.mean()), _standard_error(gain, evidence.rows[at])
    return found


def trust_in(gain: float, standard_error: float) -> float:
    """How far to go from the mean to a prediction that gains this much: 0 for no gain, near 1 for a clear one.

    >>> trust_in(-1.0, 0.1), trust_in(1.0, 1.0), round(trust_in(1.0, 0.1), 2)
    (0.0, 0.5, 0.99)
    """
    return gain**2 / (gain**2 + standard_error**2) if gain > 0 else 0.0


def estimate(
    evidence: HiddenValues,
    answers: np.ndarray,
    missing: Mapping[Group, int],
    trust: Mapping[Group, float],
    v: int | None = None,
) -> ErrorEstimate:
    """The error of one view, or of all views together.

    Parameters
    ----------
    evidence : HiddenValues
    answers : array (N,)
        Cross-fitted.
    missing : dict of (view, whole) -> int
        Values that are really missing.
    trust : dict of (view, whole) -> float
        How far the answers of each group are from the mean.
    v : int, optional
        Position of the view; by default all views.
    """
    chosen = [(group, at) for *group, at in evidence.groups() if v is None or group[0] == v]
    if not chosen:
        return ErrorEstimate(np.nan, np.nan, np.nan, 0, by_mean=True)
    counts = np.array([missing.get((g[0], g[1]), 0) for g, _ in chosen], dtype=np.float64)
    if not counts.any():  # nothing is missing: as often as it was hidden
        counts = np.array([at.size for _, at in chosen], dtype=np.float64)
    share = counts / counts.sum()
    at = np.concatenate([part for _, part in chosen])
    weight = np.concatenate([np.full(part.size, s / part.size) for s, (_, part) in zip(share, chosen, strict=True)])
    rows, truth = evidence.rows[at], evidence.truth[at]
    squares = (truth - answers[at]) ** 2
    mean = float(weight @ squares)
    centred = np.concatenate([squares[own] - squares[own].mean() for own in _consecutive(chosen)])
    _, which = np.unique(rows, return_inverse=True)
    variance = float(np.sum(np.bincount(which, weight * centred) ** 2))
    error = float(np.sqrt(mean))
    n_rows = int(np.unique(rows[weight > 0]).size)
    by_mean = all(trust[g[0], g[1]] == 0 for (g, _), s in zip(chosen, share, strict=True) if s > 0)
    standard = float(np.sqrt(variance) / (2 * error)) if error > 0 else 0.0
    return ErrorEstimate(error, standard, float(np.sqrt(weight @ truth**2)), n_rows, by_mean)


def _consecutive(chosen: list[tuple[list[object], np.ndarray]]) -> list[slice]:
    ends = np.cumsum([at.size for _, at in chosen])
    return [slice(int(end) - at.size, int(end)) for end, (_, at) in zip(ends, chosen, strict=True)]


def _standard_error(values: np.ndarray, rows: np.ndarray) -> float:
    """The standard error of a mean of values, of which those of the same sample go together."""
    _, which = np.unique(rows, return_inverse=True)
    sums = np.bincount(which, values - values.mean())
    return float(np.sqrt(np.sum(sums**2)) / values.size)
