"""How predictions become one value: weights, corrections and bounds that are learned from hidden values.

All quantities are relative to the units of the features: 0 is the mean, 1 is one standard deviation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from jella.impute.chance import clustered_error, sure_share
from jella.impute.hidden_values import HiddenValues

#: weights are shrunk as if this many more samples spoke for those of all views, or for the first guess
PRIOR_ROWS = 30.0
#: first guess of the weights: of all models of the path together, of the low-rank model, and of donors
PATH_GUESS, MODEL_GUESS, DONOR_GUESS = 0.7, 0.1, 0.1
#: the share that a bounded value is scaled by is shrunk as if this many more values had that of the view
PRIOR_VALUES = 5.0
#: a factor for totals is followed by half if its uncertainty raises the mean squared error by this
PRICE = 0.002
#: a feature is not corrected by itself if fewer values of it were hidden
FEWEST_VALUES = 3

#: a view, and whether whole samples or single entries of it are missing
Group = tuple[int, bool]


@dataclass(frozen=True, eq=False)
class Correction:
    """What makes one value of the predictions for one view and one kind of hole.

    Attributes
    ----------
    weights : array (K,)
        Non-negative.
    shift, slope : arrays (d,)
        Of each feature: the weighed prediction p becomes shift + slope·p.
    shrink : array (d,)
        Bounded values are multiplied by this after they are cut at zero, so that means, and totals of counts, stay.
    trust : float
        From 0, where the answer is the mean, to 1.
    """

    weights: np.ndarray
    shift: np.ndarray
    slope: np.ndarray
    shrink: np.ndarray
    trust: float = 1.0

    def apply(self, predictions: np.ndarray, features: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The value of predictions (K, ...), whose last axis belongs to these features; not yet bounded."""
        combined = np.tensordot(self.weights, predictions, axes=1)
        return self.shift[features] + self.slope[features] * combined


@dataclass(frozen=True, eq=False)
class Bounds:
    """The lowest and the highest possible value of each feature of each view, relative to the units.

    Attributes
    ----------
    low, high : tuples of arrays (d_v,)
        Infinite where there is no bound.
    """

    low: tuple[np.ndarray, ...]
    high: tuple[np.ndarray, ...]

    def cut(
        self, values: np.ndarray, v: int, shrink: np.ndarray, features: np.ndarray | slice = slice(None)
    ) -> np.ndarray:
        """Values within the bounds; what lies above a finite lower bound is shrunk, or stretched for counts."""
        low, high = self.low[v][features], self.high[v][features]
        if not np.isfinite(low).any():
            return np.minimum(values, high)
        cut = np.clip(values, low, high)
        base = np.where(np.isfinite(low), low, 0.0)
        return np.where(np.isfinite(low), base + (cut - base) * shrink[features], cut)


