"""The association of clusters with columns of metadata, against what missing values alone would give."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from jella.describe.q_values import q_values
from jella.describe.strength import Categories, Scores, Statistic
from jella.numerics.progress import doing
from jella.views.sample_columns import SampleColumn

#: a column is associated with the clusters if its p-values are below this
LEVEL = 0.05
#: draws of a permutation test, for up to this number of samples; fewer for more samples
DRAWS, FEWEST_DRAWS, FULL_UP_TO = 999, 199, 5000
ASSOCIATED, THROUGH_MISSING, NOT_ASSOCIATED = "associated", "explained by missingness", "not associated"
NO_VALUE, ONE_VALUE = "not tested: no value is known", "not tested: one value"
ALL_DIFFER, FEW = "not tested: most values differ", "not tested: one cluster"


@dataclass(frozen=True)
class ColumnAssociation:
    """The association of the clusters with a column.

    Attributes
    ----------
    column : str
    kind : {'categories', 'numbers', 'survival'}
    known : int
        Samples that have a cluster and a value.
    levels : int or None
        Number of different categories.
    strength : float
        From 0 (none) to 1: Cramér's V, corrected for bias, for categories; for numbers the square root of epsilon², of
        their ranks; for survival the same of log-rank scores.
    expected : float
        The mean strength if clusters are shuffled among samples for which the same is missing: what missing values
        alone would give.
    p_value, q_value : float
        Of the chi-square, Kruskal-Wallis or log-rank test, or of a permutation test if there are too few samples for
        that; and adjusted for the number of columns (Benjamini-Hochberg).
    p_within : float
        Of a permutation test that shuffles clusters only among samples for which the same is missing.
    verdict : str
        'associated', 'explained by missingness' (q_value below 0.05, but not p_within), 'not associated', or why it was
        not tested.
    """

    column: str
    kind: str
    known: int
    levels: int | None
    strength: float
    expected: float
    p_value: float
    q_value: float
    p_within: float
    verdict: str


@dataclass(frozen=True, eq=False)
class Scored:
    """A column that has a score per sample, such as survival.

    Attributes
    ----------
    name, kind : str
    scores : array (n,)
        NaN where it is not known.
    p_value : float
        Of the test that belongs to the scores.
    """

    name: str
    kind: str
    scores: np.ndarray
    p_value: float


def associate(
    columns: Iterable[SampleColumn | Scored], labels: np.ndarray, same_missing: np.ndarray, seed: int = 0
) -> tuple[ColumnAssociation, ...]:
    """The association of clusters with each column.

    Parameters
    ----------
    columns : iterable of SampleColumn or Scored
    labels : int array (n,)
        Clusters; samples with a negative one are left out.
    same_missing : int array (n,)
        Groups of samples for which the same is missing.
    seed : int, default=0

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels, site = np.arange(60) % 2, np.array(["x", "y"])[np.arange(60) % 2]
    >>> columns = [SampleColumn.of("site", site), SampleColumn.of("age", rng.normal(size=60))]
    >>> found = associate(columns, labels, np.zeros(60))
    >>> [one.verdict for one in found]
    ['associated', 'not associated']
    """
    rng, found = np.random.default_rng(seed), []
    for column in columns:
        doing(f"comparing the clusters with {column.name}")
        found.append(_of_column(column, np.asarray(labels), same_missing, rng))
    adjusted = q_values(np.array([one.p_value for one in found])).tolist()
    return tuple(
        one if np.isnan(q) else replace(one, q_value=q, verdict=_verdict(q, one.p_within))
        for one, q in zip(found, adjusted, strict=True)
    )


def _of_column(
    column: SampleColumn | Scored, labels: np.ndarray, same_missing: np.ndarray, rng: np.random.Generator
) -> ColumnAssociation:
    scores = column.scores if isinstance(column, Scored) else column.values
    rows = (labels >= 0) & (np.isfinite(scores) if isinstance(column, Scored) else column.known)
    groups = np.unique(labels[rows], return_inverse=True)[1]
    codes = np.unique(scores[rows], return_inverse=True)[1]
    categorical = isinstance(column, SampleColumn) and column.levels is not None
    kind = column.kind if isinstance(column, Scored) else "categories" if categorical else "numbers"
    n, n_values, nan = int(rows.sum()), int(codes.max(initial=-1)) + 1, float("nan")
    why = NO_VALUE if n == 0 else ONE_VALUE if n_values < 2 else FEW if groups.max() < 1 else ""
    why = ALL_DIFFER if categorical and not why and 2 * n_values > n else why
    out = ColumnAssociation(
        column.name, kind, n, n_values if categorical else None, nan, nan, nan, nan, nan, why or NOT_ASSOCIATED
    )
    if why:
        return out
    statistic: Statistic
    if categorical:
        statistic = Categories.of_codes(codes, groups)
    else:
        statistic = Scores.of_scores(scores[rows] if isinstance(column, Scored) else rankdata(scores[rows]), groups)
    value, within = statistic.of(groups), _shuffled(statistic, groups, same_missing[rows], rng)
    if isinstance(column, Scored):
        p_value = column.p_value
    elif statistic.is_reliable:
        p_value = statistic.p_value(value)
    else:
        p_value = _share_above(value, _shuffled(statistic, groups, np.zeros(n, dtype=np.intp), rng))
    return replace(
        out,
        strength=statistic.strength(value),
        expected=float(np.mean([statistic.strength(one) for one in within])),
        p_value=p_value,
        p_within=_share_above(value, within),
    )


def _shuffled(statistic: Statistic, groups: np.ndarray, among: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Values of a statistic for groups that are shuffled within `among`."""
    places = np.argsort(among, kind="stable")
    own, shuffled = groups[places], np.empty_like(groups)
    parts = np.split(own, np.flatnonzero(np.diff(among[places])) + 1)  # of the same memory
    out = np.empty(int(np.clip(DRAWS * FULL_UP_TO / groups.size, FEWEST_DRAWS, DRAWS)))
    for draw in range(out.size):
        for part in parts:
            rng.shuffle(part)
        shuffled[places] = own
        out[draw] = statistic.of(shuffled)
    return out


def _share_above(value: float, drawn: np.ndarray) -> float:
    """The p-value of a value among those of draws; rounding does not separate equal ones."""
    return float((1 + np.sum(drawn >= value * (1 - 1e-9))) / (1 + drawn.size))


def _verdict(q_value: float, p_within: float) -> str:
    if q_value >= LEVEL:
        return NOT_ASSOCIATED
    return ASSOCIATED if p_within < LEVEL else THROUGH_MISSING
