"""One call from incomplete views to completed ones, with figures that help to judge them."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from jella.estimators.methods.sparse_bdr import SparseBDR
from jella.impute.errors import ErrorEstimate
from jella.impute.estimates import Estimates, Interval, check_level
from jella.impute.quality import Quality
from jella.model_selection.against_mean import errors_against_mean
from jella.numerics.words import counted, number, percent, shortened
from jella.oneshot.common import NAME_WIDTH, aligned_views, as_given, check_settings, n_missing, view_table
from jella.views import Views, is_chunked
from jella.views.probabilities import level_probabilities


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
        Number of imputed entries of each view.
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
    seconds: float

    def __repr__(self) -> str:
        model = self.model
        n, widths = int(model.embedding_.shape[0]), model.schema_.n_features
        left_out = f", {len(model.dropped_):,} without any value left as they are" if model.dropped_ else ""
        rows: list[tuple[str, ...]] = [("view", "kind", "filled", "share", "error", "±", "of the mean")]
        for name, d in zip(model.view_names_in_, widths, strict=True):
            filled = self.n_filled[name]
            by_view = (self.error_by_view, self.standard_error_by_view, self.mean_error_by_view)
            errors = [None if kind is None else kind[name] for kind in by_view]
            kind = shortened(self.kinds.get(name, "–"), NAME_WIDTH)
            shown = shortened(name, NAME_WIDTH)
            rows.append((shown, kind, f"{filled:,}", percent(filled, n * d), *map(number, errors)))
        total = sum(self.n_filled.values())
        overall = (self.error, self.standard_error, self.mean_error)
        last = ("all", "", f"{total:,}", percent(total, n * sum(widths)), *map(number, overall))
        return "\n".join(
            [
                f"Completion of {counted(n, 'sample')}{left_out}: {counted(total, 'entry', 'entries')} filled",
                *view_table(rows, "<<>>>>>", [last] if len(widths) > 1 else []),
                f"  {self._verdict()}",
                *(f"  note: {note}" for note in self.notes),
                f"  {counted(model.n_iter_, 'sweep')}, {self.seconds:.1f} s",
            ]
        )

    def _verdict(self) -> str:
        if self.error is None or self.mean_error is None:
            return "error not estimated"
        unit = "error on hidden values, in standard deviations of a feature"
        return unit if self.error < self.mean_error else f"{unit}: no better than the mean, do not rely on it"


def complete(
    views: Any,
    *,
    observed: Any = None,
    ids: Any = "exact",
    samples: str = "rows",
    zero_rows: str = "observed",
    random_state: Any = 0,
    interval: float | None = None,
    estimate_error: bool = True,
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
    random_state : int, Generator or RandomState, default=0
        Seed of the fits, and of the hidden values.
    interval : float in (0, 1), optional
        Also give intervals that hold this share of the true values, such as 0.9, unless values are missing because of
        their size.
    estimate_error : bool, default=True
        False leaves the errors out. It saves time only with calibrate=False.
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
      view       kind    filled  share  error      ±  of the mean
      pixels     ...
      fourier    ...
      gradients  ...
      all        ...
      error on hidden values, in standard deviations of a feature
      ... sweeps, ... s
    """
    begin = perf_counter()
    chunked = is_chunked(views)
    if estimate_error and chunked:
        raise ValueError(
            "expected samples in memory to estimate the error of a completion, got a Dask collection; pass "
            "estimate_error=False"
        )
    check_settings(settings)
    check_level(interval)
    views = aligned_views(views, observed, ids, samples, zero_rows)
    model = SparseBDR(random_state=random_state, **settings).fit(views, observed=observed)
    done = _answer(model, views, observed, interval)
    lacking, left = n_missing(views, observed), len(model.dropped_)
    names = model.view_names_in_
    widths = dict(zip(names, model.schema_.n_features, strict=True))
    findings = done.findings if done.findings is not None or not estimate_error else _by_refit(model, views, observed)
    by_view = None if findings is None or not estimate_error else findings.by_view
    overall = None if findings is None or not estimate_error else findings.overall
    turned = samples == "columns"
    return Completion(
        views=as_given(done.filled.views, turned),
        n_filled={name: count - left * widths[name] for name, count in lacking.items()},
        error=None if overall is None else overall.error,
        standard_error=None if overall is None else overall.standard_error,
        mean_error=None if overall is None else overall.mean_error,
        error_by_view=_each(by_view, "error"),
        standard_error_by_view=_each(by_view, "standard_error"),
        mean_error_by_view=_each(by_view, "mean_error"),
        imputed_by_mean=[] if findings is None else findings.by_mean,
        kinds={} if chunked else model.kinds_.summary(names),
        notes=() if findings is None else findings.notes,
        lower=None if interval is None else as_given(done.filled.lower, turned),
        upper=None if interval is None else as_given(done.filled.upper, turned),
        std=None if interval is None else done.filled.std,
        probabilities=done.probabilities,
        model=model,
        seconds=perf_counter() - begin,
    )


@dataclass(frozen=True, eq=False)
class _Done:
    """Completed views, what is known of them, and the probabilities of levels."""

    filled: Interval
    findings: Quality | None
    probabilities: dict[str, Any]


def _answer(model: SparseBDR, X: Any, observed: Any, interval: float | None) -> _Done:
    """The completed views, each value computed once."""
    imputer = model.learn_completion()
    if imputer is None:
        filled = model.complete(X, observed=observed, interval=interval)
        return _Done(filled if isinstance(filled, Interval) else Interval(filled, None, None, None), None, {})
    views = model.read(X, observed)
    assert isinstance(views, Views)  # an imputer learns from samples in memory
    found: Estimates = model.estimates(views, interval)
    filled = Interval(found.fill(X, model.schema_), None, None, None)
    if interval is not None:
        filled = found.interval(X, model.schema_)
    probabilities = level_probabilities(views, found.get) if any(view.categories for view in views) else {}
    return _Done(filled, Quality.of(imputer, model.view_names_in_, found), probabilities)


def _by_refit(model: SparseBDR, X: Any, observed: Any) -> Quality | None:
    """Errors from one more fit, for a model without an imputer; None after Ctrl-C."""
    try:
        ours, means = errors_against_mean(model, X, observed)
    except ValueError as error:
        raise ValueError(f"the error cannot be estimated: {error}; or pass estimate_error=False") from error
    if ours is None or means is None:
        return None
    by_view = {name: _known(ours[1][name], means[1][name]) for name in ours[1]}
    return Quality(_known(ours[0], means[0]), by_view, ())


def _known(error: float, mean_error: float) -> ErrorEstimate:
    return ErrorEstimate(error, None, mean_error, 0, 0, by_mean=False)


def _each(by_view: dict[str, ErrorEstimate] | None, what: str) -> dict[str, float] | None:
    """One figure of each view; NaN where it is not known."""
    if by_view is None:
        return None
    found = {name: getattr(one, what) for name, one in by_view.items()}
    return {name: float("nan") if value is None else value for name, value in found.items()}
