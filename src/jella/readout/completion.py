"""Completed views: the values that a readout expects, in the user's containers."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, take_rows, to_numpy
from jella.numerics.finite import refuse_nonfinite
from jella.readout.base import Readout
from jella.views import Schema, fill_in


@singledispatch
def complete_views(views: Any, X: Any, readout: Readout, schema: Schema) -> Any:
    """X with its missing values imputed, in the same container and in the user's units.

    Parameters
    ----------
    views : Views
        What was read from X, in memory; other kinds of views register their own function.
    """
    W = readout.embed(views)
    embedded = np.isfinite(to_numpy(W)).all(axis=1)  # samples without any value have none
    estimate = readout.in_units(views, readout.expect(W))

    def finite(v: int, rows: np.ndarray | None) -> Array:
        values = estimate(v, rows)
        some = embedded if rows is None else embedded[rows]
        refuse_nonfinite(values if some.all() else take_rows(values, some), "completed values")
        return values

    return fill_in(X, views, finite, schema)
