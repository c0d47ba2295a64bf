"""How much better than the mean a model predicts values that its fit did not see."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from jella.model_selection.held_out import HeldOut
from jella.numerics.arrays import to_numpy
from jella.solve.filled import feature_means
from jella.views import fill_in, read_views

#: of all hidden values together, and by view
Errors = tuple[float, dict[str, float]]


def errors_against_mean(model: Any, X: Any, observed: Any = None) -> tuple[Errors, Errors] | tuple[None, None]:
    """Errors on hidden values, of all and by view: of another fit of the model and of means; None after Ctrl-C.

    Parameters
    ----------
    model : fitted estimator with complete
        A clone of it is fitted without the hidden values.
    X, observed : as in its fit

    Returns
    -------
    ours, means : (float, dict of name -> float)
        In standard deviations of a feature, as `HeldOut.score` has them.
    """
    held_out = HeldOut(random_state=model.random_state if hasattr(model, "random_state") else 0)

    def errors(completed: Any, hidden: Any) -> Errors:
        pooled = held_out.score(X, completed, hidden, observed=observed)
        return pooled, held_out.score(X, completed, hidden, observed=observed, by_view=True)

    ((holed, hidden),) = held_out.split(X, observed)
    if interrupted(model) or interrupted(trial := without_choice(model).fit(holed)):
        return None, None
    return errors(trial.complete(holed), hidden), errors(mean_filled(holed), hidden)


def without_choice(model: Any) -> Any:
    """A clone that embeds and completes alike, but is given as many clusters as it has blocks: choosing takes long."""
    if not getattr(model, "_chooses_n_clusters", False):
        return clone(model)
    blocks = model._blocks()
    return clone(model).set_params(n_clusters=blocks, n_init=1) if blocks <= model._kept_labels.size else clone(model)


def interrupted(model: Any) -> bool:
    """Whether the fit was stopped by Ctrl-C and kept what it had."""
    return getattr(getattr(model, "result_", None), "stop_reason", None) == "interrupted"


def mean_filled(X: Any) -> Any:
    """X with every missing entry at the mean of its feature."""
    views = read_views(X)
    means = [to_numpy(feature_means(view)) for view in views]

    def estimate(v: int, rows: np.ndarray | None) -> np.ndarray:
        n = views.n_samples if rows is None else rows.size
        return np.broadcast_to(means[v], (n, means[v].size))

    return fill_in(X, views, estimate)
