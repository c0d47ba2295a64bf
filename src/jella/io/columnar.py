"""Parquet and Feather tables, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jella.io.dataset import Options
from jella.io.errors import need
from jella.io.put_back import merged
from jella.io.tables import Table, find_ids
from jella.io.trial import try_first


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
        return pd.read_feather(path)
    # pandas would read it as a dataset, which needs 200 KiB for each column
    with need("pyarrow.parquet", "parquet").ParquetFile(path) as file:
        return file.read().to_pandas()


def write_columnar(views: dict[str, Any], path: Path, source: Path, options: Options) -> None:
    """Write the table of the source with the values of the only view."""
    (view,) = views.values()
    frame = merged(find_ids(Table(source.stem, load_columnar(source)), options), view)
    if path.suffix.lower() == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_feather(path)
