"""Completed values against true values that were hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.describe.subject import Absent, Subject
from jella.numerics.arrays import dense_rows
from jella.numerics.words import counted
from jella.oneshot.common import as_given
from jella.oneshot.completed import Completed
from jella.plot.given import position, required, subject_of
from jella.plot.style import INK, SOFT, axes, look, short, titled
from jella.report.predictions import true_range
from jella.views import Views
from jella.views.adjustment import REMOVED

#: points drawn, of all views, and how many of them have their interval drawn
MOST_POINTS, MOST_INTERVALS = 900, 90
#: share of the values, on each side, that the axes may leave out
LEFT_OUT = 0.002
#: level of the intervals that a model is asked for
LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class HiddenPairs:
    """True and completed values of one view, and the ends of their intervals, where there are some; arrays (m,)."""

    name: str
    true: np.ndarray
    completed: np.ndarray
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> HiddenPairs:
        """Some of the values."""
        ends = (None if end is None else end[rows] for end in (self.lower, self.upper))
        return HiddenPairs(self.name, self.true[rows], self.completed[rows], *ends)


def completed(
    of: Any, truth: Any = None, X: Any = None, *, view: str | None = None, observed: Any = None, ax: Any = None
) -> Any:
    """Draw completed values against the true values, with intervals where there are some.

    Without `truth`, these are observed values that the model has hidden from itself to learn how far to trust its
    predictions; the band holds nine tenths of the true values. Values are in standard deviations of their feature,
    from its mean; of adjusted values, if `jella.complete` or `jella.cluster` was given covariates.

    Parameters
    ----------
    of : result of `jella.complete` or `jella.cluster`, or fitted model
    truth : as in fit, optional
        Views that have values where those of the fit have none.
    X : as in fit, optional
        The views of the fit of a model; a result has them.
    view : str, optional
        By default all views.
    observed : as in fit, optional
    ax : matplotlib Axes, optional
        By default of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> full = {name: view[:150] for name, view in digits.data.items()}
    >>> done = jella.complete(jella.datasets.make_incomplete(full, 0.3, random_state=0), interval=0.9)
    >>> jella.plot.completed(done, full).get_xlabel()
    'true value'
    """
    subject = subject_of(of, X, observed)
    shown = position(view, subject.views.names)
    imputer = _imputer(subject) if truth is None else None
    every = _against(of, subject, truth) if imputer is None else _own_trials(subject, imputer)
    pairs = [every[v] for v in shown if every[v].true.size]
    if not pairs:
        raise ValueError("expected some values that the fit did not have, got none; pass truth with such values")
    ax = axes(ax, 5.4, 5.0)
    some = [_some(one, MOST_POINTS // len(pairs), subject.seed) for one in pairs]
    for k, one in enumerate(some):
        _draw(ax, one, look(k, len(pairs)), band=truth is None)
    every_value = np.concatenate([values for one in pairs for values in (one.true, one.completed)])
    low, high = np.quantile(every_value, [LEFT_OUT, 1.0 - LEFT_OUT])
    room = 0.05 * (high - low) or 1.0
    ax.plot([low, high], [low, high], color=INK, linewidth=1, linestyle="--", zorder=3)
    ax.annotate("equal", (high, high), xytext=(-4, 0), textcoords="offset points", ha="right", fontsize="small")
    limits = (low - room, high + room)
    ax.set(xlabel="true value", ylabel="completed value", xlim=limits, ylim=limits, aspect="equal")
    if len(pairs) > 1:
        ax.legend(loc="upper left", fontsize="small", frameon=False)
    what = short(pairs[0].name) + ": " if len(pairs) == 1 else ""
    words = _words(pairs) if imputer is None else _learned(imputer, shown, sum(one.true.size for one in some))
    return titled(ax, f"{what}{words}\nin standard deviations of a feature, from its mean")


def _imputer(subject: Subject) -> Any:
    """What a model has learned from values that it hid."""
    model = subject.model
    imputer = model.learn_completion() if hasattr(model, "learn_completion") else None
    return required(
        Absent(f"{subject.method} has not learned from hidden values: pass truth") if imputer is None else imputer
    )


def _own_trials(subject: Subject, imputer: Any) -> list[HiddenPairs]:
    """Hidden values of an imputer and its answers."""
    return [HiddenPairs(name, *values) for name, values in zip(subject.views.names, imputer.examples, strict=True)]


def _learned(imputer: Any, shown: list[int], drawn: int) -> str:
    """The error of all values that an imputer has hidden, of which some are drawn."""
    one = imputer.by_view[shown[0]] if len(shown) == 1 else imputer.overall
    values = counted(one.n_values, "hidden value")
    some = f"{drawn:,} of {values}" if drawn < one.n_values else values
    return f"{some}, error {one.error:.2f} ± {one.standard_error:.2f}"


def _against(of: Any, subject: Subject, truth: Any) -> list[HiddenPairs]:
    """Values that the truth has and the data of the fit do not have."""
    model = subject.model
    if not hasattr(model, "complete"):
        required(Absent(f"{subject.method} does not complete missing values"))
    adjusted = getattr(of, "_adjusted", None)
    as_fitted = adjusted.again if adjusted is not None else _unchanged
    if hasattr(of, "n_filled"):
        given = [None if one is None else as_given(one, of._turned) for one in (of.views, of.lower, of.upper)]
        done = [None if one is None else as_fitted(one) for one in given]
    else:
        level = LEVEL if hasattr(model, "learn_completion") and model.learn_completion() is not None else None
        answer = Completed.by(model, subject.X, subject.observed, level, REMOVED)
        done = [answer.views, answer.lower, answer.upper]
    layers = [None if one is None else model.read(one, covariates=REMOVED) for one in done]
    full = model.read(as_fitted(truth), covariates=REMOVED)
    return [_of_view(subject.views, full, layers, v) for v in range(len(subject.views))]


def _unchanged(views: Any) -> Any:
    return views


def _of_view(views: Views, truth: Views, layers: list[Views | None], v: int) -> HiddenPairs:
    view, full = views[v], truth[v]
    if full.n_samples != view.n_samples:
        raise ValueError(
            f"expected truth with the {view.n_samples} samples of the fit, got {full.n_samples}; pass the same samples"
        )
    shape = (view.n_samples, view.n_features)
    known, there = np.broadcast_to(view.mask, shape), np.broadcast_to(full.mask, shape)
    rows, columns = np.nonzero(there & ~known)
    X, n = dense_rows(view.X, slice(None)).astype(np.float64), np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, X, 0.0).sum(axis=0) / n
    unit = np.sqrt(np.where(known, (X - mean) ** 2, 0.0).sum(axis=0) / n)
    varies = unit[columns] > 0
    rows, columns = rows[varies], columns[varies]

    def values(part: Any) -> np.ndarray | None:
        if part is None:
            return None
        return (dense_rows(part.X, slice(None))[rows, columns] - mean[columns]) / unit[columns]

    true, answer, lower, upper = (values(one) for one in (full, *(None if one is None else one[v] for one in layers)))
    assert true is not None
    assert answer is not None
    return HiddenPairs(view.name, true, answer, lower, upper)


def _some(pairs: HiddenPairs, most: int, seed: int) -> HiddenPairs:
    if pairs.true.size <= most:
        return pairs
    return pairs.take(np.random.default_rng(seed).choice(pairs.true.size, most, replace=False))


def _draw(ax: Any, pairs: HiddenPairs, own: dict[str, Any], *, band: bool) -> None:
    ax.scatter(pairs.true, pairs.completed, s=12, alpha=0.55, linewidths=0, label=short(pairs.name), **own)
    if pairs.lower is not None and pairs.upper is not None:
        few = pairs.take(np.arange(0, pairs.true.size, MOST_POINTS // MOST_INTERVALS))
        assert few.lower is not None
        assert few.upper is not None
        ax.vlines(few.true, few.lower, few.upper, color=own["color"], linewidth=0.8, alpha=0.6)
    if band and (found := true_range(pairs.true, pairs.completed)) is not None:
        middle, low, high = found
        ax.fill_betweenx(middle, low, high, color=SOFT, alpha=0.15, linewidth=0)


def _words(pairs: list[HiddenPairs]) -> str:
    """How close the values are, and how many the intervals hold."""
    true, answer = (np.concatenate([getattr(one, name) for one in pairs]) for name in ("true", "completed"))
    words = f"{counted(true.size, 'hidden value')}, error {np.sqrt(np.mean((true - answer) ** 2)):.2f}"
    if any(one.lower is None or one.upper is None for one in pairs):
        return words
    inside = np.concatenate([(one.lower <= one.true) & (one.true <= one.upper) for one in pairs])
    return f"{words}; intervals hold {inside.mean():.0%}"
