"""Means and deviations over repetitions, by two rules for the choice of weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, NamedTuple

from jella_experiments.cell import Cell
from jella_experiments.contenders import Parameters

Found = Mapping[Cell, Mapping[str, Any]]

BY_LABELS, LABEL_FREE = "by-labels", "label-free"
RULES = {
    BY_LABELS: "Weights by labels, the paper's rule: for each data set, rate, method and score, the combination with "
    "the best mean of that score.",
    LABEL_FREE: "Weights without labels: in each repetition, the combination with the lowest error on held-out "
    "values; the default combination if a method has no such error.",
}
LOWER_IS_BETTER = ("rmse", "rmse_all")
STRATEGIES = {"basic": "basic", "sor": "basic + SOR"}


class Place(NamedTuple):
    """What a number in a table describes; it combines all repetitions and weights."""

    dataset: str
    setting: str
    rate: float
    method: str
    views: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """One score over repetitions.

    Parameters
    ----------
    values : tuple of float
        One per repetition that ran.
    failures : tuple of str
        The messages of those that failed.

    Examples
    --------
    >>> both = Summary((0.5, 0.7))
    >>> both.n, round(both.mean, 3), round(both.std, 3)
    (2, 0.6, 0.141)
    """

    values: tuple[float, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of repetitions that ran."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Mean over repetitions; NaN if none ran."""
        return fmean(self.values) if self.values else math.nan

    @property
    def std(self) -> float:
        """Sample standard deviation (ddof = 1); NaN for fewer than two repetitions."""
        return stdev(self.values) if self.n > 1 else math.nan


NOTHING = Summary()


def index(results: Mapping[str, Mapping[str, Any]]) -> dict[Cell, Mapping[str, Any]]:
    """Results by cell instead of by key."""
    return {Cell.from_dict(record): record for record in results.values()}


def by_place(cells: Iterable[Cell]) -> dict[Place, list[Cell]]:
    """Cells grouped by all but repetition, weights and task, in the order of the cells, each once."""
    groups: dict[Place, list[Cell]] = {}
    for cell in dict.fromkeys(cells):
        place = Place(cell.dataset, cell.setting, cell.rate, cell.method, cell.views)
        groups.setdefault(place, []).append(cell)
    return groups


def titles(places: Iterable[Cell | Place]) -> dict[tuple[str, str], str]:
    """A name for each data set and setting: that of the set, with the setting if the set has several."""
    pairs = dict.fromkeys((place.dataset, place.setting) for place in places)
    often = Counter(dataset for dataset, _ in pairs)
    return {pair: pair[0] if often[pair[0]] == 1 else ", ".join(pair) for pair in pairs}


def summaries(cells: Iterable[Cell], found: Found, score: str, rule: str) -> dict[Place, Summary]:
    """The score of each place by one rule."""
    return {place: summary_of(group, found, score, rule) for place, group in by_place(cells).items()}


def summary_of(cells: Iterable[Cell], found: Found, score: str, rule: str) -> Summary:
    """The score of one place.

    A repetition counts when all its combinations of weights have finished or failed, so that an incomplete
    run does not choose among fewer combinations.

    Parameters
    ----------
    cells : iterable of Cell
        All cells that were planned for the place.
    found : mapping of Cell to result
    score : str
        Name of a value of the results.
    rule : {'by-labels', 'label-free'}

    Returns
    -------
    Summary
    """
    planned = list(cells)
    if rule == LABEL_FREE:
        return _summary([found[_without_labels(group, found)] for group in _finished(planned, found)], score)
    runs = [cell for cell in planned if cell.task != "hold-out"]
    tried = by_combination(runs, found, score)
    sign = -1.0 if score in LOWER_IS_BETTER else 1.0
    best = max(tried.values(), key=lambda one: (one.n, sign * one.mean), default=NOTHING)
    if best.n:
        return best
    return Summary(failures=tuple(message for one in tried.values() for message in one.failures))


