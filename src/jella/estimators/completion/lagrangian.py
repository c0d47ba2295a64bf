"""The inexact augmented Lagrangian of both completion methods: one loop that leaves the low-rank step open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jella.numerics.arrays import Array, namespace, sqnorm
from jella.saving.kinds import register


@dataclass(frozen=True)
class LowRank:
    """A low-rank matrix as the product left rightᵀ, and what it adds to the objective."""

    left: Array  # (n, k)
    right: Array  # (d, k)
    value: float = 0.0

    def dense(self) -> Array:
        """The matrix itself, (n, d)."""
        return self.left @ self.right.T


@register
@dataclass(frozen=True)
class Penalty:
    """The penalty μ of the augmented Lagrangian: where it starts, by how much it grows a round, where it ends."""

    start: float
    growth: float
    most: float

    def after(self, mu: float) -> float:
        """The penalty of the next round."""
        return min(self.growth * mu, self.most)


#: the matrix that the low-rank part should be near to, and μ -> the low-rank part
Step = Callable[[Array, float], LowRank]


@dataclass(frozen=True)
class Separation:
    """A matrix as a low-rank and a sparse part, and how they were reached.

    Attributes
    ----------
    factors : LowRank
    sparse : array (n, d)
        E; where an entry was not observed, whatever makes it fit.
    residuals : array, one a round
        ‖D − Z − E‖ / ‖D‖.
    objective : array, one a round
        Value at Z with E = D − Z on the observed entries.
    penalty : Penalty
    converged : bool
    """

    factors: LowRank
    sparse: Array
    residuals: np.ndarray
    objective: np.ndarray
    penalty: Penalty
    converged: bool

    @property
    def low_rank(self) -> Array:
        """Z, (n, d)."""
        return self.factors.dense()

    @property
    def n_iter(self) -> int:
        """Number of rounds."""
        return int(self.residuals.size)


def separate(
    D: Array,
    observed: Array | None,
    weight: float,
    step: Step,
    penalty: Penalty,
    *,
    dual: Array | None = None,
    tol: float,
    max_iter: int,
) -> Separation:
    """Minimise value(Z) + weight · Σ_observed |D − Z| over the matrices Z that `step` makes.

    Each round minimises the augmented Lagrangian first over E, then over Z, then raises the multipliers Y and μ:
    E = soft(D − Z + Y/μ, weight/μ), Z = step(D − E + Y/μ, μ), Y ← Y + μ(D − Z − E). Where an entry is not observed E
    is free, so that it takes D − Z whole, and Y stays zero.

    Parameters
    ----------
    D : array (n, d), zero where not observed
    observed : bool array (n, d), optional
        All entries where left out.
    step : callable
        (matrix, μ) -> the Z that minimises value(Z) + μ/2 ‖matrix − Z‖², or one that lowers it.
    dual : array (n, d), optional
        Y before the first round; zero where left out.
    tol : float
        Ends the rounds when ‖D − Z − E‖ < tol ‖D‖.
    """
    xp = namespace(D)
    size, mu = sqnorm(D) ** 0.5 or 1.0, penalty.start
    Z, rest = xp.zeros_like(D), D  # rest = D − Z
    scaled = xp.zeros_like(D) if dual is None else dual / mu  # Y/μ: the only form in which the multipliers enter
    residuals, objective = [], []
    for _ in range(max_iter):
        # soft(T, τ) = T − clip(T, ±τ); so D − E + Y/μ is Z + clip(T, ±τ), and the new Y/μ what the step leaves of that
        target = rest + scaled
        clipped = _where(observed, xp.clip(target, -weight / mu, weight / mu))
        wanted = Z + clipped
        factors = step(wanted, mu)
        Z = factors.dense()
        left_over, rest = wanted - Z, D - Z
        residuals.append(sqnorm(left_over - scaled) ** 0.5 / size)
        objective.append(factors.value + weight * float(xp.sum(xp.abs(_where(observed, rest)))))
        if residuals[-1] < tol:
            break
        scaled = _where(observed, left_over) * (mu / penalty.after(mu))
        mu = penalty.after(mu)
    sparse, converged = target - clipped, residuals[-1] < tol
    return Separation(factors, sparse, np.array(residuals), np.array(objective), penalty, converged)


def _where(observed: Array | None, values: Array) -> Array:
    return values if observed is None else namespace(values).where(observed, values, 0.0)
