"""Reading what users have (arrays, lists, dicts, DataFrames, sparse arrays, NaN, masks) into Views, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.arrays import Array, is_floating, namespace, to_numpy
from jella.views.frames import Frame, align, is_frame, read_frame
from jella.views.masks import dense_mask, sparse_mask
from jella.views.model import View, Views


@dataclass(frozen=True)
class Schema:
    """What a fitted model knows of its views, so that new samples can be checked against it."""

    names: tuple[str, ...]
    n_features: tuple[int, ...]
    feature_names: tuple[tuple[str, ...] | None, ...]
    is_mapping: bool
    is_single: bool

    @classmethod
    def of(cls, views: Views, X: Any) -> Schema:
        """The schema of views that were read from X."""
        return cls(
            views.names,
            tuple(view.n_features for view in views),
            tuple(view.feature_names for view in views),
            isinstance(X, Mapping),
            is_single(X),
        )


def is_single(X: Any) -> bool:
    """Whether X is one 2-D array rather than a collection of views."""
    if isinstance(X, Mapping):
        return False
    if isinstance(X, list | tuple):
        return len(X) > 0 and not any(_is_matrix(item) for item in X)
    return True


def split(X: Any, schema: Schema | None = None) -> tuple[tuple[str, ...], list[Any]]:
    """Names and raw views; with a schema, in its order and None for a view that X lacks."""
    if is_single(X):
        names: tuple[str, ...] = ("view",)
        raws: list[Any] = [X]
    elif isinstance(X, Mapping):
        names, raws = tuple(str(name) for name in X), list(X.values())
    else:
        names, raws = tuple(f"view{i}" for i in range(len(X))), list(X)
    if not raws:
        raise ValueError("expected at least one view, got none; pass a list or a dict of 2-D arrays")
    return (names, raws) if schema is None else _match(names, raws, schema, isinstance(X, Mapping))


def read_views(X: Any, observed: Any = None, schema: Schema | None = None) -> Views:
    """Read user data into aligned, zero-filled float views with their masks.

    Parameters
    ----------
    X : 2-D array, list or tuple of 2-D arrays, dict of name -> array, DataFrames, SciPy sparse arrays
        NaN marks a missing entry, a row of NaN a missing view. DataFrames are aligned by their index.
    observed : as X, of booleans, optional
        True where a value was observed; (n,), (n, 1) or (n, d) each, None for a view that is complete. What X holds
        elsewhere is not looked at.
    schema : Schema, optional
        Of a fitted model: X must have its views and features, and may lack some views altogether.
    """
    names, raws = split(X, schema)
    given = [None] * len(raws) if observed is None else _split_observed(observed, names, X)
    frames = [None if raw is None else _read_one(raw, name) for raw, name in zip(raws, names, strict=True)]
    if all(frame is None for frame in frames):
        raise ValueError("expected at least one view, got only None; pass the samples of one view or more")
    if schema is not None:
        frames = _conform(frames, schema)
    aligned, sample_names = align(frames, names)
    dtype = _common_dtype([frame.values for frame in aligned if frame is not None])
    n_samples = next(frame.values.shape[0] for frame in aligned if frame is not None)
    widths = schema.n_features if schema is not None else None
    items = []
    for position, (name, frame) in enumerate(zip(names, aligned, strict=True)):
        if frame is None:
            assert widths is not None
            reference = next(f.values for f in aligned if f is not None)
            items.append(_absent(name, n_samples, widths[position], reference, dtype))
        else:
            items.append(_view(name, frame, given[position], dtype))
    return Views(tuple(items), sample_names)


def _is_matrix(item: Any) -> bool:
    if item is None or sparse.issparse(item) or is_frame(item):
        return True
    if hasattr(item, "ndim"):
        return bool(item.ndim == 2)
    if hasattr(item, "shape"):
        return len(item.shape) == 2
    return isinstance(item, list | tuple) and len(item) > 0 and isinstance(item[0], list | tuple | np.ndarray)


def _match(names: tuple[str, ...], raws: list[Any], schema: Schema, by_name: bool) -> tuple[tuple[str, ...], list[Any]]:
    if by_name and schema.is_mapping:
        unknown = [name for name in names if name not in schema.names]
        if unknown:
            raise ValueError(f"view {unknown[0]!r} was not seen in fit; the model knows {list(schema.names)}")
        return schema.names, [dict(zip(names, raws, strict=True)).get(name) for name in schema.names]
    if len(raws) != len(schema.names):
        raise ValueError(
            f"expected {len(schema.names)} views as in fit, got {len(raws)}; pass None for a view that is missing"
        )
    return schema.names, raws


def _split_observed(observed: Any, names: tuple[str, ...], X: Any) -> list[Any]:
    if isinstance(observed, Mapping):
        unknown = [name for name in observed if str(name) not in names]
        if unknown:
            raise ValueError(f"observed names the view {unknown[0]!r}, but the views are {list(names)}")
        return [observed.get(name) for name in (X if isinstance(X, Mapping) else names)]
    if is_single(X):
        single = isinstance(observed, list | tuple) and len(observed) == 1
        return [observed[0] if single else observed]
    if len(observed) != len(names):
        raise ValueError(f"expected one mask for each of the {len(names)} views, got {len(observed)}")
    return list(observed)


def _read_one(raw: Any, name: str) -> Frame:
    if is_frame(raw):
        return read_frame(raw, name)
    if sparse.issparse(raw):
        return Frame(sparse.csr_array(raw, dtype=_float_dtype(raw.dtype)))
    if isinstance(raw, np.ma.MaskedArray):
        plain = _numeric(np.asarray(raw.data), name)
        return Frame(np.where(np.ma.getmaskarray(raw), np.asarray(np.nan, dtype=plain.dtype), plain))
    if array_api_compat.is_array_api_obj(raw) and not isinstance(raw, np.ndarray):
        xp = namespace(raw)
        values = raw if is_floating(raw) else xp.astype(raw, xp.float64)
    else:
        values = _numeric(np.asarray(raw), name)
    if values.ndim != 2:
        raise ValueError(f"view {name!r} must be a 2-D array (samples x features), got {values.ndim} dimension(s)")
    return Frame(values)


def _numeric(values: np.ndarray, name: str) -> np.ndarray:
    if values.dtype.kind in "biuf":
        return values.astype(_float_dtype(values.dtype), copy=False)
    try:
        if values.dtype.kind != "O":
            raise ValueError
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"view {name!r} must hold real numbers, got {values.dtype}; encode or drop what is not numeric"
        ) from None


def _float_dtype(dtype: Any) -> Any:
    return np.float32 if dtype == np.float32 else np.float64


def _common_dtype(values: Sequence[Array]) -> str:
    return "float32" if all(str(v.dtype).endswith("float32") for v in values) else "float64"


def _conform(frames: list[Frame | None], schema: Schema) -> list[Frame | None]:
    """Check widths, and bring named columns into the order of the fit."""
    out: list[Frame | None] = []
    for frame, name, width, columns in zip(frames, schema.names, schema.n_features, schema.feature_names, strict=True):
        if frame is not None and frame.columns and columns and frame.columns != columns:
            missing = [column for column in columns if column not in frame.columns]
            if missing or len(frame.columns) != len(columns):
                odd = missing or [column for column in frame.columns if column not in columns]
                raise ValueError(f"view {name!r} must have the {width} columns of the fit; see {odd[:3]}")
            frame = frame.take_columns(columns)
        if frame is not None and frame.values.shape[1] != width:
            raise ValueError(f"view {name!r} had {width} features in fit, got {frame.values.shape[1]}")
        out.append(frame)
    return out


def _view(name: str, frame: Frame, observed: Any, dtype: str) -> View:
    values = frame.values
    mask = None if observed is None else frame.place_mask(observed, name)
    if sparse.issparse(values):
        values, mask = sparse_mask(values.astype(dtype, copy=False), mask, frame.absent, name)
    if not sparse.issparse(values):
        xp = namespace(values)
        values = xp.astype(values, getattr(xp, dtype), copy=False)
        values, mask = dense_mask(values, mask, frame.absent, name)
    return View(name, values, mask, frame.columns)


def _absent(name: str, n_samples: int, n_features: int, reference: Array, dtype: str) -> View:
    if sparse.issparse(reference):
        return View(name, sparse.csr_array((n_samples, n_features), dtype=dtype), np.zeros((n_samples, 1), dtype=bool))
    xp, device = namespace(reference), array_api_compat.device(reference)
    X = xp.zeros((n_samples, n_features), dtype=getattr(xp, dtype), device=device)
    return View(name, X, xp.zeros((n_samples, 1), dtype=xp.bool, device=device))


def check_for_fit(views: Views) -> None:
    """Refuse a feature that no sample has: nothing could be learned of it."""
    for view in views:
        counts = to_numpy(view.count_by_feature())
        never = np.flatnonzero(counts == 0)
        if never.size == view.n_features:
            raise ValueError(f"view {view.name!r} has no observed value at all; leave it out")
        if never.size:
            labels = [view.feature_names[j] if view.feature_names else int(j) for j in never[:5]]
            more = f" and {never.size - 5} more" if never.size > 5 else ""
            raise ValueError(
                f"view {view.name!r} has {never.size} feature(s) that are never observed: {labels}{more}; "
                "drop these columns"
            )
