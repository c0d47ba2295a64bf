"""From the data of users (arrays, lists, dicts, DataFrames, AnnData, sparse arrays, NaN, masks) to Views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, is_floating, namespace
from jella.views.annotated import matrix, modalities
from jella.views.any_views import AnyViews
from jella.views.categories import Category
from jella.views.containers import (
    check_given,
    is_annotated,
    is_chunked,
    is_data_array,
    is_frame,
    is_mudata,
    is_other_frame,
    is_single,
    is_variables,
)
from jella.views.data_arrays import check_variables, read_data_array
from jella.views.frames import Frame, check_unique, column_order, on_union, read_frame
from jella.views.masks import read_mask, zero_filled
from jella.views.model import View, Views
from jella.views.other_frames import read_other_frame


@dataclass(frozen=True)
class Schema:
    """Names and features of the views of a fit, and the levels of categories: new samples are checked against them."""

    names: tuple[str, ...]
    n_features: tuple[int, ...]
    feature_names: tuple[tuple[str, ...] | None, ...]
    is_single: bool
    categories: tuple[tuple[Category, ...], ...] = ()  # per view; empty where no view has categories

    @classmethod
    def of(cls, views: AnyViews, X: Any) -> Schema:
        """The schema of views that were read from X."""
        return cls(
            views.names,
            tuple(view.n_features for view in views),
            tuple(view.feature_names for view in views),
            is_single(X),
            tuple(view.categories for view in views) if any(view.categories for view in views) else (),
        )

    def categories_of(self, v: int) -> tuple[Category, ...]:
        """The columns of a view that are categories, with their levels in the fit."""
        return self.categories[v] if self.categories else ()


def split(X: Any, schema: Schema | None = None) -> tuple[tuple[str, ...], list[Any]]:
    """Names and raw views of X; with a schema, in its order, and None for a view that X lacks."""
    check_given(X)
    X = modalities(X) if is_mudata(X) else X
    if is_single(X):
        names: tuple[str, ...] = ("view",)
        raws: list[Any] = [X]
    elif isinstance(X, Mapping):
        if is_variables(X):
            check_variables(X)
        names, raws = tuple(str(name) for name in X), list(X.values())
    elif isinstance(X, list | tuple):
        names, raws = tuple(f"view{i}" for i in range(len(X))), list(X)
    else:
        hint = "; pass its views" if hasattr(X, "views") else ""
        raise ValueError(f"expected a 2-D array, or a list or dict of 2-D arrays, got {type(X).__name__}{hint}")
    if not raws:
        raise ValueError("expected at least one view, got none; pass a list or a dict of 2-D arrays")
    if len(set(names)) < len(names):
        raise ValueError(f"expected different names for the views, got {list(X)}, which are equal as text")
    return (names, raws) if schema is None else _match(names, raws, schema, isinstance(X, Mapping))


@singledispatch
def read_views(
    X: Any,
    observed: Any = None,
    schema: Schema | None = None,
    *,
    first_row: int = 0,
    only_numbers: bool = False,
    ids: Any = None,
) -> Views:
    """Aligned views of user data: floating-point values, zero where missing, and their masks.

    Parameters
    ----------
    X : 2-D array, list or tuple of 2-D arrays, dict of name -> array, DataFrames, SciPy sparse arrays, AnnData, MuData
        NaN marks a missing entry, a row of NaN a missing view. DataFrames are aligned by their index, AnnData and the
        modalities of a MuData by the names of their observations, DataArrays of xarray by the coordinate of their first
        dimension, frames of polars and pyarrow by their column of ids. Columns of truth values, of categories, and of
        text with few levels become indicator features.
    observed : as X, of booleans, optional
        True where a value was observed; (n,), (n, 1) or (n, d) per view, None for a view where NaN alone marks what is
        missing. Values of X outside the mask are ignored. Masks of DataFrames are aligned by their names where they
        have some.
    schema : Schema, optional
        Of a fitted model: X must have its views and features, and may lack whole views.
    first_row : int, default=0
        Number of the first row in messages, where these samples follow others.
    only_numbers : bool, default=False
        Read truth values as numbers, and refuse text and categories: samples in chunks may have other levels each.
    ids : pandas Index, optional
        Ids of the samples, for views that have none.
    """
    if is_chunked(X):
        raise ValueError("expected samples in memory, got a Dask collection; compute some of them first")
    names, raws = split(X, schema)
    masks = [None] * len(raws) if observed is None else split_observed(observed, names, is_single(X))
    known: list[Any] = [
        () if only_numbers else None if schema is None else schema.categories_of(v) for v in range(len(raws))
    ]
    frames = [
        _read_one(raw, mask, name, first_row, of_fit, ids)
        for raw, mask, name, of_fit in zip(raws, masks, names, known, strict=True)
    ]
    _check_present(frames, names, lacking_allowed=schema is not None)
    frames = frames if schema is None else _conform(frames, schema)
    sample_names = None
    if any(frame is not None and frame.index is not None for frame in frames):
        frames, sample_names = on_union(frames, names)
    else:
        _check_lengths(frames, names)
    values = [frame.values for frame in frames if frame is not None]
    dtype = "float32" if all(str(v.dtype).endswith("float32") for v in values) else "float64"
    items = []
    for position, (name, frame) in enumerate(zip(names, frames, strict=True)):
        if frame is not None:
            items.append(View(name, *zero_filled(frame, name, dtype), frame.columns, frame.categories))
        elif schema is not None:
            items.append(_absent(schema, position, values[0], dtype))
    return Views(tuple(items), sample_names)


def _match(names: tuple[str, ...], raws: list[Any], schema: Schema, by_name: bool) -> tuple[tuple[str, ...], list[Any]]:
    if by_name:
        unknown = [name for name in names if name not in schema.names]
        if unknown:
            raise ValueError(f"view {unknown[0]!r} was not seen in fit; the model knows {list(schema.names)}")
        return schema.names, [dict(zip(names, raws, strict=True)).get(name) for name in schema.names]
    if len(raws) != len(schema.names):
        raise ValueError(
            f"expected {len(schema.names)} views as in fit, got {len(raws)}; pass None for a view that is missing"
        )
    return schema.names, raws


def split_observed(observed: Any, names: tuple[str, ...], single: bool) -> list[Any]:
    """One mask per view, None for a view without one."""
    if single:
        return [observed]
    if isinstance(observed, Mapping):
        masks = {str(name): mask for name, mask in observed.items()}
        unknown = [name for name in masks if name not in names]
        if unknown:
            raise ValueError(f"observed names the view {unknown[0]!r}, but the views are {list(names)}")
        return [masks.get(name) for name in names]
    if not isinstance(observed, list | tuple) or len(observed) != len(names):
        got = len(observed) if isinstance(observed, list | tuple) else type(observed).__name__
        raise ValueError(f"observed must be a list or dict with one mask for each of the {len(names)} views, got {got}")
    return list(observed)


def _read_one(
    raw: Any, mask: Any, name: str, first_row: int, known: Sequence[Category] | None, ids: Any = None
) -> Frame | None:
    if raw is None:
        return None
    frame = replace(read_raw(raw, name, known), first_row=first_row)
    frame = replace(frame, index=ids) if frame.index is None else frame
    if frame.index is not None:
        frame = replace(frame, index=check_unique(frame.index, name))
    if frame.values.ndim != 2:
        raise ValueError(
            f"view {name!r} must be a 2-D array (samples x features), got {frame.values.ndim} dimension(s)"
        )
    return frame if mask is None else replace(frame, observed=read_mask(mask, frame, name))


def read_raw(raw: Any, name: str, known: Sequence[Category] | None = None) -> Frame:
    """The values of one view in floating point, with the names of its samples and features where it has them.

    Parameters
    ----------
    known : sequence of Category, optional
        The columns of tables that are categories; found by default.
    """
    if is_frame(raw):
        return read_frame(raw, name, known)
    if is_annotated(raw) or is_mudata(raw):
        return Frame(_numbers(matrix(raw, name), name), raw.obs_names, tuple(map(str, raw.var_names)))
    if is_data_array(raw):
        frame = read_data_array(raw, name)
        return replace(frame, values=_numbers(frame.values, name))
    if is_other_frame(raw):
        return read_other_frame(raw, name, known)
    return Frame(_numbers(raw, name))


def _numbers(raw: Any, name: str) -> Array:
    """The values of an array in floating point; NaN where a masked array has no value."""
    if sparse.issparse(raw):
        if raw.dtype.kind not in "biuf":
            raise _not_real(raw.dtype, name)
        return sparse.csr_array(raw, dtype=np.float32 if raw.dtype == np.float32 else np.float64)
    if array_api_compat.is_array_api_obj(raw) and not isinstance(raw, np.ndarray):
        xp = namespace(raw)
        if xp.isdtype(raw.dtype, "complex floating"):
            raise _not_real(raw.dtype, name)
        return raw if is_floating(raw) else xp.astype(raw, xp.float64)
    is_masked = isinstance(raw, np.ma.MaskedArray)
    try:
        values = np.asarray(raw.data if is_masked else raw)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(f"view {name!r} must be a 2-D array, got rows of different lengths") from None
    if values.dtype.kind not in "biufO":
        raise _not_real(values.dtype, name)
    try:
        values = values.astype(np.float32 if values.dtype == np.float32 else np.float64, copy=False)
    except (TypeError, ValueError):  # objects that are not numbers
        raise _not_real(values.dtype, name) from None
    return np.where(np.ma.getmaskarray(raw), np.asarray(np.nan, dtype=values.dtype), values) if is_masked else values


def _not_real(dtype: Any, name: str) -> ValueError:
    return ValueError(f"view {name!r} must hold real numbers, got {dtype}; encode or drop what is not numeric")


def _check_present(frames: Sequence[Frame | None], names: tuple[str, ...], lacking_allowed: bool) -> None:
    """Refuse views that are None where they must not be, that come from several array libraries, or without samples."""
    present = [frame.values for frame in frames if frame is not None]
    if not present:
        raise ValueError("expected at least one view, got only None; pass the samples of one view or more")
    if len(present) < len(names) and not lacking_allowed:
        lacking = [name for name, frame in zip(names, frames, strict=True) if frame is None]
        raise ValueError(f"view {lacking[0]!r} is None, but fit needs its features; pass its samples, or leave it out")
    libraries = sorted({namespace(values).__name__.split(".")[-1] for values in present})
    if len(libraries) > 1:
        raise ValueError(f"expected views of one array library, got {' and '.join(libraries)}; convert them to one")
    if all(values.shape[0] == 0 for values in present):
        raise ValueError("expected at least one sample, got views without rows")


def _check_lengths(frames: Sequence[Frame | None], names: Sequence[str]) -> None:
    lengths = {name: frame.values.shape[0] for name, frame in zip(names, frames, strict=True) if frame is not None}
    (first, n), *rest = lengths.items()
    for name, m in rest:
        if m != n:
            raise ValueError(
                f"view {name!r} has {m} samples, {first!r} has {n}; pass the missing ones as NaN rows or use "
                "DataFrames with an index"
            )


def _conform(frames: list[Frame | None], schema: Schema) -> list[Frame | None]:
    """The frames with named columns in the order of the fit; other numbers of features are refused."""
    out: list[Frame | None] = []
    fitted = zip(frames, schema.names, schema.n_features, schema.feature_names, strict=True)
    for v, (frame, name, width, columns) in enumerate(fitted):
        if frame is not None and frame.columns and columns:
            order = column_order(frame.columns, columns)
            if order is None:
                theirs, ours = Counter(frame.columns), Counter(columns)
                odd = [c for c in (*columns, *frame.columns) if theirs[c] != ours[c]]
                raise ValueError(f"view {name!r} must have the {width} columns of the fit; see {odd[:3]}")
            if frame.columns != columns:
                frame = frame.take_columns(order, schema.categories_of(v) if frame.categories else ())
        if frame is not None and frame.values.shape[1] != width:
            raise ValueError(f"view {name!r} had {width} features in fit, got {frame.values.shape[1]}")
        out.append(frame)
    return out


def _absent(schema: Schema, position: int, reference: Array, dtype: str) -> View:
    """A view that all samples lack; sparse where that is possible, so that its width needs no memory."""
    name, columns, categories = schema.names[position], schema.feature_names[position], schema.categories_of(position)
    shape = (int(reference.shape[0]), schema.n_features[position])
    if sparse.issparse(reference) or isinstance(reference, np.ndarray):
        X, mask = sparse.csr_array(shape, dtype=dtype), np.zeros((shape[0], 1), dtype=bool)
        return View(name, X, mask, columns, categories)
    xp, device = namespace(reference), array_api_compat.device(reference)
    X = xp.zeros(shape, dtype=getattr(xp, dtype), device=device)
    return View(name, X, xp.zeros((shape[0], 1), dtype=xp.bool, device=device), columns, categories)
