"""Whether clusters are associated with missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2_contingency, kruskal

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


def cramers_v(table: np.ndarray) -> tuple[float, float]:
    """Strength of association of a table of counts, corrected for bias [1]_, and the p-value of its chi-square test.

    References
    ----------
    .. [1] W. Bergsma: A bias-correction for Cramér's V and Tschuprow's T. Journal of the Korean Statistical Society 42
       (2013).

    Examples
    --------
    >>> strength, p_value = cramers_v(np.array([[50, 0], [0, 50]]))
    >>> round(strength, 2), p_value < 1e-20
    (1.0, True)
    """
    test = chi2_contingency(table, correction=False)
    n, (rows, columns) = int(table.sum()), table.shape
    corrected = max(0.0, test.statistic / n - (rows - 1) * (columns - 1) / (n - 1))
    sides = [side - (side - 1) ** 2 / (n - 1) for side in (rows, columns)]
    most = min(sides) - 1.0
    return float(np.sqrt(min(1.0, corrected / most))) if most > 0 else 0.0, float(test.pvalue)


def _of_view(view: View, labels: np.ndarray) -> Association | None:
    present = view.presence()
    if present.all() or not present.any():
        return None
    groups = [present[labels == cluster] for cluster in np.unique(labels)]
    table = np.array([[group.sum(), (~group).sum()] for group in groups])
    strength, p_value = cramers_v(table)
    return Association(view.name, "view", strength, p_value, np.array([group.mean() for group in groups]))


def _of_entries(view: View, labels: np.ndarray) -> Association | None:
    if view.is_rowwise:
        return None
    present = view.presence()
    share = to_numpy(view.count_by_sample())[present] / view.n_features
    clusters = np.unique(labels)
    groups = [share[labels[present] == cluster] for cluster in clusters]
    means = np.array([group.mean() if group.size else np.nan for group in groups])
    some = [group for group in groups if group.size]
    if len(some) < 2 or np.ptp(share) == 0:
        return None
    test = kruskal(*some)
    n, k = share.size, len(some)
    effect = (test.statistic - k + 1) / (n - k) if n > k else 0.0
    return Association(view.name, "entries", float(np.sqrt(min(1.0, max(0.0, effect)))), float(test.pvalue), means)
