"""How well hidden values are predicted: by what an imputer has learned, or by a second fit without some values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.describe.subject import Absent, Subject
from jella.estimators.interrupted import was_interrupted
from jella.impute.estimates import Estimates
from jella.impute.quality import Quality
from jella.model_selection.held_out import HeldOut, Trials
from jella.numerics.arrays import dense_rows, to_numpy
from jella.report.refit import refit
from jella.report.sampling import COMPLETION_SAMPLES, more_if_narrow, some_rows
from jella.solve.start import feature_means
from jella.views import Hidden, Schema, View, Views, read_views

#: share of the true values that intervals shall hold
LEVEL = 0.9
SECOND_FIT = (
    "A tenth of the observed values was hidden, in the way in which the data lack values, and a second model with the "
    "same settings was fitted to the rest."
)
#: points per view in the plot of predicted against true values
MOST_POINTS = 600
#: the band of true values has at most this many groups of at least this many points
MOST_GROUPS, FEWEST_IN_GROUP = 10, 40


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predictions of the hidden values of one view.

    Attributes
    ----------
    view : str
    n_hidden : int
        Hidden values.
    error, mean_error : float
        Root mean square error of the model, and of the mean of each feature, in the unit of the view.
    unit : str
        The unit in words.
    true, predicted : arrays (m,)
        Some of the values, in the same unit.
    standard_error : float or None
        Of the error; None from a second fit.
    by_mean : bool
        Whether completed values are means, because nothing predicts better.
    interval : float or None
        Median width of the intervals of missing values that shall hold nine tenths of the true ones, in the same unit;
        None where it is not known.
    """

    view: str
    n_hidden: int
    error: float
    mean_error: float
    unit: str
    true: np.ndarray
    predicted: np.ndarray
    standard_error: float | None = None
    by_mean: bool = False
    interval: float | None = None

    @property
    def is_better(self) -> bool:
        """Whether the error is smaller than that of the mean by more than its own uncertainty, where that is known."""
        return self.error + (self.standard_error or 0.0) < self.mean_error

    @property
    def is_unsure(self) -> bool:
        """Whether the error is smaller than that of the mean, but only within its own uncertainty."""
        return self.error < self.mean_error and not self.is_better and not self.by_mean

    @property
    def gain(self) -> float:
        """Share of the squared error of the mean that the model avoids; 1 is perfect, 0 is no better than the mean."""
        return 1.0 - (self.error / self.mean_error) ** 2 if self.mean_error > 0 else float("nan")


@dataclass(frozen=True, eq=False)
class Predictions:
    """How well the hidden values of each view are predicted, and how this was measured.

    Attributes
    ----------
    by_view : tuple of Prediction
        Of views in which something was hidden.
    measured : str
        In words.
    kinds : dict of name -> str
        Kinds of the values of each view, where the model knows them.
    notes : tuple of str
        What to look at before using completed values.
    """

    by_view: tuple[Prediction, ...]
    measured: str
    kinds: dict[str, str]
    notes: tuple[str, ...] = ()


def predict_hidden(subject: Subject, held_out: bool) -> Predictions | Absent:
    """What the model has learned from hidden values; else hide values, fit again, complete and compare."""
    model = subject.model
    if not hasattr(model, "complete"):
        return Absent(f"{subject.method} does not complete missing values.")
    imputer, n, most, drawn = getattr(model, "imputer_", None), int(subject.kept.sum()), _most(subject), ""
    if imputer is None:
        if not held_out:
            return Absent("It was switched off (held_out=False): it needs other fits.")
        if n > most:
            drawn = (
                f" This was done with {most:,} of the {n:,} samples, drawn at random; a model of all "
                "samples has somewhat smaller errors."
            )
        if hasattr(model, "learn_completion"):
            imputer = model.learn_completion(most_samples=most)
    kinds = model.kinds_.summary(model.view_names_in_) if hasattr(model, "kinds_") else {}
    if imputer is not None:
        return _learned(subject, imputer, kinds, drawn)
    found = _by_second_fit(subject)
    return found if isinstance(found, Absent) else Predictions(found, f"{SECOND_FIT}{drawn}", kinds)


def _most(subject: Subject) -> int:
    return more_if_narrow(COMPLETION_SAMPLES, subject.views.n_features)


