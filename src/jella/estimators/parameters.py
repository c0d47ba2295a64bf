"""One check of the parameters of estimators: each must have the type that its annotation says."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping
from math import isnan
from numbers import Integral, Real
from typing import Any

import numpy as np


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not _is_bool(value)


def _is_seed(value: Any) -> bool:
    generators = (np.random.Generator, np.random.RandomState, np.random.SeedSequence, np.random.BitGenerator)
    several = value if isinstance(value, list | tuple | np.ndarray) else [value]
    return value is None or isinstance(value, generators) or all(_is_whole(one) and one >= 0 for one in several)


def _is_callback(value: Any) -> bool:
    return value is None or callable(value) or (isinstance(value, list | tuple) and all(map(callable, value)))


def _is_start(value: Any) -> bool:
    return isinstance(value, str | Mapping | list | tuple) or getattr(value, "ndim", 0) > 0


#: annotation, or name of a parameter of several kinds -> what it must be, in words, and the test of it; others are not
#: checked here
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("a whole number", _is_whole),
    "float": ("a number", lambda value: isinstance(value, Real) and not _is_bool(value) and not isnan(value)),
    "str": ("a text", lambda value: isinstance(value, str)),
    "bool": ("True or False", _is_bool),
    "callback": ("a function, a list of functions or None", _is_callback),
    "init": ("'svd', 'random', an array or a dict of blocks", _is_start),
    "random_state": ("a whole number from 0, a generator or None", _is_seed),
    "solver": ("'basic', 'sor' or a relaxation rule", lambda value: isinstance(value, Hashable)),
}


def check_parameters(estimator: Any) -> None:
    """Refuse parameters of a wrong type, such as a text for a number; make small NumPy integers Python's.

    Products with NumPy's small integers, such as the number of classes of an array of bytes, would overflow.

    Parameters
    ----------
    estimator : BaseEstimator

    Examples
    --------
    >>> import jella
    >>> jella.MVLIV(max_iter="many").fit([[1.0, 2.0], [2.0, 1.0]])
    Traceback (most recent call last):
    ValueError: expected max_iter of MVLIV to be a whole number, got 'many'; correct it
    """
    for name, parameter in inspect.signature(type(estimator).__init__).parameters.items():
        kind, _, rest = str(name if parameter.annotation == "Any" else parameter.annotation).partition(" | ")
        value = getattr(estimator, name, None)
        if kind not in _KINDS or rest not in ("", "None") or (rest == "None" and value is None):
            continue
        words, is_right = _KINDS[kind]
        if not is_right(value):
            expected = f"expected {name} of {type(estimator).__name__} to be {words}, got"
            if getattr(value, "ndim", 0) > 1:
                raise ValueError(f"{expected} an array; pass several views as one list or dict")
            shown = repr(value)
            raise ValueError(f"{expected} {shown if len(shown) <= 60 else shown[:60] + ' ...'}; correct it")
        if isinstance(value, np.integer) and value.itemsize < 8:
            setattr(estimator, name, int(value))
