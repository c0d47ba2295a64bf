"""Completed views: the values that a readout expects, in the user's containers."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

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
    return fill_in(X, views, readout.in_units(views, readout.expect(readout.embed(views))), schema)
