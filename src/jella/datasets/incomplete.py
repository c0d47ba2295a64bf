"""Incomplete data from complete data: the same containers with NaN for removed values."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.views import read_views
from jella.views.draw import draw_setting


def make_incomplete(
    views: Any, rate: float, setting: str = "missing-view", *, random_state: int | np.random.Generator | None = None
) -> Any:
    """Remove observed values at random, following the protocol of the JELLA paper or a classic missingness mechanism.

    Parameters
    ----------
    views : 2-D array, list, tuple or dict of arrays, DataFrames or SciPy sparse arrays
        Values may be missing already. Not modified.
    rate : float in [0, 1)
        How much to remove; its exact meaning depends on the setting.
    setting : {'missing-view', 'incomplete-view', 'mcar', 'mar', 'mnar'}, default='missing-view'
        - 'missing-view': a share `rate` of the samples, drawn at random, each lose one random view.
        - 'incomplete-view': the same; then a share `rate` of the remaining entries of each view. With one view
          the first step is left out.
        - 'mcar': a share `rate` of the observed entries of each view, completely at random.
        - 'mar': a tenth of the features of each view are never removed. They are the drivers: the other entries of a
          sample are removed with a probability that rises with a combination of its drivers; `rate` is the expected
          share of the entries outside the drivers.
        - 'mnar': an entry is removed with a probability that rises with its own value; `rate` is the expected share
          of the observed entries of each view.
    random_state : int or Generator, optional
        The same seed removes the same values.

    Returns
    -------
    views : as given
        In the same containers, with NaN for removed values; columns and arrays that lose values become floating point.
        A sample never loses its last observed entry. A sparse view stays sparse: removed values are stored as NaN.

    Examples
    --------
    >>> import numpy as np
    >>> left, right = make_incomplete([np.ones((10, 2)), np.ones((10, 3))], 0.4, random_state=0)
    >>> int(np.isnan(left).all(axis=1).sum() + np.isnan(right).all(axis=1).sum())
    4
    """
    read = read_views(views)
    return draw_setting(read, rate, setting, np.random.default_rng(random_state)).apply_to(views, read)
