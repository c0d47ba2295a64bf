"""Completed views of samples in chunks: lazy collections, in the chunks that the user passed."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np

from jella.distributed.by_chunk import ByChunk
from jella.distributed.read import Source
from jella.distributed.views import ChunkedViews, as_is
from jella.readout.base import Readout
from jella.readout.completion import AllBounds, complete_views
from jella.views import Schema, read_views
from jella.views.containers import is_frame
from jella.views.read import split
from jella.views.write import put_back


@complete_views.register
def _(views: ChunkedViews, X: Any, readout: Readout, schema: Schema, bounds: AllBounds | None = None) -> Any:
    """As in memory, but lazy. DataFrames are returned with all samples and floating columns."""
    source: Source = views.source
    chunks = _by_readout(readout, source, bounds)
    _, raws = split(X, schema)
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


def _by_readout(readout: Readout, source: Source, bounds: AllBounds | None) -> tuple[Any, ...]:
    """Chunks that workers complete with the readout, which is sent to them."""
    light, call = as_is((readout, bounds)), dask.delayed(_complete, pure=False)
    return tuple(call(light, views, masks, source.schema) for views, masks, _ in source.chunks())


def _complete(light: tuple[Readout, Any], X: dict[str, Any], masks: Any, schema: Schema) -> dict[str, Any]:
    readout, bounds = light
    return complete_views(read_views(X, masks, schema), X, readout, schema, bounds)


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
