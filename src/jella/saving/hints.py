"""Whether a value is what an annotation says: the types of the fields of records and of fitted attributes."""

from __future__ import annotations

import math
import types
from functools import cache
from numbers import Integral, Real
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np


@cache
def hints_of(cls: Any) -> dict[str, Any]:
    """The annotations of a class and of its bases, by name."""
    return get_type_hints(cls)


def check_hint(value: Any, hint: Any, name: str) -> None:
    """Refuse a value that is not of the annotated type; numbers must not be NaN.

    Examples
    --------
    >>> check_hint((1, 2), tuple[int, ...], "widths")
    >>> check_hint("a", int | None, "n_clusters")
    Traceback (most recent call last):
        ...
    ValueError: expected int | None for n_clusters, got a str
    """
    if not _fits(value, hint):
        wanted = getattr(hint, "__name__", str(hint)) if isinstance(hint, type) else str(hint)
        got = "a NaN" if isinstance(value, Real) and value != value else f"a {type(value).__name__}"
        raise ValueError(f"expected {wanted} for {name}, got {got}")


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is tuple:
        return type(value) is tuple and _fits_items(value, inner)
    if origin is list:
        return type(value) is list and all(_fits(item, inner[0]) for item in value)
    if origin is dict:
        return type(value) is dict and all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in value.items())
    if hint is Any or getattr(hint, "_is_protocol", False):
        return True
    if hint is type(None):
        return value is None
    if hint in (bool, np.bool_):
        return isinstance(value, bool | np.bool_)
    if hint is int:
        return type(value) is not bool and isinstance(value, Integral) and abs(int(value)) < 2**63
    if hint is float:
        return type(value) is not bool and isinstance(value, Real) and not math.isnan(value)
    # functions are not saved, so a field that takes one is None
    return isinstance(value, hint) if isinstance(hint, type) else value is None


def _fits_items(values: tuple[Any, ...], hints: tuple[Any, ...]) -> bool:
    """Whether the items of a tuple are what the annotation says: all alike, or one after the other."""
    if len(hints) == 2 and hints[1] is Ellipsis:
        return all(_fits(item, hints[0]) for item in values)
    return len(values) == len(hints) and all(map(_fits, values, hints))
