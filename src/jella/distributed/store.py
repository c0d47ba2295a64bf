"""Chunks that do not fit into memory, kept in files; each pass reads only the rows that it needs."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dask
import numpy as np

from jella.distributed.scheduler import active_client, compute
from jella.views.model import View, Views

#: files are written only if they leave this share of the free space
FREE = 0.2


class Folder:
    """A temporary folder that all workers see; it is deleted when it is no longer needed."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="jella-", dir=dask.config.get("temporary-directory", None))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def has_room(self, n_bytes: float) -> bool:
        """Whether this many bytes fit, and all workers see the folder."""
        client = active_client()
        seen = [True] if client is None else client.run(os.path.isdir, self.path).values()
        return all(seen) and n_bytes <= (1.0 - FREE) * shutil.disk_usage(self.path).free


@dataclass(frozen=True)
class Stored:
    """A chunk in files, or some of its samples: what is known about it besides the values."""

    stem: str
    views: Views  # arrays that are in a file have no rows
    rows: np.ndarray | None = None  # positions of the samples; None for all

    def take(self, rows: np.ndarray) -> Stored:
        """Some of the samples; nothing is read."""
        return replace(self, rows=rows if self.rows is None else self.rows[rows])

    def open(self) -> Views:
        """The samples; if they are all samples of the chunk, values are read when they are used."""
        items = [self._opened(number, view) for number, view in enumerate(self.views)]
        views = Views(tuple(items))
        return views if self.rows is None else views.take(self.rows)

    def _opened(self, number: int, view: View) -> View:
        X = _read(self._file("values", number))
        return replace(view, X=X, mask=view.mask if view.mask.size else _read(self._file("mask", number)))

    def _file(self, what: str, number: int) -> str:
        return f"{self.stem}-{what}-{number}.npy"

    @classmethod
    def write(cls, stem: str, views: Views) -> Stored:
        """Write a chunk to files whose names start with `stem`."""
        stored = cls(stem, Views(tuple(_known(view) for view in views)))
        for number, view in enumerate(views):
            _write(stored._file("values", number), np.asarray(view.X))
            if not view.is_rowwise:
                _write(stored._file("mask", number), np.asarray(view.mask))
        return stored


def stored(chunks: Sequence[Any], folder: Folder) -> list[Stored]:
    """The chunks, delayed Views, written to files by the workers that compute them."""
    write = dask.delayed(Stored.write, pure=False)
    stems = [str(Path(folder.path) / f"{number:06d}") for number in range(len(chunks))]
    return compute([write(stem, chunk) for stem, chunk in zip(stems, chunks, strict=True)])


def opened(chunk: Any) -> Views:
    """Samples in memory, read from their files if they are in files."""
    return chunk.open() if isinstance(chunk, Stored) else chunk


def _known(view: View) -> View:
    """A view without what goes to files, and without names, which all chunks share."""
    mask = view.mask if view.is_rowwise else np.empty((0, 2), dtype=bool)
    return replace(view, X=np.empty((0, 0)), mask=mask, feature_names=None)


def _read(path: str) -> np.ndarray:
    return np.asarray(np.load(path, mmap_mode="r"))


def _write(path: str, array: np.ndarray) -> None:
    """Write a complete file or none, so that a worker that is killed leaves no incomplete chunk."""
    with tempfile.NamedTemporaryFile(dir=Path(path).parent, suffix=".part", delete=False) as file:
        np.save(file, array)
    os.replace(file.name, path)
