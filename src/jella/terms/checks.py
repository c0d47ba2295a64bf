"""Checks of the weights that terms are given."""

from __future__ import annotations

import math


def positive(weight: float, what: str) -> float:
    """The weight as a float, refused unless positive and finite."""
    if not (math.isfinite(weight) and weight > 0):
        raise ValueError(
            f"{what} must be positive and finite, got {weight}; leave the term out instead of weighing it 0"
        )
    return float(weight)
