"""Constraints on a block: non-negative, in a box, orthonormal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, like, namespace
from jella.problem.terms.base import Proximable, Term


class NonNegative(Proximable):
    """b_ij ≥ 0."""

    elementwise, homogeneous, order = True, True, 2

    def value(self, B: Array, state: Any = None) -> float:
        """Zero where met, infinite elsewhere."""
        return 0.0 if bool(namespace(B).all(B >= 0)) else math.inf

    def project(self, B: Array) -> Array:
        """Negative entries set to zero."""
        return namespace(B).where(B > 0, B, 0.0)

    def prox(self, B: Array, step: Any) -> Array:
        """The projection, whatever the step."""
        return self.project(B)


class Box(Proximable):
    """low ≤ b_ij ≤ high.

    Parameters
    ----------
    low, high : float
        low < high; infinities allowed.
    """

    elementwise, order = True, 2

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        if not low < high:
            raise ValueError(f"Box needs low < high, got low={low}, high={high}")
        self.low, self.high = float(low), float(high)

    def value(self, B: Array, state: Any = None) -> float:
        """Zero where met, infinite elsewhere."""
        return 0.0 if bool(namespace(B).all((self.low <= B) & (self.high >= B))) else math.inf

    def project(self, B: Array) -> Array:
        """Entries clipped to the box."""
        return namespace(B).clip(B, self.low, self.high)

    def prox(self, B: Array, step: Any) -> Array:
        """The projection, whatever the step."""
        return self.project(B)


class Orthonormal(Term):
    """BᵀB = I for the stacked bases of all views: Σ_v U_vᵀU_v = I.

    Any product of the given rank can be written so; it fixes the scale that a regulariser on the embedding alone
    would otherwise let run away.
    """

    stacked, separable = True, False

    def value(self, B: Array, state: Any = None) -> float:
        """Zero where met (to rounding), infinite elsewhere."""
        xp = namespace(B)
        off = B.T @ B - like(np.eye(B.shape[1]), B)
        tolerance = 1e3 * float(xp.finfo(B.dtype).eps) * B.shape[1]
        return 0.0 if float(xp.max(xp.abs(off))) <= tolerance else math.inf

    def project(self, B: Array) -> Array:
        """The polar factor LRᵀ of B = LΣRᵀ."""
        xp = namespace(B)
        L, _, Rt = xp.linalg.svd(B, full_matrices=False)
        return L @ Rt
