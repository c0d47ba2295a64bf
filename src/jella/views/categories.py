"""Categories inside views: each level of a column is an indicator feature, one where a sample has this level."""

from __future__ import annotations

from dataclasses import dataclass


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
    features : slice
        Positions of all indicators.
    """

    column: str
    levels: tuple[str, ...]
    first: int

    @property
    def features(self) -> slice:
        """Positions of the indicators."""
        return slice(self.first, self.first + len(self.levels))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the indicators.

        >>> Category("sex", ("f", "m"), 3).names
        ('sex=f', 'sex=m')
        """
        return tuple(f"{self.column}={level}" for level in self.levels)
