"""Scaling of views, learned from observed entries only, and the way back to the units of the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, like, namespace, norms_along, to_numpy
from jella.views.any_views import AnyViews
from jella.views.model import View, Views
from jella.views.norms import predict_log_norms, view_norms

#: linear kinds
KINDS = ("sample", "feature", "standardize", "center", "none")
ALL_KINDS = (*KINDS, "root", "auto")
#: a non-negative view is sparse-like if the share of non-zeros among its observed entries is at most this
FEW = 0.2
#: where samples are in chunks, norms of missing views are predicted from those of about this many samples
TRAINED_ON = 1_000_000
#: rounding errors of scaling and undoing it are far smaller than this many units in the last place
NOISE = 2.0**8


@dataclass(frozen=True)
class ViewScale:
    """Learned scale of one view: root, minus center, over spread, over the norm of the sample, times the root weight.

    Attributes
    ----------
    kind : str
        Never 'auto': learning replaces it by one of the others.
    root_weight : float
    center : (d,) NumPy array or None
    spread : (d,) or (1,) NumPy array or None
    by_norm : bool
        Whether each sample is divided by its norm.
    rooted : bool
        Whether x is replaced by sign(x)·sqrt(|x|) first.
    """

    kind: str
    root_weight: float
    center: np.ndarray | None = None
    spread: np.ndarray | None = None
    by_norm: bool = False
    rooted: bool = False

    @classmethod
    def learn(cls, view: View, kind: str, root_weight: float) -> ViewScale:
        """The scale of one view of the fit."""
        if kind == "auto":
            kind = "root" if view.is_sparse or view.smallest() >= 0 else "standardize"
        scale = cls(kind, root_weight, rooted=kind == "root")
        is_sparse_like = kind == "root" and (
            view.is_sparse or (view.reduce(_nonzeros) <= FEW * view.n_observed() and view.smallest() >= 0)
        )
        if is_sparse_like or kind in ("sample", "none"):
            return replace(scale, by_norm=kind != "none")
        center, spread = _moments(view.through(scale.before_norms), kind)
        return replace(scale, center=center, spread=spread)

    def apply(self, view: View) -> View:
        """The view in the scale of the model, zero where missing."""
        if self.center is not None and view.is_sparse and view.presence().any():
            view = replace(view, X=view.X.toarray())  # it is centred; a view that all samples lack stays sparse
        view = self.before_norms(view)
        norms = view_norms(view) if self.by_norm else None
        if view.is_sparse:
            return self._apply_sparse(view, norms)
        if self.root_weight == 1.0:
            return view.map(lambda X: self._shrunk(X, norms))
        return view.map(lambda X: self._shrunk(X, norms) * self.root_weight)

    def before_norms(self, view: View) -> View:
        """The view in which the norms of samples are measured: in root space where the scale has one."""
        return replace(view, X=_signed_root(view.X)) if self.rooted else view

    def forward(self, values: Array, norms: np.ndarray | None) -> Array:
        """Values in the units of the user, (n, d), in the scale of the model before the view weight."""
        return self._shrunk(_signed_root(values) if self.rooted else values, norms)

    def invert(self, estimate: Array, norms: np.ndarray | None) -> Array:
        """An estimate in the scale of the model, (n, d), in the units of the user."""
        out = estimate * (1.0 / self.root_weight)
        if self.by_norm and norms is not None:
            out = out * like(norms, out)[:, None]
        if self.spread is not None:
            out = out * like(self.spread, out)
        if self.center is not None:
            out = out + like(self.center, out)
        return out * namespace(out).abs(out) if self.rooted else out

    def undo(self, view: View, norms: np.ndarray | None) -> View:
        """A view in the scale of the model, in the units of the user again; norms None means that each is one."""
        if not view.is_sparse:
            return view.map(lambda X: self.invert(X, norms))
        X = sparse.csr_array(view.X, dtype=np.float64, copy=True)
        X.data /= self.root_weight
        if self.by_norm and norms is not None:
            X.data *= np.repeat(norms, np.diff(X.indptr))
        if self.spread is not None:
            X.data *= np.broadcast_to(self.spread, (view.n_features,))[X.indices]
        if self.rooted:
            X.data *= np.abs(X.data)
        return replace(view, X=X)

    def _shrunk(self, X: Array, norms: np.ndarray | None) -> Array:
        X = X if self.center is None else X - like(self.center, X)
        X = X if self.spread is None else X / like(self.spread, X)
        if not self.by_norm or norms is None:
            return X
        return X / like(np.where(norms > 0, norms, 1.0), X)[:, None]

    def _apply_sparse(self, view: View, norms: np.ndarray | None) -> View:
        weight = self.root_weight
        rows = np.full(view.n_samples, weight) if norms is None else weight / np.where(norms > 0, norms, 1.0)
        columns = np.ones(view.n_features) if self.spread is None else 1.0 / self.spread
        columns = np.broadcast_to(columns, (view.n_features,))
        X = sparse.csr_array(sparse.diags_array(rows) @ view.X @ sparse.diags_array(columns))
        return replace(view, X=X.astype(view.X.dtype, copy=False))


@dataclass(frozen=True)
class Scaling:
    """Learned scale of each view; views may have different kinds.

    - 'sample' divides each sample by its norm, estimated as ‖x_obs‖·sqrt(d / number observed).
    - 'feature' divides each feature by its root mean square, and by sqrt(d).
    - 'standardize' subtracts the mean of each feature, and divides by its standard deviation and by sqrt(d).
    - 'center' subtracts the mean of each feature, and divides the whole view by one number: its root mean square times
      sqrt(d).
    - 'root' takes sign(x)·sqrt(|x|) first, which makes the variance of counts, histograms and intensities more equal.
      Then it does the same as 'center' in a dense view. In a sparse or sparse-like view it divides each sample by its
      norm in root space. A view is sparse-like if it has no negative values and at least 80 % of its observed entries
      are zero. The form that was learned is used for later samples too, sparse or dense.
    - 'auto' is 'standardize' for a dense view with negative values, and 'root' for any other.
    - 'none' changes nothing.

    After each kind except 'none', samples have a norm near one. A view is then multiplied by the square root of its
    weight.

    Attributes
    ----------
    scales : tuple of ViewScale
    log_norms : (n, V) NumPy array or None
        Of the samples of the fit, NaN where a view is missing: the norm of a missing view is predicted from them. None
        where no view is divided by the norms of its samples.

    Examples
    --------
    >>> import numpy as np
    >>> from jella.views import read_views
    >>> views = read_views({"counts": np.array([[4.0, 9.0], [1.0, 0.0]]), "shifts": np.array([[-1.0], [2.0]])})
    >>> Scaling.learn(views, "auto").kinds
    ('root', 'standardize')
    >>> Scaling.learn(views, {"counts": "root", "shifts": "none"}).kinds
    ('root', 'none')
    """

    scales: tuple[ViewScale, ...]
    log_norms: np.ndarray | None = None

    @classmethod
    def learn(cls, views: AnyViews, kind: Any, weights: Any = None) -> Scaling:
        """The scale of the views of a fit; `kind` is one for all views, or a sequence or dict with one per view."""
        given = zip(views, _kinds(views, kind), _root_weights(views, weights), strict=True)
        scaling = cls(tuple(ViewScale.learn(*one) for one in given))
        if not any(scale.by_norm for scale in scaling.scales):
            return scaling
        return replace(scaling, log_norms=views.gather(scaling._log_norms, at_most=TRAINED_ON))

    def weighted(self, views: AnyViews, weights: Any) -> Scaling:
        """The same scale with other weights of the views."""
        pairs = zip(self.scales, _root_weights(views, weights), strict=True)
        return replace(self, scales=tuple(replace(scale, root_weight=weight) for scale, weight in pairs))

    def refuse_extremes(self, views: Views) -> None:
        """Refuse values, in the scale of the model, whose powers cannot be computed; only 'none' leaves such values."""
        for scale, view in zip(self.scales, views, strict=True):
            if scale.kind != "none":
                continue
            xp = namespace(view.X)
            largest, kind = float(_largest(view, None).max(initial=0.0)) * scale.root_weight, xp.finfo(view.X.dtype)
            most, least = float(kind.max) ** 0.25, float(kind.smallest_normal) ** 0.5
            if largest > most or 0 < largest < least:
                raise ValueError(
                    f"expected sizes from {least:.0e} to {most:.0e} with scale='none', got {largest:.3g} for the "
                    f"largest value of view {view.name!r}; use another scale, or other units"
                )

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kind of scaling of each view; for 'auto', the kind that it chose."""
        return tuple(scale.kind for scale in self.scales)

    def apply(self, views: AnyViews) -> Any:
        """Views in the scale of the model, zero where missing."""
        return views.map_samples(replace(self, log_norms=None)._apply)

    def _apply(self, views: Views) -> Views:
        items = tuple(scale.apply(view) for scale, view in zip(self.scales, views, strict=True))
        return replace(views, items=items)

    def undo(self, scaled: Views, rows: np.ndarray | None = None) -> Views:
        """The samples of the fit, or those at some positions, in the units of the user again.

        They are in NumPy and double precision. Digits that scaling and undoing it have changed are rounded off, so that
        zeros are zeros again.
        """
        own = self.log_norms if self.log_norms is None or rows is None else self.log_norms[rows]
        norms = None if own is None else np.exp(np.nan_to_num(own))
        items = []
        for v, (scale, view) in enumerate(zip(self.scales, scaled, strict=True)):
            X = view.X if view.is_sparse else to_numpy(view.X).astype(np.float64, copy=False)
            host = replace(view, X=X, mask=to_numpy(view.mask))
            undone = scale.undo(host, None if norms is None else norms[:, v])
            items.append(undone if view.is_sparse else undone.map(partial(_rounded, eps=view.eps())))
        return replace(scaled, items=tuple(items))

    def scale_of(self, views: Views) -> np.ndarray | None:
        """Norm of each sample in each view, (n, V): measured where present, predicted where missing.

        Norms are those in root space where a view has one. None where no view is divided by norms.
        """
        if not any(scale.by_norm for scale in self.scales):
            return None
        return np.exp(predict_log_norms(self._log_norms(views), self.log_norms))

    def forward(self, values: Array, v: int, norms: np.ndarray | None) -> Array:
        """Values of view v in the units of the user, (n, d), in the scale of the model before view weights."""
        return self.scales[v].forward(values, None if norms is None else norms[:, v])

    def invert(self, estimate: Array, v: int, norms: np.ndarray | None) -> Array:
        """An estimate of view v in the scale of the model, (n, d), in the units of the user."""
        return self.scales[v].invert(estimate, None if norms is None else norms[:, v])

    def _log_norms(self, views: Views) -> np.ndarray:
        """Measured log norms, (n, V), NaN where unknown; of all views, because one may predict another."""
        pairs = zip(self.scales, views, strict=True)
        norms = np.stack([view_norms(scale.before_norms(view)) for scale, view in pairs], axis=1)
        return np.log(np.where(norms > 0, norms, np.nan))


