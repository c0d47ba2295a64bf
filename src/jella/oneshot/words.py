"""Words about a completion, the same in the repr of its result and on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from jella.numerics.words import NOTHING, number, percent

#: figures of an error: the error, its standard error, and the error of the mean
Figures: TypeAlias = Sequence[float | None]
#: the head of a table of a completion, and the sides of its columns
HEAD, SIDES = ("view", "kind", "filled", "share", "error", "±", "mean's error"), "<<>>>>>"


def completion_row(name: str, kind: str, filled: int, entries: int, errors: Figures) -> tuple[str, ...]:
    """One line of the table: a view, or all of them."""
    return name, kind, f"{filled:,}", percent(filled, entries), *map(number, errors)


def completion_rows(
    filled: Mapping[str, int],
    entries: Mapping[str, int],
    kinds: Mapping[str, str],
    by_view: Mapping[str, Figures],
    overall: Figures,
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The head and the views of the table, and its last line if there are several views."""
    unknown = (None, None, None)
    rows = [HEAD] + [
        completion_row(name, kinds.get(name, NOTHING), count, entries[name], by_view.get(name, unknown))
        for name, count in filled.items()
    ]
    last = completion_row("all", "", sum(filled.values()), sum(entries[name] for name in filled), overall)
    return rows, [last] if len(filled) > 1 else []


def verdict(error: float | None, mean_error: float | None) -> str:
    """A line on the errors of the table."""
    if error is None or mean_error is None:
        return "error not estimated"
    unit = "error on hidden values, in standard deviations of a feature"
    return unit if error < mean_error else f"{unit}: no better than the mean, do not rely on it"
