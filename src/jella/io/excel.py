"""Excel workbooks, through openpyxl: each sheet is a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jella.io.dataset import Options
from jella.io.delimited import MISSING
from jella.io.errors import need
from jella.io.guard import reading
from jella.io.put_back import Rows, cells, unchanged
from jella.io.tables import Table, find_ids, numbers_of
from jella.io.xlsx_check import check_workbook


def read_sheets(path: Path, options: Options) -> list[Table]:
    """A data set with one table per sheet that is not empty."""
    return [table for table in load_sheets(path, options).values() if table.frame.size]


def _errors(sheet: str, errors: list[str]) -> tuple[str, ...]:
    """A note on the cells of a sheet that hold an error, which are read as missing values."""
    if not errors:
        return ()
    cells = f"{len(errors)} cell{'s' * (len(errors) > 1)}"
    return (f"Errors such as {errors[0]!r} in {cells} of sheet {sheet!r} are read as missing values.",)


def load_sheets(path: Path, options: Options) -> dict[str, Table]:
    """The sheets of a workbook, by name."""
    pd = need("pandas", "pandas")
    need("openpyxl", "excel")
    errors = check_workbook(path)
    frames = pd.read_excel(
        path,
        sheet_name=None,
        engine="openpyxl",
        na_values=[*MISSING, *options.missing],
        keep_default_na=False,
        dtype=object,  # otherwise truth values become numbers in a column that lacks some
    )
    return {
        name: Table(
            str(name),
            frame.apply(_typed).set_axis([str(c) for c in frame.columns], axis=1),
            notes=_errors(str(name), errors.get(name, [])),
        )
        for name, frame in frames.items()
    }


def _typed(cells: Any) -> Any:
    """A column of cells with a type of its own: truth values stay what they are, and other numbers become numbers."""
    is_truth = need("pandas", "pandas").api.types.infer_dtype(cells, skipna=True) == "boolean"
    return cells.astype("boolean") if is_truth else numbers_of(cells).infer_objects()


def write_sheets(views: dict[str, Any], path: Path, source: Path, options: Options) -> None:
    """Write the workbook of the source, with its formats, and the values of the views in their sheets."""
    with reading(source):
        tables = load_sheets(source, options)
        book = need("openpyxl", "excel").load_workbook(source)
    for name, view in views.items():
        _put(book[name], find_ids(tables[name], options), view)
    for sheet in book.worksheets:
        for cell in (cell for row in sheet.iter_rows() for cell in row):
            if isinstance(cell.value, int | float) and float(f"{cell.value:.16g}") != cell.value:
                cell.value, cell.data_type = repr(cell.value), "n"  # openpyxl writes only 16 digits
    book.save(path)


def _put(sheet: Any, table: Table, view: Any) -> None:
    """Write values of a view into the cells below the header, where they changed; new samples and columns come last."""
    rows = Rows.of(table, view)
    lines = np.arange(len(rows.order)) + 2
    columns = list(table.frame.columns)
    if rows.extra.size:
        _set_column(sheet, columns.index(table.id_column) + 1, lines[len(table.frame) :], list(view.index[rows.extra]))
    for name in view.columns:
        put = rows.order >= 0
        if name in columns:
            put[: len(table.frame)] &= ~unchanged(table.frame[name], view[name], rows)
        else:
            columns.append(name)
            sheet.cell(1, len(columns), str(name))
        values = cells(view[name])[rows.order[put]].tolist()
        _set_column(sheet, columns.index(name) + 1, lines[put], values)


def _set_column(sheet: Any, column: int, lines: np.ndarray, values: list[Any]) -> None:
    for line, value in zip(lines.tolist(), values, strict=True):
        sheet.cell(line, column).value = None if value != value else value
