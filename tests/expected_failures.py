"""The checks of scikit-learn that contradict a method, with the reason; the only place they are named.

Each must fail: an entry whose check passes, or is never run, fails the suite.
"""

from __future__ import annotations

COUPLED = (
    "samples are coupled in the fit, and new ones are embedded without the coupling: transform is not fit_transform"
)
_CHECKS = ("check_transformer_general", "check_transformer_data_not_an_array")

EXPECTED: dict[str, dict[str, str]] = {name: dict.fromkeys(_CHECKS, COUPLED) for name in ("IMCL", "IMG")}
