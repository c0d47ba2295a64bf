"""What users give to a plot: a result of `jella.cluster` or `jella.complete`, which has its data, or a fitted model."""

from __future__ import annotations

from typing import Any, TypeVar

from jella.describe.subject import Absent, Fit, Subject

T = TypeVar("T")


def fit_of(of: Any) -> Fit:
    """The model and its results."""
    return of.as_subject() if hasattr(of, "as_subject") else Fit.of_model(of)


def subject_of(of: Any, X: Any, observed: Any = None) -> Subject:
    """The model, its results and its data."""
    if hasattr(of, "as_subject"):
        return of.as_subject()
    if X is None:
        raise ValueError(
            f"expected the views of the fit beside a model, got {type(of).__name__} alone; pass them as X, or "
            "pass the result of jella.cluster or jella.complete"
        )
    return Subject.of(of, X, observed)


def required(part: T | Absent) -> T:
    """A part of the description, which must exist."""
    if isinstance(part, Absent):
        first, _, rest = part.reason.rstrip(".").partition(" ")
        first = first.lower() if first == first.capitalize() else first  # a method keeps its name
        raise ValueError(f"expected a model with what the plot shows, got one without; {first} {rest}")
    return part


def position(wanted: str | None, names: tuple[str, ...]) -> list[int]:
    """The positions of a view by its name, or of all."""
    if wanted is None:
        return list(range(len(names)))
    if wanted not in names:
        raise ValueError(f"expected the name of a view, got {wanted!r}; choose one of {list(names)}")
    return [names.index(wanted)]
