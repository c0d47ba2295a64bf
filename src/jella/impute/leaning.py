"""Which entries are like the missing ones: hiding them shows best how well missing ones are predicted.

An entry is more likely to be missing in a sample, or in a feature, that lacks many others, and where values depend on
what is missing, by its expected size. Expected sizes of missing entries are compared with those of hidden ones: a model
expects more of an entry that it has seen and that is large, so seen entries would make missing ones look small. They
are compared within samples: how sizes differ between samples is in the rates of samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import hypot

import numpy as np

from jella.impute.chance import clustered_error, sure_share
from jella.impute.path import PathStart, path, path_scaling
from jella.impute.units import Units
from jella.numerics.arrays import dense_rows, to_numpy
from jella.views import View, Views
from jella.views.draw import draw_for_calibration

#: share of the entries, and the most samples, that are hidden from the model that expects the sizes
SHARE, MOST_SAMPLES = 0.1, 3000
#: the model of the path that expects the sizes, and the most components of it
NUMBER, COMPONENTS = 2, 50
#: sizes count in full if they go with hidden values by this share of what they do with seen ones
ENOUGH = 0.2
#: counts of missing and observed entries are raised by this
PRIOR = 1.0
#: an expected mean is followed by half if its uncertainty raises the mean squared error by this
PRICE = 0.002
#: log-odds are cut at this, so that no entry is certain to be hidden
MOST = 3.0


def leanings(views: Views, rng: np.random.Generator) -> list[np.ndarray | None]:
    """Log-odds of each entry to be missing, up to a constant, (n, d) per view; None for views without missing entries.

    Parameters
    ----------
    views : Views
        In the user's units; NumPy arrays.
    rng : numpy.random.Generator
    """
    if views.is_rowwise:
        return [None] * len(views)
    holed = draw_for_calibration(views, SHARE, rng, most_samples=MOST_SAMPLES).apply(views)
    model, W = next(islice(path(PathStart.of(path_scaling(holed), holed, COMPONENTS)), NUMBER, None))
    out: list[np.ndarray | None] = []
    for v, view in enumerate(views):
        if view.is_rowwise:
            out.append(None)
            continue
        expected, rates = W @ model.bases[v].T, _rates(view)
        out.append(np.clip(rates + _sizes(view, holed[v], expected, rates), -MOST, MOST))
    return out


def expected_means(views: Views, units: Units, leaning: Sequence[np.ndarray | None]) -> list[np.ndarray]:
    """The mean that hidden entries of each feature would have if all were drawn, (d,) per view, in units.

    It is that of all observed entries, each as often as entries like it are missing. So what the few that are hidden
    have by chance is known. It is pulled to zero where few entries per sample make it uncertain, and that matters.
    """
    out = []
    for v, (view, lean) in enumerate(zip(views, leaning, strict=True)):
        if lean is None:
            out.append(np.zeros(view.n_features))
            continue
        mask = to_numpy(view.mask)
        values = np.where(mask & units.varies[v], units.relative(dense_rows(view.X, slice(None)), v), 0.0)
        weights = np.exp(lean) * mask
        sums = np.einsum("ij,ij->j", weights, values)
        means = sums / np.maximum(weights.sum(axis=0), 1e-300)
        size = float(sums.sum() / max(weights.sum(), 1e-300))
        variance = _sampling_variance(values, mask, weights)
        doubt = variance / (variance + size**2) if variance > 0 else 0.0
        out.append(means * (1.0 - doubt * variance / (variance + PRICE)))
    return out


def _sampling_variance(values: np.ndarray, mask: np.ndarray, weights: np.ndarray) -> float:
    """The variance of the weighted mean of values (n, d), if other entries of the same samples had been observed."""
    count = np.maximum(mask.sum(axis=1), 1)
    means = values.sum(axis=1) / count
    squares = np.sum(np.where(mask, values - means[:, None], 0.0) ** 2, axis=1)
    share = weights.sum(axis=1) / max(weights.sum(), 1e-300)
    return float(np.sum(share**2 * squares / (np.maximum(count - 1, 1) * count)))


def _rates(view: View) -> np.ndarray:
    """What the other entries of the sample, and of the feature, say."""
    missing = ~to_numpy(view.mask)
    there = view.presence()
    by_sample, by_feature = missing.sum(axis=1), missing[there].sum(axis=0)
    rows = np.log((by_sample + PRIOR) / (view.n_features - by_sample + PRIOR))
    columns = np.log((by_feature + PRIOR) / (there.sum() - by_feature + PRIOR))
    return (rows - rows[there].mean())[:, None] + (columns - columns.mean())


def _sizes(view: View, holed: View, expected: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """What the expected size says: two normal distributions, one of the missing and one of the hidden entries.

    Sizes are compared within samples, and hidden entries count as often as the rates say: what these explain is not
    counted twice. Only as far as the two differ by more than chance.
    """
    there = holed.presence()
    centred = expected - expected[there].mean(axis=0)
    spread = centred[there].std(axis=0)
    size = centred / np.where(spread > 0, spread, 1.0)
    size -= size.mean(axis=1, keepdims=True)  # between samples, rates say it all
    missing = ~to_numpy(view.mask) & there[:, None]
    hidden = to_numpy(view.mask) & ~to_numpy(holed.mask) & there[:, None]
    if not missing.any() or not hidden.any():
        return np.zeros_like(size)
    weights = np.exp(np.clip(rates[hidden], -MOST, MOST))
    weights /= weights.mean()
    like_missing = float(np.mean(weights * size[hidden]))
    difference = float(size[missing].mean()) - like_missing
    parts = (size[missing], missing), (like_missing + weights * (size[hidden] - like_missing), hidden)
    errors = [clustered_error(values, np.nonzero(where)[0]) for values, where in parts]
    variance = 0.5 * float(size[missing].var() + size[hidden].var())
    if not variance > 0:
        return np.zeros_like(size)
    kept = _kept_share(view, size, hidden, to_numpy(holed.mask) & there[:, None])
    return size * (kept * sure_share(difference, hypot(*errors)) * difference / variance)


def _kept_share(view: View, size: np.ndarray, hidden: np.ndarray, seen: np.ndarray) -> float:
    """The share of the leaning by sizes that is kept, from 0 to 1: less where sizes hardly go with hidden values.

    What is hidden later are mostly values that the model has seen: where sizes go with these alone, as with rare words
    or noise, the largest of them would be hidden. So it counts only as far as it is no chance that sizes go with hidden
    values.
    """
    X, mask = dense_rows(view.X, slice(None)), to_numpy(view.mask)
    values = np.where(mask, X - X.sum(axis=0, where=mask) / np.maximum(mask.sum(axis=0), 1), 0.0)
    spread = np.sqrt(np.sum(values**2, axis=0) / np.maximum(mask.sum(axis=0), 1))
    values /= np.where(spread > 0, spread, 1.0)
    products = values[hidden] * size[hidden]
    unseen, known = float(products.mean()), float(np.mean(values[seen] * size[seen]))
    sure = sure_share(unseen, clustered_error(products, np.nonzero(hidden)[0]))
    return sure * min(max(unseen / (ENOUGH * known), 0.0), 1.0) if known > 0 else 0.0