@dataclass(frozen=True, eq=False)
class Recipe:
    """The corrections of all groups.

    Attributes
    ----------
    groups : tuple of (view, whole) pairs
    corrections : tuple of Correction, in the order of the groups
    bounds : Bounds
    fallback : Correction per view
        For a kind of hole that there was no evidence on.
    """

    groups: tuple[Group, ...]
    corrections: tuple[Correction, ...]
    fallback: tuple[Correction, ...]
    bounds: Bounds

    @classmethod
    def learn(
        cls,
        evidence: HiddenValues,
        bounds: Bounds,
        by_feature: Sequence[Group] = (),
        units_of_counts: Sequence[np.ndarray] | None = None,
    ) -> Recipe:
        """Weights by non-negative least squares; the features of some groups are corrected one by one.

        Parameters
        ----------
        evidence : HiddenValues
        bounds : Bounds
        by_feature : sequence of (view, whole) pairs
        units_of_counts : sequence of arrays (d_v,), optional
            Standard deviations of features that are counted in the same unit, 0 for others: the totals of their values
            are kept.
        """
        widths = [low.size for low in bounds.low]
        guess = first_guess(evidence.predictions.shape[0])
        overall = {whole: _weights(evidence, np.flatnonzero(evidence.whole == whole), guess) for whole in (False, True)}
        found: dict[Group, Correction] = {}
        for v, whole, at in evidence.groups():
            weights = _weights(evidence, at, overall[whole])
            correction = _centred(evidence, at, _plain(weights, widths[v]))
            if (v, whole) in by_feature:
                correction = _by_feature(evidence, at, correction)
            correction = replace(correction, shrink=_shrink(evidence, at, correction, bounds, v))
            if units_of_counts is not None:
                correction = _with_totals(evidence, at, correction, bounds, v, units_of_counts[v])
            found[v, whole] = correction
        fallback = []
        for v, width in enumerate(widths):
            known = [found[v, whole] for whole in (True, False) if (v, whole) in found]
            pooled = overall[True] if evidence.whole.any() else overall[False]
            fallback.append(known[0] if known else _plain(pooled, width))
        return cls(tuple(found), tuple(found.values()), tuple(fallback), bounds)

    def correction(self, v: int, whole: bool) -> Correction:
        """The correction of a group; that of the other kind of hole where there was no evidence."""
        return self.corrections[self.groups.index((v, whole))] if (v, whole) in self.groups else self.fallback[v]

    def trusted(self, trust: Mapping[Group, float]) -> Recipe:
        """The recipe with answers that lie between the mean and the predictions, as far as each group is trusted."""
        corrections = tuple(
            replace(one, trust=trust[group]) for group, one in zip(self.groups, self.corrections, strict=True)
        )
        least = [min((trust[g] for g in self.groups if g[0] == v), default=1.0) for v in range(len(self.fallback))]
        fallback = tuple(replace(one, trust=t) for one, t in zip(self.fallback, least, strict=True))
        return replace(self, corrections=corrections, fallback=fallback)

    def answer(self, predictions: np.ndarray, v: int, whole: np.ndarray) -> np.ndarray:
        """The values (n, d) of a view from predictions (K, n, d); `whole` (n,) says which samples lack all of it."""
        values = np.empty(predictions.shape[1:])
        for kind in (False, True):
            rows = whole == kind
            if rows.any():
                one = self.correction(v, kind)
                values[rows] = one.trust * self.bounds.cut(one.apply(predictions[:, rows]), v, one.shrink)
        return values

    def answers(self, evidence: HiddenValues) -> np.ndarray:
        """The value for each hidden value, (N,)."""
        values = np.empty(len(evidence))
        for v, whole, at in evidence.groups():
            one, features = self.correction(v, whole), evidence.feature[at]
            cut = self.bounds.cut(one.apply(evidence.predictions[:, at], features), v, one.shrink, features)
            values[at] = one.trust * cut
        return values


def first_guess(n_members: int) -> np.ndarray:
    """The weights before any evidence, (K,)."""
    n_path = n_members - 2
    return np.array([PATH_GUESS / max(n_path, 1)] * n_path + [MODEL_GUESS, DONOR_GUESS])


def _plain(weights: np.ndarray, width: int) -> Correction:
    return Correction(weights, np.zeros(width), np.ones(width), np.ones(width))


