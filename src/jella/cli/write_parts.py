"""Results in Parquet parts, each written by the worker that has it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from jella.cli.on_dask import Fitted


def write_labels_and_embedding(there: Fitted) -> np.ndarray:
    """The folders labels and embedding; returns the sizes of the clusters."""
    import dask.array as da

    from jella.distributed.scheduler import compute

    model, names = there.model, there.model.sample_names_in_
    heads = [str(head) for head in model.get_feature_names_out()]
    writes = [
        *_rows(there.folder / "labels", model.labels_[:, None], ["cluster"], names),
        *_rows(there.folder / "embedding", model.embedding_, heads, names),
    ]
    counts = da.bincount(model.labels_ + 1, minlength=model.n_clusters + 1)  # samples without any value have -1
    return np.asarray(compute([counts, *writes])[0][1:])


def write_completed(there: Fitted) -> dict[str, int]:
    """The folder completed, a folder a view; returns how many values of each were missing."""
    from jella.distributed.scheduler import compute

    completed, writes = there.model.complete(there.X), []
    for source in there.sources:
        folder = _made(there.folder / "completed" / source.name)
        settings = list(source.columns), source.id_column, source.id_is_index
        writes += [
            _delayed(_write_view)(part, *settings, str(folder / _part(number)))
            for number, part in enumerate(_parts(completed[source.name]))
        ]
    observed = compute([*(_n_observed(there.X[source.name]) for source in there.sources), *writes])
    pairs = zip(there.n_entries.items(), observed, strict=False)
    return {name: entries - int(known) for (name, entries), known in pairs}


def _rows(folder: Path, rows: Any, heads: Sequence[str], names: Any) -> list[Any]:
    """Writes of a Dask array (n, width) beside the names of its samples, or their positions; a part a chunk."""
    folder, samples = _made(folder), range(rows.shape[0]) if names is None else names
    stops = np.cumsum(rows.chunks[0]).tolist()
    return [
        _delayed(_write_rows)(part, samples[start:stop], heads, str(folder / _part(number)))
        for number, (part, start, stop) in enumerate(zip(_parts(rows), [0, *stops[:-1]], stops, strict=True))
    ]


def _delayed(step: Any) -> Any:
    import dask

    return dask.delayed(step, pure=False)


def _parts(view: Any) -> list[Any]:
    """The partitions of a Dask DataFrame, or the chunks of rows of a Dask array."""
    parts = view.to_delayed()
    return list(parts) if isinstance(parts, list) else list(parts[:, 0])


def _part(number: int) -> str:
    return f"part.{number:06d}.parquet"


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder.absolute()


def _n_observed(view: Any) -> Any:
    import dask.array as da

    return da.isfinite(view).sum() if isinstance(view, da.Array) else view.count().sum()


# what a worker does


def _write_rows(rows: np.ndarray, samples: Any, heads: list[str], path: str) -> None:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=heads)
    frame.insert(0, "sample", samples)
    _write(frame, path, False)


def _write_view(view: Any, columns: list[str], id_column: str | None, id_is_index: bool, path: str) -> None:
    """With the ids where they were: in the index, or in a first column."""
    import pandas as pd

    if id_column is None:
        frame = pd.DataFrame(view, columns=columns)
    else:
        frame = view.rename_axis(id_column) if id_is_index else view.rename_axis(id_column).reset_index()
    _write(frame, path, id_is_index)


def _write(frame: Any, path: str, index: bool) -> None:
    try:
        frame.to_parquet(path, index=index)
    except OSError as error:  # elsewhere, one of a worker means that the cluster is lost
        raise ValueError(f"expected to write {path}, got an error ({error}); make room, or write elsewhere") from None
