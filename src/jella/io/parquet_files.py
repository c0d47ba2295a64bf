"""Parquet files: their footers, the files of a folder, and reading a row group."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jella.io.errors import DataError, need, some
from jella.io.file_names import name_of
from jella.io.results_check import check_no_results


@dataclass(frozen=True)
class RowGroup:
    """A row group of a Parquet file."""

    file: str
    number: int
    length: int


@dataclass(frozen=True)
class Footer:
    """The content of a Parquet file, as its footer describes it."""

    file: Path
    types: dict[str, Any]  # column -> Arrow type
    index: tuple[str, ...]  # columns that pandas stored as an index
    lengths: tuple[int, ...]  # rows of each row group

    @classmethod
    def of(cls, file: Path) -> Footer:
        """The footer of a file; nothing else of the file is read."""
        if file.suffix.lower() != ".parquet" or not file.is_file():
            raise DataError(f"expected Parquet files, got {file.name!r}; convert it, or name the views one by one")
        with _opened(file) as parquet:
            schema, meta = parquet.schema_arrow, parquet.metadata
            lengths = tuple(meta.row_group(number).num_rows for number in range(meta.num_row_groups))
        if len(set(schema.names)) < len(schema.names):
            raise DataError(f"expected columns of different names in {file.name}, got one name twice; rename them")
        stored = (schema.pandas_metadata or {}).get("index_columns", [])
        index = tuple(column for column in stored if isinstance(column, str))
        return cls(file, dict(zip(schema.names, schema.types, strict=True)), index, lengths)


def views_of_folder(folder: Path) -> Iterator[tuple[str, list[Footer]]]:
    """One view per folder in it; without folders, all files as one view, or one view per file."""
    entries = _entries(folder)
    if all(entry.is_dir() for entry in entries):
        yield from ((view_name(entry), footers_of(entry)) for entry in entries)
        return
    if any(entry.is_dir() for entry in entries):
        raise DataError(
            f"expected either Parquet files or folders of them in {folder.name!r}, got both; name the views one by one"
        )
    footers = [Footer.of(entry) for entry in entries]
    if len({frozenset(footer.types) for footer in footers}) == 1:
        yield view_name(folder), footers
    else:
        yield from ((view_name(footer.file), [footer]) for footer in footers)


def footers_of(path: Path) -> list[Footer]:
    """The footers of a file, or of the parts in a folder."""
    footers = [Footer.of(file) for file in (_entries(path) if path.is_dir() else [path])]
    for footer in footers[1:]:
        odd = sorted(footer.types.keys() ^ footers[0].types.keys())
        if odd:
            raise DataError(
                f"expected the same columns in all parts of view {path.name!r}, got {some(odd)} not in both "
                f"{footers[0].file.name!r} and {footer.file.name!r}; correct the parts"
            )
    return footers


def _entries(folder: Path) -> list[Path]:
    """The content of a folder, without the extra files that Spark and Dask write."""
    check_no_results(folder)
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith((".", "_"))]
    if not entries:
        raise DataError(f"expected Parquet files in the folder {folder.name!r}, got none; check the path")
    return sorted(entries, key=_natural)


def _natural(path: Path) -> list[Any]:
    """A sort key that puts part.10 after part.9."""
    return [int(word) if word.isdecimal() else word for word in re.split(r"(\d+)", path.name)]


def view_name(path: Path) -> str:
    """The name of the view in a file or folder."""
    return name_of(path.stem if path.suffix.lower() == ".parquet" else path.name, path.parent)


def _opened(file: str | Path) -> Any:
    """The opened Parquet file; a file that cannot be read raises an error of one sentence."""
    try:
        return need("pyarrow.parquet", "dask").ParquetFile(file)
    except FileNotFoundError:
        raise DataError(
            f"expected {file} on all workers, got one without it; put it where all workers see it"
        ) from None
    except (OSError, ValueError) as error:  # the kinds of errors that pyarrow raises
        raise DataError(_damaged(file)) from error


def _damaged(file: str | Path) -> str:
    return f"expected a Parquet table in {Path(file).name}, got bytes that are damaged or cut short; fetch it again"


def is_number(kind: Any) -> bool:
    """Whether values of this Arrow type can become floating point numbers."""
    types = need("pyarrow.types", "dask")
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def is_whole(kind: Any) -> bool:
    """Whether values of this Arrow type are whole numbers that fit into int64."""
    return bool(need("pyarrow.types", "dask").is_signed_integer(kind))


# functions that run on workers


def load_values(part: RowGroup, features: tuple[str, ...], dtype: Any) -> np.ndarray:
    """The features of a part, (n, d), NaN for missing values."""
    return _numbers(_table(part, features), features, dtype)


def load_frame(part: RowGroup, features: tuple[str, ...], dtype: Any, id_column: str, as_text: bool) -> Any:
    """The features of a part as a DataFrame, indexed by the sample ids."""
    import pandas as pd

    table = _table(part, (id_column, *features))
    ids = table.column(id_column)
    if ids.null_count:
        row = ids.is_null().to_pylist().index(True)
        raise DataError(
            f"expected an id for each sample, got none in row {row} of group {part.number} of "
            f"{Path(part.file).name}; name this sample"
        )
    index = pd.Index([str(one) for one in ids.to_pandas()]) if as_text else pd.Index(ids.cast("int64").to_numpy())
    return pd.DataFrame(_numbers(table, features, dtype), index, list(features))


def _table(part: RowGroup, columns: tuple[str, ...]) -> Any:
    with _opened(part.file) as parquet:
        try:
            return parquet.read_row_group(part.number, columns=list(columns))
        except (OSError, ValueError) as error:
            raise DataError(_damaged(part.file)) from error


def _numbers(table: Any, columns: Sequence[str], dtype: Any) -> np.ndarray:
    kind, out = need("pyarrow", "dask").from_numpy_dtype(dtype), np.empty((table.num_rows, len(columns)), dtype)
    for j, column in enumerate(columns):
        out[:, j] = table.column(column).cast(kind, safe=False).to_numpy()
    return out
