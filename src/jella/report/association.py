"""Whether clusters are associated with missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from jella.describe.strength import Categories, Scores, Statistic
from jella.describe.subject import Absent, Subject
from jella.numerics.arrays import to_numpy
from jella.views import View

#: a warning is given from this strength on, if the p-value (times the number of tests) is below the level
STRONG, LEVEL = 0.3, 0.01


@dataclass(frozen=True, eq=False)
class Association:
    """The association of one view's missing values with the clusters.

    Attributes
    ----------
    view : str
    kind : {'view', 'entries'}
        'view': whether samples have the view; 'entries': how many entries are missing in samples that have it.
    strength : float
        From 0 (none) to 1: Cramér's V, corrected for bias; or, for ranks, the square root of epsilon².
    p_value : float
        Of the chi-square or the Kruskal-Wallis test, times the number of tests, at most 1.
    by_cluster : array (k,)
        Share of the samples with the view, or mean share of observed entries.
    """

    view: str
    kind: str
    strength: float
    p_value: float
    by_cluster: np.ndarray

    @property
    def is_strong(self) -> bool:
        """Whether it deserves a warning."""
        return self.strength >= STRONG and self.p_value < LEVEL


def find_associations(subject: Subject) -> tuple[Association, ...] | Absent:
    """The associations of clusters with each view that some samples lack, and with each view with missing entries."""
    if subject.labels is None or subject.clusters.size < 2:
        return Absent("There are fewer than two clusters, so nothing can be compared.")
    labels = subject.labels[subject.kept]
    found = [part for view in subject.used() for part in (_of_view(view, labels), _of_entries(view, labels)) if part]
    if not found:
        return Absent("No sample lacks a view and no single entries are missing: there is nothing to test.")
    return tuple(Association(a.view, a.kind, a.strength, min(1.0, a.p_value * len(found)), a.by_cluster) for a in found)


def _of_view(view: View, labels: np.ndarray) -> Association | None:
    present = view.presence()
    if present.all() or not present.any():
        return None
    clusters, groups = np.unique(labels, return_inverse=True)
    means = np.array([present[labels == cluster].mean() for cluster in clusters])
    return _associated(view.name, "view", Categories.of_codes(present.astype(np.intp), groups), groups, means)


def _of_entries(view: View, labels: np.ndarray) -> Association | None:
    if view.is_rowwise:
        return None
    present = view.presence()
    share = to_numpy(view.count_by_sample())[present] / view.n_features
    clusters = np.unique(labels)
    here = labels[present]
    means = np.array([share[here == cluster].mean() if (here == cluster).any() else np.nan for cluster in clusters])
    groups = np.unique(here, return_inverse=True)[1]
    if groups.max() < 1 or np.ptp(share) == 0:
        return None
    return _associated(view.name, "entries", Scores.of_scores(rankdata(share), groups), groups, means)


def _associated(name: str, kind: str, statistic: Statistic, groups: np.ndarray, means: np.ndarray) -> Association:
    value = statistic.of(groups)
    return Association(name, kind, statistic.strength(value), statistic.p_value(value), means)
