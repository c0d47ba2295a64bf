"""Incomplete data from complete data: the user's containers with NaN for the values removed."""

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
        May have holes already. Not modified.
    rate : float in [0, 1)
        How much to remove; what it is a rate of depends on the setting.
    setting : {'missing-view', 'incomplete-view', 'mcar', 'mar', 'mnar'}, default='missing-view'
        - 'missing-view': a share `rate` of the samples, drawn at random, each lose one random view.
        - 'incomplete-view': the same; then a share `rate` of the remaining entries of every view. With one view
          the first part is left out.
        - 'mcar': a share `rate` of the observed entries of every view, completely at random.
        - 'mar': a tenth of the features of every view are never removed, and drive the others: a sample's other entries
          go missing with a probability that rises with a combination of its drivers; `rate` is the expected share of
          the entries outside the drivers.
        - 'mnar': an entry goes missing with a probability that rises with its own value; `rate` is the expected share
          of the observed entries of every view.
    random_state : int or Generator, optional
        The same seed gives the same holes.

    Returns
    -------
    views : as given
        In the same containers, with NaN for what was removed; columns and arrays that lose something become floating
        point. A sample never loses its last observed entry. A sparse view stays sparse: what was removed is stored as
        NaN.

    Examples
    --------
    >>> import numpy as np
    >>> left, right = make_incomplete([np.ones((10, 2)), np.ones((10, 3))], 0.4, random_state=0)
    >>> int(np.isnan(left).all(axis=1).sum() + np.isnan(right).all(axis=1).sum())
    4
    """
    read = read_views(views)
    return draw_setting(read, rate, setting, np.random.default_rng(random_state)).apply_to(views, read)
