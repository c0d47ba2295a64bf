"""The checks of scikit-learn, and which of them contradict a method, with the reason; the only place they are named.

Each of these must fail: an entry whose check passes, or is never run, fails the suite.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

#: name of the class -> name of the check -> reason
EXPECTED: dict[str, dict[str, str]] = {
    "SparseBDR": dict.fromkeys(
        ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
        "it takes predict_proba for a classifier's, with a column per class of y",
    )
}


def scikit_learn_checks(models: Iterable[Any]) -> list[Any]:
    """Parameters (estimator, check) of a test; those that contradict a method are strict expected failures."""
    return [_case(*pair, model) for model in models for pair in estimator_checks_generator(model)]


def _case(estimator: Any, check: Any, model: Any) -> Any:
    name = name_of(check)
    reason = EXPECTED.get(type(model).__name__, {}).get(name)
    marks = () if reason is None else pytest.mark.xfail(reason=reason, raises=AssertionError, strict=True)
    return pytest.param(estimator, check, id=f"{model}-{name}", marks=marks)


def name_of(check: Any) -> str:
    """The name by which scikit-learn knows a check."""
    return str(getattr(check, "func", check).__name__)
