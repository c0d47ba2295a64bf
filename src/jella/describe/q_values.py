"""P-values adjusted for the number of tests."""

from __future__ import annotations

import numpy as np
from scipy.stats import false_discovery_control


def q_values(p_values: np.ndarray) -> np.ndarray:
    """The q-values of p-values (m,) by Benjamini and Hochberg; NaN stays and does not count.

    >>> q_values(np.array([0.01, np.nan, 0.5]))
    array([0.02,  nan, 0.5 ])
    """
    q, known = np.full(p_values.shape, np.nan), np.isfinite(p_values)
    if known.any():
        q[known] = false_discovery_control(p_values[known])
    return q
