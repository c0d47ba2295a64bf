"""Completed views as the user gave them: same container, names, index, order and types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import array_api_compat
import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, namespace, to_numpy
from jella.views.annotated import new_annotated, padded, with_modalities, with_more_samples
from jella.views.categories import expanded_names
from jella.views.containers import (
    collect,
    is_annotated,
    is_data_array,
    is_frame,
    is_mudata,
    is_other_frame,
    is_single,
    is_variables,
)
from jella.views.data_arrays import new_data_array
from jella.views.fill import fill, fill_sparse_rows
from jella.views.frames import column_order, new_frame
from jella.views.model import View, Views
from jella.views.multi_view import MultiView
from jella.views.named import columns_of, fill_named, names_of
from jella.views.other_frames import new_other_frame
from jella.views.read import Schema, split
from jella.views.read_once import ReadOnce

#: position of a view, rows to estimate -> values
Estimate: TypeAlias = Callable[[int, np.ndarray | None], Array]


def put_back(raws: Sequence[Any], X: Any, names: Sequence[str]) -> Any:
    """Raw views in the container of X."""
    if is_single(X):
        return raws[0]
    views = collect(raws, X, names)
    if is_variables(X):
        return X.assign(views)
    if isinstance(X, MultiView):
        return MultiView(views, ids=X.ids if all(names_of(raw) is None for raw in raws) else None)
    return with_modalities(X, views) if is_mudata(X) else ReadOnce(views) if isinstance(X, ReadOnce) else views


def fill_in(X: Any, views: Views, estimate: Estimate, schema: Schema | None = None) -> Any:
    """X with each missing entry replaced by its estimate; observed entries stay the same, bit for bit.

    Parameters
    ----------
    X : the data of the user, as given to read_views
    views : Views
        The result of read_views; only the masks and the names are used.
    estimate : callable
        Position of a view, and the rows to estimate (None: all) -> its estimated values in the units of the user.
    """
    names, raws = split(X, schema)
    written = [
        _new_view(raws, view, to_numpy(estimate(position, None)), views.sample_names)
        if raw is None and views.sample_names is not None
        else _write_view(raw, view, position, estimate, views.sample_names)
        for position, (raw, view) in enumerate(zip(raws, views, strict=True))
    ]
    return put_back(written, X, names)


def _write_view(raw: Any, view: View, position: int, estimate: Estimate, sample_names: Any) -> Any:
    if view.is_complete:
        return _copy(raw)
    if is_annotated(raw):
        return _write_annotated(raw.copy() if raw.is_view else raw, view, position, estimate, sample_names)
    if sparse.issparse(raw) and view.is_rowwise:  # only the samples that lack the view are estimated
        gaps = np.flatnonzero(~np.broadcast_to(view.mask, (view.n_samples, 1))[:, 0])
        return fill_sparse_rows(raw, gaps, to_numpy(estimate(position, gaps)))
    values = estimate(position, None)
    if raw is None:
        return values
    named = is_frame(raw) or is_data_array(raw) or is_other_frame(raw)
    return _write_named(raw, view, to_numpy(values), sample_names) if named else fill(raw, view.mask, values)


def _copy(raw: Any) -> Any:
    if is_other_frame(raw):
        return raw  # its columns cannot be changed in place
    if not array_api_compat.is_array_api_obj(raw) or isinstance(raw, np.ndarray):
        copies = is_frame(raw) or is_annotated(raw) or is_data_array(raw) or sparse.issparse(raw)
        return raw.copy() if copies else np.array(raw, subok=True)
    return namespace(raw).asarray(raw, copy=True)


def _write_named(raw: Any, view: View, values: np.ndarray, sample_names: Any) -> Any:
    """The rows and columns of a frame or DataArray in their order, then the samples it lacked."""
    rows, lacked = _own_and_lacked(names_of(raw), sample_names, raw.shape[0])
    columns = np.arange(view.n_features)
    if view.feature_names is not None:
        wanted = expanded_names(columns_of(raw), view.categories)
        columns = np.asarray(column_order(view.feature_names, wanted))
    chosen = np.ix_(np.concatenate([rows, lacked]), columns)
    mask, more = np.broadcast_to(to_numpy(view.mask), values.shape), () if not lacked.size else sample_names[lacked]
    return fill_named(raw, more, mask[chosen], values[chosen], view.categories)


def _write_annotated(raw: Any, view: View, position: int, estimate: Estimate, sample_names: Any) -> Any:
    """The observations and variables of the AnnData in their order, then the observations it lacked."""
    own, lacked = _own_and_lacked(raw.obs_names, sample_names, raw.n_obs)
    order = np.concatenate([own, lacked])
    columns = np.asarray(column_order(view.feature_names or (), tuple(map(str, raw.var_names))))
    mask = np.broadcast_to(view.mask, (view.n_samples, view.mask.shape[1]))[order]
    X = padded(raw.X, lacked.size)
    if sparse.issparse(X) and view.is_rowwise:  # only the samples that lack the view are estimated
        gaps = np.flatnonzero(~mask[:, 0])
        X = fill_sparse_rows(X, gaps, to_numpy(estimate(position, order[gaps]))[:, columns])
    else:
        mask = mask if view.is_rowwise else mask[:, columns]
        X = fill(X, mask, to_numpy(estimate(position, None))[np.ix_(order, columns)])
    return with_more_samples(raw, X, sample_names[lacked])


def _own_and_lacked(index: Any, sample_names: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the samples of a view among all samples, in its order; and those of the others."""
    own = np.arange(n_rows) if index is None else sample_names.get_indexer(index)
    return own, np.setdiff1d(np.arange(n_rows if index is None else len(sample_names)), own)


def _new_view(raws: Sequence[Any], view: View, values: np.ndarray, sample_names: Any) -> Any:
    """A view that the user left out, in a container like the others."""
    like = next(raw for raw in raws if raw is not None)
    if any(is_annotated(raw) for raw in raws):
        return new_annotated(values, sample_names, view.feature_names)
    if is_data_array(like):
        return new_data_array(like, values, sample_names, view.feature_names, view.name)
    if is_other_frame(like):
        return new_other_frame(like, values, sample_names, view.feature_names, view.categories)
    return new_frame(values, sample_names, view.feature_names, view.categories)
