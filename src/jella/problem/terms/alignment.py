"""A sparse regression that aligns the bases of the views with each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.numerics.arrays import Array, like, namespace
from jella.problem.terms.base import Coupling, LowRank, positive

#: smooths the row norms of the regression matrix: sqrt(‖b‖² + SMOOTHING)
SMOOTHING = 1e-10


class Alignment(Coupling):
    """alpha · (‖RᵀU − I‖² + beta · Σ_k sqrt(‖r_k‖² + 1e-10)), with a regression matrix R (d, r) per view.

    The update of R minimises a bound by squares that touches the row norms at the current R:
    R = (UUᵀ + ½·beta·D)⁻¹U with D_kk = 1/sqrt(‖r_k‖² + 1e-10), through the singular values of a d × r matrix. For the
    basis the term is tr(UᵀKU) − 2 tr(LᵀU) with K = alpha·RRᵀ and L = alpha·R, so that the exact update of U solves
    K U + U A = C + L.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the whole term.
    beta : float, default=1.0
        Weight of the row norms of R: a larger one lets fewer features take part.

    References
    ----------
    .. [1] M. Hu, S. Chen: Doubly aligned incomplete multi-view clustering. IJCAI 2018.
    """

    grows = True

    def __init__(self, alpha: float = 1.0, beta: float = 1.0) -> None:
        self.alpha, self.beta = positive(alpha, "Alignment alpha"), positive(beta, "Alignment beta")

    def start(self, B: Array) -> Array:
        """(UUᵀ + 1e-5 I)⁻¹U = U (UᵀU + 1e-5 I)⁻¹, (d, r)."""
        return _regression(B, 1e-5)

    def refresh(self, B: Array, state: Array) -> Array:
        """The minimiser of the bound at the current regression: (UUᵀ + ½βD)⁻¹U, D = 1/row norms."""
        roots = namespace(B).sqrt(2.0 / self.beta * smoothed_row_norms(state))[:, None]  # (½βD)^-½
        return roots * _regression(roots * B, 1.0)

    def rescaled(self, state: Array, factors: Array) -> Array:
        """The regression that gives the same result for the rescaled basis."""
        return state / factors

    def value(self, B: Array, state: Any = None) -> float:
        """Misfit of the regression and its smoothed row norms."""
        xp = namespace(B)
        R = self.start(B) if state is None else state
        misfit = R.T @ B - like(np.eye(B.shape[1]), B)
        return self.alpha * (float(xp.sum(misfit * misfit)) + self.beta * float(xp.sum(smoothed_row_norms(R))))

    def coupling(self, B: Array, state: Array) -> LowRank:
        """Alpha · R Rᵀ, of rank r: never a d × d matrix."""
        return LowRank(self.alpha**0.5 * state)

    def linear(self, B: Array, state: Array) -> Array:
        """Alpha · R."""
        return self.alpha * state


def _regression(B: Array, ridge: float) -> Array:
    """(BBᵀ + ridge · I)⁻¹B = Q S(S² + ridge)⁻¹Vᵀ with B = QSVᵀ: no size and no rank of B makes it singular."""
    Q, S, V = namespace(B).linalg.svd(B, full_matrices=False)
    return (Q * (S / (S * S + ridge))) @ V


def smoothed_row_norms(R: Array) -> Array:
    """Smoothed norm of each row, (d,)."""
    xp = namespace(R)
    return xp.sqrt(xp.sum(R * R, axis=1) + SMOOTHING)
