"""How many cells of the user's tables are missing: a cell of a category counts once, whatever its number of levels."""

from __future__ import annotations

import numpy as np

from jella.numerics.arrays import to_numpy
from jella.views.any_views import AnyView
from jella.views.categories import cell_places


def n_cells(view: AnyView) -> int:
    """The number of cells of a view, over all samples."""
    return int(view.n_samples * cell_places(view.n_features, view.categories)[0].size)


def n_missing_cells(view: AnyView) -> int:
    """The number of missing cells of a view.

    >>> import pandas as pd
    >>> from jella.views import read_views
    >>> (view,) = read_views(pd.DataFrame({"sex": ["f", "m", "f", None, "m"], "age": [1.0, 2.0, 3.0, 4.0, None]}))
    >>> n_cells(view), n_missing_cells(view)
    (10, 2)
    """
    starts, _ = cell_places(view.n_features, view.categories)
    return n_cells(view) - int(np.sum(to_numpy(view.count_by_feature())[starts]))
