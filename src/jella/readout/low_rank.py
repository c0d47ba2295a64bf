"""The answers of a low-rank model: each new sample is solved by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jella.numerics.arrays import Array
from jella.problem import Problem
from jella.problem.residuals import ViewData
from jella.readout.base import Readout
from jella.solve.samples import embed
from jella.views import Views
from jella.views.checks import refuse_missing_entries


@dataclass(frozen=True, eq=False)
class LowRankReadout(Readout):
    """The embedding of a new sample minimises the objective exactly for its observed values, with the bases fixed.

    Attributes
    ----------
    problem : Problem
        Loss, and those terms on the embedding that treat each sample by itself.
    loss_state : any
        State of the loss at the end of the fit.
    """

    problem: Problem = field(default_factory=Problem)
    loss_state: Any = None

    def solve(self, views: Views) -> Array:
        """The embedding (n, r) of new samples, each by itself."""
        if not self.problem.loss.allows_entries:
            refuse_missing_entries(views, self.method)
        return embed([ViewData(view) for view in views], self.bases, self.problem, self.loss_state)
