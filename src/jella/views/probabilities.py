"""The probabilities of the levels of categories, sample by sample, as DataFrames."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.numerics.arrays import dense_rows, to_numpy
from jella.numerics.optional import need
from jella.views.categories import Category, level_shares, probabilities
from jella.views.model import View, Views
from jella.views.write import Estimate


def level_probabilities(views: Views, estimate: Estimate) -> dict[str, Any]:
    """The probability of each level of each category, for all samples.

    Parameters
    ----------
    views : Views
        As read.
    estimate : callable
        As for `fill_in`: position of a view, and the rows to estimate (None: all) -> estimated values.

    Returns
    -------
    dict of name of view -> DataFrame
        One row per sample and one column "column=level" per level; views without categories are left out. Observed
        levels have the probability one. Completed views have the level with the largest probability. NaN for samples
        without an estimate.

    Examples
    --------
    >>> import pandas as pd
    >>> from jella.views import read_views
    >>> views = read_views({"clinical": pd.DataFrame({"sex": ["f", "m", "f", None, "m"]})})
    >>> level_probabilities(views, lambda v, rows: np.tile([0.9, 0.3], (5, 1)))["clinical"].iloc[2:4]
       sex=f  sex=m
    2   1.00   0.00
    3   0.75   0.25
    """
    pd = need("pandas", "pandas")
    found = {}
    for v, view in enumerate(views):
        if view.categories:
            values = None if view.is_complete else to_numpy(estimate(v, None))
            parts = [_probabilities(view, category, values) for category in view.categories]
            names = [name for category in view.categories for name in category.names]
            found[view.name] = pd.DataFrame(np.hstack(parts), index=views.sample_names, columns=names)
    return found


def _probabilities(view: View, category: Category, values: np.ndarray | None) -> np.ndarray:
    """The probabilities of the levels of one category, (n, L)."""
    own = dense_rows(view.X[:, category.features], slice(None))
    known = np.broadcast_to(to_numpy(view.mask), view.X.shape)[:, category.first]
    if values is None:
        return own
    shares = level_shares(own[known].sum(axis=0))
    return np.where(known[:, None], own, probabilities(values[:, category.features], shares))
