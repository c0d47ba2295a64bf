"""Values such as -999 that may stand for missing ones: numbers of nines, far from all other values of their feature."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jella.numerics.arrays import to_numpy
from jella.numerics.words import counted, listed
from jella.views.model import View, Views
from jella.views.zero_rows import ZeroRowsWarning

#: features that are named in a message
NAMED = 3
ADVICE = "if it means missing, make it NaN (missing=[...] of jella.io.read, or --missing)"


class MissingCodeWarning(ZeroRowsWarning):
    """A view has values that look like a code for missing ones."""


def is_code(value: float) -> bool:
    """Whether a number is one that people write for a missing value: only nines, at least two of them above zero.

    >>> [is_code(value) for value in (-999.0, -9.0, 99.0, 9.0, -990.0, 9.9)]
    [True, True, True, False, False, False]
    """
    digits = f"{abs(value):.0f}"
    return abs(value) < 1e9 and value == round(value) and set(digits) == {"9"} and (value < 0 or len(digits) > 1)


def warn_of_codes(views: Views, names: Sequence[Any] | None = None) -> None:
    """Warn, once for all views, of values that look like codes for missing ones.

    Parameters
    ----------
    views : Views
    names : sequence, optional
        Names of the features of a single view that has none.
    """
    found = codes_in_words(views, names)
    if found:
        warnings.warn(f"{'; '.join(found)}; {ADVICE}, otherwise ignore this warning", MissingCodeWarning, stacklevel=4)


def code_notes(views: Views) -> list[str]:
    """One sentence per code, for people who read data."""
    return [f"{words[0].upper()}{words[1:]}; {ADVICE}." for words in codes_in_words(views)]


def codes_in_words(views: Views, names: Sequence[Any] | None = None) -> list[str]:
    """A part of a sentence for each code in each view."""
    return [words for view in views for words in _in_words(view, view.feature_names or names, len(views) > 1)]


def _in_words(view: View, names: Sequence[Any] | None, among_views: bool) -> list[str]:
    features: dict[float, list[str]] = defaultdict(list)
    counts: dict[float, int] = defaultdict(int)
    for j, value, count in _found(view, among_views and view.n_features > 1):
        features[value].append(str(j if names is None else repr(names[j])))
        counts[value] += count
    return [
        f"view {view.name!r} has {value:g} in {counted(counts[value], 'cell')} of "
        f"{'the column' if len(columns) == 1 else 'the columns'} {listed(columns, NAMED)}, far from all other values"
        for value, columns in features.items()
        if counts[value] > 1
    ]


def _found(view: View, but_rows: bool) -> Iterator[tuple[int, float, int]]:
    """Features with a code, the code, and how often it is there; whether but in rows that are nothing else."""
    X = view.X
    if not isinstance(X, np.ndarray) or not X.size:
        return
    mask = np.broadcast_to(to_numpy(view.mask), X.shape)
    for ends in (X.min(axis=0), X.max(axis=0)):
        for j in np.flatnonzero([is_code(value) for value in ends.tolist()]):
            code, column = ends[j], X[mask[:, j], j]
            others = column[column != code]
            if others.size and np.abs(others - code).min() > np.ptp(others):
                at = np.flatnonzero(mask[:, j] & (X[:, j] == code))
                own = ((X[at] != code) & mask[at]).any(axis=1) if but_rows else np.ones(at.size, dtype=bool)
                yield int(j), float(code), int(own.sum())