def _signed_root(X: Array) -> Array:
    """sign(x)·sqrt(|x|) of each entry."""
    if sparse.issparse(X):
        return sparse.csr_array((_signed_root(X.data), X.indices, X.indptr), shape=X.shape)
    xp = namespace(X)
    return xp.sign(X) * xp.sqrt(xp.abs(X))


def _moments(view: View, kind: str) -> tuple[np.ndarray | None, np.ndarray]:
    """Mean (d,) of each feature over its observed entries, None for 'feature', and the spread around it times sqrt(d).

    The spread is (d,) for 'feature' and 'standardize', and one number, (1,), for other kinds.
    """
    count = np.maximum(to_numpy(view.count_by_feature()), 1)
    center: Any = None
    noise = np.zeros(view.n_features)
    if kind != "feature":
        if view.is_sparse:
            raise ValueError(
                f"scale='standardize' or 'center' would make the sparse view {view.name!r} dense; use 'feature' or "
                "'sample'"
            )
        first = view.reduce(feature_sums) / count
        center = first + view.reduce(partial(feature_sums, center=first)) / count  # without most of the rounding
        # a feature that varies no more than this is constant up to rounding: dividing by its spread would add noise
        noise = 10.0 * view.eps() * np.abs(center)
    largest = view.reduce(partial(_largest, center=center), combine=np.maximum)
    unit = np.where(largest > 0, largest, 1.0)  # so that no unit of the user overflows or underflows
    norms = unit * np.sqrt(view.reduce(partial(_squares, center=center, unit=unit)))
    if kind in ("feature", "standardize"):
        spread = norms / np.sqrt(count)
        return center, np.where(spread > noise, spread, 1.0) * np.sqrt(view.n_features)
    spread = norms_along(norms[:, None], axis=0) * np.sqrt(view.n_features / max(view.n_observed(), 1))
    if not np.any(norms > noise * np.sqrt(count)):
        spread = norms_along(center[:, None], axis=0)
    return center, np.where(spread > 0, spread, 1.0)


