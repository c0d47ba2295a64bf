"""Which entries are like the missing ones: hiding them shows best how well missing ones are predicted.

An entry is more likely to be missing in a sample, or in a feature, that lacks many others, and where values depend on
what is missing, by its expected size.
"""

from __future__ import annotations

from itertools import islice

import numpy as np

from jella.impute.path import PathStart, path, path_scaling
from jella.numerics.arrays import to_numpy
from jella.views import View, Views

#: the model of the path that expects the sizes
NUMBER = 2
#: counts of missing and observed entries are raised by this
PRIOR = 1.0
#: log-odds are cut at this, so that no entry is certain to be hidden
MOST = 3.0


def leanings(views: Views) -> list[np.ndarray | None]:
    """Log-odds of each entry to be missing, up to a constant, (n, d) per view; None for views without missing entries.

    Parameters
    ----------
    views : Views
        In the user's units; NumPy arrays.
    """
    if views.is_rowwise:
        return [None] * len(views)
    model, W = next(islice(path(PathStart.of(path_scaling(views), views)), NUMBER, None))
    out: list[np.ndarray | None] = []
    for v, view in enumerate(views):
        if view.is_rowwise:
            out.append(None)
            continue
        expected = W @ model.bases[v].T
        out.append(np.clip(_rates(view) + _sizes(view, expected), -MOST, MOST))
    return out


def _rates(view: View) -> np.ndarray:
    """What the other entries of the sample, and of the feature, say."""
    missing = ~to_numpy(view.mask)
    there = view.presence()
    by_sample, by_feature = missing.sum(axis=1), missing[there].sum(axis=0)
    rows = np.log((by_sample + PRIOR) / (view.n_features - by_sample + PRIOR))
    columns = np.log((by_feature + PRIOR) / (there.sum() - by_feature + PRIOR))
    return (rows - rows[there].mean())[:, None] + (columns - columns.mean())


def _sizes(view: View, expected: np.ndarray) -> np.ndarray:
    """What the expected size says: two normal distributions, one of the missing and one of the observed entries."""
    there = view.presence()
    centred = expected - expected[there].mean(axis=0)
    spread = centred[there].std(axis=0)
    size = centred / np.where(spread > 0, spread, 1.0)
    missing = ~to_numpy(view.mask) & there[:, None]
    observed = to_numpy(view.mask)
    if not missing.any() or not observed.any():
        return np.zeros_like(size)
    difference = size[missing].mean() - size[observed].mean()
    variance = 0.5 * (size[missing].var() + size[observed].var())
    return size * (difference / variance if variance > 0 else 0.0)
