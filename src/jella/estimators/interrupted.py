"""Whether a fit was stopped by Ctrl-C."""

from __future__ import annotations

from typing import Any


def was_interrupted(model: Any) -> bool:
    """Whether the fit of a model was stopped by Ctrl-C and kept its last sweep; False for methods without sweeps."""
    return getattr(getattr(model, "result_", None), "stop_reason", None) == "interrupted"
