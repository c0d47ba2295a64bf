"""Tables of metadata: what is known about samples besides their views."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jella.io.dataset import Options
from jella.io.delimited import load_rows, read_delimited
from jella.io.errors import DataError, some
from jella.io.excel import read_sheets
from jella.io.formulas import unguarded
from jella.io.guard import check_is_file, reading
from jella.io.read import TABLES
from jella.io.tables import Table, check_names, find_ids


def read_metadata(path: str | os.PathLike[str], *, id_column: str | None = None, missing: Sequence[str] = ()) -> Any:
    r"""A table of metadata as a pandas DataFrame: numbers, texts, and the ids of the samples as index.

    Parameters
    ----------
    path : str or path
        A table (.csv, .tsv, .txt, .parquet, .feather), or a workbook of one sheet (.xlsx). Samples in rows.
    id_column : str, optional
        Column with the ids of the samples; by default a first column without name, with a usual name of ids, or of
        distinct texts. A table without ids is matched with samples by position.
    missing : sequence of str, optional
        Values that mean missing, such as "-999", besides the usual ones.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "clinical.csv"
    ...     _ = file.write_text("patient,age,site\np1,61,A\np2,NA,B\n")
    ...     read_metadata(file)
         age site
    p1  61.0    A
    p2   NaN    B
    """
    file, options = Path(path), Options(id_column=id_column, missing=tuple(missing), non_numeric="keep")
    check_is_file(file)
    with reading(file):
        table = _read(file, options)
        check_names(table.frame, table.name)
        return find_ids(table, options).indexed()


def read_pairs(path: str | os.PathLike[str]) -> list[tuple[Any, ...]]:
    r"""Pairs of ids in a table of two columns; the first is the row of names, which may be a pair too.

    Parameters
    ----------
    path : as in `read_metadata`

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "same.csv"
    ...     _ = file.write_text("one,other\np1,p2\np2,p7\n")
    ...     read_pairs(file)
    [('one', 'other'), ('p1', 'p2'), ('p2', 'p7')]
    """
    file = Path(path)
    check_is_file(file)
    with reading(file):
        if TABLES.get(file.suffix.lower()) is read_delimited and file.stat().st_size:
            rows = [tuple(map(unguarded, row)) for row in load_rows(file)[1]]
        else:
            frame = _read(file, Options(non_numeric="keep")).frame
            rows = [tuple(frame.columns), *frame.itertuples(index=False, name=None)]
        width = next((len(row) for row in rows if len(row) != 2), 2)
        if width != 2:
            raise DataError(f"expected two columns of ids in {file.name}, got {width}; keep one pair per row")
        return rows


def _read(file: Path, options: Options) -> Table:
    ending = file.suffix.lower()
    if file.is_dir() or ending not in (*TABLES, ".xlsx"):
        raise DataError(
            f"expected a table of metadata that ends in {', '.join((*TABLES, '.xlsx'))}, got {file.name!r}; convert it"
        )
    if file.stat().st_size == 0:
        raise DataError(f"expected metadata, got the empty file {file.name}; fetch it again")
    if ending != ".xlsx":
        return TABLES[ending](file, options)
    sheets = read_sheets(file, options)
    if len(sheets) != 1:
        names = some([sheet.name for sheet in sheets]) or "none"
        raise DataError(f"expected one sheet of metadata in {file.name}, got {names}; save the sheet on its own")
    return sheets[0]
