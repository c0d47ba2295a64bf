"""Checks of the weights that terms are given."""

from __future__ import annotations

import math


def positive(weight: float, what: str) -> float:
    """The weight as a float, refused unless positive and finite."""
    if not (math.isfinite(weight) and weight > 0):
        raise ValueError(
            f"{what} must be positive and finite, got {weight}; to do without the term, use jella.JELLA with the others"
        )
    return float(weight)
