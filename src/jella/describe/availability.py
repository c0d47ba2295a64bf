"""Samples for which the same is missing."""

from __future__ import annotations

import numpy as np

from jella.numerics.arrays import to_numpy
from jella.views import Views

#: a group of samples for which the same is missing has at least this number of samples
AT_LEAST = 10


def availability_groups(views: Views) -> np.ndarray:
    """Groups of samples that have the same views and similar shares of observed entries, (n,) integers.

    All samples are split by one view after the other, that which is nearest to half of them first, and then by whether
    they have more entries than the median. A group is not split if a part would have fewer than `AT_LEAST` samples: in
    it, what is missing differs in details.

    Examples
    --------
    >>> from jella.views import read_views
    >>> X = np.ones((40, 3))
    >>> X[:15] = np.nan
    >>> np.bincount(availability_groups(read_views([X, np.ones((40, 2))]))).tolist()
    [15, 25]
    """
    presence = views.presence()
    order = np.argsort(np.abs(presence.mean(axis=0) - 0.5), kind="stable")
    groups = np.zeros(views.n_samples, dtype=np.intp)
    for v in order:
        groups = _split(groups, presence[:, v])
    if not views.is_rowwise:
        observed = np.sum([to_numpy(view.count_by_sample()) for view in views], axis=0)
        more = np.zeros(views.n_samples, dtype=bool)
        for group in np.unique(groups):
            more[groups == group] = observed[groups == group] > np.median(observed[groups == group])
        groups = _split(groups, more)
    return np.unique(groups, return_inverse=True)[1]


def _split(groups: np.ndarray, part: np.ndarray) -> np.ndarray:
    """The groups, each in two if both parts are large enough; the part that is False comes first."""
    out = 2 * groups
    for group in np.unique(groups):
        inside = part[groups == group]
        if min(inside.sum(), (~inside).sum()) >= AT_LEAST:
            out[(groups == group) & part] += 1
    return out
