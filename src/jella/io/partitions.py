"""Parquet files as parts of views that may be larger than memory: only their footers are read before a fit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from jella.io.errors import DataError, need, some
from jella.io.parquet_files import (
    Footer,
    RowGroup,
    footers_of,
    is_number,
    is_whole,
    load_frame,
    load_values,
    view_name,
    views_of_folder,
)
from jella.io.tables import is_unnamed
from jella.views.id_columns import is_id_name

PathLike = str | os.PathLike[str]


def read_partitions(path: PathLike | Sequence[PathLike], *, id_column: str | None = None) -> dict[str, Any]:
    """Open Parquet files as Dask collections, for data that do not fit into memory.

    Parameters
    ----------
    path : path, or list of paths
        - a folder of folders of Parquet files: one view per folder, whose files are its parts;
        - a folder of Parquet files: parts of one view if all have the same columns, otherwise one view per file;
        - a list: one view per entry, each a file or a folder of parts.

        Names that begin with a dot or an underscore are ignored. Parts are in the order of their names; numbers in
        names are compared by value.
    id_column : str, optional
        The column with the sample ids. By default the index that pandas stored, or a first column that is not numeric,
        has no name or is called id or sample.

    Returns
    -------
    dict of str to Dask DataFrame or Dask array
        One part per row group. With ids, DataFrames with the ids as index: estimators align the views by them. Ids
        stay whole numbers if all views have such ids; otherwise they become text. Without ids, arrays, whose rows are
        aligned by position.

    Examples
    --------
    >>> import tempfile, numpy as np, pytest; pd = pytest.importorskip("pandas"); _ = pytest.importorskip("dask")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in (0, 1):
    ...         pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, np.nan]}).to_parquet(f"{folder}/part{part}.parquet")
    ...     print([view.chunks for view in read_partitions(folder).values()])
    [((2, 2), (2,))]
    """
    return open_all(find_partitions(path, id_column=id_column))


@dataclass(frozen=True)
class Partitioned:
    """One view in Parquet files, as their footers describe it.

    Attributes
    ----------
    name : str
    parts : tuple of RowGroup
    columns : tuple of str
        The features.
    dtype : NumPy type of the values
    id_column : str or None
    id_is_index : bool
        Whether pandas stored the ids as an index.
    has_whole_ids : bool
        Whether the ids are whole numbers in all files.
    """

    name: str
    parts: tuple[RowGroup, ...]
    columns: tuple[str, ...]
    dtype: Any
    id_column: str | None
    id_is_index: bool
    has_whole_ids: bool

    @property
    def n_rows(self) -> int:
        """Number of rows of all parts."""
        return sum(part.length for part in self.parts)

    def as_array(self) -> Any:
        """A Dask array, one chunk per part."""
        import dask
        import dask.array as da

        load, d = dask.delayed(load_values, pure=False), len(self.columns)
        loaded = [load(part, self.columns, self.dtype) for part in self.parts]
        pairs = zip(loaded, self.parts, strict=True)
        return da.concatenate([da.from_delayed(values, (part.length, d), self.dtype) for values, part in pairs])

    def as_frame(self, as_text: bool) -> Any:
        """A Dask DataFrame with the sample ids as index."""
        import dask.dataframe as dd
        import pandas as pd

        assert self.id_column is not None
        index = pd.Index([], dtype=object if as_text else np.int64)
        meta = pd.DataFrame(np.empty((0, len(self.columns)), self.dtype), index, list(self.columns))
        load = partial(load_frame, features=self.columns, dtype=self.dtype, id_column=self.id_column, as_text=as_text)
        return dd.from_map(load, self.parts, meta=meta, enforce_metadata=False)


def open_all(views: Sequence[Partitioned]) -> dict[str, Any]:
    """Dask collections of views that all have ids, or all have none."""
    if views[0].id_column is None:
        return {view.name: view.as_array() for view in views}
    as_text = not all(view.has_whole_ids for view in views)
    return {view.name: view.as_frame(as_text) for view in views}


def find_partitions(path: PathLike | Sequence[PathLike], *, id_column: str | None = None) -> tuple[Partitioned, ...]:
    """The views in files and folders, as `read_partitions` finds them."""
    need("dask.dataframe", "dask")
    need("pyarrow.parquet", "dask")
    paths = [Path(path).absolute()] if isinstance(path, str | os.PathLike) else [Path(one).absolute() for one in path]
    for one in paths:
        if not one.exists():
            raise DataError(f"expected a file or folder, got {str(one)!r}, which does not exist; check the path")
    single = isinstance(path, str | os.PathLike) and paths[0].is_dir()
    groups = list(views_of_folder(paths[0])) if single else [(view_name(one), footers_of(one)) for one in paths]
    names = [name for name, _ in groups]
    if not names or len(set(names)) < len(names):
        raise DataError(f"expected views of different names, got {names}; rename the files or folders")
    views = tuple(_view(name, footers, id_column) for name, footers in groups)
    _check_alike(views)
    return views


def _view(name: str, footers: Sequence[Footer], id_column: str | None) -> Partitioned:
    first = footers[0]
    ids = _find_ids(name, first, id_column)
    columns = tuple(column for column in first.types if column != ids and column not in first.index)
    texts = [c for c in columns if not all(is_number(footer.types[c]) for footer in footers)]
    if texts:
        raise DataError(
            f"expected numbers in view {name!r}, got other values in the columns {some(texts)}; leave them out, or "
            "name the files of the views only"
        )
    parts = tuple(
        RowGroup(str(footer.file), number, length)
        for footer in footers
        for number, length in enumerate(footer.lengths)
        if length
    )
    shape = sum(part.length for part in parts), len(columns)
    if shape[0] < 2 or shape[1] == 0:
        raise DataError(
            f"expected at least two samples and one feature, got the shape {shape} for view {name!r}; leave it out"
        )
    single = all(str(footer.types[column]) == "float" for footer in footers for column in columns)
    whole = ids is not None and all(is_whole(footer.types[ids]) for footer in footers)
    dtype = np.dtype(np.float32 if single else np.float64)
    return Partitioned(name, parts, columns, dtype, ids, ids is not None and ids in first.index, whole)


def _find_ids(name: str, footer: Footer, id_column: str | None) -> str | None:
    """The named column; otherwise the index; otherwise a first column that looks like ids."""
    if id_column is not None:
        if id_column not in footer.types:
            raise DataError(
                f"expected the id column {id_column!r} in all views, got none in {name!r}; use one name in all views"
            )
        return id_column
    if len(footer.index) > 1:
        raise DataError(
            f"expected one index in view {name!r}, got the levels {some(list(footer.index))}; name one with id_column"
        )
    if footer.index:
        return footer.index[0]
    first = next(iter(footer.types), "")
    looks_like_ids = is_unnamed(first) or is_id_name(first) or not is_number(footer.types[first])
    return first if len(footer.types) > 1 and looks_like_ids else None


def _check_alike(views: Sequence[Partitioned]) -> None:
    """Check that all views have sample ids, or that none has and they have equal lengths."""
    named, plain = [v for v in views if v.id_column is not None], [v for v in views if v.id_column is None]
    if named and plain:
        raise DataError(
            f"expected sample ids in all views or in none, got ids in {named[0].name!r} and none in "
            f"{plain[0].name!r}; name the column with id_column"
        )
    lengths = {view.name: view.n_rows for view in plain}
    if len(set(lengths.values())) > 1:
        raise DataError(
            f"expected views without sample ids to have equal numbers of rows, got {lengths}; add a column of ids"
        )
