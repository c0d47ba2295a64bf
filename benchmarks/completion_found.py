"""The results of the table of completion errors by cell, with means over masks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
from completion_sets import SETTINGS, TABLE_SETS
from result_cells import RATES

OURS = "jella"
COLUMNS = ("mean", "KNNImputer", "IterativeImputer", "SoftImpute", "MOFA+", "MissForest", OURS)

Result = dict[str, Any]
Key = tuple[str, str, float]  # set, setting, rate


class Found:
    """Results by cell and method, with means over masks."""

    def __init__(self, results: Iterable[Result]) -> None:
        self.runs: dict[Key, dict[str, dict[int, Result]]] = {}
        for result in results:
            cell = self.runs.setdefault((result["set"], result["setting"], result["rate"]), {})
            cell.setdefault(result["method"], {})[result["repeat"]] = result

    def cells(self) -> list[Key]:
        """Those with a result of any method, in the order of the page; without those at full size."""
        return [key for key in product(TABLE_SETS, SETTINGS, RATES) if key in self.runs]

    def masks(self, key: Key, method: str) -> set[int]:
        """With which the method has a result in a cell."""
        return {mask for mask, run in self.runs[key].get(method, {}).items() if "rmse" in run}

    def values(self, key: Key, method: str, what: str, masks: set[int] | None = None) -> list[float]:
        """One figure per mask."""
        runs = self.runs[key].get(method, {})
        return [run[what] for mask, run in runs.items() if what in run and (masks is None or mask in masks)]

    def mean(self, key: Key, method: str, what: str = "rmse", masks: set[int] | None = None) -> float:
        """Over masks; NaN if there are none."""
        values = self.values(key, method, what, masks)
        return float(np.mean(values)) if values else float("nan")

    def pairs(self, other: str) -> dict[Key, tuple[float, float]]:
        """Our error and another method's, over the masks that both have; NaN for ours if it failed in one of them."""
        result = {}
        for key in self.cells():
            tried, theirs = set(self.runs[key].get(OURS, {})), self.masks(key, other)
            if both := tried & theirs:
                failed = not both <= self.masks(key, OURS)
                result[key] = (
                    np.nan if failed else self.mean(key, OURS, masks=both),
                    self.mean(key, other, masks=both),
                )
        return result

    def methods(self) -> list[str]:
        """Those with results, in the order of the columns."""
        return [m for m in COLUMNS if any(m in self.runs[key] for key in self.cells())]
