"""Scores of completed views against the truth: error, bias, impossible values, and coverage of intervals.

All views are dense arrays; NaN in the truth is a value that nobody knows, which is never scored. Features without
spread in the truth are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Views = Sequence[np.ndarray]
#: a value this much outside the possible range, relative to the largest value, is a rounding error
ROUNDING = 1e-9
#: sums that vary less, relative to their mean, count as equal
EQUAL = 0.01
KINDS = ("view", "entry")


@dataclass(frozen=True)
class Holes:
    """The removed values of a view: where they are, what they were, and the units of its features."""

    truth: np.ndarray
    removed: np.ndarray  # with known truth
    scored: np.ndarray  # those in features that vary
    spread: np.ndarray  # standard deviation per feature, 1 where it is zero
    means: np.ndarray  # of the observed values, 0 where there are none
    whole: np.ndarray  # samples that lack the view

    @classmethod
    def of(cls, truth: np.ndarray, holed: np.ndarray) -> Holes:
        """From a view and the same view with holes."""
        removed = np.isnan(holed) & ~np.isnan(truth)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # features without any value
            spread, largest = np.nanstd(truth, axis=0), np.nanmax(np.abs(truth), axis=0)
            means = np.nan_to_num(np.nanmean(holed, axis=0))
        varies = spread > 1e-12 * largest
        spread = np.where(varies, spread, 1.0)
        return cls(truth, removed, removed & varies, spread, means, np.isnan(holed).all(axis=1))

    def deviations(self, completed: np.ndarray) -> np.ndarray:
        """Completed minus true values, in standard deviations of their features, (n scored,)."""
        return ((completed - self.truth) / self.spread)[self.scored]


def scores(truth: Views, holed: Views, completed: Views) -> dict[str, Any]:
    """The scores of a completion, all views together.

    `rmse` is relative to that of the column means. `row_bias` and `column_bias` are mean errors of the sums of
    samples and features, in standard deviations of the true sums, means over the views of
    counts (whole numbers, none negative), without views whose true sums are about equal.
    `impossible` is the share of values below 0 in views without negative values, or outside [0, 1] in views within it.
    """
    holes = [Holes.of(*pair) for pair in zip(truth, holed, strict=True)]
    for hole, X in zip(holes, completed, strict=True):
        if not np.isfinite(X[hole.removed]).all():
            raise ValueError("values that are not finite are left")
    off = np.concatenate([hole.deviations(X) for hole, X in zip(holes, completed, strict=True)])
    mean_off = np.concatenate([hole.deviations(np.broadcast_to(hole.means, hole.truth.shape)) for hole in holes])
    mean_rmse = float(np.sqrt(np.mean(mean_off**2)))
    found = {
        "rmse": float(np.sqrt(np.mean(off**2))) / mean_rmse,
        "mean_rmse": mean_rmse,
        "bias": float(np.mean(off)),
        "n_scored": int(off.size),
    }
    counts = [pair for pair in zip(holes, completed, strict=True) if is_counts(pair[0].truth)]
    for name, axis in (("row_bias", 1), ("column_bias", 0)):
        sums = [bias for pair in counts if not np.isnan(bias := _sum_bias(*pair, axis))]
        if sums:
            found[name] = float(np.mean(sums))
    bounded = [one for pair in zip(holes, completed, strict=True) if (one := _impossible(*pair)) is not None]
    if bounded and (n := sum(part.size for part in bounded)):
        found["impossible"] = float(sum(part.sum() for part in bounded)) / n
    return found


def is_counts(X: np.ndarray) -> bool:
    known = X[~np.isnan(X)]
    return bool((known >= 0).all() and (known == np.round(known)).all())


def _sum_bias(hole: Holes, completed: np.ndarray, axis: int) -> float:
    """Mean error of the sums along an axis that have holes; NaN if the true sums are about equal."""
    off, sums = np.where(hole.removed, completed - hole.truth, 0.0), np.nansum(hole.truth, axis=axis)
    if sums.std() <= EQUAL * np.abs(sums).mean() or not hole.removed.any():
        return float("nan")
    return float(off.sum(axis=axis)[hole.removed.any(axis=axis)].mean() / sums.std())


def _impossible(hole: Holes, completed: np.ndarray) -> np.ndarray | None:
    """Which removed values got an impossible one; None for a view with negative values."""
    low, high = np.nanmin(hole.truth), np.nanmax(hole.truth)
    if low < 0:
        return None
    values, slack = completed[hole.removed], ROUNDING * high
    return (values < -slack) | ((values > 1 + slack) & (high <= 1))


def coverage(truth: Views, holed: Views, lower: Views, upper: Views) -> dict[str, list[list[float]]]:
    """How many values lie in their intervals, by kind of hole and by how much of the sample was observed.

    Returns
    -------
    dict of kind -> 3 lists
        'view' for values of views that the sample lacks altogether, 'entry' for others; one list per third of the
        samples with holes, the least observed first: number of values, of those inside, of those exactly at an end,
        which are inside too, and the sum of the widths in standard deviations.
    """
    holes = [Holes.of(*pair) for pair in zip(truth, holed, strict=True)]
    thirds = _thirds(holes, holed)
    found = {kind: [[0, 0, 0, 0.0] for _ in range(3)] for kind in KINDS}
    for hole, low, high in zip(holes, lower, upper, strict=True):
        inside, at_end = (low <= hole.truth) & (hole.truth <= high), (low == hole.truth) | (hole.truth == high)
        width = (high - low) / hole.spread
        for kind, third, where in _groups(hole, thirds):
            part = found[kind][third]
            part[0] += int(where.sum())
            part[1] += int(inside[where].sum())
            part[2] += int(at_end[where].sum())
            part[3] += round(float(width[where].sum()), 3)
    return found


def _thirds(holes: Sequence[Holes], holed: Views) -> np.ndarray:
    """0, 1 or 2 per sample: thirds of the samples with holes, by the share of their values that was observed."""
    share = np.mean(np.hstack([~np.isnan(X) for X in holed]), axis=1)
    with_holes = np.logical_or.reduce([hole.scored.any(axis=1) for hole in holes])
    return np.searchsorted(np.quantile(share[with_holes], [1 / 3, 2 / 3]), share)


def _groups(hole: Holes, thirds: np.ndarray) -> Iterator[tuple[str, int, np.ndarray]]:
    for kind, rows in zip(KINDS, (hole.whole, ~hole.whole), strict=True):
        for third in range(3):
            where = hole.scored & (rows & (thirds == third))[:, None]
            if where.any():
                yield kind, third, where