# functions of a view in memory, or of each chunk of a view in chunks


def feature_sums(view: View, center: np.ndarray | None = None) -> np.ndarray:
    """Sum of the observed entries of each feature minus its center, (d,)."""
    xp = namespace(view.X)
    return to_numpy(xp.sum(_minus(view, center), axis=0, dtype=xp.float64))


def _largest(view: View, center: np.ndarray | None) -> np.ndarray:
    """Largest absolute value of each feature minus its center, (d,)."""
    X = _minus(view, center)
    if sparse.issparse(X):
        return abs(X).max(axis=0).toarray().ravel().astype(np.float64)
    xp = namespace(X)
    return to_numpy(xp.max(xp.abs(X), axis=0)).astype(np.float64)


def _squares(view: View, center: np.ndarray | None, unit: np.ndarray) -> np.ndarray:
    """Sum of squares of each feature minus its center, divided by its unit, (d,)."""
    X = _minus(view, center)
    if sparse.issparse(X):
        return np.bincount(X.indices, (X.data / unit[X.indices]) ** 2, minlength=X.shape[1])
    xp = namespace(X)
    relative = X / like(unit, X)
    return to_numpy(xp.sum(relative * relative, axis=0, dtype=xp.float64))


def _minus(view: View, center: np.ndarray | None) -> Array:
    """Values minus the center of their feature, zero where missing."""
    return view.X if center is None else view.map(lambda X: X - like(center, X)).X


