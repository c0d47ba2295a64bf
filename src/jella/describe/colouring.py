"""The colourings of samples: by cluster, by the views they have, and by columns of metadata."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.describe.subject import Fit, Subject
from jella.views.sample_columns import FEW_NUMBERS, SampleColumn, read_column

#: categories with a colour of their own; rarer ones share one
MOST_LEVELS = 24
#: known classes with a colour of their own
MOST_CLASSES = 60
#: columns of metadata that the picture offers
MOST_COLUMNS = 25
MISSING, OTHER = "not known", "other"


@dataclass(frozen=True, eq=False)
class Colouring:
    """A value of every sample, for its colour and its label.

    Attributes
    ----------
    name : str
    values : array (n,)
        Positions among the levels, or numbers; NaN where a number is not known.
    levels : tuple of str, or None for numbers
    """

    name: str
    values: np.ndarray
    levels: tuple[str, ...] | None = None

    def take(self, rows: np.ndarray) -> Colouring:
        """The colouring of some of the samples."""
        return Colouring(self.name, self.values[rows], self.levels)


def own_colourings(subject: Subject, rows: np.ndarray | slice = slice(None)) -> list[Colouring]:
    """Colourings of some samples by cluster, if there are some, and by the views that they have, if these differ."""
    found = []
    if subject.labels is not None:
        labels, names = subject.labels[rows], tuple(str(cluster) for cluster in subject.clusters)
        place = np.where(labels < 0, len(names), np.searchsorted(subject.clusters, labels))
        found.append(Colouring("cluster", place, names if (labels >= 0).all() else (*names, MISSING)))
    presence = subject.views.presence()
    if not presence.all():
        found.append(of_column("views present", _combinations(presence[rows], subject.views.names)))
    if not subject.views.is_rowwise:
        observed = np.sum([view.count_by_sample() for view in subject.views], axis=0)[rows]
        found.append(Colouring("share of values missing", 1.0 - observed / subject.views.n_features))
    return found


def one_per_sample(column: Any, name: str, fit: Fit) -> np.ndarray:
    """A column as an array (n,), aligned by its index if it and the views have one."""
    return read_column(column, name, fit.sample_names, len(fit.names))


def of_column(
    name: str, column: Iterable[Any], *, levels_at_most: int | None = MOST_LEVELS, few_numbers: float = FEW_NUMBERS
) -> Colouring:
    """The colouring by a column: a scale if it has many different numbers, otherwise categories, the rarest together.

    >>> of_column("site", ["b", "a", None, "b"]).levels
    ('a', 'b', 'not known')
    """
    found = SampleColumn.of(name, column, few_numbers=few_numbers)
    if found.levels is None:
        return Colouring(name, found.values)
    levels, codes = list(found.levels), found.values
    if levels_at_most is not None and len(levels) > levels_at_most:
        frequent = np.argsort(-np.bincount(codes[found.known], minlength=len(levels)), kind="stable")
        kept = np.sort(frequent[: levels_at_most - 1])
        place = np.full(len(levels), kept.size)
        place[kept] = np.arange(kept.size)
        levels, codes = [*(levels[code] for code in kept), OTHER], np.where(found.known, place[codes], -1)
    if not found.known.all():
        levels, codes = [*levels, MISSING], np.where(found.known, codes, len(levels))
    return Colouring(name, codes, tuple(levels))


def _combinations(presence: np.ndarray, names: tuple[str, ...]) -> list[str]:
    def words(row: np.ndarray) -> str:
        if row.all():
            return "all views"
        return " + ".join(name for name, there in zip(names, row, strict=True) if there) or "none"

    return [words(row) for row in presence]
