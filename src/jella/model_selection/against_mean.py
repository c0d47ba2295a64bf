"""How much better than the mean a model predicts values that its fit did not see."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from jella.estimators.interrupted import was_interrupted
from jella.model_selection.held_out import Errors, HeldOut, Trials
from jella.numerics.arrays import to_numpy
from jella.numerics.finite import overflow_refused, too_large
from jella.solve.start import feature_means
from jella.views import Schema, View, Views, read_views
from jella.views.zero_rows import ZeroRowsWarning


def errors_against_mean(model: Any, X: Any, observed: Any = None) -> tuple[Errors, Errors] | tuple[None, None]:
    """Errors on hidden values, overall and by view, of a new fit of the model and of means; None after Ctrl-C.

    Parameters
    ----------
    model : fitted estimator with complete
        A clone of it is fitted without the hidden values.
    X, observed : as in its fit

    Returns
    -------
    ours, means : (float, dict of name -> float)
        In standard deviations of a feature, as in `HeldOut.score`.
    """
    if was_interrupted(model):
        return None, None
    what = "the error on hidden values"
    with overflow_refused(what), warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroRowsWarning)  # the first fit has said it
        trials = Trials.draw(HeldOut(random_state=getattr(model, "random_state", 0)), X, observed)
        _refuse_unlinked(trials.views)
        holed = trials.holed(0)
        trial = without_choice(model).fit(holed)
        if was_interrupted(trial):
            return None, None
        ours, means = trials.errors(trial.complete(holed), 0), mean_errors(trials, holed, 0)
    if not np.isfinite([ours[0], means[0]]).all():
        raise too_large(what)
    return ours, means


def _refuse_unlinked(views: Views) -> None:
    """Refuse views that samples lack, while no sample could lose them: single entries say nothing about these."""
    presence = views.presence()
    linked = presence[presence.sum(axis=1) > 1].any(axis=0)
    for view, has, there in zip(views, linked, presence.T, strict=True):
        if not has and not there.all():
            raise ValueError(
                f"expected samples with view {view.name!r} and another one, to hide it as other samples lack it, got "
                "none; views that share no sample say nothing about each other"
            )


def mean_errors(trials: Trials, holed: Any, number: int) -> Errors:
    """Errors of the means of features; the means are computed without the values that a split hides."""
    seen = read_views(holed, schema=Schema.of(trials.views, trials.X))
    return trials.errors_of(replace(seen, items=tuple(_means(view) for view in seen)), number)


def _means(view: View) -> View:
    """The view with all values replaced by the mean of their feature."""
    means = np.broadcast_to(to_numpy(feature_means(view)), (view.n_samples, view.n_features))
    return replace(view, X=means, mask=np.ones((1, 1), dtype=bool))


def without_choice(model: Any) -> Any:
    """A clone with the same embedding and completion, but a fixed number of clusters, since choosing it takes long."""
    trial = clone(model)
    if hasattr(model, "n_blocks") and model.n_blocks <= np.sum(np.asarray(model.labels_) >= 0):
        trial.set_params(n_clusters=model.n_blocks, n_init=1)
    return trial
