"""All subclasses of a class: there is no list to maintain, and classes of users count too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def concrete_subclasses(kind: Any) -> Iterator[Any]:
    """Each subclass, at any depth, that can be instantiated."""
    for sub in kind.__subclasses__():
        if not getattr(sub, "__abstractmethods__", None):
            yield sub
        yield from concrete_subclasses(sub)
