"""Scaling from observed entries only, and the way back to the user's own units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from jella.arrays import Array, like, namespace, to_numpy
from jella.views import View, Views

KINDS = ("sample", "feature", "standardize", "none")


@dataclass(frozen=True)
class Scaling:
    """Learned scale of every view.

    'sample' divides each sample by its norm, estimated as ‖x_obs‖·sqrt(d / number observed); 'feature' divides each
    feature by its root mean square, 'standardize' subtracts its mean and divides by its standard deviation, both
    then by sqrt(d), so that samples have a norm near one in either. The view weight enters as its square root.

    Attributes
    ----------
    kind : str
    root_weights : tuple of float
    center, spread : tuples of (d,) NumPy arrays or None
    log_norms : (n, V) NumPy array or None
        Of the training samples, NaN where a view is missing: what the norm of a missing view is predicted from.
    """

    kind: str
    root_weights: tuple[float, ...]
    center: tuple[np.ndarray | None, ...]
    spread: tuple[np.ndarray | None, ...]
    log_norms: np.ndarray | None = None

    @classmethod
    def learn(cls, views: Views, kind: str, weights: Any = None) -> Scaling:
        """Learn the scale of the training views."""
        if kind not in KINDS:
            raise ValueError(f"scale must be one of {list(KINDS)}, got {kind!r}")
        roots = _root_weights(views, weights)
        nothing: tuple[None, ...] = (None,) * len(views)
        if kind == "sample":
            return cls(kind, roots, nothing, nothing, np.log(_norms_or_nan(views)))
        if kind == "none":
            return cls(kind, roots, nothing, nothing)
        moments = [_feature_moments(view, kind == "standardize") for view in views]
        return cls(kind, roots, tuple(m[0] for m in moments), tuple(m[1] for m in moments))

    def apply(self, views: Views) -> Views:
        """Views in the scale that the model works in, zero where missing."""
        norms = sample_norms(views) if self.kind == "sample" else None
        items = []
        for v, view in enumerate(views):
            by_row = None if norms is None else np.where(norms[:, v] > 0, norms[:, v], 1.0)
            items.append(_scaled(view, self.center[v], self.spread[v], by_row, self.root_weights[v]))
        return replace(views, items=tuple(items))

    def scale_of(self, views: Views) -> np.ndarray | None:
        """Norm of every sample in every view, (n, V): measured where present, predicted where missing."""
        if self.kind != "sample":
            return None
        return np.exp(predict_log_norms(np.log(_norms_or_nan(views)), self.log_norms))

    def unit(self, v: int, norms: np.ndarray | None) -> np.ndarray:
        """The user's units in one of the model's (before view weights), broadcasting to (n, d)."""
        spread = self.spread[v]
        if norms is not None:
            return np.where(norms[:, v] > 0, norms[:, v], 1.0)[:, None]
        return np.ones((1, 1)) if spread is None else spread[None, :]

    def invert(self, estimate: Array, v: int, norms: np.ndarray | None) -> Array:
        """An estimate of view v, (n, d), in the user's units."""
        out = estimate * (1.0 / self.root_weights[v])
        spread, center = self.spread[v], self.center[v]
        if norms is not None:
            out = out * like(norms[:, v], out)[:, None]
        if spread is not None:
            out = out * like(spread, out)
        return out if center is None else out + like(center, out)


def sample_norms(views: Views) -> np.ndarray:
    """Estimated norm of every sample in every view, (n, V); zero where nothing was observed."""
    columns = []
    for view in views:
        count = np.maximum(to_numpy(view.count_by_sample()), 1)
        columns.append(_norms(view.X, axis=1) * np.sqrt(view.n_features / count))
    return np.stack(columns, axis=1)


def predict_log_norms(known: np.ndarray, training: np.ndarray | None) -> np.ndarray:
    """Fill unknown log norms from a sample's other views by least squares, else with the median of the view.

    Parameters
    ----------
    known : (n, V), not finite where unknown
    training : (m, V), likewise; the samples to learn from
    """
    training = known if training is None else training
    finite, learned = np.isfinite(known), np.isfinite(training)
    filled = known.copy()
    for v in range(known.shape[1]):
        todo = ~finite[:, v]
        seen = training[learned[:, v], v]
        filled[todo, v] = np.median(seen) if seen.size else 0.0
        for pattern in np.unique(finite[todo], axis=0):
            rows = todo & (finite == pattern).all(axis=1)
            usable = learned[:, v] & learned[:, pattern].all(axis=1)
            if pattern.any() and usable.sum() >= 5 * (pattern.sum() + 1):
                filled[rows, v] = _regress(training[usable][:, pattern], training[usable, v], known[rows][:, pattern])
    return filled


