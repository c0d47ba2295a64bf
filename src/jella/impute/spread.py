"""How far true values lie from completed ones: intervals by split conformal prediction on hidden values.

Errors are compared among alike values: of the same view and kind of hole, of features of the same group, of samples of
which as much was observed, and with completed values of the same size. Where there are too few of these, among more.
Errors of a sample go together, so a quantile is as uncertain as that of fewer errors, and lies as much further out.
Where too few samples show how far whole views lie from what is predicted, they may lie as far as from the mean, which
all observed values show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jella.impute.chance import clustered_error
from jella.impute.hidden_values import HiddenValues
from jella.impute.recipe import Bounds, Group
from jella.impute.units import Units
from jella.numerics.arrays import dense_rows, to_numpy
from jella.views import View, Views

#: a stratum has at least this many hidden values, of at least this many samples; otherwise it is joined with others
FEWEST_VALUES, FEWEST_ROWS = 200, 15
#: the spread of a feature is shrunk to that of its group as if this many more of its values had that
PRIOR_VALUES = 20.0
#: errors of a sample go together as far as they do beyond these quantiles
TAIL = 0.05
#: errors that are kept per stratum
MOST_KEPT = 2001
#: samples whose distances from the mean are looked at
MOST_SAMPLES = 500
#: groups of features, of observed shares and of sizes
GROUPS, PARTS = 4, 3


@dataclass(frozen=True, eq=False)
class Strata:
    """The errors of one view and kind of hole.

    Attributes
    ----------
    group : int array (d,)
        Of each feature: 0 to 2 by how rare values above the lower bound are, 3 without a lower bound.
    spread : array (d,)
        Root mean square of the errors of each feature.
    share_edges, size_edges : arrays (2,)
        Limits between the three groups of observed shares, and of completed values.
    table : int array (4, 3, 3)
        Position of the errors of each stratum.
    errors : tuple of arrays
        Sorted, divided by the spread of their feature.
    root_mean_squares : array
        Of these errors.
    """

    group: np.ndarray
    spread: np.ndarray
    share_edges: np.ndarray
    size_edges: np.ndarray
    table: np.ndarray
    errors: tuple[np.ndarray, ...]
    root_mean_squares: np.ndarray

    @classmethod
    def learn(cls, evidence: HiddenValues, at: np.ndarray, answers: np.ndarray, bounds: Bounds, v: int) -> Strata:
        """The strata of the hidden values at some positions, which all belong to one view and kind of hole."""
        error = evidence.truth[at] - answers[at]
        alike = evidence.share[at], answers[at]
        return cls._of(evidence.feature[at], error, evidence.sample[at], alike, bounds, v)

    @classmethod
    def around_mean(cls, view: View, units: Units, bounds: Bounds, v: int) -> Strata | None:
        """The strata of observed values that are answered by their means; None where none of them vary."""
        rows = np.flatnonzero(view.presence())
        rows = rows[np.linspace(0, rows.size - 1, min(rows.size, MOST_SAMPLES)).astype(np.intp)]
        known = np.broadcast_to(to_numpy(view.mask), (view.n_samples, view.n_features))[rows]
        line, feature = np.nonzero(known & units.varies[v])
        if not line.size:
            return None
        error = units.relative(dense_rows(view.X, rows), v)[line, feature]
        return cls._of(feature, error, rows[line], (np.ones(line.size), np.zeros(line.size)), bounds, v)

    @classmethod
    def _of(
        cls,
        feature: np.ndarray,
        error: np.ndarray,
        rows: np.ndarray,
        alike: tuple[np.ndarray, np.ndarray],
        bounds: Bounds,
        v: int,
    ) -> Strata:
        """The strata of errors (N,) of features and samples, of alike observed shares and answers."""
        group, d = feature_groups(bounds, v), bounds.low[v].size
        spread, without = _spreads(feature, error, group, d)
        share_edges, size_edges = (np.quantile(x, [1 / 3, 2 / 3]) for x in alike)
        score = error / without
        levels = group[feature], np.searchsorted(share_edges, alike[0]), np.searchsorted(size_edges, alike[1])
        everything = np.ones(error.size, dtype=bool)
        table = np.zeros((GROUPS, PARTS, PARTS), dtype=np.intp)
        kept = [_kept(score, rows)]
        squares = [_root_mean_square(score)]

        def refine(chosen: np.ndarray, level: int, place: tuple[int, ...], errors_at: int) -> None:
            table[place] = errors_at
            if level == len(levels):
                return
            for part in range(table.shape[level]):
                inside = chosen & (levels[level] == part)
                enough = inside.sum() >= FEWEST_VALUES and np.unique(rows[inside]).size >= FEWEST_ROWS
                if enough and inside.sum() < chosen.sum():
                    kept.append(_kept(score[inside], rows[inside]))
                    squares.append(_root_mean_square(score[inside]))
                    refine(inside, level + 1, (*place, part), len(kept) - 1)
                else:
                    refine(inside if enough else chosen, level + 1, (*place, part), errors_at)

        refine(everything, 0, (), 0)
        return cls(group, spread, share_edges, size_edges, table, tuple(kept), np.array(squares))

    def around(self, values: np.ndarray, share: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lower and upper ends, and standard deviations, of values (n, d) of samples with observed shares (n,)."""
        tail = (1.0 - level) / 2.0
        ends = np.array([[_quantile(one, tail), _quantile(one, 1.0 - tail)] for one in self.errors])
        part = np.searchsorted(self.share_edges, share)[:, None]
        which = self.table[self.group[None, :], part, np.searchsorted(self.size_edges, values)]
        low, high = ends[which, 0], ends[which, 1]
        return values + self.spread * low, values + self.spread * high, self.spread * self.root_mean_squares[which]


