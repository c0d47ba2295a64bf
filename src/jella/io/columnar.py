"""Parquet and Feather tables, through pyarrow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from jella.io.dataset import Options
from jella.io.errors import need
from jella.io.put_back import merged
from jella.io.tables import Table, check_names, find_ids
from jella.io.trial import try_first
from jella.views.exact import DOUBLE_BITS


def read_parquet(path: Path, options: Options) -> Table:
    """A Parquet table."""
    return Table(path.stem, load_columnar(path))


def read_feather(path: Path, options: Options) -> Table:
    """A Feather table."""
    return Table(path.stem, load_columnar(path))


def load_columnar(path: Path) -> Any:
    """The stored DataFrame, with its index where it has one."""
    pd = need("pandas", "pandas")
    need("pyarrow", "parquet")
    try_first(path)
    if path.suffix.lower() == ".feather":
        again = partial(pd.read_feather, path, dtype_backend="numpy_nullable")
        return _with_all_digits(pd.read_feather(path), path, again)
    # pandas would read it as a dataset, which needs 200 KiB for each column
    with need("pyarrow.parquet", "parquet").ParquetFile(path) as file:
        frame = file.read().to_pandas()
    return _with_all_digits(frame, path, partial(pd.read_parquet, path, dtype_backend="numpy_nullable"))


def _with_all_digits(frame: Any, path: Path, read_nullable: Callable[..., Any]) -> Any:
    """The frame with nullable integers where pandas made floats of integers that are too large for them."""
    check_names(frame, path.stem)
    floats = [column for column in frame.columns[frame.dtypes == "float64"] if isinstance(column, str)]
    large = [column for column in floats if (frame[column].abs() > 2**DOUBLE_BITS).any()]
    if not large:
        return frame
    for column, stored in read_nullable(columns=large).items():
        if stored.dtype.kind in "iu":
            frame[column] = stored.array
    return frame


def write_columnar(views: dict[str, Any], path: Path, source: Path, options: Options) -> None:
    """Write the table of the source with the values of the only view."""
    (view,) = views.values()
    frame = merged(find_ids(Table(source.stem, load_columnar(source)), options), view)
    if path.suffix.lower() == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_feather(path)
