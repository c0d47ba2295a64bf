"""What losses and terms have in common: they are values, told apart by their kind and their settings."""

from __future__ import annotations


class Part:
    """A part of a problem: equal to another of the same kind and settings, and named after its kind."""

    @property
    def name(self) -> str:
        """Name in messages and histories."""
        return type(self).__name__

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in sorted(vars(self).items()))
        return f"{self.name}({shown})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted(vars(self).items()))))
