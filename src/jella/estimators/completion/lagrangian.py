"""The loop of both completion methods: an inexact augmented Lagrangian that leaves the low-rank step to the method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jella.numerics.arrays import Array, namespace, sqnorm
from jella.saving.kinds import register


@dataclass(frozen=True)
class Factors:
    """A low-rank matrix as the product left rightᵀ, and what it adds to the objective."""

    left: Array  # (n, k)
    right: Array  # (d, k)
    value: float = 0.0

    def dense(self) -> Array:
        """The matrix itself, (n, d)."""
        return self.left @ self.right.T


@register
@dataclass(frozen=True)
class PenaltySchedule:
    """The penalty μ of the augmented Lagrangian: its start, its factor of growth per round, and its maximum."""

    start: float
    growth: float
    most: float

    def after(self, mu: float) -> float:
        """The penalty of the next round."""
        return min(self.growth * mu, self.most)


#: takes the matrix that the low-rank part should be near, and μ; returns the low-rank part
Step = Callable[[Array, float], Factors]


@dataclass(frozen=True)
class Formulation:
    """A method: it minimises value(Z) + weight · Σ_observed |D − Z| over the matrices Z that `step` returns.

    Attributes
    ----------
    weight : float
    step : callable
        Takes a matrix and μ; returns the Z that minimises value(Z) + μ/2 ‖matrix − Z‖², or one that lowers it.
    penalty : PenaltySchedule
    observed : bool array (n, d), optional
        The entries that count; all by default.
    dual : array (n, d), optional
        The multipliers Y before the first round; zero by default.
    """

    weight: float
    step: Step
    penalty: PenaltySchedule
    observed: Array | None = None
    dual: Array | None = None

    def counted(self, values: Array) -> Array:
        """The values (n, d), zero where an entry does not count."""
        return values if self.observed is None else namespace(values).where(self.observed, values, 0.0)


@dataclass(frozen=True)
class Separation:
    """A low-rank and a sparse part of a matrix, and the rounds that found them.

    Attributes
    ----------
    factors : Factors
    sparse : array (n, d)
        E; where an entry was not observed, D − Z of the round before.
    residuals : array, one value per round
        ‖D − Z − E‖ / ‖D‖.
    objective : array, one value per round
        Value at Z with E = D − Z on the observed entries.
    converged : bool
    """

    factors: Factors
    sparse: Array
    residuals: np.ndarray
    objective: np.ndarray
    converged: bool

    @property
    def low_rank(self) -> Array:
        """Z, (n, d)."""
        return self.factors.dense()

    @property
    def n_iter(self) -> int:
        """Number of rounds."""
        return int(self.residuals.size)


def separate(D: Array, method: Formulation, *, tol: float, max_iter: int) -> Separation:
    """The low-rank and the sparse part of D (n, d), which is zero where not observed.

    Each round minimises the augmented Lagrangian first over E, then over Z, then raises the multipliers Y and μ:
    E = soft(D − Z + Y/μ, weight/μ), Z = step(D − E + Y/μ, μ), Y ← Y + μ(D − Z − E). Where an entry is not observed E
    is free: it equals D − Z, and Y stays zero. The rounds end when ‖D − Z − E‖ < tol ‖D‖.

    Examples
    --------
    >>> import numpy as np
    >>> from jella.estimators.completion.rpca import robust_pca
    >>> D = np.outer(np.ones(20), np.arange(1.0, 11.0))
    >>> D[3, 4] += 100.0
    >>> result = separate(D, robust_pca(D, 20**-0.5), tol=1e-7, max_iter=1000)
    >>> bool(np.isclose(result.low_rank[3, 4], 5.0)), int((np.abs(result.sparse) > 1e-3).sum())
    (True, 1)
    """
    xp, penalty = namespace(D), method.penalty
    size, mu = sqnorm(D) ** 0.5 or 1.0, penalty.start
    Z, rest = xp.zeros_like(D), D  # rest = D − Z
    # Y/μ: the only form in which the multipliers enter
    scaled = xp.zeros_like(D) if method.dual is None else method.dual / mu
    residuals, objective = [], []
    for _ in range(max_iter):
        # soft(T, τ) = T − clip(T, ±τ); so D − E + Y/μ is Z + clip(T, ±τ), and the new Y/μ is that less the new Z
        target = rest + scaled
        clipped = method.counted(xp.clip(target, -method.weight / mu, method.weight / mu))
        wanted = Z + clipped
        factors = method.step(wanted, mu)
        Z = factors.dense()
        left_over, rest = wanted - Z, D - Z
        residuals.append(sqnorm(left_over - scaled) ** 0.5 / size)
        objective.append(factors.value + method.weight * float(xp.sum(xp.abs(method.counted(rest)))))
        if residuals[-1] < tol:
            break
        scaled = method.counted(left_over) * (mu / penalty.after(mu))
        mu = penalty.after(mu)
    return Separation(factors, target - clipped, np.array(residuals), np.array(objective), residuals[-1] < tol)
