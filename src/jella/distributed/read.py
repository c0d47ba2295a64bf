"""From Dask arrays and DataFrames to views in chunks; a chunk holds the same samples in all views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import dask
import numpy as np

from jella.distributed.scheduler import compute
from jella.distributed.views import ChunkedViews
from jella.views.containers import is_dask, is_frame, is_single
from jella.views.frames import check_unique, column_names, read_frame
from jella.views.model import Views
from jella.views.read import Schema, read_views, split, split_observed

#: small chunks are joined, up to about this many bytes per task
WORTH_A_TASK = 2**24
#: a fit keeps two copies of the samples: as read, and scaled
COPIES = 2


@dataclass(frozen=True)
class Source:
    """Raw views in chunks of the same samples.

    Attributes
    ----------
    names, widths, columns : tuples, one entry per view
        Columns are None for a view without names of features.
    parts : tuple, one entry per view
        A delayed array or DataFrame per chunk, or None for a view that is absent.
    masks : tuple, one entry per view
        A delayed array of booleans per chunk, or None.
    lengths, layout : tuples of int
        Number of samples of each chunk: of the chunks that tasks work on, and of those that are returned.
    dtype : NumPy type
        Of all values.
    sample_names : pandas Index or None
    schema : Schema or None
        Of the fitted model that the views are for.
    """

    names: tuple[str, ...]
    widths: tuple[int, ...]
    columns: tuple[tuple[str, ...] | None, ...]
    parts: tuple[tuple[Any, ...] | None, ...]
    masks: tuple[tuple[Any, ...] | None, ...]
    lengths: tuple[int, ...]
    layout: tuple[int, ...]
    dtype: Any
    sample_names: Any = None
    schema: Schema | None = None

    def views(self) -> ChunkedViews:
        """The views in chunks; nothing is computed."""
        reading = dask.delayed(_read, pure=False)
        chunks = tuple(reading(views, masks, self.schema, first) for views, masks, first in self.chunks())
        known = (self.lengths, self.layout, self.names, self.widths, self.columns, self.dtype)
        return ChunkedViews(chunks, *known, sample_names=self.sample_names, source=self)

    def chunks(self) -> list[tuple[dict[str, Any], dict[str, Any] | None, int]]:
        """The views and masks of each chunk by name, and the position of its first sample."""
        firsts = np.cumsum([0, *self.lengths[:-1]]).tolist()
        present = [v for v, parts in enumerate(self.parts) if parts is not None]
        masked = [v for v in present if self.masks[v] is not None]
        return [
            (
                {self.names[v]: self.parts[v][number] for v in present},  # type: ignore[index]
                {self.names[v]: self.masks[v][number] for v in masked} or None,  # type: ignore[index]
                first,
            )
            for number, first in enumerate(firsts)
        ]


def read_chunked(X: Any, observed: Any = None, schema: Schema | None = None) -> ChunkedViews:
    """Views of Dask arrays (chunked alike or not) or of Dask DataFrames (aligned by their index).

    For a fit (no schema), one pass over all values learns what is missing and keeps the values for later passes. For a
    fitted model nothing is computed yet.
    """
    views = read_source(X, observed, schema).views()
    return views if schema is not None else views.persist(COPIES)


def _read(views: dict[str, Any], masks: dict[str, Any] | None, schema: Schema | None, first: int) -> Views:
    return read_views(views, masks, schema, first_row=first, only_numbers=True)


def read_source(X: Any, observed: Any = None, schema: Schema | None = None) -> Source:
    """The raw views in common chunks; only the index of DataFrames is computed."""
    names, raws = split(X, schema)
    masks = [None] * len(raws) if observed is None else split_observed(observed, names, is_single(X))
    _check_kinds(names, raws)
    frames = any(is_frame(raw) for raw in raws if raw is not None)
    source = (_read_frames if frames else _read_arrays)(names, raws, masks, schema)
    return replace(source, schema=schema)


def _check_kinds(names: Sequence[str], raws: Sequence[Any]) -> None:
    present = [(name, raw) for name, raw in zip(names, raws, strict=True) if raw is not None]
    for name, raw in present:
        if isinstance(raw, list | tuple):
            raise ValueError("expected 2-D Dask arrays (samples x features), got a list of 1-D ones; reshape them")
        if not is_dask(raw):
            raise ValueError(
                f"expected all views as Dask collections, got {type(raw).__name__} for view {name!r}; pass all views "
                "as Dask arrays or DataFrames, or none"
            )
    plain = [name for name, raw in present if not is_frame(raw)]
    if plain and len(plain) < len(present):
        raise ValueError(
            f"view {plain[0]!r} has no index while others are DataFrames; pass all views as DataFrames, or none"
        )


def _read_arrays(names: Sequence[str], raws: list[Any], masks: list[Any], schema: Schema | None) -> Source:
    for name, raw in zip(names, raws, strict=True):
        if raw is not None and raw.ndim != 2:
            raise ValueError(f"view {name!r} must be a 2-D array (samples x features), got {raw.ndim} dimension(s)")
        if raw is not None and any(np.isnan(size) for sizes in raw.chunks for size in sizes):
            raise ValueError(f"view {name!r} has chunks of unknown length; call its compute_chunk_sizes() first")
    present = [raw for raw in raws if raw is not None]
    layout = tuple(int(size) for size in present[0].chunks[0])
    if sum(layout) == 0:
        raise ValueError("expected at least one sample, got views without rows")
    for name, raw in zip(names, raws, strict=True):
        if raw is not None and raw.shape[0] != sum(layout):
            first = next(other for other, one in zip(names, raws, strict=True) if one is not None)
            raise ValueError(
                f"view {name!r} has {raw.shape[0]} samples, {first!r} has {sum(layout)}; pass the missing ones as NaN "
                "rows or use DataFrames with an index"
            )
    lengths = _worth_a_task(layout, sum(raw.shape[1] * raw.dtype.itemsize for raw in present))
    widths = tuple(
        int(raw.shape[1]) if raw is not None else schema.n_features[v] if schema else 0 for v, raw in enumerate(raws)
    )
    return Source(
        tuple(names),
        widths,
        (None,) * len(raws) if schema is None else schema.feature_names,
        tuple(None if raw is None else _delayed(raw, lengths) for raw in raws),
        tuple(
            None if mask is None else _delayed_mask(mask, lengths, name)
            for mask, name in zip(masks, names, strict=True)
        ),
        lengths,
        layout,
        _common_dtype([raw.dtype for raw in present]),
    )


def _worth_a_task(layout: tuple[int, ...], bytes_per_row: float) -> tuple[int, ...]:
    """The lengths of chunks after small neighbouring ones are joined and empty ones are left out."""
    lengths: list[int] = []
    for size in filter(None, layout):
        if lengths and (lengths[-1] + size) * bytes_per_row <= WORTH_A_TASK:
            lengths[-1] += size
        else:
            lengths.append(size)
    return tuple(lengths)


def _delayed(raw: Any, lengths: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(raw.rechunk({0: lengths, 1: -1}).to_delayed()[:, 0])


def _delayed_mask(mask: Any, lengths: tuple[int, ...], name: str) -> tuple[Any, ...] | None:
    if mask is None:
        return None
    import dask.array as da

    mask = mask if isinstance(mask, da.Array) else da.from_array(np.asarray(mask), name=False)
    mask = mask[:, None] if mask.ndim == 1 else mask
    if mask.shape[0] != sum(lengths):
        raise ValueError(f"the mask of view {name!r} must have {sum(lengths)} rows, got {mask.shape[0]}")
    return _delayed(mask, lengths)


def _common_dtype(dtypes: Sequence[Any]) -> Any:
    return np.dtype(np.float32 if all(dtype == np.float32 for dtype in dtypes) else np.float64)


# DataFrames


def _read_frames(names: Sequence[str], raws: list[Any], masks: list[Any], schema: Schema | None) -> Source:
    if any(mask is not None for mask in masks):
        raise ValueError(
            "expected no `observed` with Dask DataFrames, got one; mark missing values as NaN in the frames"
        )
    if schema is not None and any(schema.categories):
        raise ValueError(
            "expected samples in memory for a model of categories, got a Dask DataFrame; compute some of its samples"
        )
    metas = [None if raw is None else read_frame(raw._meta, name, ()) for raw, name in zip(raws, names, strict=True)]
    partitions = [None if raw is None else raw.to_delayed() for raw in raws]
    indices = _indices(partitions)
    for name, own in zip(names, indices, strict=True):
        if own is not None:
            check_unique(_joined(own), name)
    first = next(own for own in indices if own is not None)
    union, layout = _union([_joined(own) for own in indices if own is not None], [len(one) for one in first])
    widths = tuple(
        int(meta.values.shape[1]) if meta is not None else schema.n_features[v] if schema else 0
        for v, meta in enumerate(metas)
    )
    lengths = _worth_a_task(layout, 8 * sum(widths))
    wanted = [union[a:b] for a, b in zip(np.cumsum([0, *lengths[:-1]]), np.cumsum(lengths), strict=True)]
    return Source(
        tuple(names),
        widths,
        tuple(
            column_names(raw) if raw is not None else schema.feature_names[v] if schema else None
            for v, raw in enumerate(raws)
        ),
        tuple(
            None if own is None or parts is None else _aligned(parts, own, wanted)
            for parts, own in zip(partitions, indices, strict=True)
        ),
        (None,) * len(raws),
        lengths,
        layout,
        _common_dtype([meta.values.dtype for meta in metas if meta is not None]),
        union,
    )


def _index(frame: Any) -> Any:
    return frame.index


def _indices(partitions: Sequence[list[Any] | None]) -> list[list[Any] | None]:
    """The index of each partition of each view."""
    asked = dask.delayed(_index, pure=False)
    found = iter(compute([asked(part) for parts in partitions if parts is not None for part in parts]))
    return [None if parts is None else [next(found) for _ in parts] for parts in partitions]


def _joined(indices: Sequence[Any]) -> Any:
    return indices[0].append(list(indices[1:])) if len(indices) > 1 else indices[0]


def _union(indices: Sequence[Any], lengths: Sequence[int]) -> tuple[Any, tuple[int, ...]]:
    """All samples, those of the first view first, and lengths of chunks: those of its chunks, then equal ones."""
    union = indices[0]
    for index in indices[1:]:
        union = union.append(index[~index.isin(union)])
    layout, more = [length for length in lengths if length], len(union) - len(indices[0])
    size = max(layout, default=max(more, 1))
    layout += [min(size, more - start) for start in range(0, more, size)]
    return union, tuple(layout)


def _aligned(parts: Sequence[Any], indices: Sequence[Any], wanted: Sequence[Any]) -> tuple[Any, ...]:
    """One frame per wanted group of samples, with rows of NaN for samples that the view lacks."""
    import pandas as pd

    whole = _joined(indices)
    partition = np.repeat(np.arange(len(indices)), [len(one) for one in indices])
    placing = dask.delayed(_placed, pure=False)
    out = []
    for names in wanted:
        positions = whole.get_indexer(names)
        sources = pd.unique(partition[positions[positions >= 0]])
        chosen = [parts[number] for number in (sources if len(sources) else [0])]
        out.append(placing(names, *chosen))
    return tuple(out)


def _placed(names: Any, *frames: Any) -> Any:
    import pandas as pd

    if len(frames) == 1 and frames[0].index.equals(names):
        return frames[0]
    return pd.concat([frame[frame.index.isin(names)] for frame in frames]).reindex(names)
