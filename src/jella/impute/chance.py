"""What chance does to means of hidden values, of which those of the same sample go together."""

from __future__ import annotations

import numpy as np

#: a mean counts as far as its square exceeds this many times its variance
SURE = 4.0


def clustered_error(values: np.ndarray, rows: np.ndarray) -> float:
    """The standard error of the mean of values, of which those of the same sample go together.

    It is the spread of Student's t: from few samples it is itself uncertain, and up to three say nothing.

    >>> clustered_error(np.array([1.0, 3.0]), np.array([0, 1]))
    inf
    >>> clustered_error(np.arange(6.0), np.array([0, 1, 2, 3, 4, 4])) > clustered_error(np.arange(6.0), np.arange(6))
    True
    """
    _, which = np.unique(rows, return_inverse=True)
    sums = np.bincount(which, values - values.mean())
    count = sums.size
    return float(np.sqrt(np.sum(sums**2) * count / (count - 3)) / values.size) if count > 3 else float("inf")


def sure_share(mean: float, standard_error: float) -> float:
    """The share of a mean that is not chance: 0 up to twice its standard error, near 1 for a clear one.

    >>> sure_share(1.0, 0.6), sure_share(-1.0, 0.1)
    (0.0, 0.96)
    """
    square = mean**2  # zero also for the smallest numbers
    return max(0.0, 1.0 - SURE * standard_error**2 / square) if square else 0.0
