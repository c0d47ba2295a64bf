"""The imputer of a fitted model: predictors, and how their predictions become values, intervals and error estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from jella.impute.errors import ErrorEstimate, estimate, gains, trust_in
from jella.impute.hidden_values import BLOCK_BYTES, HiddenValues, TrialProgress, gather, observed_share
from jella.impute.imputed import Imputed
from jella.impute.path import PathPredictor
from jella.impute.predictors import Predictors, Refit
from jella.impute.recipe import Bounds, Group, Recipe
from jella.impute.signs import Typical
from jella.impute.spread import Spread
from jella.impute.units import Units
from jella.numerics.arrays import row_blocks, to_numpy
from jella.numerics.finite import refuse_nonfinite
from jella.readout.neighbours import NeighbourReadout
from jella.views import View, Views
from jella.views.kinds import Kinds

#: parts of the samples, of which each is answered by what the others teach
N_FOLDS = 5
#: hidden values per view that are kept for pictures
MOST_EXAMPLES = 600


@dataclass(frozen=True, eq=False)
class Imputer:
    """What a model needs, besides its readout, to impute missing values.

    Attributes
    ----------
    path : PathPredictor
    units : Units
    recipe : Recipe
    spread : Spread
    by_view : tuple of ErrorEstimate
    overall : ErrorEstimate
    typical : Typical
    examples : tuple of arrays (2, m)
        Some hidden values of each view and the answers to them, relative to the units.
    n_trials : int
        Number of times that values were hidden.
    seconds : float
        What the calibration took.
    readout : NeighbourReadout or None
        The low-rank model in NumPy, if that of the clusters is another: they may need another rank.
    """

    path: PathPredictor
    units: Units
    recipe: Recipe
    spread: Spread
    by_view: tuple[ErrorEstimate, ...]
    overall: ErrorEstimate
    typical: Typical
    examples: tuple[np.ndarray, ...]
    n_trials: int
    seconds: float
    readout: NeighbourReadout | None = None

    @classmethod
    def learn(
        cls, views: Views, refit: Refit, kinds: Kinds, seed: int, progress: TrialProgress | None = None
    ) -> Imputer | None:
        """An imputer for the samples of a fit; None where nothing can be hidden.

        Parameters
        ----------
        views : Views
            The samples of the fit, in the user's units and in the order of the fit; NumPy arrays.
        refit : callable
            Fits the model of the clusters to the views of a trial.
        kinds : Kinds
            Of the features.
        seed : int
            Of the hidden values.
        progress : callable, optional
            Called before each trial with its number, from 1, and the number of trials.
        """
        begin = perf_counter()
        evidence, numbers = gather(views, refit, seed, progress)
        if evidence is None or not len(evidence):
            return None
        units = Units.of(views)
        bounds = relative_bounds(units, kinds)
        counts = units_of_counts(units, kinds)
        plain = cross_fitted(evidence, bounds, (), counts)
        refined = cross_fitted(evidence, bounds, [(v, whole) for v, whole, _ in evidence.groups()], counts)
        by_feature = [group for group, (gain, error) in gains(evidence, refined, plain).items() if gain > error]
        answers = np.where(_inside(evidence, by_feature), refined, plain)
        trust = {group: trust_in(*gain) for group, gain in gains(evidence, answers, np.zeros_like(answers)).items()}
        for group, share in trust.items():
            answers[_inside(evidence, [group])] *= share
        recipe = Recipe.learn(evidence, bounds, by_feature, counts).trusted(trust)
        missing = missing_counts(views)
        by_view = tuple(estimate(evidence, answers, missing, trust, v) for v in range(len(views)))
        path = PathPredictor.learn(views, numbers)
        return cls(
            path,
            units,
            recipe,
            Spread.learn(evidence, answers, bounds, views, units),
            by_view,
            estimate(evidence, answers, missing, trust),
            Typical.of(evidence, answers, [view.n_features for view in views]),
            tuple(_examples(evidence, answers, v, seed) for v in range(len(views))),
            int(evidence.trial.max()) + 1,
            perf_counter() - begin,
        )

    def impute(self, views: Views, readout: NeighbourReadout, level: float | None = None) -> list[Imputed]:
        """The values of each view for the samples that lack some, with intervals where a level is given.

        Parameters
        ----------
        views : Views
            In the user's units; each sample has something observed.
        readout : NeighbourReadout
            Of the model.
        level : float in (0, 1), optional
            Share of the true values that the intervals shall hold.
        """
        host = in_numpy(views)
        predictors = Predictors(readout, self.path, self.units)
        presence, share = host.presence(), observed_share(host)
        lacking = np.stack([to_numpy(view.count_by_sample()) < view.n_features for view in host], axis=1)
        found = [Imputed.empty(lacking[:, v], view.n_features, level is not None) for v, view in enumerate(host)]
        affected = np.flatnonzero(lacking.any(axis=1))
        bytes_per_row = 8 * host.n_features * predictors.n_members
        near = predictors.near(host.take(affected))
        for block in row_blocks(affected.size, bytes_per_row, BLOCK_BYTES):
            rows = affected[block]
            predictions = predictors.predict(host.take(rows), near[block])
            for v, imputed in enumerate(found):
                own = lacking[rows, v]
                if own.any():
                    whole = ~presence[rows[own], v]
                    self._fill(imputed, rows[own], predictions[v][:, own], v, whole, share[rows[own]], level)
        return found

    def _fill(
        self,
        imputed: Imputed,
        rows: np.ndarray,
        predictions: np.ndarray,
        v: int,
        whole: np.ndarray,
        share: np.ndarray,
        level: float | None,
    ) -> None:
        """Put the values of some samples in their place."""
        at, values = imputed.places[rows], self.recipe.answer(predictions, v, whole)
        mean, spread = self.units.means[v], self.units.spreads[v]
        low, high = (bound[v] for bound in (self.recipe.bounds.low, self.recipe.bounds.high))
        scale = np.where(self.units.varies[v], spread, 0.0)  # a constant feature stays constant
        imputed.values[at] = mean + scale * values
        refuse_nonfinite(imputed.values[at], "completed values")
        if level is None:
            return
        for kind in (False, True):
            chosen, strata = whole == kind, self.spread.of(v, kind)
            if chosen.any() and strata is not None:
                lower, upper, deviation = strata.around(values[chosen], share[chosen], level)
                # a value within its bounds may still lie outside the errors of its stratum
                lower, upper = np.minimum(lower, values[chosen]), np.maximum(upper, values[chosen])
                varies = self.units.varies[v]
                imputed.lower[at[chosen]] = np.where((lower <= low) & varies, -np.inf, mean + scale * lower)
                imputed.upper[at[chosen]] = np.where((upper >= high) & varies, np.inf, mean + scale * upper)
                imputed.deviation[at[chosen]] = scale * deviation
            elif chosen.any() and not self.units.varies[v].any():
                imputed.lower[at[chosen]], imputed.upper[at[chosen]], imputed.deviation[at[chosen]] = mean, mean, 0.0


def _examples(evidence: HiddenValues, answers: np.ndarray, v: int, seed: int) -> np.ndarray:
    at = np.flatnonzero(evidence.view == v)
    if at.size > MOST_EXAMPLES:
        at = np.random.default_rng(seed).choice(at, MOST_EXAMPLES, replace=False)
    return np.stack([evidence.truth[at], answers[at]])


def _inside(evidence: HiddenValues, groups: Sequence[Group]) -> np.ndarray:
    """Whether each hidden value belongs to one of these groups, (N,)."""
    inside = np.zeros(len(evidence), dtype=bool)
    for v, whole in groups:
        inside |= (evidence.view == v) & (evidence.whole == whole)
    return inside


def cross_fitted(
    evidence: HiddenValues,
    bounds: Bounds,
    by_feature: Sequence[Group] = (),
    units_of_counts: Sequence[np.ndarray] | None = None,
) -> np.ndarray:
    """The answer to each hidden value by a recipe that has not seen its sample, in any trial, (N,)."""
    answers = np.empty(len(evidence))
    fold = evidence.sample % N_FOLDS
    for number in range(N_FOLDS):
        own = fold == number
        if own.any():
            others = evidence.where(~own) if not own.all() else evidence
            recipe = Recipe.learn(others, bounds, by_feature, units_of_counts)
            answers[own] = recipe.answers(evidence.where(own))
    return answers


def relative_bounds(units: Units, kinds: Kinds) -> Bounds:
    """The bounds of all features, relative to their units."""
    low, high = zip(*(kinds.bounds(v) for v in range(len(units.means))), strict=True)
    return Bounds(
        tuple(units.relative(one, v) for v, one in enumerate(low)),
        tuple(units.relative(one, v) for v, one in enumerate(high)),
    )


def units_of_counts(units: Units, kinds: Kinds) -> list[np.ndarray]:
    """The standard deviation of each feature that is a count and varies, 0 for others, (d_v,) per view."""
    parts = zip(kinds.by_view, units.varies, units.spreads, strict=True)
    return [np.where((kind == "count") & varies, spread, 0.0) for kind, varies, spread in parts]


def missing_counts(views: Views) -> dict[Group, int]:
    """The number of missing values by view and kind of hole."""
    counts = {}
    for v, view in enumerate(views):
        n_whole = view.n_samples - int(view.presence().sum())
        counts[v, True] = n_whole * view.n_features
        counts[v, False] = view.n_samples * view.n_features - view.n_observed() - counts[v, True]
    return counts


def in_numpy(views: Views) -> Views:
    """The views in NumPy and double precision."""

    def host(view: View) -> View:
        X = view.X.astype(np.float64) if view.is_sparse else to_numpy(view.X).astype(np.float64, copy=False)
        return replace(view, X=X, mask=to_numpy(view.mask))

    return replace(views, items=tuple(host(view) for view in views))
