"""What must hold inside the records of an imputer."""

from __future__ import annotations

import numpy as np

from jella.impute.errors import ErrorEstimate
from jella.impute.imputer import Imputer
from jella.impute.path import OnPath, PathPredictor
from jella.impute.recipe import Bounds, Correction, Recipe
from jella.impute.signs import Typical
from jella.impute.spread import GROUPS, PARTS, Spread, Strata
from jella.impute.units import Units
from jella.saving.rules import check_record, check_widths, need_array, need_indices, require

#: records that an imputer holds
IMPUTER_RECORDS: tuple[type, ...] = (
    Bounds,
    Correction,
    ErrorEstimate,
    Imputer,
    OnPath,
    PathPredictor,
    Recipe,
    Spread,
    Strata,
    Typical,
    Units,
)


@check_record.register
def _(units: Units) -> None:
    for mean, spread, varies in zip(units.means, units.spreads, units.varies, strict=True):
        d = need_array(mean, (None,), "the means of features").shape[0]
        require(np.all(need_array(spread, (d,), "the spreads of features") > 0), "positive spreads of features")
        need_array(varies, (d,), "which features vary", "b")


@check_record.register
def _(model: OnPath) -> None:
    require(0 < model.weight < np.inf and model.bases, "a positive weight and bases")
    r = need_array(model.bases[0], (None, None), "a basis of the path").shape[1]
    for U in model.bases:
        need_array(U, (None, r), "a basis of the path")


@check_record.register
def _(bounds: Bounds) -> None:
    require(len(bounds.low) == len(bounds.high), "two bounds per view")
    for low, high in zip(bounds.low, bounds.high, strict=True):
        d = need_array(low, (None,), "lower bounds", finite=False).shape[0]
        need_array(high, (d,), "upper bounds", finite=False)
        require(np.all((low <= high) & (low < np.inf) & (high > -np.inf)), "lower bounds below upper ones")


@check_record.register
def _(correction: Correction) -> None:
    require(np.all(need_array(correction.weights, (None,), "weights") >= 0), "weights that are not negative")
    d = need_array(correction.shift, (None,), "shifts").shape[0]
    need_array(correction.slope, (d,), "slopes")
    shrink = need_array(correction.shrink, (d,), "factors of bounded values")
    require(np.all(shrink >= 0), "factors that are not negative")
    require(0 <= correction.trust <= 1, "trust from 0 to 1")


@check_record.register
def _(recipe: Recipe) -> None:
    require(len(recipe.groups) == len(recipe.corrections) == len(set(recipe.groups)), "a correction per group")
    require(len({one.weights.size for one in (*recipe.corrections, *recipe.fallback)}) == 1, "equal numbers of weights")


@check_record.register
def _(strata: Strata) -> None:
    d = need_array(strata.spread, (None,), "spreads of errors").shape[0]
    require(np.all(strata.spread > 0), "positive spreads of errors")
    need_indices(strata.group, (d,), "groups of features", 0, GROUPS)
    for edges in (strata.share_edges, strata.size_edges):
        need_array(edges, (PARTS - 1,), "edges of strata")
    need_indices(strata.table, (GROUPS, PARTS, PARTS), "the table of strata", 0, len(strata.errors))
    for errors in strata.errors:
        require(need_array(errors, (None,), "errors").size >= 1 and np.all(np.diff(errors) >= 0), "sorted errors")
    need_array(strata.root_mean_squares, (len(strata.errors),), "sizes of errors")


@check_record.register
def _(spread: Spread) -> None:
    require(len(spread.groups) == len(spread.strata) == len(set(spread.groups)), "strata of each group")


@check_record.register
def _(typical: Typical) -> None:
    require(len(typical.means) == len(typical.errors), "typical answers of each view")
    for mean in typical.means:
        need_array(mean, (None,), "typical answers")


@check_record.register
def _(imputer: Imputer) -> None:
    check_imputer(imputer, [mean.size for mean in imputer.units.means])


def check_imputer(imputer: Imputer, widths: list[int]) -> None:
    """Refuse an imputer that does not go with views of these numbers of features."""
    recipe, views = imputer.recipe, range(len(widths))
    require([mean.size for mean in imputer.units.means] == widths, f"units of {widths} features")
    require([mean.size for mean in imputer.typical.means] == widths, f"typical answers of {widths} features")
    require([low.size for low in recipe.bounds.low] == widths, f"bounds of {widths} features")
    require([one.shift.size for one in recipe.fallback] == widths, f"corrections of {widths} features")
    require(all(one.weights.size == len(imputer.path.models) + 2 for one in recipe.fallback), "a weight per predictor")
    pairs = [*zip(recipe.groups, (one.shift for one in recipe.corrections), strict=True)]
    pairs += zip(imputer.spread.groups, (one.spread for one in imputer.spread.strata), strict=True)
    for (v, _), values in pairs:
        require(v in views and values.size == widths[v], "groups of the views")
    if imputer.readout is not None:
        require([U.shape[0] for U in imputer.readout.bases] == widths, f"a low-rank model of {widths} features")
    for model in imputer.path.models:
        require([U.shape[0] for U in model.bases] == [*widths, 1], f"a path of {widths} features and a constant")
    check_widths(imputer.path.scaling, widths)
    require(len(imputer.by_view) == len(widths), "an estimate of the error per view")
    require(len(imputer.examples) == len(widths), "examples of each view")
    for pairs_of_values in imputer.examples:
        need_array(pairs_of_values, (2, None), "examples")
    require(imputer.n_trials >= 1 and 0 <= imputer.seconds < np.inf, "trials that took some time")
