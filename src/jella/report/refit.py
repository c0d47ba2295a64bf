"""Fitting a model again without messages."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from jella.model_selection.against_mean import without_choice


def refit(model: Any, X: Any, *, observed: Any = None, **settings: Any) -> Any:
    """A fitted clone with other settings, without callbacks and without another convergence warning."""
    copy = without_choice(model)
    if "callback" in copy.get_params():
        settings["callback"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return copy.set_params(**settings).fit(X, observed=observed)
