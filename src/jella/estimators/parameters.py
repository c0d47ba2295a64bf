"""One check of the parameters of estimators: each must have the type that its annotation says."""

from __future__ import annotations

import inspect
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


#: annotation -> what a value must be, in words, and the test of it; parameters with other annotations are not checked
_KINDS: dict[str, tuple[str, Any]] = {
    "int": ("a whole number", lambda value: isinstance(value, Integral) and not isinstance(value, bool)),
    "float": ("a finite number", lambda value: isinstance(value, Real) and not _is_bool(value) and isfinite(value)),
    "str": ("a text", lambda value: isinstance(value, str)),
    "bool": ("True or False", _is_bool),
}


def check_parameters(estimator: Any) -> None:
    """Refuse parameters of a wrong type, such as a text for a number.

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
        kind, _, rest = str(parameter.annotation).partition(" | ")
        value = getattr(estimator, name, None)
        if kind not in _KINDS or rest not in ("", "None") or (rest == "None" and value is None):
            continue
        words, is_right = _KINDS[kind]
        if not is_right(value):
            shown = repr(value)
            raise ValueError(
                f"expected {name} of {type(estimator).__name__} to be {words}, got "
                f"{shown if len(shown) <= 60 else shown[:60] + ' ...'}; correct it"
            )