def _regress(inputs: np.ndarray, outputs: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Least squares with intercept, kept within the range of the outputs it has seen."""
    mean, target = inputs.mean(axis=0), outputs.mean()
    slope = np.linalg.lstsq(inputs - mean, outputs - target, rcond=1e-8)[0]
    return np.clip((queries - mean) @ slope + target, outputs.min(), outputs.max())


def _norms_or_nan(views: Views) -> np.ndarray:
    norms = sample_norms(views)
    return np.where(norms > 0, norms, np.nan)


def _norms(X: Array, axis: int) -> np.ndarray:
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


def _feature_moments(view: View, centered: bool) -> tuple[np.ndarray | None, np.ndarray]:
    """Mean (where centered) and spread·sqrt(d) of every feature, from its observed entries."""
    root_count = np.sqrt(np.maximum(to_numpy(view.count_by_feature()), 1))
    if not centered:
        center, spread, noise = None, _norms(view.X, axis=0) / root_count, 0.0
    else:
        center = _feature_means(view)
        spread = _norms(_minus(view, center).X, axis=0) / root_count
        # what varies no more than rounding does is constant: blowing it up would add noise only
        noise = 10.0 * float(namespace(view.X).finfo(view.X.dtype).eps) * np.abs(center)
    return center, np.where(spread > noise, spread, 1.0) * np.sqrt(view.n_features)


def _feature_means(view: View) -> np.ndarray:
    """Mean of every feature over its observed entries, (d,), in two passes: the second takes off the rounding."""
    if view.is_sparse:
        raise ValueError(
            f"scale='standardize' would make the sparse view {view.name!r} dense; use scale='feature' or 'sample'"
        )
    xp, count = namespace(view.X), np.maximum(to_numpy(view.count_by_feature()), 1)
    first = to_numpy(xp.sum(view.X, axis=0, dtype=xp.float64)) / count
    return first + to_numpy(xp.sum(_minus(view, first).X, axis=0, dtype=xp.float64)) / count


def _minus(view: View, center: np.ndarray) -> View:
    return view.map(lambda X: X - like(center, X))


def _scaled(
    view: View, center: np.ndarray | None, spread: np.ndarray | None, by_row: np.ndarray | None, root_weight: float
) -> View:
    if view.is_sparse:
        rows = np.full(view.n_samples, root_weight) if by_row is None else root_weight / by_row
        columns = np.ones(view.n_features) if spread is None else 1.0 / spread
        X = sparse.csr_array(sparse.diags_array(rows) @ view.X @ sparse.diags_array(columns))
        return replace(view, X=X.astype(view.X.dtype, copy=False))

    def values(X: Array) -> Array:
        X = X if center is None else X - like(center, X)
        X = X if spread is None else X / like(spread, X)
        X = X if by_row is None else X / like(by_row, X)[:, None]
        return X if root_weight == 1.0 else X * root_weight

    return view.map(values)


def _root_weights(views: Views, weights: Any) -> tuple[float, ...]:
    if weights is None:
        return (1.0,) * len(views)
    if isinstance(weights, Mapping):
        by_name = {str(name): weight for name, weight in weights.items()}
        unknown = [name for name in by_name if name not in views.names]
        if unknown:
            raise ValueError(f"view_weights names {unknown[0]!r}, but the views are {list(views.names)}")
        weights = [by_name.get(name, 1.0) for name in views.names]
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (len(views),):
        raise ValueError(f"view_weights must hold one number for each of the {len(views)} views, got {weights!r}")
    if not np.all((values > 0) & np.isfinite(values)):
        raise ValueError(
            f"view_weights must be positive, got {values.tolist()}; leave a view out instead of weighing it 0"
        )
    return tuple(np.sqrt(values).tolist())
