"""Ends of intervals beside completed values, where a container has room for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jella.views.annotated import modalities
from jella.views.containers import is_annotated, is_mudata

#: names of the layers of AnnData
LOWER, UPPER = "completed-lower", "completed-upper"


def with_layers(completed: Any, lower: Any, upper: Any) -> Any:
    """The completed data; AnnData, and the modalities of a MuData, get the ends of the intervals as layers."""
    if is_mudata(completed):
        ours, low, high = (modalities(data) for data in (completed, lower, upper))
        for name, one in ours.items():
            _add(one, low[name], high[name])
    elif isinstance(completed, Mapping):
        for name, one in completed.items():
            _add(one, lower[name], upper[name])
    elif isinstance(completed, list | tuple):
        for one, low, high in zip(completed, lower, upper, strict=True):
            _add(one, low, high)
    else:
        _add(completed, lower, upper)
    return completed


def _add(completed: Any, lower: Any, upper: Any) -> None:
    if is_annotated(completed):
        completed.layers[LOWER], completed.layers[UPPER] = lower.X, upper.X
