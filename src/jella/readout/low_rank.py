"""The answers of a model that is a low-rank product: each new sample is solved by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jella.numerics.arrays import Array
from jella.problem import Problem
from jella.problem.residuals import ViewData
from jella.readout.base import Readout
from jella.solve.samples import embed
from jella.views import AnyViews
from jella.views.checks import refuse_missing_entries


@dataclass(frozen=True, eq=False)
class LowRankReadout(Readout):
    """A new sample's embedding is the exact minimiser for what was observed of it, with the bases of the fit.

    Attributes
    ----------
    problem : Problem
        Loss and terms on the embedding; those that couple samples are left out for new samples.
    loss_state : any
        Of the loss, at the end of the fit.
    """

    problem: Problem = field(default_factory=Problem)
    loss_state: Any = None

    @staticmethod
    def for_new(problem: Problem) -> Problem:
        """What a problem is for single new samples."""
        return Problem(loss=problem.loss, embedding=tuple(term for term in problem.embedding if term.separable))

    def solve(self, views: AnyViews) -> Array:
        """Each sample by itself."""
        if not self.problem.loss.allows_entries:
            refuse_missing_entries(views, self.method)
        return embed([ViewData(view) for view in views], self.bases, self.problem, self.loss_state)