def feature_groups(bounds: Bounds, v: int) -> np.ndarray:
    """The group of each feature of a view: features whose values are mostly at the lower bound have other errors."""
    low = bounds.low[v]
    group, bounded = np.full(low.size, GROUPS - 1), np.isfinite(low)
    if bounded.any():
        # the lower bound lies |low| standard deviations below the mean
        group[bounded] = np.searchsorted(np.quantile(low[bounded], [1 / 3, 2 / 3]), low[bounded])
    return group


def _spreads(feature: np.ndarray, error: np.ndarray, group: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """The spread of each feature, (d,), and for each error that of its feature without it, (N,)."""
    squares, count = np.bincount(feature, error**2, minlength=d), np.bincount(feature, minlength=d)
    typical = np.full(d, squares.sum() / max(count.sum(), 1))
    for one in range(GROUPS):
        inside = group == one
        if count[inside].sum() >= FEWEST_VALUES:
            typical[inside] = squares[inside].sum() / count[inside].sum()
    typical = np.where(typical > 0, typical, 1.0)
    total, number = squares + PRIOR_VALUES * typical, count + PRIOR_VALUES
    return np.sqrt(total / number), np.sqrt((total[feature] - error**2) / (number[feature] - 1))


def _kept(score: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The errors at evenly spaced places, as many as they count as independent ones."""
    n = round(min(independent(score, rows), MOST_KEPT))
    places = (np.arange(n) + 0.5) / n * score.size
    return np.sort(score)[places.astype(np.intp)]


def independent(score: np.ndarray, rows: np.ndarray) -> float:
    """How many independent errors know the tails as well as these do, of which those of a sample go together.

    From the number of samples, where each has one error many times, to that of the errors.

    >>> same, several = np.repeat(np.arange(40.0), 25), np.repeat(np.arange(40), 25)
    >>> independent(same, several), independent(np.tile(np.arange(25.0), 40), several)
    (40.0, 1000.0)
    """
    tails = [score < np.quantile(score, TAIL), score > np.quantile(score, 1.0 - TAIL)]
    chances = np.array([tail.mean() for tail in tails])
    errors = np.array([clustered_error(tail.astype(float), rows) for tail in tails])
    variance, alone = np.sum(errors**2), np.sum(chances * (1.0 - chances))
    n = alone / variance if variance > 0 else np.inf
    return float(np.clip(n, np.unique(rows).size, score.size))


def _root_mean_square(score: np.ndarray) -> float:
    return float(np.sqrt(np.mean(score**2)))


def _quantile(ordered: np.ndarray, level: float) -> float:
    """The quantile of sorted errors that a further error exceeds with no more than its probability.

    >>> _quantile(np.arange(1.0, 20.0), 0.95), _quantile(np.arange(1.0, 20.0), 0.05)
    (19.0, 1.0)
    """
    n = ordered.size
    place = np.ceil((n + 1) * level) if level > 0.5 else np.floor((n + 1) * level)
    return float(ordered[int(np.clip(place, 1, n)) - 1])


@dataclass(frozen=True, eq=False)
class Spread:
    """The strata of all groups.

    Attributes
    ----------
    groups : tuple of (view, whole) pairs
    strata : tuple of Strata, in the order of the groups
    """

    groups: tuple[Group, ...]
    strata: tuple[Strata, ...]

    @classmethod
    def learn(cls, evidence: HiddenValues, answers: np.ndarray, bounds: Bounds, views: Views, units: Units) -> Spread:
        """The strata of cross-fitted answers (N,): those that did not see the value that they answer.

        Groups with values of too few samples have none, but that of samples without a view always has some.
        """
        found = {
            (v, whole): Strata.learn(evidence, at, answers, bounds, v)
            for v, whole, at in evidence.groups()
            if np.unique(evidence.sample[at]).size >= FEWEST_ROWS
        }
        for v, view in enumerate(views):
            if (v, True) not in found and (strata := Strata.around_mean(view, units, bounds, v)) is not None:
                found[v, True] = strata
        return cls(tuple(found), tuple(found.values()))

    def of(self, v: int, whole: bool) -> Strata | None:
        """The strata of a group, or of the other kind of hole; None without evidence on the view."""
        for kind in (whole, not whole):
            if (v, kind) in self.groups:
                return self.strata[self.groups.index((v, kind))]
        return None
