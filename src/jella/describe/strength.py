"""How strongly groups of samples are associated with a column: one statistic for categories, one for scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.stats import chi2


class Statistic(Protocol):
    """A statistic of groups of samples; what it compares them with does not change."""

    def of(self, groups: np.ndarray) -> float:
        """Its value for the groups (n,) of the samples, integers from 0 to k − 1."""

    def strength(self, value: float) -> float:
        """The strength of association, from 0 to 1, that a value means."""

    def p_value(self, value: float) -> float:
        """The p-value of a value if there are many samples."""

    @property
    def is_reliable(self) -> bool:
        """Whether there are enough samples for this p-value."""


@dataclass(frozen=True, eq=False)
class Categories:
    """The chi-square statistic of groups and categories; its strength is Cramér's V, corrected for bias [1]_.

    Attributes
    ----------
    codes : int array (n,)
        Category of each sample, from 0.
    group_sizes : int array (k,)

    References
    ----------
    .. [1] W. Bergsma: A bias-correction for Cramér's V and Tschuprow's T. Journal of the Korean Statistical Society 42
       (2013).

    Examples
    --------
    >>> groups = np.repeat([0, 1], 50)
    >>> same = Categories.of_codes(groups, groups)
    >>> round(same.strength(same.of(groups)), 2)
    1.0
    """

    codes: np.ndarray
    group_sizes: np.ndarray
    _expected: np.ndarray

    @classmethod
    def of_codes(cls, codes: np.ndarray, groups: np.ndarray) -> Categories:
        """The statistic for categories (n,), of which each occurs, and for groups of the same sizes as these."""
        sizes, counts = np.bincount(groups), np.bincount(codes)
        return cls(codes, sizes, np.outer(sizes, counts) / codes.size)

    def of(self, groups: np.ndarray) -> float:
        """The chi-square statistic."""
        k, levels = self._expected.shape
        table = np.bincount(groups * levels + self.codes, minlength=k * levels).reshape(k, levels)
        return float(np.sum((table - self._expected) ** 2 / self._expected))

    def strength(self, value: float) -> float:
        """Cramér's V, corrected for bias."""
        n, (rows, columns) = self.codes.size, self._expected.shape
        corrected = max(0.0, value / n - (rows - 1) * (columns - 1) / (n - 1))
        most = min(side - (side - 1) ** 2 / (n - 1) for side in (rows, columns)) - 1.0
        return float(np.sqrt(min(1.0, corrected / most))) if most > 0 else 0.0

    def p_value(self, value: float) -> float:
        """The p-value of the chi-square test."""
        rows, columns = self._expected.shape
        return float(chi2.sf(value, (rows - 1) * (columns - 1)))

    @property
    def is_reliable(self) -> bool:
        """Whether no cell expects less than one sample, and few expect less than five."""
        return bool(self._expected.min() >= 1 and (self._expected >= 5).mean() >= 0.8)


@dataclass(frozen=True, eq=False)
class Scores:
    """The share of the variance of scores that lies between groups; with ranks, the Kruskal-Wallis statistic.

    Its strength is the square root of epsilon².

    Attributes
    ----------
    scores : array (n,)
    group_sizes : int array (k,)

    Examples
    --------
    >>> from scipy.stats import kruskal
    >>> ranks, groups = np.array([1.0, 2.5, 2.5, 4.0, 5.0]), np.array([0, 0, 1, 1, 1])
    >>> statistic = Scores.of_scores(ranks, groups)
    >>> np.isclose(statistic.of(groups), kruskal(ranks[:2], ranks[2:]).statistic)
    np.True_
    """

    scores: np.ndarray
    group_sizes: np.ndarray
    _unit: float

    @classmethod
    def of_scores(cls, scores: np.ndarray, groups: np.ndarray) -> Scores:
        """The statistic for scores (n,), and for groups of the same sizes as these."""
        centred = scores - scores.mean()
        return cls(centred, np.bincount(groups), float(centred @ centred) / (scores.size - 1))

    def of(self, groups: np.ndarray) -> float:
        """The sum of squares between groups, over the variance."""
        sums = np.bincount(groups, weights=self.scores, minlength=self.group_sizes.size)
        return float(np.sum(sums**2 / self.group_sizes) / self._unit)

    def strength(self, value: float) -> float:
        """The square root of epsilon²."""
        n, k = self.scores.size, self.group_sizes.size
        return float(np.sqrt(min(1.0, max(0.0, (value - k + 1) / (n - k))))) if n > k else 0.0

    def p_value(self, value: float) -> float:
        """The p-value of the Kruskal-Wallis test."""
        return float(chi2.sf(value, self.group_sizes.size - 1))

    @property
    def is_reliable(self) -> bool:
        """Whether each group has five samples."""
        return bool(self.group_sizes.min() >= 5)
