"""How well hidden values are predicted, by a second fit without a tenth of the observed values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jella.model_selection.against_mean import interrupted
from jella.model_selection.held_out import HeldOut, Trials
from jella.numerics.arrays import dense_rows, to_numpy
from jella.report.refit import refit
from jella.report.subject import Absent, Subject
from jella.solve.start import feature_means
from jella.views import Hidden, Schema, View, Views, read_views

#: with more samples the second fit is left out
MOST_SAMPLES = 20_000
#: points per view in the plot of predicted against true values
MOST_POINTS = 600


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predictions of the hidden values of one view.

    Attributes
    ----------
    view : str
    n_hidden : int
    error, mean_error : float
        Root mean square error of the model, and of the mean of each feature, in the unit of the view.
    unit : str
        The unit in words.
    true, predicted : arrays (m,)
        Some of the values, in the same unit.
    """

    view: str
    n_hidden: int
    error: float
    mean_error: float
    unit: str
    true: np.ndarray
    predicted: np.ndarray

    @property
    def gain(self) -> float:
        """Share of the squared error of the mean that the model avoids; 1 is perfect, 0 is no better than the mean."""
        return 1.0 - (self.error / self.mean_error) ** 2 if self.mean_error > 0 else float("nan")


def predict_hidden(subject: Subject, held_out: bool) -> tuple[Prediction, ...] | Absent:
    """Hide values, fit again, complete and compare; views in which nothing could be hidden are left out."""
    if not hasattr(subject.model, "complete"):
        return Absent(f"{subject.method} does not complete missing values.")
    if not held_out:
        return Absent("It was switched off (held_out=False): it needs a second fit.")
    if subject.views.n_samples > MOST_SAMPLES:
        return Absent(f"It is left out beyond {MOST_SAMPLES:,} samples: it needs a second fit.")
    try:
        trials = Trials.draw(HeldOut(random_state=subject.seed), subject.X, subject.observed)
        holed = trials.holed(0)
        trial = refit(subject.model, holed)
        if interrupted(trial):
            return Absent("The second fit was interrupted.")
        completed = trial.complete(holed)
    except ValueError as error:
        return Absent(f"No values could be hidden and predicted: {error}.")
    read = [read_views(values, schema=Schema.of(trials.views, subject.X)) for values in (completed, holed)]
    estimates, seen = (_in_order(views, trials.views) for views in read)
    rng, (hidden,) = np.random.default_rng(subject.seed), trials.hidden
    return tuple(
        _compare(view, estimates[v], seen[v], hidden, v, trials.units[v], rng)
        for v, view in enumerate(trials.views)
        if hidden[v].any()
    )


def _in_order(views: Views, wanted: Views) -> Views:
    """The samples of views in the order of other views."""
    if wanted.sample_names is None:
        return views
    return views.take(views.sample_names.get_indexer(wanted.sample_names))


def _compare(
    view: View, estimate: View, seen: View, hidden: Hidden, v: int, unit: np.ndarray, rng: np.random.Generator
) -> Prediction:
    counts = unit > 0  # a constant feature has no unit
    per, mean = np.where(counts, unit, 1.0), to_numpy(feature_means(seen)).astype(np.float64)
    n_hidden, squares = 0, np.zeros(2)
    pairs = []
    for rows, where in hidden.blocks(v, 24 * view.n_features):
        true, guess = dense_rows(view.X, rows) / per, dense_rows(estimate.X, rows) / per
        chosen = np.broadcast_to(where & counts, true.shape)
        level = np.broadcast_to(mean / per, true.shape)[chosen]
        true, guess = true[chosen], guess[chosen]
        n_hidden += true.size
        squares += [float(np.sum((true - guess) ** 2)), float(np.sum((true - level) ** 2))]
        base = 0.0 if view.is_sparse else level
        pairs.append(_some(np.stack([true - base, guess - base]), rng))
    shown = _some(np.concatenate(pairs, axis=1), rng)
    errors = np.sqrt(squares / n_hidden) if n_hidden else np.full(2, np.nan)
    words = "root mean squares of the view" if view.is_sparse else "standard deviations of a feature"
    return Prediction(view.name, n_hidden, float(errors[0]), float(errors[1]), words, shown[0], shown[1])


def _some(pairs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if pairs.shape[1] <= MOST_POINTS:
        return pairs
    return pairs[:, rng.choice(pairs.shape[1], MOST_POINTS, replace=False)]
