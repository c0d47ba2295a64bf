"""Observed values that were hidden from the predictors, and what these predicted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import ceil
from typing import TypeAlias

import numpy as np

from jella.impute.leaning import expected_means, leanings
from jella.impute.path import KnownEmbeddings, OnPath, PathPredictor, PathStart, path, path_scaling
from jella.impute.predictors import Predictors, Refit
from jella.impute.units import Units
from jella.numerics.arrays import dense_rows, row_blocks
from jella.readout.neighbours import NeighbourReadout
from jella.views import Hidden, Views
from jella.views.draw import draw_for_calibration

#: share of the samples and of the entries that a trial hides, the most values, and the most samples that lose some
SHARE, MOST_HIDDEN, MOST_SAMPLES = 0.1, 1_000_000, 3000
#: trials: as many as it takes to hide whole views, or entries, of this many samples, within these bounds
ENOUGH_ROWS, FEWEST_TRIALS, MOST_TRIALS = 60, 3, 15
#: the path ends when this many weights have not lowered the error by this share
PATIENCE, GAIN = 2, 1e-3
#: models before and after the best one of the path that are kept
BEFORE, AFTER = 2, 1
#: bytes of a block of predictions
BLOCK_BYTES = 2**26

#: number of a trial, and of all trials
TrialProgress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class HiddenValues:
    """Hidden values, one entry of each array per value, and their predictions.

    Attributes
    ----------
    view, feature, trial : int arrays (N,)
    sample : int array (N,)
        Position of the sample in the fit; values of the same sample are not independent.
    whole : bool array (N,)
        Whether the sample lost the whole view.
    share : array (N,)
        Share of the sample's entries, over all views, that the trial left.
    truth : array (N,)
        Distance from the mean of its feature in the trial, in standard deviations of the feature in all data.
    expected : array (N,)
        The mean truth of its feature that further trials would have.
    predictions : array (K, N)
        Likewise; one row per predictor.
    """

    view: np.ndarray
    feature: np.ndarray
    trial: np.ndarray
    sample: np.ndarray
    whole: np.ndarray
    share: np.ndarray
    truth: np.ndarray
    expected: np.ndarray
    predictions: np.ndarray

    def __len__(self) -> int:
        return self.truth.size

    def where(self, chosen: np.ndarray) -> HiddenValues:
        """The values at some positions."""
        parts = {one.name: getattr(self, one.name) for one in fields(self)}
        return HiddenValues(**{name: part[..., chosen] for name, part in parts.items()})

    def groups(self) -> Iterator[tuple[int, bool, np.ndarray]]:
        """Views and kinds of holes that there is evidence on, with the positions of their values."""
        for v in np.unique(self.view):
            for whole in (False, True):
                found = np.flatnonzero((self.view == v) & (self.whole == whole))
                if found.size:
                    yield int(v), whole, found

    @classmethod
    def joined(cls, parts: list[HiddenValues]) -> HiddenValues:
        """The evidence of several trials."""
        names = [one.name for one in fields(cls)]
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in names})


def gather(
    views: Views, refit: Refit, seed: int, progress: TrialProgress | None = None
) -> tuple[HiddenValues | None, tuple[int, ...]]:
    """The hidden values of a few trials, and the numbers of the models of the path that are worth keeping.

    None where nothing can be hidden.

    Parameters
    ----------
    views : Views
        The samples of a fit, in the user's units, in the order of the fit; NumPy arrays.
    refit : callable
        Fits the model of the clusters to the views of a trial.
    seed : int
    progress : callable, optional
        Called before each trial with its number, from 1, and the number of trials.
    """
    rng, full = np.random.default_rng(seed), Units.of(views)
    share = min(SHARE, MOST_HIDDEN / max(min(views.n_samples, MOST_SAMPLES) * views.n_features, 1))
    parts: list[HiddenValues] = []
    numbers: tuple[int, ...] = ()
    n_trials, leaning = 1, leanings(views, rng)
    expected = expected_means(views, full, leaning)
    while len(parts) < n_trials:
        trial = Trial(views, draw_for_calibration(views, share, rng, leaning, MOST_SAMPLES), len(parts))
        if not any(trial.targets(full, v)[0].size for v in range(len(views))):
            break
        units = replace(full, means=Units.of(trial.holed).means)
        if trial.number == 0:
            predictor, known, numbers = _explored(trial, units)
            n_trials = min(max(ceil(ENOUGH_ROWS / trial.fewest_rows()), FEWEST_TRIALS), MOST_TRIALS)
        else:
            predictor, known = PathPredictor.fitted(trial.holed, numbers, trial.affected)
        if progress is not None:
            progress(trial.number + 1, n_trials)
        readout = refit(trial.holed)
        assert isinstance(readout, NeighbourReadout)
        parts.append(_seen(trial, Predictors(readout, predictor, units), known, expected))
    return (HiddenValues.joined(parts) if parts else None), numbers


@dataclass(frozen=True, eq=False)
class Trial:
    """Views, and the values that are hidden from the predictors of one trial.

    Attributes
    ----------
    views : Views
        In the user's units.
    hidden : Hidden
    number : int
        Of the trial, from 0.
    """

    views: Views
    hidden: Hidden
    number: int

    @cached_property
    def holed(self) -> Views:
        """The views without the hidden values."""
        return self.hidden.apply(self.views)

    @cached_property
    def affected(self) -> np.ndarray:
        """Positions of the samples that lose something."""
        return np.flatnonzero(np.any([where.any(axis=1) for where in self.hidden], axis=0))

    def fewest_rows(self) -> int:
        """Samples that lose a whole view, if that is how samples lack views; else samples that lose entries."""
        has = self.views.presence()
        whole = (has & ~self.holed.presence()).any(axis=1).sum()
        return int(whole if whole and (not has.all() or self.views.is_rowwise) else self.affected.size)

    def targets(self, units: Units, v: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Samples that lose values of a view, where in their rows, and the hidden values relative to the units."""
        view, varies = self.views[v], units.varies[v]
        rows = self.hidden.rows(v) if varies.any() else np.empty(0, dtype=np.intp)
        where = np.broadcast_to(self.hidden[v][rows], (rows.size, view.n_features)) & varies
        return rows, where, units.relative(dense_rows(view.X, rows), v)[where]


