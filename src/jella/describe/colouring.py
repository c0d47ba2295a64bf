"""The colourings of samples: by cluster, by the views they have, and by columns of metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.describe.subject import Fit, Subject
from jella.views.containers import is_frame

#: categories with a colour of their own; rarer ones share one
MOST_LEVELS = 24
#: a column of numbers with more different values than this is a scale, not a set of categories
FEW_NUMBERS = 10
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


def metadata_columns(metadata: Any, subject: Subject) -> dict[str, np.ndarray]:
    """Colourings by the columns of a DataFrame or mapping, with one value per sample.

    A DataFrame is aligned by its index if the views have one, so it may lack samples and have others.
    """
    if metadata is None:
        return {}
    if not is_frame(metadata) and not isinstance(metadata, Mapping):
        raise ValueError(
            f"expected metadata to be a DataFrame or a dict of columns, got {type(metadata).__name__}; pass for "
            "example {'batch': batch}"
        )
    if is_frame(metadata):
        columns = _aligned(metadata, subject)
        return {str(name): np.asarray(columns.iloc[:, j], dtype=object) for j, name in enumerate(columns.columns)}
    return {str(name): one_per_sample(column, str(name), subject) for name, column in metadata.items()}


def one_per_sample(column: Any, name: str, fit: Fit) -> np.ndarray:
    """A column as an array (n,), aligned by its index if it and the views have one."""
    if hasattr(column, "index") and hasattr(column, "to_frame"):
        values = np.asarray(_aligned(column.to_frame(), fit).iloc[:, 0], dtype=object)
    else:
        values = np.asarray(column, dtype=object)
    if values.shape != (len(fit.names),):
        raise ValueError(
            f"expected one value of {name!r} for each of the {len(fit.names)} samples, got shape "
            f"{values.shape}; leave unknown ones as NaN or None"
        )
    return values


def of_column(name: str, column: Iterable[Any], *, levels_at_most: int | None = MOST_LEVELS) -> Colouring:
    """The colouring by a column: a scale if it has many different numbers, otherwise categories, the rarest together.

    >>> of_column("site", ["b", "a", None, "b"]).levels
    ('a', 'b', 'not known')
    """
    values = np.asarray(column, dtype=object)
    known = ~np.array([_is_missing(value) for value in values], dtype=bool)
    numeric = all(_is_number(value) for value in values[known])
    if numeric and levels_at_most is not None and len(set(values[known])) > FEW_NUMBERS:
        numbers = np.array([float(value) if there else np.nan for value, there in zip(values, known, strict=True)])
        return Colouring(name, numbers)
    order = sorted(set(values[known])) if numeric else sorted({str(value) for value in values[known]})
    words = np.array([_word(value) for value in values], dtype=object)
    levels = [_word(value) for value in order]
    if levels_at_most is not None and len(levels) > levels_at_most:
        counts = {level: int(np.sum(words[known] == level)) for level in levels}
        frequent = set(sorted(levels, key=lambda level: -counts[level])[: levels_at_most - 1])
        levels = [level for level in levels if level in frequent] + [OTHER]
    place = {level: position for position, level in enumerate(levels)}
    codes = np.array([place.get(word, len(levels) - 1) for word in words], dtype=np.intp)
    if not known.all():
        levels, codes = [*levels, MISSING], np.where(known, codes, len(levels))
    return Colouring(name, codes, tuple(levels))


def _combinations(presence: np.ndarray, names: tuple[str, ...]) -> list[str]:
    def words(row: np.ndarray) -> str:
        if row.all():
            return "all views"
        return " + ".join(name for name, there in zip(names, row, strict=True) if there) or "none"

    return [words(row) for row in presence]


def _aligned(frame: Any, fit: Fit) -> Any:
    names = fit.sample_names
    if names is None:
        if len(frame) != len(fit.names):
            raise ValueError(
                f"expected metadata with {len(fit.names)} rows, one per sample, got {len(frame)}; pass the "
                "samples in their order"
            )
        return frame
    if not frame.index.isin(names).any() or frame.index.has_duplicates:
        raise ValueError(
            "expected metadata with the names of the samples as index, each once, got one that does not match; set "
            "it to the names that the views have"
        )
    return frame.reindex(names)


def _word(value: Any) -> str:
    return str(int(value)) if _is_number(value) and float(value).is_integer() else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.bool_)


def _is_missing(value: Any) -> bool:
    if value is None or str(value) == "<NA>":
        return True
    return bool(value != value) or (_is_number(value) and bool(np.isinf(value)))
