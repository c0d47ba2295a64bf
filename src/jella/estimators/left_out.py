"""A model that has not seen some samples of a fit: a clone, fitted to the other samples."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from jella.estimators.interrupted import was_interrupted
from jella.readout.base import FitSamples
from jella.views import Views
from jella.views.draw import draw_left_out
from jella.views.fingerprints import find_prints, fingerprints
from jella.views.zero_rows import ZeroRowsWarning

#: times that each sample is scored, with other hidden values
TIMES = 5
INSTEAD = "score new samples, or use jella.model_selection.held_out_error"


def places_in_fit(views: Views, known: FitSamples | None) -> np.ndarray:
    """Position of each sample among those that a fit used, in the user's order, (n,); -1 for new samples."""
    if known is None:
        return np.full(views.n_samples, -1, dtype=np.intp)
    found = find_prints(fingerprints(views), known.prints)
    return np.where(found < 0, -1, np.argsort(np.argsort(known.places))[found])


def fit_to_most(
    model: Any, views: Views, places: np.ndarray, X: Any, y: Any, rng: np.random.Generator
) -> tuple[Any, Views]:
    """A clone of a model, fitted to four fifths of the samples of its fit, and the other samples, each several times.

    Parameters
    ----------
    views : Views
        Samples of the fit, read from X; all of them must be there.
    places : int array (n,)
        As `places_in_fit` returns them.
    y : array (n,) or None
    """
    n_there, n_fit = np.unique(places).size, model.readout_.known.prints.size
    if n_there < n_fit:
        raise ValueError(f"expected new samples or all {n_fit} samples of the fit, got {n_there} of them; {INSTEAD}")
    out = draw_left_out(views, rng)
    if not out.any():
        raise ValueError(
            "expected samples that a fit can do without and that have two observed values, got none; pass more samples"
        )
    trial = model._unfitted_for(places[~out])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the first fit has said it
            warnings.simplefilter("ignore", ZeroRowsWarning)
            trial._fit_read(views.take(~out), X, labels_at(~out, y))
    except ValueError as error:
        raise ValueError(
            f"expected samples of which a fit needs no more than four fifths, got its error ({error}); {INSTEAD}"
        ) from error
    if was_interrupted(trial):
        raise KeyboardInterrupt  # the score is not that of the model
    return trial, views.take(np.tile(np.flatnonzero(out), TIMES))


def labels_at(rows: np.ndarray, y: Any) -> Any:
    """The labels of the samples where `rows` is True; None, or labels of another number of samples, as they are."""
    return np.asarray(y)[rows] if np.shape(y)[:1] == rows.shape else y
