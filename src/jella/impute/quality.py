"""What is said about a completion, the same on every surface: errors, kinds of values, and what to look at."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jella.impute.errors import ErrorEstimate
from jella.impute.estimates import Estimates
from jella.impute.imputer import Imputer
from jella.impute.signs import signs_of_size
from jella.numerics.words import counted
from jella.views import Views


@dataclass(frozen=True, eq=False)
class Quality:
    """Errors of a completion, in standard deviations of a feature, and notes on it.

    Attributes
    ----------
    overall : ErrorEstimate
    by_view : dict of name -> ErrorEstimate
    notes : tuple of str
        What to look at, one sentence each.
    """

    overall: ErrorEstimate
    by_view: dict[str, ErrorEstimate]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, imputer: Imputer, names: Sequence[str], estimates: Estimates | None = None) -> Quality:
        """What an imputer knows; with estimates of samples, also signs that these lack values because of their size."""
        by_view = dict(zip(names, imputer.by_view, strict=True))
        signs: list[str] = []
        untested: list[str] = []
        lacking = set(by_view)
        if estimates is not None:
            kept = estimates.views if estimates.kept.all() else estimates.views.take(estimates.kept)
            signs = signs_of_size(kept, estimates.imputed, imputer.units, imputer.typical)
            lacking = {view.name for view in kept if not bool(view.mask.all())}
            untested = _untested(imputer, kept)
        return cls(imputer.overall, by_view, (*_on_errors(by_view, lacking), *untested, *signs))

    @property
    def by_mean(self) -> list[str]:
        """Views whose imputed values are means."""
        return [name for name, one in self.by_view.items() if one.by_mean]

    def as_record(self) -> dict[str, Any]:
        """The findings as plain values, for JSON."""
        return {
            "error": self.overall.error,
            "standard_error": self.overall.standard_error,
            "mean_error": self.overall.mean_error,
            "error_by_view": {name: one.error for name, one in self.by_view.items()},
            "standard_error_by_view": {name: one.standard_error for name, one in self.by_view.items()},
            "mean_error_by_view": {name: one.mean_error for name, one in self.by_view.items()},
            "imputed_by_mean": self.by_mean,
            "notes": list(self.notes),
        }


def _untested(imputer: Imputer, views: Views) -> list[str]:
    """Notes on views that samples lack, while no sample showed how well they are predicted then."""
    return [
        f"how well samples without view {view.name!r} are completed is not known, since none could lose it: expect no "
        "better than the mean of each feature"
        for v, view in enumerate(views)
        if (v, True) not in imputer.recipe.groups and imputer.by_view[v].error is not None
        if not bool(view.presence().all())
    ]


def _on_errors(by_view: Mapping[str, ErrorEstimate], lacking: Container[str]) -> list[str]:
    """Notes on views that are imputed by means, on rough estimates, and on unknown errors of views with holes."""
    notes = []
    means = [repr(name) for name, one in by_view.items() if one.by_mean]
    if means:
        which = f"view {means[0]}" if len(means) == 1 else f"views {', '.join(means)}"
        notes.append(f"nothing predicts {which} better than the mean of each feature: missing values are these means")
    for name, one in by_view.items():
        if one.error is None and name in lacking:
            notes.append(f"the error of view {name!r} is not known: none of its values could be hidden")
        elif one.error is not None and one.is_rough:
            samples = counted(one.n_samples, "sample")
            notes.append(f"the error of view {name!r} is a rough estimate: it comes from {samples}")
    return notes