def _explored(trial: Trial, units: Units) -> tuple[PathPredictor, KnownEmbeddings, tuple[int, ...]]:
    """The models around the best one of the path by hidden values, what is known of embeddings, and their numbers."""
    scaling = path_scaling(trial.holed)
    norms, best, least = scaling.scale_of(trial.holed), 0, np.inf
    found: list[tuple[OnPath, np.ndarray]] = []
    targets = [trial.targets(units, v) for v in range(len(trial.views))]
    start = PathStart.of(scaling, trial.holed)
    for model, W in path(start):
        total = 0.0
        for v, (rows, where, truth) in enumerate(targets):
            if rows.size:
                expected = (W[rows] @ model.bases[v].T).astype(np.float64)
                values = scaling.invert(expected, v, None if norms is None else norms[rows])
                total += float(np.sum((units.relative(values, v)[where] - truth) ** 2))
        found.append((model, W[trial.affected]))
        if total < (1.0 - GAIN) * least:
            best, least = len(found) - 1, total
        if len(found) - 1 - best >= PATIENCE or not total < np.inf:
            break
    numbers = tuple(range(max(best - BEFORE, 0), min(best + AFTER + 1, len(found))))
    return *PathPredictor.of(scaling, [found[number] for number in numbers], start), numbers


def _seen(trial: Trial, predictors: Predictors, known: KnownEmbeddings, expected: Sequence[np.ndarray]) -> HiddenValues:
    """The hidden values of a trial with their predictions."""
    holed, affected = trial.holed, trial.affected
    share, presence = observed_share(holed), holed.presence()
    parts = []
    bytes_per_row = 8 * holed.n_features * predictors.n_members
    near = predictors.near(holed.take(affected))
    for block in row_blocks(affected.size, bytes_per_row, BLOCK_BYTES):
        rows = affected[block]
        found = predictors.predict(holed.take(rows), near[block], [None if W is None else W[block] for W in known])
        for v, view in enumerate(trial.views):
            where = np.broadcast_to(trial.hidden[v][rows], (rows.size, view.n_features)) & predictors.units.varies[v]
            line, feature = np.nonzero(where)
            if not line.size:
                continue
            truth = predictors.units.relative(dense_rows(view.X, rows), v)
            whole = ~presence[rows[line], v]
            parts.append(
                HiddenValues(
                    view=np.full(line.size, v, dtype=np.int32),
                    feature=feature.astype(np.int32),
                    trial=np.full(line.size, trial.number, dtype=np.int32),
                    sample=rows[line],
                    whole=whole,
                    share=share[rows[line]],
                    truth=truth[where],
                    expected=np.where(whole, 0.0, expected[v][feature]),
                    predictions=found[v][:, where],
                )
            )
    return HiddenValues.joined(parts)


def observed_share(views: Views) -> np.ndarray:
    """The share of the entries of each sample that it has, over all views, (n,)."""
    counts = np.sum([np.asarray(view.count_by_sample()) for view in views], axis=0)
    return counts / max(views.n_features, 1)
