"""What a fitted model gives back for samples in chunks: lazy collections, in the chunks that came."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import dask
import numpy as np
from scipy import sparse

from jella.distributed.by_chunk import ByChunk
from jella.distributed.fetch import fetched, named
from jella.distributed.lending import lacks_something
from jella.distributed.read import Source, read_chunked, read_source
from jella.distributed.scheduler import n_threads
from jella.distributed.start import CLUSTERED
from jella.distributed.store import opened
from jella.distributed.views import ChunkedViews
from jella.views.frames import is_frame
from jella.views.read import is_dask, split
from jella.views.write import put_back


def without_chunks(model: Any) -> Any:
    """A copy of a fitted model that can travel: without what lies in chunks."""
    light = copy(model)
    for name, value in vars(model).items():
        if is_dask(value) or name == "_files":
            delattr(light, name)
    result = getattr(model, "result_", None)
    if result is not None and is_dask(result.blocks.embedding):
        light.result_ = replace(result, blocks=replace(result.blocks, embedding=None))
    if hasattr(light, "callback"):
        light.callback = None  # it is of the fit, and may not travel
    return light


def transform_chunks(model: Any, X: Any, observed: Any) -> Any:
    """Embedding of samples in chunks, a Dask array (n, r)."""
    if has_chunks(model):
        views = read_chunked(X, observed, model._schema)
        return in_chunks(model._shown(views), views.layout)
    source = read_source(X, observed, model._schema)
    parts = _by_model(_transform, model, source)
    return ByChunk(parts, source.lengths, model._n_features_out, source.dtype).lazy(source.layout)


def predict_chunks(model: Any, X: Any, observed: Any) -> Any:
    """Clusters of samples in chunks, a Dask array (n,)."""
    if has_chunks(model):
        views = read_chunked(X, observed, model._schema)
        return in_chunks(model._nearest_clusters(model._embed(views)), views.layout)
    source = read_source(X, observed, model._schema)
    parts = _by_model(_predict, model, source)
    return ByChunk(parts, source.lengths, 1, np.dtype(np.intp)).lazy(source.layout)[:, 0]


def complete_chunks(model: Any, X: Any, observed: Any) -> Any:
    """X with its missing values filled in when they are asked for, in the same kind of container.

    DataFrames come back on all samples, in their common order, with floating columns.
    """
    source = read_source(X, observed, model._schema)
    chunks = _with_neighbours(model, X, observed, source) if has_chunks(model) else _by_model(_complete, model, source)
    _, raws = split(X, model._schema)
    frame = next((raw for raw in raws if raw is not None and is_frame(raw)), None)
    written = []
    for v, name in enumerate(source.names):
        parts = tuple(chunk[name] for chunk in chunks)
        if frame is None:
            kind = raws[v].dtype if raws[v] is not None and raws[v].dtype.kind == "f" else source.dtype
            written.append(ByChunk(parts, source.lengths, source.widths[v], kind).lazy(source.layout))
        else:
            written.append(_lazy_frame(parts, source, v))
    return put_back(written, X, source.names)


def has_chunks(model: Any) -> bool:
    """Whether a model goes back to the samples of its fit, and these lie in chunks."""
    return isinstance(getattr(model, "_scaled", None), ChunkedViews)


def in_chunks(rows: np.ndarray, layout: tuple[int, ...]) -> Any:
    """An array with a row a sample, as a Dask array in the chunks that came."""
    import dask.array as da

    return da.from_array(np.asarray(rows), chunks=(layout, *(-1,) * (rows.ndim - 1)), name=False)


def _with_neighbours(model: Any, X: Any, observed: Any, source: Source) -> tuple[Any, ...]:
    """Chunks completed with what samples of the fit lend; who lends is found now, what they lend when asked for."""
    views = read_chunked(X, observed, model._schema)
    W, fitted = model._embed(views), model.result_.blocks.embedding
    lacking = views.gathered(lacks_something)
    near = sparse.csr_array(sparse.diags_array(lacking.astype(W.dtype)) @ model._neighbours_of(W))
    near.eliminate_zeros()
    light, call = dask.delayed(model._without_samples(), pure=False), dask.delayed(_complete_near, pure=False)
    chunks, at_once, lenders = [], n_threads(), model._scaled
    for number, ((own, masks, first), length) in enumerate(zip(source.chunks(), source.lengths, strict=True)):
        lenders = lenders if number % at_once else model._scaled.read_again()
        asked = near[first : first + length]
        wanted = named(asked.indices)
        rows = dask.delayed((W[first : first + length], asked[:, wanted], fitted[wanted]), pure=False, traverse=False)
        chunks.append(call(light, own, masks, rows, fetched(lenders, wanted)))
    return tuple(chunks)


def _complete_near(model: Any, views: dict[str, Any], masks: Any, rows: tuple[Any, ...], lenders: Any) -> Any:
    W, near, fitted = rows
    X, observed = _as_fitted(model, views)[0], _as_fitted(model, masks)[0]
    read = model._read(X, observed, reset=False)
    expected = model._expected_near(W, near, opened(lenders), fitted)
    return _by_name(model, views, model._completed(X, read, expected))


def _lazy_frame(parts: tuple[Any, ...], source: Source, v: int) -> Any:
    import dask.dataframe as dd
    import pandas as pd

    index = source.sample_names[:0]
    meta = pd.DataFrame(np.empty((0, source.widths[v])), index=index, columns=source.columns[v], dtype=source.dtype)
    typed = dask.delayed(_typed, pure=False)
    return dd.from_delayed([typed(part, meta) for part in parts], meta=meta, verify_meta=False)


def _typed(frame: Any, meta: Any) -> Any:
    frame = frame[list(frame.columns)]
    frame.columns = meta.columns
    return frame.astype(meta.dtypes.iloc[0])


def _by_model(step: Callable[..., Any], model: Any, source: Source) -> tuple[Any, ...]:
    light, call = dask.delayed(without_chunks(model), pure=False), dask.delayed(step, pure=False)
    return tuple(call(light, views, masks) for views, masks, _ in source.chunks())


def _transform(model: Any, views: dict[str, Any], masks: Any) -> np.ndarray:
    return np.asarray(model.transform(*_as_fitted(model, views), observed=_as_fitted(model, masks)[0]))


def _predict(model: Any, views: dict[str, Any], masks: Any) -> np.ndarray:
    found = model.predict(*_as_fitted(model, views), observed=_as_fitted(model, masks)[0])
    return np.asarray(found)[:, None]


def _complete(model: Any, views: dict[str, Any], masks: Any) -> dict[str, Any]:
    return _by_name(model, views, model.complete(*_as_fitted(model, views), observed=_as_fitted(model, masks)[0]))


def _by_name(model: Any, views: dict[str, Any], found: Any) -> dict[str, Any]:
    return {next(iter(views)): found} if model._schema.is_single else found


def _as_fitted(model: Any, views: Any) -> tuple[Any]:
    """The only view by itself where the model was fitted so."""
    return (next(iter(views.values())) if views and model._schema.is_single else views,)


# of the fit


def spread_chunks(W: ByChunk, kept: np.ndarray, views: ChunkedViews) -> Any:
    """Rows at the samples that were kept, NaN at the others, as a Dask array in the chunks that came."""
    if kept.all():
        return W.lazy(views.layout)
    cuts, parts = np.split(kept, np.cumsum(views.lengths)[:-1]), iter(W.parts)
    place = dask.delayed(_place, pure=False)
    spread = tuple(place(next(parts) if rows.any() else None, rows, W.width, W.dtype) for rows in cuts)
    return ByChunk(spread, views.lengths, W.width, W.dtype).lazy(views.layout)


def _place(W: np.ndarray | None, rows: np.ndarray, width: int, dtype: Any) -> np.ndarray:
    full = np.full((rows.size, width), np.nan, dtype=dtype)
    if W is not None:
        full[rows] = W
    return full


def lazy_labels(model: Any) -> Any:
    """Labels of the samples of a fit, a Dask array (n,): clusters from some samples, then the nearest of each."""
    W = model.embedding_
    some = np.asarray(W[:: -(-W.shape[0] // CLUSTERED)])
    model._learn_labels(some[~np.isnan(some).any(axis=1)])
    return W.map_blocks(without_chunks(model)._nearest_clusters, drop_axis=1, dtype=np.intp)
