"""Views without the effects of covariates, and completed values with them, for one-call functions and commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.estimators.adjuster import Adjuster
from jella.numerics.words import listed, percent
from jella.views import read_views
from jella.views.sample_columns import read_columns


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Views that were adjusted for covariates.

    Attributes
    ----------
    adjuster : Adjuster
        Fitted.
    given, observed : the views as they were given, and what was observed of them
    covariates : dict of name -> array (n,)
        In the order of the samples.
    views : the adjusted views
    """

    adjuster: Adjuster
    given: Any
    observed: Any
    covariates: dict[str, np.ndarray]
    views: Any

    @classmethod
    def of(
        cls,
        views: Any,
        covariates: Any,
        observed: Any = None,
        *,
        ids: Any = "exact",
        only: Sequence[str] | None = None,
        kinds: Any = None,
    ) -> Adjusted:
        """Adjust views; the parameters are those of `Adjuster`, where `only` is called views, and of its fit."""
        read = read_views(views, observed)
        columns = read_columns(covariates, read.sample_names, read.n_samples, what="covariates", ids=ids)
        adjuster = Adjuster(only, kinds=kinds).fit(views, columns, observed=observed)
        return cls(adjuster, views, observed, columns, adjuster.transform(views, columns, observed=observed))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the covariates."""
        return self.adjuster.adjustment_.names

    def mark(self, model: Any) -> None:
        """Let a model that was fitted on the adjusted views know it, in its file too."""
        model.adjustment_ = self.adjuster.adjustment_

    def again(self, views: Any) -> Any:
        """Other values of the same samples, such as completed ones, without the effects."""
        return self.adjuster.transform(views, self.covariates)

    @property
    def kinds(self) -> dict[str, Any]:
        """The kinds of values of the adjusted views, for a model: real, or as they were given for other views."""
        given, names = self.adjuster.kinds, self.adjuster.adjustment_.schema.names
        given = given if isinstance(given, Mapping) else {} if given is None else dict.fromkeys(names, given)
        return {**given, **dict.fromkeys(self.adjuster.adjustment_.effects, "real")}

    def words(self) -> str:
        """What was removed."""
        shares = [f"{percent(share)} of {name}" for name, share in self.adjuster.explained_.items()]
        return f"for {listed(self.names)}: removed {listed(shares)} (mean share of the variance of a feature)"


def chosen_covariates(covariates: Any, columns: Mapping[str, np.ndarray]) -> Any:
    """The covariates; names are those of columns of the metadata."""
    names = [covariates] if isinstance(covariates, str) else covariates
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        return covariates
    for name in names:
        if name not in columns:
            known = f"it has {listed(list(columns), 8)}" if columns else "pass metadata"
            raise ValueError(f"expected covariates to be columns of the metadata, got {name!r}; {known}")
    return {name: columns[name] for name in names}
