"""Rules for λ, the over-relaxation of the data: Z_λ = W Uᵀ + λΓ ⊙ (X − W Uᵀ) in place of X.

Algorithm 1 fits all of Z_λ, which completes what is missing by W Uᵀ. Algorithm 2 fits the samples that are present, so
nothing holds back a sample that lacks a view: completed values of a view with large units would outweigh the others.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class Pace:
    """The current λ and, for rules that adapt their step, the current increment."""

    factor: float = 1.0
    increment: float = 0.0


class Relaxation(ABC):
    """A rule that accepts or rejects a sweep by the ratio of the new objective to the old one."""

    #: compare the first sweep with the value at the start; otherwise it is always accepted
    judges_first: ClassVar[bool] = False
    #: pace of the first sweep
    first: ClassVar[Pace] = Pace()
    #: whether data are completed (Algorithm 1) also where only whole samples are missing
    completes: bool = False

    @abstractmethod
    def judge(self, pace: Pace, ratio: float) -> tuple[bool, Pace]:
        """Whether to accept the sweep, and the pace of the next; after a rejection the old blocks are restored."""

    def has_stalled(self, pace: Pace, ratio: float) -> bool:
        """Whether no further sweep can help: one with λ = 1 did not lower the objective."""
        return ratio >= 1.0 and pace.factor == 1.0

    def has_converged(self, ratio: float, value: float, tol: float, n_iter: int) -> bool:
        """Whether the sweep lowered the objective by a share smaller than tol."""
        return n_iter > 1 and 0.0 < 1.0 - ratio < tol


@dataclass(frozen=True)
class Basic(Relaxation):
    """No over-relaxation: λ = 1."""

    def judge(self, pace: Pace, ratio: float) -> tuple[bool, Pace]:
        """Accept every decrease."""
        return ratio < 1.0, pace


@dataclass(frozen=True)
class SOR(Relaxation):
    """Successive over-relaxation as in the JELLA paper's Algorithm 3, with the restore that its line 12 needs.

    Parameters
    ----------
    threshold : float, default=0.7
        λ stays as it is after a sweep that lowers the objective below this share of the old one.
    step : float, default=0.2
        Increase of λ after a smaller decrease.
    largest : float, default=5.0
        Largest λ.
    completes : bool, default=False
        Whether data are completed, as published, also where only whole samples are missing.
    """

    threshold: float = 0.7
    step: float = 0.2
    largest: float = 5.0
    completes: bool = False

    def judge(self, pace: Pace, ratio: float) -> tuple[bool, Pace]:
        """Back to λ = 1 after a rise; a larger λ after a small decrease."""
        if ratio >= 1.0:
            return False, Pace()
        if ratio >= self.threshold:
            return True, Pace(min(pace.factor + self.step, self.largest))
        return True, pace


@dataclass(frozen=True)
class LMaFitSOR(Relaxation):
    """The rule of the LMaFit program (Wen, Yin and Zhang 2012), which works on norms, not squares.

    Parameters
    ----------
    threshold : float, default=0.7
        Ratio of residual norms up to which λ stays as it is.
    scale : float, default=0.0
        Norm of the known data: the solve ends when the residual norm is below tol times this norm. 0 switches this test
        off.
    """

    threshold: float = 0.7
    scale: float = 0.0
    judges_first: ClassVar[bool] = True
    first: ClassVar[Pace] = Pace(1.0, 1.0)
    completes: bool = field(default=True, init=False, repr=False)

    def judge(self, pace: Pace, ratio: float) -> tuple[bool, Pace]:
        """With a = λ − 1: increase a by the increment, and the increment with a; back to λ = 1 after a rise."""
        excess, norm_ratio = pace.factor - 1.0, math.sqrt(ratio)
        if norm_ratio >= 1.0:
            return False, Pace(1.0, max(0.1 * excess, 0.1 * pace.increment))
        if norm_ratio > self.threshold:
            increment = max(pace.increment, 0.25 * excess)
            return True, Pace(pace.factor + increment, increment)
        return True, pace

    def has_stalled(self, pace: Pace, ratio: float) -> bool:
        """Never: the program continues with a smaller increment."""
        return False

    def has_converged(self, ratio: float, value: float, tol: float, n_iter: int) -> bool:
        """Change of the residual norm below tol/2 after five sweeps, or the norm itself below tol·scale."""
        settled = n_iter > 5 and abs(1.0 - math.sqrt(ratio)) < tol / 2
        return settled or math.sqrt(value) < tol * self.scale