def by_combination(cells: Iterable[Cell], found: Found, score: str) -> dict[Parameters, Summary]:
    """The score of each combination of weights, over the repetitions in which all combinations have run."""
    planned = list(cells)
    records: dict[Parameters, list[Mapping[str, Any]]] = {cell.parameters: [] for cell in planned}
    for group in _finished(planned, found):
        for cell in group:
            records[cell.parameters].append(found[cell])
    return {parameters: _summary(there, score) for parameters, there in records.items()}


def coverage(cells: Iterable[Cell], found: Found) -> dict[str, tuple[int, int, int]]:
    """For each data set the fewest and the most finished repetitions, over its places, and the planned number."""
    spans: dict[str, tuple[int, int, int]] = {}
    for place, group in by_place(cells).items():
        done, planned = len(_finished(group, found)), len({cell.repetition for cell in group})
        low, high, most = spans.get(place.dataset, (done, done, planned))
        spans[place.dataset] = (min(low, done), max(high, done), max(most, planned))
    return spans


def strategies(cells: Iterable[Cell], found: Found, score: str) -> dict[tuple[str, str], Summary]:
    """A score of the 'converge' cells, by data set and strategy."""
    groups = by_place(cells)
    names = titles(groups)
    return {
        (names[place.dataset, place.setting], STRATEGIES[dict(parameters)["solver"]]): summary
        for place, group in groups.items()
        for parameters, summary in by_combination(group, found, score).items()
    }


def sweeps_to_same(cells: Sequence[Cell], found: Found) -> dict[tuple[str, str], Summary]:
    """Sweeps that each strategy needs to reach the higher of the two final objectives, whatever the stopping rule."""
    names = titles(cells)
    paths: dict[tuple[str, int], dict[str, list[float]]] = {}
    for cell in cells:
        if "objective" in found.get(cell, {}):
            pair = paths.setdefault((names[cell.dataset, cell.setting], cell.repetition), {})
            pair[STRATEGIES[dict(cell.parameters)["solver"]]] = found[cell]["objective"]
    needed: dict[tuple[str, str], list[float]] = {}
    for (name, _), both in paths.items():
        if len(both) == len(STRATEGIES):
            target = max(path[-1] for path in both.values())
            for strategy, path in both.items():
                first = next(sweep for sweep, value in enumerate(path, 1) if value <= target)
                needed.setdefault((name, strategy), []).append(float(first))
    return {key: Summary(tuple(values)) for key, values in needed.items()}


def _finished(cells: list[Cell], found: Found) -> list[list[Cell]]:
    """The cells of each repetition in which no cell is missing."""
    groups: dict[int, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.repetition, []).append(cell)
    return [group for group in groups.values() if all(cell in found for cell in group)]


def _without_labels(group: list[Cell], found: Found) -> Cell:
    """The run with the lowest held-out error in one repetition; the first run if no error is known."""
    runs = [cell for cell in group if cell.task != "hold-out"]
    errors = {cell.parameters: found[cell].get("error", math.nan) for cell in group if cell.task == "hold-out"}
    known = [cell for cell in runs if math.isfinite(errors.get(cell.parameters, math.nan))]
    return min(known, key=lambda cell: errors[cell.parameters]) if known else runs[0]


def _summary(records: Iterable[Mapping[str, Any]], score: str) -> Summary:
    outcomes = [_outcome(record, score) for record in records]
    return Summary(
        tuple(one for one in outcomes if isinstance(one, float)),
        tuple(one for one in outcomes if isinstance(one, str)),
    )


def _outcome(record: Mapping[str, Any], score: str) -> float | str | None:
    """A value (the last one of a path), or why there is none; None if the task does not compute the score."""
    if "failed" in record:
        return str(record["failed"])
    if score not in record:
        return None
    value = record[score]
    last = float(value[-1] if isinstance(value, list) else value)
    return last if math.isfinite(last) else f"ValueError: {score} is {last}"
