"""Values that were imputed: those of the samples that lack some, in the user's units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Imputed:
    """Values of one view for the samples that lack some.

    Attributes
    ----------
    places : int array (n,)
        Of each sample its row in the other arrays; -1 for a sample that lacks nothing.
    values, lower, upper, deviation : arrays (m, d)
        In the user's units; the last three have no rows unless intervals were asked for, and are NaN without evidence.
        An end at the bound of its kind is infinite: the bound in the user's units is not exact here.
    """

    places: np.ndarray
    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    deviation: np.ndarray

    @classmethod
    def empty(cls, lacking: np.ndarray, width: int, intervals: bool) -> Imputed:
        """Room for the samples that lack something."""
        places = np.where(lacking, np.cumsum(lacking) - 1, -1)
        shape = (int(lacking.sum()), width)
        others = (np.full(shape if intervals else (0, width), np.nan) for _ in range(3))
        return cls(places, np.empty(shape), *others)

    def rows_of(self, what: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
        """Rows of one of the arrays for samples (None: all); zeros for a sample that lacks nothing."""
        places = self.places if rows is None else self.places[rows]
        out = np.zeros((places.size, what.shape[1]))
        out[places >= 0] = what[places[places >= 0]]
        return out
