"""The course of the fit: its objective, sweep by sweep, and why it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.describe.subject import Absent, Fit
from jella.numerics.arrays import to_numpy

_REASONS = {
    "tolerance": "a sweep lowered the objective by less than the tolerance",
    "no further decrease": "no sweep lowered the objective any further",
    "callback": "a callback stopped it",
    "interrupted": "it was interrupted",
}
#: values that differ by a larger factor are drawn on a logarithmic axis
WIDE = 30.0


@dataclass(frozen=True, eq=False)
class Convergence:
    """Curves of the fit.

    Attributes
    ----------
    objective : array or None
        One value per accepted sweep.
    terms : dict of name -> array
        The same by term; empty for methods with a loop of their own.
    residuals : array or None
        What such a method measures instead.
    as_meant : bool
        Whether the fit ended as its method intends, converged or not.
    words : str
        When and why it ended.
    """

    objective: np.ndarray | None
    terms: dict[str, np.ndarray]
    residuals: np.ndarray | None
    as_meant: bool
    words: str

    @property
    def lines(self) -> dict[str, np.ndarray]:
        """What is drawn, by name: the objective and the terms that are not zero throughout; else the residuals."""
        lines = {} if self.objective is None else {"objective": self.objective}
        lines |= {name: values for name, values in self.terms.items() if np.any(values != 0)}
        return lines if lines or self.residuals is None else {"residual": self.residuals}

    @property
    def is_wide(self) -> bool:
        """Whether the values need a logarithmic axis."""
        every = np.concatenate(list(self.lines.values()))
        return bool(np.all(every > 0) and every.max() > WIDE * every.min())


def find_convergence(fit: Fit) -> Convergence | Absent:
    """Collect what the fit has recorded."""
    model = fit.model
    if hasattr(model, "result_"):
        return _of_result(model)
    objective, residuals = getattr(model, "objective_", None), getattr(model, "residuals_", None)
    if objective is None and residuals is None:
        return Absent(f"{fit.method} keeps no record of its fit.")
    converged = bool(model.converged_)
    ending = "when it had converged" if converged else "at its limit, before it had converged"
    return Convergence(
        objective=None if objective is None else to_numpy(objective),
        terms={},
        residuals=None if residuals is None else to_numpy(residuals),
        as_meant=converged,
        words=f"The fit ended after {model.n_iter_} rounds, {ending}. {fit.method} has a loop of its own and keeps "
        "no history by term.",
    )


def _of_result(model: Any) -> Convergence:
    result = model.result_
    rejected = sum(not sweep.accepted for sweep in result.sweeps)
    meant = result.converged or (result.stop_reason == "max_iter" and not model.has_minimiser)
    if result.stop_reason == "max_iter":
        why = f"max_iter={model.max_iter} was reached"
        why += ", which is where this method is meant to stop" if meant else " before the objective had settled"
    else:
        why = _REASONS[result.stop_reason]
    taken_back = f", {rejected} of them undone," if rejected else ""
    landmarks = getattr(model, "landmarks_", None)
    related = f" {str(landmarks).capitalize()}." if landmarks is not None and landmarks.is_worth_a_word else ""
    return Convergence(
        objective=np.asarray(result.objective),
        terms={name: np.asarray(values) for name, values in result.history.items()},
        residuals=None,
        as_meant=bool(meant),
        words=f"The fit ended after {result.n_iter} sweeps{taken_back} in {result.seconds:.1f} s: {why}.{related}",
    )
