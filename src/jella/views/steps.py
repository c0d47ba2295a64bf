"""Values that are measured in steps, like answers from 1 to 5, small counts and yes or no, spread over their steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jella.numerics.arrays import like, to_numpy
from jella.views.model import View, Views

#: sums of more features have few ties
FEW_FEATURES = 30
#: a feature with fewer distinct values per observed one is measured in steps
DISTINCT = 0.5


def may_have_steps(views: Views) -> bool:
    """Whether a view is dense and has few features."""
    return any(not view.is_sparse and view.n_features <= FEW_FEATURES for view in views)


def spread_over_steps(views: Views, rng: np.random.Generator) -> Views:
    """Views in which no two samples are equal by the steps of a scale only; the same object if none is changed.

    Samples on a lattice come in bursts of equal ones, with gaps between them, that a neighbour graph takes for clear
    groups. So each value of a feature in steps moves at random by up to half a step. Only dense views of few features
    are changed: with many, hardly two samples are equal.
    """
    items = tuple(_spread(view, rng) for view in views)
    return views if all(a is b for a, b in zip(items, views, strict=True)) else replace(views, items=items)


def widths(values: np.ndarray) -> np.ndarray:
    """How wide the step is at each of some values in ascending order: the smallest gap beside it, or the usual gap.

    >>> widths(np.array([0.0, 1.0, 2.0, 3.0, 40.0])).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    gaps = np.diff(values)
    beside = np.minimum(np.append(gaps, gaps[-1]), np.append(gaps[0], gaps))
    return np.minimum(beside, np.median(gaps))


def _spread(view: View, rng: np.random.Generator) -> View:
    if view.is_sparse or view.n_features > FEW_FEATURES:
        return view
    X = np.array(to_numpy(view.X))
    mask = np.broadcast_to(to_numpy(view.mask), X.shape)
    changed = False
    for j in range(view.n_features):
        seen = np.flatnonzero(mask[:, j])
        levels, place = np.unique(X[seen, j], return_inverse=True)
        if 1 < levels.size < DISTINCT * seen.size:
            moved = X[seen, j] + widths(levels)[place] * (rng.random(seen.size) - 0.5)
            X[seen, j] = np.abs(moved) if levels[0] >= 0 else moved
            changed = True
    return replace(view, X=like(X, view.X)) if changed else view
