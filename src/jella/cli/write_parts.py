"""Results in Parquet parts; each part is written by the worker that holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jella.cli.completion import completion_record
from jella.cli.fitted import Fitted, Record

if TYPE_CHECKING:
    from jella.io.partitions import Partitioned
    from jella.oneshot.completed import Completed


@dataclass(eq=False)
class FittedInParts(Fitted):
    """A model fitted on a cluster, usable while the cluster runs; its embedding and labels are lazy.

    Attributes
    ----------
    X : dict of str to Dask collection
    sources : tuple of Partitioned
        The Parquet files of the views of X.
    """

    X: dict[str, Any]
    sources: tuple[Partitioned, ...]

    @property
    def n_samples(self) -> int:
        """Number of samples, over all views."""
        return int(self.model.embedding_.shape[0])

    @property
    def n_entries(self) -> dict[str, int]:
        """Number of entries of each view, over all samples."""
        return {source.name: self.n_samples * len(source.columns) for source in self.sources}

    def write_labels_and_embedding(self) -> np.ndarray:
        """Write the folders labels and embedding; returns the sizes of the clusters."""
        import dask.array as da

        from jella.distributed.scheduler import compute

        model, names = self.model, self.model.sample_names_in_
        heads = [str(head) for head in model.get_feature_names_out()]
        writes = [
            *_rows(self.folder / "labels", model.labels_[:, None], ["cluster"], names),
            *_rows(self.folder / "embedding", model.embedding_, heads, names),
        ]
        counts = da.bincount(model.labels_ + 1, minlength=model.n_clusters + 1)  # samples without any value have -1
        return np.asarray(compute([counts, *writes])[0][1:])

    @cached_property
    def completed(self) -> Completed:
        """The completed views, lazy, with what is known of them."""
        from jella.oneshot.completed import Completed

        return Completed.by(self.model, self.X)

    def write_completed(self) -> Record:
        """Write the folder completed, one folder per view; returns what is said about the values."""
        from jella.distributed.scheduler import compute
        from jella.io.file_names import NAMES, file_names, names_to_list, target_in

        place = self.folder / "completed"
        stems = file_names(source.name for source in self.sources)
        completed, writes = self.completed.views, []
        for source in self.sources:
            folder = _made(target_in(place, stems[source.name]))
            settings = list(source.columns), source.id_column, source.id_is_index
            writes += [
                _delayed(_write_view)(part, *settings, str(folder / _part(number)))
                for number, part in enumerate(_parts(completed[source.name]))
            ]
        if (listed := names_to_list(stems)) is not None:
            (place / NAMES).write_text(listed, encoding="utf-8")
        observed = compute([*(_n_observed(self.X[source.name]) for source in self.sources), *writes])
        pairs = zip(self.n_entries.items(), observed, strict=False)
        filled = {name: entries - int(known) for (name, entries), known in pairs}
        return {"filled": filled, **completion_record(self.model, self.completed, cut=False)}

    def write_model(self) -> None:
        """Write model.jella."""
        self.model.save(self.folder / "model.jella")

    def write_report(self) -> None:
        """Note that there is no report."""
        self.left_out.append("no report.html: it needs the samples in memory")

    def agreement(self) -> Record:
        """No scores: Parquet parts have no known classes."""
        return {}

    def errors(self) -> Record:
        """Errors of a calibrated completion on hidden values; of others none, and a note that says so."""
        if (quality := self.completed.quality) is not None:
            return quality.as_record()
        self.left_out.append("no estimate of the error: it needs the samples in memory")
        return {}


def _rows(folder: Path, rows: Any, heads: Sequence[str], names: Any) -> list[Any]:
    """Tasks that write a Dask array (n, width) with the names or positions of its samples; one part per chunk."""
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
    """The partitions of a Dask DataFrame, or the row chunks of a Dask array."""
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


# functions that run on workers


def _write_rows(rows: np.ndarray, samples: Any, heads: list[str], path: str) -> None:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=heads)
    frame.insert(0, "sample", samples)
    _write(frame, path, False)


def _write_view(view: Any, columns: list[str], id_column: str | None, id_is_index: bool, path: str) -> None:
    """Write a part with the ids where they were: in the index, or in a first column."""
    import pandas as pd

    if id_column is None:
        frame = pd.DataFrame(view, columns=columns)
    else:
        frame = view.rename_axis(id_column) if id_is_index else view.rename_axis(id_column).reset_index()
    _write(frame, path, id_is_index)


def _write(frame: Any, path: str, index: bool) -> None:
    try:
        frame.to_parquet(path, index=index)
    except OSError as error:  # an OSError of a worker would be mistaken for a lost cluster
        raise ValueError(
            f"expected to write {path}, got an error ({error}); free some space, or use another folder"
        ) from None
