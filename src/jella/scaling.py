"""Scaling from observed entries only, and the way back to the user's own units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        norms = _norms_or_nan(views)
        with np.errstate(divide="ignore"):
            known = np.log(norms)
        return np.exp(predict_log_norms(known, self.log_norms))

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
        count = to_numpy(view.count_by_sample())
        squares = _row_sqnorms(view.X)
        columns.append(np.sqrt(squares * (view.n_features / np.maximum(count, 1))))
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


def _row_sqnorms(X: Array) -> np.ndarray:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    xp = namespace(X)
    return to_numpy(xp.sum(X * X, axis=1)).astype(np.float64)


def _feature_moments(view: View, centered: bool) -> tuple[np.ndarray | None, np.ndarray]:
    """Mean (where centered) and spread·sqrt(d) of every feature, from its observed entries."""
    if centered and view.is_sparse:
        raise ValueError(
            f"scale='standardize' would make the sparse view {view.name!r} dense; use scale='feature' or 'sample'"
        )
    count = np.maximum(to_numpy(view.count_by_feature()), 1)
    if view.is_sparse:
        total = np.zeros(view.n_features)
        squares = np.asarray(view.X.multiply(view.X).sum(axis=0), dtype=np.float64).ravel()
        largest = float(abs(view.X).max()) if view.X.nnz else 0.0
    else:
        xp = namespace(view.X)
        total = to_numpy(xp.sum(view.X, axis=0)).astype(np.float64)
        largest = float(xp.max(xp.abs(view.X)))
        shifted = view.map(lambda X: X - like(total / count, X)) if centered else view
        squares = to_numpy(xp.sum(shifted.X * shifted.X, axis=0)).astype(np.float64)
    spread = np.sqrt(squares / count)
    # a feature that varies at the rounding level of its view is constant: blowing it up would add noise only
    spread = np.where(spread > 10 * np.finfo(np.float64).eps * largest, spread, 1.0)
    return (total / count if centered else None), spread * np.sqrt(view.n_features)


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
        unknown = [name for name in weights if name not in views.names]
        if unknown:
            raise ValueError(f"view_weights names {unknown[0]!r}, but the views are {list(views.names)}")
        weights = [weights.get(name, 1.0) for name in views.names]
    if not isinstance(weights, Sequence | np.ndarray) or len(weights) != len(views):
        raise ValueError(f"view_weights must hold one positive number for each of the {len(views)} views")
    if not all(float(w) > 0 and np.isfinite(float(w)) for w in weights):
        raise ValueError(
            f"view_weights must be positive, got {list(weights)}; leave a view out instead of weighing it 0"
        )
    return tuple(float(np.sqrt(w)) for w in weights)
