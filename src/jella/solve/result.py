"""What a solve returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jella.problem.model import Blocks


@dataclass(frozen=True)
class Sweep:
    """One sweep: the relaxation it used, the ratio of new to old objective, and whether it was kept."""

    relaxation: float
    ratio: float
    accepted: bool


@dataclass(frozen=True)
class Progress:
    """What a callback is told after every accepted sweep."""

    n_iter: int
    max_iter: int
    objective: float
    terms: dict[str, float]
    relaxation: float
    seconds: float


@dataclass(frozen=True)
class Result:
    """Blocks at the end, and how they were reached.

    Attributes
    ----------
    blocks : Blocks
    objective : array, one value per accepted sweep
    history : dict of arrays, the same by term
    sweeps : tuple of Sweep, rejected ones included
    converged : bool
    stop_reason : 'tolerance', 'no further decrease', 'max_iter', 'callback', 'interrupted' or 'samples lost'
    seconds : float
    lost : str
        Why samples could no longer be reached, where that ended the solve.
    """

    blocks: Blocks
    objective: np.ndarray
    history: dict[str, np.ndarray]
    sweeps: tuple[Sweep, ...]
    converged: bool
    stop_reason: str
    seconds: float
    lost: str = ""

    @property
    def n_iter(self) -> int:
        """Number of sweeps, rejected ones included."""
        return len(self.sweeps)

    @property
    def value(self) -> float:
        """Objective at the blocks."""
        return float(self.objective[-1]) if self.objective.size else float("inf")

    def __repr__(self) -> str:
        return f"Result({self.n_iter} sweeps, objective {self.value:.6g}, stopped by {self.stop_reason})"
