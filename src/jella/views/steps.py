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
#: a value this far below zero, relative to the largest, is a zero that was scaled and scaled back
ROUNDING = 1e-9


def are_narrow(views: Views) -> bool:
    """Whether at least half of the features are in dense views of few features."""
    return 2 * sum(view.n_features for view in views if _is_narrow(view)) >= views.n_features


def spread_over_steps(views: Views, rng: np.random.Generator) -> Views:
    """Views in which no two samples are equal by the steps of a scale only; the same object if none is changed.

    Samples on a lattice come in bursts of equal ones, with gaps between them, that a neighbour graph takes for clear
    groups. So each value of a feature in steps moves at random by up to half a step. This is done in dense views of few
    features, and only if they have at least half of all features: with many features, or with some that are not in
    steps, hardly two samples are equal.
    """
    if not are_narrow(views):
        return views
    spread = [_spread(view, rng) if _is_narrow(view) else (view, 0) for view in views]
    if 2 * sum(count for _, count in spread) < views.n_features:
        return views
    return replace(views, items=tuple(view for view, _ in spread))


def _is_narrow(view: View) -> bool:
    return not view.is_sparse and view.n_features <= FEW_FEATURES


def widths(values: np.ndarray) -> np.ndarray:
    """How wide the step is at each of some values in ascending order: the smallest gap beside it, or the usual gap.

    >>> widths(np.array([0.0, 1.0, 2.0, 3.0, 40.0])).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    gaps = np.diff(values)
    beside = np.minimum(np.append(gaps, gaps[-1]), np.append(gaps[0], gaps))
    return np.minimum(beside, np.median(gaps))


def _spread(view: View, rng: np.random.Generator) -> tuple[View, int]:
    """The view with values spread over their steps, and the number of features that have steps."""
    X = np.array(to_numpy(view.X))
    mask, count = np.broadcast_to(to_numpy(view.mask), X.shape), 0
    for j in range(view.n_features):
        seen = np.flatnonzero(mask[:, j])
        levels, place = np.unique(X[seen, j], return_inverse=True)
        if 1 < levels.size < DISTINCT * seen.size:
            moved = X[seen, j] + widths(levels)[place] * (rng.random(seen.size) - 0.5)
            X[seen, j] = np.abs(moved) if levels[0] >= -ROUNDING * levels[-1] else moved
            count += 1
    return (replace(view, X=like(X, view.X)) if count else view), count