def _learned(subject: Subject, imputer: Any, kinds: dict[str, str], drawn: str) -> Predictions:
    """What an imputer knows from the values that it hid."""
    model = subject.model
    some = subject.used().take(some_rows(int(subject.kept.sum()), _most(subject), subject.seed))
    estimates = model.estimates(some, LEVEL, imputer)
    quality = Quality.of(imputer, model.view_names_in_, estimates)
    unit = "standard deviations of a feature"
    parts = zip(quality.by_view.items(), imputer.examples, _widths(estimates, imputer), strict=True)
    found = tuple(
        Prediction(
            name, one.n_values, one.error, one.mean_error, unit, true, answer, one.standard_error, one.by_mean, width
        )
        for (name, one), (true, answer), width in parts
        if one.error is not None and one.mean_error is not None
    )
    measured = (
        f"Observed values were hidden {imputer.n_trials} times, in the way in which the data lack values, and several "
        "models were fitted to the rest. Their predictions were weighed and corrected by what was learned from the "
        f"other times.{drawn}"
    )
    return Predictions(found, measured, kinds, quality.notes)


def _widths(estimates: Estimates, imputer: Any) -> list[float | None]:
    """Median width of the intervals of each view, in standard deviations of a feature; None where none has two ends."""
    found: list[float | None] = []
    views = estimates.views if estimates.kept.all() else estimates.views.take(estimates.kept)
    for v, (view, imputed) in enumerate(zip(views, estimates.imputed, strict=True)):
        mask = np.broadcast_to(view.mask, (view.n_samples, view.n_features))[imputed.places >= 0]
        width = ((imputed.upper - imputed.lower) / imputer.units.spreads[v])[~mask]
        width = width[np.isfinite(width)]
        found.append(float(np.median(width)) if width.size else None)
    return found


def _by_second_fit(subject: Subject) -> tuple[Prediction, ...] | Absent:
    """Hide values, fit again, complete and compare; views in which nothing could be hidden are left out."""
    settings = {"calibrate": False} if hasattr(subject.model, "calibrate") else {}
    X, observed = _some_samples(subject)
    try:
        trials = Trials.draw(HeldOut(random_state=subject.seed), X, observed)
        holed = trials.holed(0)
        trial = refit(subject.model, holed, **settings)
        if was_interrupted(trial):
            return Absent("The second fit was interrupted.")
        completed = trial.complete(holed)
    except ValueError as error:
        return Absent(f"No values could be hidden and predicted: {error}.")
    read = [read_views(values, schema=Schema.of(trials.views, X)) for values in (completed, holed)]
    estimates, seen = (_in_order(views, trials.views) for views in read)
    rng, (hidden,) = np.random.default_rng(subject.seed), trials.hidden
    return tuple(
        _compare(view, estimates[v], seen[v], hidden, v, trials.units[v], rng)
        for v, view in enumerate(trials.views)
        if hidden[v].any()
    )


def _some_samples(subject: Subject) -> tuple[Any, Any]:
    """The data as given; of many samples some, as arrays and masks."""
    rows = some_rows(int(subject.kept.sum()), _most(subject), subject.seed)
    if rows.size == subject.kept.sum():
        return subject.X, subject.observed
    some = subject.used().take(rows)
    masks = {view.name: np.broadcast_to(view.mask, (rows.size, view.n_features)) for view in some}
    return {view.name: view.X for view in some}, masks


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


def is_drawn_as_points(kind: str) -> bool:
    """Whether hardly any values of a kind are equal, as far as it is known; counts often are."""
    return not kind or kind.startswith("real")


def true_groups(
    true: np.ndarray, predicted: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """True values by the size of their prediction: mean, and where nine tenths lie; None if there are too few values.

    Returns
    -------
    sizes, mean, low, high : arrays (m,)
        Mean prediction of each group of values; mean and quantiles of the true values of the group.
    """
    groups = min(predicted.size // FEWEST_IN_GROUP, MOST_GROUPS)
    if groups < 2 or np.ptp(predicted) == 0:
        return None
    parts = np.array_split(np.argsort(predicted, kind="stable"), groups)
    low, high = np.array([np.quantile(true[part], [0.05, 0.95]) for part in parts]).T
    sizes, mean = (np.array([values[part].mean() for part in parts]) for values in (predicted, true))
    return sizes, mean, low, high


def true_range(true: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The same without the means."""
    found = true_groups(true, predicted)
    return None if found is None else (found[0], found[2], found[3])
