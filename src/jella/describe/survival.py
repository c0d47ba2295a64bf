"""Survival of the samples of each cluster: Kaplan-Meier curves and a log-rank test, by lifelines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.describe.association import Scored
from jella.numerics.optional import need
from jella.numerics.words import listed
from jella.views.sample_columns import SampleColumn

_TRUE, _FALSE = ("1", "True", "true", "TRUE"), ("0", "False", "false", "FALSE")


@dataclass(frozen=True, eq=False)
class Curve:
    """The Kaplan-Meier curve of a cluster.

    Attributes
    ----------
    cluster : int
    n_samples, n_events : int
    times : array (m,)
        From 0; the curve is a step function that changes after these times.
    survival, lower, upper : arrays (m,)
        Share of the samples that survive each time, and its 95 % confidence interval.
    at_risk : int array (m,)
        Samples whose time is not shorter.
    median : float
        The time that half of the samples survive; infinite if more do.
    """

    cluster: int
    n_samples: int
    n_events: int
    times: np.ndarray
    survival: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    at_risk: np.ndarray
    median: float


@dataclass(frozen=True, eq=False)
class Survival:
    """The survival of the samples of each cluster.

    Attributes
    ----------
    time, event : str
        Names of the columns.
    n_samples, n_events : int
        Of all clusters: samples whose time and event are known.
    curves : tuple of Curve
        One per cluster.
    statistic, p_value : float
        Of the log-rank test; NaN if there is only one cluster or no event.
    scores : array (n,)
        Log-rank score of each sample: its event, minus the events expected until its time. NaN if it is not known.
    """

    time: str
    event: str
    n_samples: int
    n_events: int
    curves: tuple[Curve, ...]
    statistic: float
    p_value: float
    scores: np.ndarray

    @property
    def name(self) -> str:
        """The name of the pair of columns."""
        return f"survival ({self.time}, {self.event})"

    def scored(self) -> Scored:
        """The scores, to be compared with the clusters as other columns are."""
        return Scored(self.name, "survival", self.scores, self.p_value)

    def as_frame(self) -> Any:
        """A pandas DataFrame with a row for each cluster and time."""
        return need("pandas", "pandas").DataFrame(self.columns())

    def columns(self) -> dict[str, np.ndarray]:
        """The curves by column of a table, one below the other."""
        by_name = {"time": "times", "survival": "survival", "lower": "lower", "upper": "upper", "at_risk": "at_risk"}
        clusters = np.repeat([one.cluster for one in self.curves], [one.times.size for one in self.curves])
        parts = {name: [getattr(one, source) for one in self.curves] for name, source in by_name.items()}
        return {"cluster": clusters} | {name: np.concatenate(part) for name, part in parts.items()}

    def __repr__(self) -> str:
        medians = ", ".join(f"{one.cluster}: {one.median:.4g}" for one in self.curves)
        return (
            f"Survival of {self.n_samples} samples, {self.n_events} events; log-rank p = {self.p_value:.2g}; "
            f"median by cluster: {medians}"
        )


def check_survival(survival: Any, columns: Mapping[str, Any]) -> tuple[str, str] | None:
    """The names of the columns of time and event; refused before any work if they cannot be used."""
    if survival is None:
        return None
    pair = tuple(survival) if isinstance(survival, tuple | list) else ()
    if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
        raise ValueError(
            f"expected survival to name two columns of the metadata, got {survival!r}; pass (time, event), for example "
            "('time', 'event')"
        )
    if not columns:
        raise ValueError(
            f"expected metadata with the columns {pair[0]!r} and {pair[1]!r} for survival, got no metadata; pass "
            "metadata="
        )
    for name in pair:
        if name not in columns:
            raise ValueError(
                f"expected survival to name columns of the metadata, got {name!r}; it has {listed(list(columns), 8)}"
            )
    need("lifelines", "survival")
    read_survival(columns, *pair)
    return pair[0], pair[1]


def read_survival(columns: Mapping[str, Any], time: str, event: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and events (n,) in floating point; NaN where one of them is not known."""
    times = SampleColumn.of(time, columns[time], few_numbers=0)
    if times.levels is not None or not times.known.any() or np.nanmin(times.values) < 0:
        raise ValueError(f"expected times from 0 in column {time!r}, got other values; correct them")
    happened = SampleColumn.of(event, columns[event], few_numbers=np.inf)
    wrong = [level for level in happened.levels or () if level not in (*_TRUE, *_FALSE)]
    if wrong:
        raise ValueError(
            f"expected 1 (the event happened) or 0 (it did not, until this time) in column {event!r}, got "
            f"{listed([repr(one) for one in wrong], 3)}; recode it"
        )
    known = times.known & happened.known
    levels = np.array([level in _TRUE for level in happened.levels or ()], dtype=np.float64)
    events = np.where(known, levels[happened.values], np.nan)
    return np.where(known, times.values, np.nan), events


def find_survival(columns: Mapping[str, Any], pair: tuple[str, str], labels: np.ndarray) -> Survival:
    """Curves and a log-rank test.

    Parameters
    ----------
    columns : dict of name -> array (n,)
    pair : names of the columns of time and event
    labels : int array (n,)
        Clusters; samples with a negative one are left out.
    """
    times, events = read_survival(columns, *pair)
    labels = np.asarray(labels)
    rows = np.isfinite(times) & (labels >= 0)
    t, e, groups = times[rows], events[rows] > 0, labels[rows]
    clusters = np.unique(groups)
    statistic = p_value = float("nan")
    if clusters.size > 1 and e.any():
        test = need("lifelines.statistics", "survival").multivariate_logrank_test(t, groups, e)
        statistic, p_value = float(test.test_statistic), float(test.p_value)
    scores = np.full(labels.shape, np.nan)
    scores[rows] = log_rank_scores(t, e)
    curves = tuple(_curve(int(c), t[groups == c], e[groups == c]) for c in clusters)
    return Survival(*pair, int(rows.sum()), int(e.sum()), curves, statistic, p_value, scores)


def log_rank_scores(times: np.ndarray, events: np.ndarray) -> np.ndarray:
    """Event of each sample, minus the cumulative hazard at its time (Nelson-Aalen).

    >>> log_rank_scores(np.array([1.0, 2.0]), np.array([True, True])).tolist()
    [0.5, -0.5]
    """
    at, place = np.unique(times, return_inverse=True)
    died = np.bincount(place, weights=events, minlength=at.size)
    left = times.size - np.concatenate([[0], np.cumsum(np.bincount(place))[:-1]])
    return events - np.cumsum(died / left)[place]


def _curve(cluster: int, times: np.ndarray, events: np.ndarray) -> Curve:
    fitted = need("lifelines", "survival").KaplanMeierFitter().fit(times, events)
    ends = fitted.confidence_interval_.to_numpy()
    at = fitted.survival_function_.index.to_numpy(dtype=np.float64)
    return Curve(
        cluster=cluster,
        n_samples=int(times.size),
        n_events=int(events.sum()),
        times=at,
        survival=fitted.survival_function_.iloc[:, 0].to_numpy(),
        lower=ends[:, 0],
        upper=ends[:, 1],
        at_risk=np.array([int((times >= one).sum()) for one in at]),
        median=float(fitted.median_survival_time_),
    )
