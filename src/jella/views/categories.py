"""Categories inside views: each level of a column is an indicator feature, one where a sample has this level.

A cell is an entry of the table of the user: an entry of a feature, or of all indicators of a category together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

#: what a column of categories was: a category of pandas, one whose levels have an order, truth values, or text
FORMS = ("category", "ordered", "boolean", "text")


@dataclass(frozen=True)
class Category:
    """One column of categories: where its indicators are among the features of its view.

    Attributes
    ----------
    column : str
        Name of the column.
    levels : tuple of str
        Its levels as text, in the order of the indicators.
    first : int
        Position of the first indicator.
    form : {'category', 'ordered', 'boolean', 'text'}
        What the column was.
    features : slice
        Positions of all indicators.
    """

    column: str
    levels: tuple[str, ...]
    first: int = 0
    form: str = "category"

    @property
    def features(self) -> slice:
        """Positions of the indicators."""
        return slice(self.first, self.first + len(self.levels))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the indicators.

        >>> Category("sex", ("f", "m")).names
        ('sex=f', 'sex=m')
        """
        return tuple(f"{self.column}={level}" for level in self.levels)


def indicators(codes: np.ndarray, n_levels: int, dtype: np.dtype | type = np.float64) -> np.ndarray:
    """One column per level, (n, L), from the position of each sample's level; NaN where that is -1.

    >>> indicators(np.array([1, -1]), 2).tolist()
    [[0.0, 1.0], [nan, nan]]
    """
    out = np.zeros((codes.size, n_levels), dtype=dtype)
    there = codes >= 0
    out[there, codes[there]] = 1.0
    out[~there] = np.nan
    return out


def most_probable(probabilities: np.ndarray) -> np.ndarray:
    """The position of the largest value of each row, (n,); -1 for a row with NaN."""
    known = np.isfinite(probabilities).all(axis=1)
    return np.where(known, np.where(known[:, None], probabilities, 0.0).argmax(axis=1), -1)


def level_shares(counts: np.ndarray) -> np.ndarray:
    """The share (L,) of each level, from how often each was observed; equal ones where none was."""
    return counts / counts.sum() if counts.any() else np.full(counts.size, 1 / counts.size)


def probabilities(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Estimates of indicators as probabilities: none below zero, and each row sums to one.

    Parameters
    ----------
    values : array (n, L)
        Estimates of the L indicators of a category, which need not be probabilities. A row with NaN stays NaN.
    shares : array (L,)
        Observed shares of the levels: for rows without a positive value.

    Examples
    --------
    >>> probabilities(np.array([[0.75, -0.5, 0.25], [-1.0, 0.0, -0.5]]), np.array([0.5, 0.25, 0.25]))
    array([[0.75, 0.  , 0.25],
           [0.5 , 0.25, 0.25]])
    """
    raised = np.maximum(np.asarray(values, dtype=np.float64), 0.0)
    largest = raised.max(axis=1, keepdims=True)
    raised = raised / np.where(largest > 0, largest, 1.0)  # so that the sum cannot overflow
    total = raised.sum(axis=1, keepdims=True)
    return np.where(total > 0, raised / np.where(total > 0, total, 1.0), np.where(np.isnan(total), np.nan, shares))


# cells of the table of the user, and features


def placed(columns: Sequence[str], categories: Sequence[Category]) -> list[tuple[str, Category | None]]:
    """The columns of a table in their order, each with its category, whose first indicator is where it comes here."""
    by_column = {category.column: category for category in categories}
    out, first = [], 0
    for column in columns:
        category = by_column.get(column)
        out.append((column, None if category is None else replace(category, first=first)))
        first += 1 if category is None else len(category.levels)
    return out


def expanded_names(columns: Sequence[str], categories: Sequence[Category]) -> tuple[str, ...]:
    """The names of the features that a table with these columns has, in its order.

    >>> expanded_names(["age", "sex"], [Category("sex", ("f", "m"))])
    ('age', 'sex=f', 'sex=m')
    """
    if not categories:
        return tuple(columns)
    pairs = placed(columns, categories)
    return tuple(name for column, category in pairs for name in (category.names if category else (column,)))


def cell_names(features: Sequence[str], categories: Sequence[Category]) -> tuple[str, ...]:
    """The names of the columns of a table that has these features: the opposite of `expanded_names`."""
    starts, _ = cell_places(len(features), categories)
    column_at = {category.first: category.column for category in categories}
    return tuple(column_at.get(j, features[j]) for j in starts.tolist())


def cell_places(n_features: int, categories: Sequence[Category]) -> tuple[np.ndarray, np.ndarray]:
    """The first feature and the number of features of each cell of a row, (number of columns,) each."""
    widths = np.ones(n_features, dtype=np.intp)
    for category in categories:
        widths[category.features] = 0
        widths[category.first] = len(category.levels)
    starts = np.flatnonzero(widths)
    return starts, widths[starts]


def on_features(mask: np.ndarray, n_features: int, categories: Sequence[Category]) -> np.ndarray:
    """A mask of cells, (n, number of columns), for the features that they have, (n, d); others stay as they are.

    In a mask of features, a cell is True if all its features are.
    """
    if not categories or mask.shape[1] == 1:
        return mask
    starts, widths = cell_places(n_features, categories)
    if mask.shape[1] == n_features:
        mask = np.logical_and.reduceat(mask, starts, axis=1)
    return np.repeat(mask, widths, axis=1) if mask.shape[1] == starts.size else mask
