"""Completed views: the values that a readout expects, in the user's containers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Protocol, TypeAlias

import numpy as np

from jella.numerics.arrays import Array, like, namespace, take_rows, to_numpy
from jella.numerics.finite import refuse_nonfinite
from jella.readout.base import Expected, Readout
from jella.views import Schema, Views, fill_in

#: lowest and highest value of each feature, (d,) each, per view
AllBounds: TypeAlias = Sequence[tuple[np.ndarray, np.ndarray]]


class Filling(Protocol):
    """How views in memory are completed; it can be sent to other processes."""

    def fill(self, views: Views, X: Any, schema: Schema) -> Any:
        """X with its missing values imputed, in the same container and in the user's units."""


@singledispatch
def complete_views(views: Any, X: Any, filling: Filling, schema: Schema) -> Any:
    """X with its missing values imputed, in the same container and in the user's units.

    Parameters
    ----------
    views : Views
        What was read from X, in memory; other kinds of views register their own function.
    """
    return filling.fill(views, X, schema)


@dataclass(frozen=True, eq=False)
class ByReadout:
    """Views completed by what a readout expects.

    Attributes
    ----------
    readout : Readout
    bounds : AllBounds, optional
        Of the values.
    """

    readout: Readout
    bounds: AllBounds | None = None

    def fill(self, views: Views, X: Any, schema: Schema) -> Any:
        """X with its missing values imputed."""
        W = self.readout.embed(views)
        embedded = np.isfinite(to_numpy(W)).all(axis=1)  # samples without any value have none
        estimate = self.readout.in_units(views, self.readout.expect(W))

        def finite(v: int, rows: np.ndarray | None) -> Array:
            values = estimate(v, rows)
            some = embedded if rows is None else embedded[rows]
            refuse_nonfinite(values if some.all() else take_rows(values, some), "completed values")
            return values

        return fill_in(X, views, within(self.bounds, finite), schema)


def within(bounds: AllBounds | None, estimate: Expected) -> Expected:
    """Estimates that are cut at the bounds of their features."""

    def cut(v: int, rows: np.ndarray | None) -> Array:
        values = estimate(v, rows)
        if bounds is None:
            return values
        low, high = (like(bound, values) for bound in bounds[v])
        return namespace(values).clip(values, low, high)

    return cut
