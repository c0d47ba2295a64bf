"""Signs that values are missing because of their size: no completion corrects for that, so it is said in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr

from jella.impute.chance import clustered_error
from jella.impute.hidden_values import HiddenValues
from jella.impute.imputed import Imputed
from jella.impute.units import Units
from jella.numerics.arrays import to_numpy
from jella.views import View, Views

#: a difference counts if it is larger than this, in standard deviations, and than this many standard errors
LARGE, SURE = 0.05, 4.0
#: a rank correlation of means and missing rates over this many features counts from this size and with this certainty
FEWEST_FEATURES, STRONG, CHANCE = 20, 0.3, 1e-3


@dataclass(frozen=True, eq=False)
class Typical:
    """The answers to hidden values, for comparison with those to missing ones.

    Attributes
    ----------
    means : tuple of arrays (d_v,)
        Mean answer of each feature, relative to its units, over hidden entries; 0 where none was hidden.
    errors : tuple of float
        Standard error of the mean answer of a view, per view; infinite where no entry was hidden.
    """

    means: tuple[np.ndarray, ...]
    errors: tuple[float, ...]

    @classmethod
    def of(cls, hidden: HiddenValues, answers: np.ndarray, widths: Sequence[int]) -> Typical:
        """The means of cross-fitted answers (N,)."""
        means, errors = [np.zeros(d) for d in widths], [float("inf")] * len(widths)
        for v, whole, at in hidden.groups():
            if whole:
                continue
            feature = hidden.feature[at]
            count = np.maximum(np.bincount(feature, minlength=widths[v]), 1)
            means[v] = np.bincount(feature, answers[at], minlength=widths[v]) / count
            errors[v] = clustered_error(answers[at] - means[v][feature], hidden.sample[at])
        return cls(tuple(means), tuple(errors))


def signs_of_size(views: Views, imputed: Sequence[Imputed], units: Units, typical: Typical) -> list[str]:
    """Sentences on views whose values may be missing because of their size; none where nothing points to it."""
    found = []
    for v, view in enumerate(views):
        if not view.is_rowwise:
            by_answers = _by_answers(view, imputed[v], units, typical, v)
            # where large values are missing, means of observed ones are small: that is no second sign
            found += by_answers or _by_features(view, units.means[v])
    return found


def _by_answers(view: View, imputed: Imputed, units: Units, typical: Typical, v: int) -> list[str]:
    """Whether missing entries are expected to be larger or smaller than observed ones."""
    rows = np.flatnonzero((imputed.places >= 0) & view.presence())
    if not rows.size or not np.isfinite(typical.errors[v]):
        return []
    missing = ~to_numpy(view.mask)[rows] & units.varies[v]
    line, feature = np.nonzero(missing)
    if not line.size:
        return []
    answers = units.relative(imputed.values[imputed.places[rows]], v)[missing] - typical.means[v][feature]
    difference = float(answers.mean())
    error = float(np.hypot(clustered_error(answers, line), typical.errors[v]))
    if abs(difference) <= max(LARGE, SURE * error):
        return []
    which = "larger" if difference > 0 else "smaller"
    return [
        f"missing values of view {view.name!r} are expected to be {which} than observed ones (by "
        f"{abs(difference):.2f} standard deviations); if they are missing because of their size, the true ones are "
        f"{which} still, and the error is larger than estimated"
    ]


def _by_features(view: View, means: np.ndarray) -> list[str]:
    """Whether features with small or large values lack more of them."""
    rates = 1.0 - to_numpy(view.count_by_feature()) / view.n_samples
    if means.size < FEWEST_FEATURES or np.ptp(rates) == 0 or np.ptp(means) == 0:
        return []
    found = spearmanr(rates, means)
    if not (abs(found.statistic) >= STRONG and found.pvalue < CHANCE):
        return []
    which = "small" if found.statistic < 0 else "large"
    return [
        f"features of view {view.name!r} with {which} values lack more of them (rank correlation "
        f"{found.statistic:.2f}); values may be missing because they are {which}, as with a limit of detection"
    ]
