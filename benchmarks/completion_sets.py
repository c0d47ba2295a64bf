"""The data of the table of completion errors: sets, their parts with few samples, and holes."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from real_sets import ALL, SETS, Views, bdgp, breast_tcga
from scipy import sparse

from jella.datasets import make_incomplete

#: larger sets are reduced to this many samples, the same for all methods and masks
MOST_SAMPLES = 500
#: two sets also with all samples
FULL_SIZE = {f"{name} (all samples)": name for name in ("Handwritten", "Corel5k")}
SETTINGS = ("missing-view", "incomplete-view", "mcar", "mar", "mnar")


def _with_protein(data: Path) -> tuple[Views, np.ndarray]:
    """The samples of breast.TCGA that have all views."""
    views, y = breast_tcga(data)
    has = ~np.isnan(views["protein"]).any(axis=1)
    return {name: X[has] for name, X in views.items()}, y[has]


def _without_zero_rows(data: Path) -> tuple[Views, np.ndarray]:
    """BDGP with absent images as missing values."""
    views, y = bdgp(data)
    return {name: np.where(X.any(axis=1, keepdims=True), X, np.nan) for name, X in views.items()}, y


TABLE_SETS = {**SETS, "breast.TCGA": _with_protein, "nutrimouse": ALL["nutrimouse"], "BDGP": _without_zero_rows}


@lru_cache(maxsize=4)
def read(name: str, data: Path) -> Views:
    """The views of a set; of at most 500 random samples, unless the name asks for all."""
    views = TABLE_SETS[FULL_SIZE.get(name, name)](data)[0]
    n = next(iter(views.values())).shape[0]
    if name in FULL_SIZE or n <= MOST_SAMPLES:
        return views
    rows = np.sort(np.random.default_rng(0).choice(n, MOST_SAMPLES, replace=False))
    return {view: X[rows] for view, X in views.items()}


def dense(views: dict[str, Any]) -> list[np.ndarray]:
    return [X.toarray() if sparse.issparse(X) else np.asarray(X) for X in views.values()]


def with_holes(views: Views, setting: str, rate: float, mask: int) -> Views:
    """The views with holes, in their own containers: sparse ones stay sparse and store NaN."""
    return make_incomplete(views, rate, setting, random_state=mask)
