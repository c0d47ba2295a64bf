"""Constraints on a block: non-negative, in a box, orthonormal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, clipped, if_small_on_host, like, namespace
from jella.problem.terms.base import Piece, Proximable, Term


class NonNegative(Proximable):
    """b_ij ≥ 0 for each entry of the block.

    Its prox is the projection, max(b, 0) entry by entry, whatever the step.

    References
    ----------
    .. [1] D. D. Lee, H. S. Seung: Learning the parts of objects by non-negative matrix factorization. Nature 401
       (1999).
    """

    elementwise, homogeneous, order = True, True, 2

    def value(self, B: Array, state: Any = None) -> float:
        """Zero where satisfied, infinite elsewhere."""
        return 0.0 if bool(namespace(B).all(B >= 0)) else math.inf

    def project(self, B: Array) -> Array:
        """Negative entries set to zero."""
        return np.fmax(B, 0.0) if isinstance(B, np.ndarray) else namespace(B).where(B > 0, B, 0.0)

    def prox(self, B: Array, step: Any) -> Array:
        """The projection, whatever the step."""
        return self.project(B)

    def piece(self, B: Array) -> Piece:
        """Zero on the half-line."""
        return Piece(low=0.0)


class Box(Proximable):
    """low ≤ b_ij ≤ high for each entry of the block.

    Its prox is the projection, min(max(b, low), high) entry by entry, whatever the step.

    Parameters
    ----------
    low : float, default=0.0
        Least value, below `high`; may be −∞.
    high : float, default=1.0
        Largest value; may be ∞.

    References
    ----------
    .. [1] N. Parikh, S. Boyd: Proximal algorithms. Foundations and Trends in Optimization 1 (2014).
    """

    elementwise, order = True, 2

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        if not low < high:
            raise ValueError(f"Box needs low < high, got low={low}, high={high}")
        self.low, self.high = float(low), float(high)

    def value(self, B: Array, state: Any = None) -> float:
        """Zero where satisfied, infinite elsewhere."""
        return 0.0 if bool(namespace(B).all((self.low <= B) & (self.high >= B))) else math.inf

    def project(self, B: Array) -> Array:
        """Entries clipped to the box."""
        return clipped(B, self.low, self.high)

    def prox(self, B: Array, step: Any) -> Array:
        """The projection, whatever the step."""
        return self.project(B)

    def piece(self, B: Array) -> Piece:
        """Zero in the box."""
        return Piece(low=self.low, high=self.high)


class Orthonormal(Term):
    """BᵀB = I for the stacked bases of all views, that is Σ_v U_vᵀU_v = I.

    Every matrix of rank r has a factorisation of this form, so the data are fitted as well as before. The constraint
    fixes the scale of the embedding: without it, a regulariser on the embedding is lowered by moving the scale into
    the bases. The projection of B = LΣRᵀ (thin SVD) is its polar factor LRᵀ; the exact update of the bases is that of
    ZᵀW, the completed views times the embedding.

    References
    ----------
    .. [1] P. H. Schönemann: A generalized solution of the orthogonal Procrustes problem. Psychometrika 31 (1966).
    """

    stacked, separable = True, False

    def value(self, B: Array, state: Any = None) -> float:
        """Zero where satisfied up to rounding, infinite elsewhere."""
        xp = namespace(B)
        off = B.T @ B - like(np.eye(B.shape[1]), B)
        tolerance = 1e3 * float(xp.finfo(B.dtype).eps) * B.shape[1]
        return 0.0 if float(xp.max(xp.abs(off))) <= tolerance else math.inf

    def project(self, B: Array) -> Array:
        """The polar factor LRᵀ of B = LΣRᵀ."""
        small = if_small_on_host(B)
        L, _, Rt = namespace(small).linalg.svd(small, full_matrices=False)
        return like(L @ Rt, B)
