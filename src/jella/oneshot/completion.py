"""One call from incomplete views to completed ones, with figures that help to judge them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from jella.describe.subject import Subject
from jella.estimators.adjuster import Adjuster
from jella.estimators.methods.sparse_bdr import SparseBDR
from jella.impute.errors import ErrorEstimate
from jella.impute.estimates import check_level
from jella.impute.quality import Quality
from jella.model_selection.against_mean import errors_against_mean
from jella.numerics.progress import SweepLine
from jella.numerics.words import counted, shortened
from jella.oneshot.adjusting import Adjusted
from jella.oneshot.common import (
    NAME_WIDTH,
    aligned_views,
    as_given,
    check_settings,
    count_cells,
    fit_model,
    view_table,
)
from jella.oneshot.completed import Completed
from jella.oneshot.words import SIDES, completion_rows, verdict
from jella.views import is_chunked

#: longer texts on the kinds of a view are shortened in a repr
KIND_WIDTH = 40


@dataclass(frozen=True, repr=False, eq=False)
class Completion:
    """The result of `jella.complete`, and how far to trust it.

    Errors are root mean squares over observed values that were hidden, in units of a feature's standard deviation,
    weighted as values are really missing. None if they were not estimated, NaN for a view in which nothing could be
    hidden.

    Attributes
    ----------
    views : as given
        Completed: same container and units, observed values unchanged bit for bit.
    n_filled : dict of name -> int
        Number of imputed entries of each view; one of a category counts once.
    error, standard_error : float or None
        Error of the imputed values, and its own uncertainty.
    mean_error : float or None
        Error of imputing the mean of each feature, on the same hidden values.
    error_by_view, standard_error_by_view, mean_error_by_view : dict of name -> float, or None
    imputed_by_mean : list of str
        Views that nothing predicts better than the mean: their imputed values are means.
    kinds : dict of name -> str
        Kinds of the values of each view, detected or given.
    notes : tuple of str
        What to look at before using the values.
    lower, upper, std : as given, or None
        Ends of the intervals, and standard deviations, if `interval` was given.
    probabilities : dict of name -> DataFrame
        Of the levels of categories, for views that have some.
    model : SparseBDR
        Fitted on all observed values.
    adjuster : Adjuster or None
        Fitted, if covariates were given. The model knows adjusted values.
    seconds : float
    """

    views: Any
    n_filled: dict[str, int]
    error: float | None
    standard_error: float | None
    mean_error: float | None
    error_by_view: dict[str, float] | None
    standard_error_by_view: dict[str, float] | None
    mean_error_by_view: dict[str, float] | None
    imputed_by_mean: list[str]
    kinds: dict[str, str]
    notes: tuple[str, ...]
    lower: Any
    upper: Any
    std: Any
    probabilities: dict[str, Any]
    model: SparseBDR
    adjuster: Adjuster | None
    seconds: float
    _views: Any
    _observed: Any
    _turned: bool
    _n_entries: dict[str, int]
    _adjusted: Adjusted | None

    def as_subject(self) -> Subject:
        """The model with its data, as tables and plots describe it."""
        return Subject.of(self.model, self._views, self._observed)

    def __repr__(self) -> str:
        model, n = self.model, int(self.model.embedding_.shape[0])
        left_out = f", {len(model.dropped_):,} without any value left as they are" if model.dropped_ else ""
        by_view = (self.error_by_view, self.standard_error_by_view, self.mean_error_by_view)
        errors = {name: [None if one is None else one[name] for one in by_view] for name in self.n_filled}
        overall = (self.error, self.standard_error, self.mean_error)
        rows, last = completion_rows(self.n_filled, self._n_entries, self.kinds, errors, overall)
        rows = [(shortened(row[0], NAME_WIDTH), shortened(row[1], KIND_WIDTH), *row[2:]) for row in rows]
        return "\n".join(
            [
                f"Completion of {counted(n, 'sample')}{left_out}: "
                f"{counted(sum(self.n_filled.values()), 'entry', 'entries')} filled",
                *view_table(rows, SIDES, last),
                f"  {verdict(self.error, self.mean_error)}",
                *(f"  note: {note}" for note in self.notes),
                f"  {counted(model.n_iter_, 'sweep')}, {self.seconds:.1f} s",
            ]
        )


def complete(
    views: Any,
    *,
    observed: Any = None,
    ids: Any = "exact",
    samples: str = "rows",
    zero_rows: str = "observed",
    covariates: Any = None,
    adjust_views: Sequence[str] | None = None,
    random_state: Any = 0,
    interval: float | None = None,
    estimate_error: bool = True,
    progress: bool = False,
    **settings: Any,
) -> Completion:
    """The views with imputed missing values, and how far to trust them, by `jella.SparseBDR`.

    Several models predict each missing value. Observed values are hidden a few times, in the way in which the data
    lack values, to weigh the predictions, to correct them, and to estimate the error. Where nothing predicts better
    than the mean of a feature, the answer is the mean, and the notes say so. Imputed values stay in the range of their
    kind: counts are not negative, proportions lie in [0, 1].

    Parameters
    ----------
    views : 2-D array, list, tuple or dict of arrays, DataFrames, SciPy sparse arrays or Dask collections
        Samples in rows. NaN marks a missing entry, a row of NaN a missing view. DataFrames are aligned by their index;
        their columns of categories, truth values and text are completed too. Not modified.
    observed : as views, of booleans, optional
        True where a value was observed, instead of NaN.
    ids, samples, zero_rows : optional
        How sample ids are made equal, where the samples are, and whether rows of zeros are missing; as in
        `jella.align`.
    covariates : DataFrame, Series, or dict of name -> column, optional
        Batches and numbers whose effects are removed before the fit, and put back into the imputed values, by
        `jella.Adjuster`. Errors are those of adjusted values.
    adjust_views : sequence of str, optional
        Names of the views from which they are removed; by default all.
    random_state : int, Generator or RandomState, default=0
        Seed of the fits, and of the hidden values.
    interval : float in (0, 1), optional
        Also give intervals that hold this share of the true values, such as 0.9, unless values are missing because of
        their size.
    estimate_error : bool, default=True
        False leaves the errors out. It saves time only with calibrate=False.
    progress : bool, default=False
        Whether a line on standard error says what is being done.
    **settings
        Other parameters of `jella.SparseBDR`, such as kinds, or calibrate=False for one uncorrected model.

    Returns
    -------
    Completion

    Examples
    --------
    >>> import jella, numpy as np
    >>> digits = jella.datasets.load_digits_views()
    >>> some = {name: view[:200] for name, view in digits.data.items()}
    >>> done = jella.complete(jella.datasets.make_incomplete(some, 0.3, random_state=0), interval=0.9)
    >>> bool(np.isnan(done.views["pixels"]).any()), done.error < 0.8 * done.mean_error
    (False, True)
    >>> done  # doctest: +ELLIPSIS
    Completion of 200 samples: ... entries filled
      view       kind  ...  filled  share  error      ±  mean's error
      pixels     ...
      fourier    ...
      gradients  ...
      all        ...
      error on hidden values, in standard deviations of a feature...
      ... sweeps, ... s
    """
    begin = perf_counter()
    chunked = is_chunked(views)
    if estimate_error and chunked and not settings.get("calibrate", True):
        raise ValueError(
            "expected samples in memory to estimate the error of an uncalibrated completion, got a Dask collection; "
            "pass estimate_error=False"
        )
    check_settings(settings)
    check_level(interval)
    with SweepLine(enabled=progress):
        views = aligned_views(views, observed, ids, samples, zero_rows)
        settings = {"evidence": False, "random_state": random_state, **settings}  # clusters are not asked for
        model, adjusted = fit_model(views, observed, covariates, adjust_views, ids, settings)
        used = (views, observed) if adjusted is None else (adjusted.views, None)
        done = Completed.by(model, views, observed, interval, None if adjusted is None else adjusted.covariates)
        learned: Any = getattr(model, "kinds_", None) if adjusted is None else adjusted.adjuster.adjustment_.kinds
        missing, entries = count_cells(views, observed)
        n, left = int(model.embedding_.shape[0]), len(model.dropped_)
        quality = done.quality if done.quality is not None or not estimate_error else _by_refit(model, *used)
        by_view = None if quality is None or not estimate_error else quality.by_view
        overall = None if quality is None or not estimate_error else quality.overall
        turned = samples == "columns"
        return Completion(
            views=as_given(done.views, turned),
            n_filled={name: count - left * (entries[name] // n) for name, count in missing.items()},
            error=None if overall is None else overall.error,
            standard_error=None if overall is None else overall.standard_error,
            mean_error=None if overall is None else overall.mean_error,
            error_by_view=_each(by_view, "error"),
            standard_error_by_view=_each(by_view, "standard_error"),
            mean_error_by_view=_each(by_view, "mean_error"),
            imputed_by_mean=[] if quality is None else quality.by_mean,
            kinds={} if chunked else learned.summary(model.view_names_in_),
            notes=() if quality is None else quality.notes,
            lower=None if interval is None else as_given(done.lower, turned),
            upper=None if interval is None else as_given(done.upper, turned),
            std=done.std,
            probabilities=done.probabilities,
            model=model,
            adjuster=None if adjusted is None else adjusted.adjuster,
            seconds=perf_counter() - begin,
            _views=used[0],
            _observed=used[1],
            _turned=turned,
            _n_entries=entries,
            _adjusted=adjusted,
        )


def _by_refit(model: SparseBDR, X: Any, observed: Any) -> Quality | None:
    """Errors from one more fit, for a model without an imputer, or why there are none; None after Ctrl-C."""
    try:
        ours, means = errors_against_mean(model, X, observed)
    except ValueError as error:  # too few values to hide, or none that vary
        unknown = _known(None, None)
        by_view = dict.fromkeys(model.view_names_in_, unknown)
        return Quality(unknown, by_view, (f"the error is not known: {error}",))
    if ours is None or means is None:
        return None
    by_view = {name: _known(ours[1][name], means[1][name]) for name in ours[1]}
    return Quality(_known(ours[0], means[0]), by_view, ())


def _known(error: float | None, mean_error: float | None) -> ErrorEstimate:
    return ErrorEstimate(error, None, mean_error, 0, 0, by_mean=False)


def _each(by_view: dict[str, ErrorEstimate] | None, what: str) -> dict[str, float] | None:
    """One figure of each view; NaN where it is not known."""
    if by_view is None:
        return None
    found = {name: getattr(one, what) for name, one in by_view.items()}
    return {name: float("nan") if value is None else value for name, value in found.items()}
