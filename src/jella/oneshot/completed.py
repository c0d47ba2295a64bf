"""What a fitted model answers when asked to complete views: values, intervals, and how far to trust them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from jella.estimators.asked import Asked
from jella.impute.estimates import Estimates
from jella.impute.quality import Quality
from jella.numerics.finite import overflow_refused
from jella.views import Views
from jella.views.probabilities import level_probabilities


@dataclass(frozen=True, eq=False)
class Completed:
    """Completed views, each value computed once.

    Attributes
    ----------
    views : as given
    lower, upper : as given, or None
        Ends of the intervals, if they were asked for.
    std : arrays or DataFrames in the container of the views, or None
        Standard deviations of imputed values, if intervals were asked for.
    quality : Quality or None
        Errors and notes; None without an imputer. For samples in chunks without signs that values are missing
        because of their size.
    probabilities : dict of name -> DataFrame
        Of the levels of categories, for views that have some.
    found : Estimates or None
        The imputed values; None without an imputer, and for samples in chunks.
    """

    views: Any
    lower: Any
    upper: Any
    std: Any
    quality: Quality | None
    probabilities: dict[str, Any]
    found: Estimates | None

    @classmethod
    def by(
        cls, model: Any, X: Any, observed: Any = None, interval: float | None = None, covariates: Any = None
    ) -> Completed:
        """What a model makes of X; one that learns from hidden values does so now, if it has not yet.

        Covariates are those of `model.read`: a model of adjusted views needs them.
        """
        if getattr(model, "learn_completion", _nothing)() is None:
            return cls._plain(model, X, observed, interval, covariates)
        asked, lower, upper, std = Asked.of(model, X, observed, covariates), None, None, None
        views, schema = asked.views, model.schema_
        if not isinstance(views, Views):  # lazy: all that is known comes from the samples that the model keeps
            plain = cls._plain(model, X, observed, interval, covariates)
            return replace(plain, quality=Quality.of(model.imputer_, model.view_names_in_))
        with overflow_refused("completed values"):
            found = model.estimates(views, interval)
            if interval is None:
                filled = asked.restore(found.fill(asked.X, schema))
            else:
                filled, lower, upper, std = found.interval(asked.X, schema, asked.restore)
        quality = Quality.of(model.imputer_, model.view_names_in_, found)
        probabilities = level_probabilities(views, found.get) if _has_categories(views) else {}
        return cls(filled, lower, upper, std, quality, probabilities, found)

    @classmethod
    def _plain(cls, model: Any, X: Any, observed: Any, interval: float | None, covariates: Any) -> Completed:
        """The values alone, of a model that refuses intervals for these samples."""
        how = {"interval": interval, "covariates": covariates}
        filled = model.complete(X, observed=observed, **{name: one for name, one in how.items() if one is not None})
        views = model.read(X, observed, covariates)
        probabilities = {}
        if hasattr(model, "kinds_") and isinstance(views, Views) and _has_categories(views):
            readout = replace(model.readout_, on_empty=model.on_empty)
            expected = readout.in_units(views, readout.expect(readout.embed(views)))
            probabilities = level_probabilities(views, expected)
        return cls(filled, None, None, None, None, probabilities, None)


def _nothing() -> None:
    """What a model learns that does not learn from hidden values."""


def _has_categories(views: Views) -> bool:
    return any(view.categories for view in views)
