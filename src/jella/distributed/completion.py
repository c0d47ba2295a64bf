"""Completed views of samples in chunks: lazy collections, in the chunks that the user passed."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np

from jella.distributed.by_chunk import ByChunk
from jella.distributed.read import Source
from jella.distributed.views import ChunkedViews, as_is
from jella.readout.completion import Filling, complete_views
from jella.views import Schema, read_views
from jella.views.containers import is_frame
from jella.views.read import split
from jella.views.write import put_back


@complete_views.register
def _(views: ChunkedViews, X: Any, filling: Filling, schema: Schema) -> Any:
    """As in memory, but lazy. DataFrames are returned with all samples and floating columns."""
    source: Source = views.source
    chunks = _filled(filling, source)
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


def _filled(filling: Filling, source: Source) -> tuple[Any, ...]:
    """Chunks that workers complete; what they need for it is sent to them."""
    sent, call = as_is(filling), dask.delayed(_fill, pure=False)
    return tuple(call(sent, views, masks, source.schema) for views, masks, _ in source.chunks())


def _fill(filling: Filling, X: dict[str, Any], masks: Any, schema: Schema) -> Any:
    return filling.fill(read_views(X, masks, schema), X, schema)


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
