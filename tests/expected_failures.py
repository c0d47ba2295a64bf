"""The checks of scikit-learn that contradict a method, with the reason; the only place they are named."""

from __future__ import annotations

EXPECTED: dict[str, dict[str, str]] = {}
