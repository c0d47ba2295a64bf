"""Fitting a model again without messages."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from jella.model_selection.against_mean import without_choice
from jella.views.zero_rows import ZeroRowsWarning


def refit(model: Any, X: Any, *, observed: Any = None, **settings: Any) -> Any:
    """A fitted clone with other settings, without callbacks and without the warnings of the first fit."""
    copy = without_choice(model)
    if "callback" in copy.get_params():
        settings["callback"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ZeroRowsWarning)
        return copy.set_params(**settings).fit(X, observed=observed)