def _nonzeros(view: View) -> int:
    xp = namespace(view.X)
    return int(xp.sum(xp.astype(view.X != 0, xp.int64)))


# settings


def _kinds(views: AnyViews, kind: Any) -> list[str]:
    """One kind per view, from one for all, a sequence or a mapping."""
    if isinstance(kind, Mapping):
        by_name = {str(name): one for name, one in kind.items()}
        unknown = [name for name in by_name if name not in views.names]
        if unknown:
            raise ValueError(f"scale names {unknown[0]!r}, but the views are {list(views.names)}")
        kinds = [by_name[name] for name in views.names if name in by_name]
    else:
        several = isinstance(kind, Sequence) and not isinstance(kind, str)
        kinds = list(kind) if several else [kind] * len(views)
    if len(kinds) != len(views):
        raise ValueError(f"scale must hold one kind for each of the {len(views)} views, got {kind!r}")
    for one in kinds:
        if not isinstance(one, str) or one not in ALL_KINDS:
            raise ValueError(f"scale must be one of {list(ALL_KINDS)}, got {one!r}")
    return [str(one) for one in kinds]


def _root_weights(views: AnyViews, weights: Any) -> tuple[float, ...]:
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


def _rounded(X: np.ndarray, eps: float) -> np.ndarray:
    """Values (n, d) rounded to multiples of a power of two, which depends on the largest value of a feature."""
    _, exponent = np.frexp(np.abs(X).max(axis=0, initial=0.0))
    step = np.maximum(np.ldexp(NOISE * eps, exponent), np.finfo(np.float64).tiny)
    return np.round(X / step) * step
