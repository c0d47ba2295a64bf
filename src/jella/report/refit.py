"""A model to fit once more, quietly."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from jella.model_selection.against_mean import without_choice


def refit(model: Any, X: Any, *, observed: Any = None, **settings: Any) -> Any:
    """A clone with other settings, fitted; without callbacks, and without saying again that it did not converge."""
    copy = without_choice(model)
    if "callback" in copy.get_params():
        settings["callback"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return copy.set_params(**settings).fit(X, observed=observed)