def _weights(evidence: HiddenValues, at: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Non-negative weights that predict the truth, shrunk to the prior the more, the fewer samples there are."""
    if not at.size:
        return prior
    P, truth = evidence.predictions[:, at], evidence.truth[at]
    gram, cross = P @ P.T / at.size, P @ truth / at.size
    size = np.trace(gram) / len(gram)
    if not size > 0:
        return prior
    pull = PRIOR_ROWS / np.unique(evidence.sample[at]).size * size
    root = np.linalg.cholesky(gram + (pull + 1e-12 * size) * np.eye(len(gram)))
    return nnls(root.T, np.linalg.solve(root, cross + pull * prior))[0]


def _centred(evidence: HiddenValues, at: np.ndarray, correction: Correction) -> Correction:
    """The correction with one shift for all features, if the mean error of the values is not chance."""
    p = correction.apply(evidence.predictions[:, at], evidence.feature[at])
    mean, error = mean_error(evidence.truth[at], p, evidence.sample[at], float(evidence.expected[at].mean()))
    return replace(correction, shift=correction.shift + mean * sure_share(mean, error))


def mean_error(truth: np.ndarray, p: np.ndarray, rows: np.ndarray, expected: float = 0.0) -> tuple[float, float]:
    """The mean of truth minus predictions (N,), and its standard error; errors of the same sample go together.

    The truth is a distance from a mean, and what its own mean is in many trials is known: zero, or what samples and
    features that lack many values have. The rest is chance, unless it is too large for that. What predictions do not
    follow of that chance is taken out (as a control variate): weak predictions hardly vary, and their mean error is
    known far better than that of the truth.
    """
    own = float(truth.mean()) - expected
    chance = 1.0 - sure_share(own, clustered_error(truth, rows))
    _, which = np.unique(rows, return_inverse=True)
    sums, errors = (np.bincount(which, x - x.mean()) for x in (truth, truth - p))
    square = float(sums @ sums)
    taken = chance * float(np.clip(sums @ errors / square, 0.0, 1.0)) if square > 0 else 0.0
    rest = errors - taken * sums
    return float(np.mean(truth - p)) - taken * own, float(np.sqrt(rest @ rest)) / truth.size


def _by_feature(evidence: HiddenValues, at: np.ndarray, correction: Correction) -> Correction:
    """Shift and slope of each feature, as far as they differ from those of the view by more than chance."""
    d, feature = correction.shift.size, evidence.feature[at]
    p = correction.apply(evidence.predictions[:, at], feature)
    error = evidence.truth[at] - p
    count = np.bincount(feature, minlength=d)
    some = np.maximum(count, 1)
    usable = count >= FEWEST_VALUES
    if not usable.any():
        return correction
    mean_error, mean_p = (np.bincount(feature, x, minlength=d) / some for x in (error, p))
    around, spread = error - mean_error[feature], p - mean_p[feature]
    noise = np.bincount(feature, around**2, minlength=d)
    pooled = noise[usable].sum() / np.maximum(count[usable] - 1, 1).sum()
    variance = (noise + FEWEST_VALUES * pooled) / np.maximum(count - 1 + FEWEST_VALUES, 1)
    shift = _shrunk(mean_error, variance / some, usable)
    curve = np.bincount(feature, spread**2, minlength=d)
    usable = usable & (curve > 1e-6 * curve.max())
    slope = np.bincount(feature, spread * around, minlength=d) / np.where(usable, curve, 1.0)
    slope = np.maximum(1.0 + _shrunk(slope, variance / np.where(usable, curve, 1.0), usable), 0.0)
    return replace(correction, shift=shift + slope * correction.shift - (slope - 1.0) * mean_p, slope=slope)


def _shrunk(found: np.ndarray, variance: np.ndarray, usable: np.ndarray) -> np.ndarray:
    """Estimates of features shrunk to zero: the between-feature variance is what exceeds that by chance."""
    precise = np.where(usable, 1.0 / np.maximum(variance, 1e-300), 0.0)
    if not usable.any() or not precise.sum() > 0:
        return np.zeros_like(found)
    between = max(0.0, float(np.sum(precise * (found**2 - variance) * usable) / precise.sum()))
    return np.where(usable, found * between / (between + np.maximum(variance, 1e-300)), 0.0)


def _shrink(evidence: HiddenValues, at: np.ndarray, correction: Correction, bounds: Bounds, v: int) -> np.ndarray:
    """The factors that keep the mean of each feature's values when they are cut at their lower bound, (d,)."""
    d, low = correction.shift.size, bounds.low[v]
    bounded = np.isfinite(low)
    if not bounded.any():
        return np.ones(d)
    feature = evidence.feature[at]
    own = np.where(bounded, low, 0.0)[feature]
    above = correction.apply(evidence.predictions[:, at], feature) - own
    wanted, got = (np.bincount(feature, x, minlength=d) for x in (above, np.maximum(above, 0.0)))
    share = wanted[bounded].sum() / max(got[bounded].sum(), 1e-300)
    typical = got[bounded].sum() / max(np.isin(feature, np.flatnonzero(bounded)).sum(), 1)
    share = float(np.clip(share, 0.0, 1.0))
    prior = PRIOR_VALUES * typical
    factor = np.clip((wanted + prior * share) / np.maximum(got + prior, 1e-300), 0.0, 1.0)
    return np.where(bounded, factor, 1.0)


def _with_totals(
    evidence: HiddenValues, at: np.ndarray, correction: Correction, bounds: Bounds, v: int, units: np.ndarray
) -> Correction:
    """The correction with one factor for all counts, so that the total of their values is not too low or too high."""
    at = at[units[evidence.feature[at]] > 0]
    if not at.size:
        return correction
    feature = evidence.feature[at]
    values = bounds.cut(correction.apply(evidence.predictions[:, at], feature), v, correction.shrink, feature)
    unit, above = units[feature] / units.max(), values - bounds.low[v][feature]
    total = float(np.mean(above * unit))
    if not total > 0:
        return correction
    expected = float(np.mean(evidence.expected[at] * unit))
    mean, error = mean_error(evidence.truth[at] * unit, values * unit, evidence.sample[at], expected)
    cost = (error / total) ** 2 * float(np.mean(above**2))
    factor = max(1.0 + mean / total / (1.0 + cost / PRICE), 0.0)
    return replace(correction, shrink=np.where(units > 0, factor * correction.shrink, correction.shrink))
