"""The error of completed values, estimated from hidden ones and weighted as values are really missing.

Where whole samples of a view are missing and none could be hidden, their error is taken to be that of the mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jella.impute.chance import clustered_error
from jella.impute.hidden_values import HiddenValues
from jella.impute.recipe import Group

#: an estimate from fewer samples is called rough
FEW_ROWS = 20
#: a gain whose square is this many times its squared standard error is trusted by half
DOUBT = 1.0
#: a gain of less than this many standard errors is none
CHANCE = 1.0


@dataclass(frozen=True)
class ErrorEstimate:
    """Root mean square errors on hidden values, in standard deviations of a feature.

    Attributes
    ----------
    error, standard_error : float or None
        Of the completed values; None where nothing could be hidden.
    mean_error : float or None
        Of the means of features, on the same values.
    n_samples : int
        Samples of which values were hidden.
    n_values : int
        Hidden values.
    by_mean : bool
        Whether the completed values are means, because nothing predicts better.
    """

    error: float | None
    standard_error: float | None
    mean_error: float | None
    n_samples: int
    n_values: int
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
        found[v, whole] = float(gain.mean()), clustered_error(gain, evidence.sample[at])
    return found


def trust_in(gain: float, standard_error: float) -> float:
    """How far to go from the mean to a prediction that gains this much: 0 if it may be chance, near 1 if it is clear.

    >>> trust_in(0.9, 1.0), round(trust_in(1.5, 1.0), 2), round(trust_in(1.0, 0.1), 2)
    (0.0, 0.69, 0.99)
    """
    return gain**2 / (gain**2 + DOUBT * standard_error**2) if gain > max(CHANCE * standard_error, 0.0) else 0.0


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
    chosen = [((view, whole), at) for view, whole, at in evidence.groups() if v is None or view == v]
    if not chosen:
        return ErrorEstimate(None, None, None, 0, 0, by_mean=False)
    counts = np.array([missing.get(group, 0) for group, _ in chosen], dtype=np.float64)
    tested = {group for group, _ in chosen}
    untested = sum(missing.get((view, True), 0) for view, _ in tested if (view, True) not in tested)
    if not counts.any():  # nothing of this kind is missing: as often as it was hidden
        counts, untested = np.array([at.size for _, at in chosen], dtype=np.float64), 0
    shares = counts / (counts.sum() + untested)
    mean = mean_of_means = untested / (counts.sum() + untested)  # the mean is off by one standard deviation
    parts, rows = [], []
    for share, (_, at) in zip(shares, chosen, strict=True):
        squares = (evidence.truth[at] - answers[at]) ** 2
        mean += share * float(squares.mean())
        mean_of_means += share * float(np.mean(evidence.truth[at] ** 2))
        parts.append(share / at.size * (squares - squares.mean()))
        rows.append(evidence.sample[at])
    _, which = np.unique(np.concatenate(rows), return_inverse=True)
    variance = float(np.sum(np.bincount(which, np.concatenate(parts)) ** 2))
    used = [(group, row) for share, (group, _), row in zip(shares, chosen, rows, strict=True) if share > 0]
    error = float(np.sqrt(mean))
    return ErrorEstimate(
        error,
        float(np.sqrt(variance) / (2 * error)) if error > 0 else 0.0,
        float(np.sqrt(mean_of_means)),
        int(np.unique(np.concatenate([row for _, row in used])).size),
        sum(row.size for _, row in used),
        by_mean=all(trust[group] == 0 for group, _ in used),
    )
