"""Means, norms and spreads of features from observed entries, of a view in memory or in chunks."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, like, namespace, to_numpy
from jella.views import View


def or_one(norms: np.ndarray) -> np.ndarray:
    """Norms with one in the place of zero: what to divide by."""
    return np.where(norms > 0, norms, 1.0)


def norms_along(X: Array, axis: int) -> np.ndarray:
    """Euclidean norms along an axis; relative to the largest entry, so that no unit over- or underflows."""
    if sparse.issparse(X):
        entries = X.tocoo()
        which, size = entries.coords[1 - axis], X.shape[1 - axis]
        unit = np.zeros(size)
        np.maximum.at(unit, which, np.abs(entries.data))
        unit = np.where(unit > 0, unit, 1.0)
        return unit * np.sqrt(np.bincount(which, (entries.data / unit[which]) ** 2, minlength=size))
    xp = namespace(X)
    largest = xp.max(xp.abs(X), axis=axis, keepdims=True)
    largest = xp.where(largest > 0, largest, xp.ones_like(largest))
    relative = X / largest
    squares = xp.sum(relative * relative, axis=axis, dtype=xp.float64)
    return to_numpy(xp.squeeze(largest, axis=axis)).astype(np.float64) * np.sqrt(to_numpy(squares))


def feature_moments(view: View, centered: bool) -> tuple[np.ndarray | None, np.ndarray]:
    """Mean (where centered) and spread·sqrt(d) of every feature, from its observed entries."""
    root_count = np.sqrt(np.maximum(to_numpy(view.count_by_feature()), 1))
    if not centered:
        center, spread, noise = None, _feature_norms(view, None) / root_count, np.zeros(view.n_features)
    else:
        center = _feature_means(view)
        spread = _feature_norms(view, center) / root_count
        # what varies no more than rounding does is constant: blowing it up would add noise only
        noise = _rounding(view, center)
    return center, np.where(spread > noise, spread, 1.0) * np.sqrt(view.n_features)


def _feature_means(view: View) -> np.ndarray:
    """Mean of every feature over its observed entries, (d,), in two passes: the second takes off the rounding."""
    if view.is_sparse:
        raise ValueError(
            f"scale='standardize' or 'center' would make the sparse view {view.name!r} dense; use 'feature' or 'sample'"
        )
    count = np.maximum(to_numpy(view.count_by_feature()), 1)
    first = view.reduce(feature_sums) / count
    return first + view.reduce(partial(feature_sums, center=first)) / count


def _feature_norms(view: View, center: np.ndarray | None) -> np.ndarray:
    """Norm of every feature less its center, (d,), over observed entries; no unit over- or underflows."""
    largest = or_one(view.reduce(partial(_largest, center=center), combine=np.maximum))
    return largest * np.sqrt(view.reduce(partial(_squares, center=center, unit=largest)))


# what views in chunks take from each of their chunks


def feature_sums(view: View, center: np.ndarray | None = None) -> np.ndarray:
    """Sum of the observed entries of every feature, less its center, (d,)."""
    xp = namespace(view.X)
    return to_numpy(xp.sum(_minus(view, center).X, axis=0, dtype=xp.float64))


def _largest(view: View, center: np.ndarray | None) -> np.ndarray:
    X = _minus(view, center).X
    if sparse.issparse(X):
        return abs(X).max(axis=0).toarray().ravel().astype(np.float64)
    xp = namespace(X)
    return to_numpy(xp.max(xp.abs(X), axis=0)).astype(np.float64)


def _squares(view: View, center: np.ndarray | None, unit: np.ndarray) -> np.ndarray:
    """Sums of squares of every feature in its unit."""
    X = _minus(view, center).X
    if sparse.issparse(X):
        return np.bincount(X.indices, (X.data / unit[X.indices]) ** 2, minlength=X.shape[1])
    xp = namespace(X)
    relative = X / like(unit, X)
    return to_numpy(xp.sum(relative * relative, axis=0, dtype=xp.float64))


def _minus(view: View, center: np.ndarray | None) -> View:
    return view if center is None else view.map(lambda X: X - like(center, X))


def view_moments(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Mean of every feature, and the root mean square of what is left times sqrt(d), one number."""
    center = _feature_means(view)
    norms = _feature_norms(view, center)
    root_count = np.sqrt(np.maximum(to_numpy(view.count_by_feature()), 1))
    spread = norms_along(norms[:, None], axis=0) * np.sqrt(view.n_features / max(view.n_observed(), 1))
    if not np.any(norms > _rounding(view, center) * root_count):
        spread = norms_along(center[:, None], axis=0)
    return center, or_one(spread)


def _rounding(view: View, center: np.ndarray) -> np.ndarray:
    """Spread of every feature up to which it varies no more than rounding does, (d,)."""
    return 10.0 * view.eps() * np.abs(center)
