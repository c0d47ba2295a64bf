"""A check of Excel workbooks before openpyxl opens them: size, cells far apart, formulas without values."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from jella.io.errors import DataError
from jella.io.guard import Budget, damaged
from jella.io.zip_check import check_archive

#: bytes in memory for a byte of XML and for a cell, which becomes a Python object
_XML_WEIGHT, _CELL_BYTES = 5, 250
_MOST_ROWS, _MOST_COLUMNS = 2**20, 2**14
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def check_workbook(path: Path) -> dict[str, list[str]]:
    """Refuse a workbook that needs far more memory than it stores, or that holds formulas without values.

    Returns
    -------
    dict of str to list of str
        By sheet, the errors in its cells, such as '#DIV/0!'.
    """
    check_archive(path, _XML_WEIGHT)
    with zipfile.ZipFile(path) as archive:
        sheets = [(name, member) for name, member in _sheets(archive) if member in archive.namelist()]
        budget, errors = Budget(path), {}
        for name, member in sheets:
            with archive.open(member) as file:
                errors[name] = _check_sheet(file, name, budget)
    return errors


def _sheets(archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Name and member of each sheet."""
    book = next(name for name in archive.namelist() if posixpath.basename(name) == "workbook.xml")
    folder = posixpath.dirname(book)
    relations = ElementTree.fromstring(archive.read(f"{folder}/_rels/workbook.xml.rels".lstrip("/")))
    targets = {one.get("Id"): one.get("Target", "") for one in relations}
    for sheet in ElementTree.fromstring(archive.read(book)).iter():
        if _tag(sheet) == "sheet":
            target = targets.get(sheet.get(_RELATION), "")
            yield str(sheet.get("name")), posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def _check_sheet(file: Any, name: str, budget: Budget) -> list[str]:
    """Count the cells up to the last row and column that hold one, and look for formulas without values, and errors."""
    path, errors = budget.path, []
    row = column = last_row = last_column = counted = 0
    for event, element in ElementTree.iterparse(file, events=("start", "end")):
        tag = _tag(element)
        if row > _MOST_ROWS or column > _MOST_COLUMNS:
            raise damaged(path, f"a cell in row {row}, column {column}")
        if event == "start" and tag == "row":
            row, column = int(element.get("r", row + 1)), 0
        elif event == "end" and tag == "c":
            place = re.fullmatch(r"\$?([A-Z]{1,3})\$?(\d{1,7})", element.get("r", "").upper())
            column = _column(place[1]) if place else column + 1
            row = int(place[2]) if place else row
            last_row, last_column = max(row, last_row), max(column, last_column)
            parts = {_tag(part): part.text for part in element}
            if "f" in parts and not parts.get("v") and "is" not in parts and element.get("t") != "str":
                raise DataError(
                    f"expected the value of each formula in {path.name}, got none in cell "
                    f"{element.get('r')} of sheet {name!r}; open it in a spreadsheet program and save it"
                )
            if element.get("t") == "e":
                errors.append(str(parts.get("v")))
        elif event == "end" and tag == "row":
            last_row = max(row, last_row)
            element.clear()
            budget.need(_CELL_BYTES * (last_row * last_column - counted))
            counted = last_row * last_column
    return errors


def _column(letters: str) -> int:
    """The number of a column.

    >>> _column("A"), _column("XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]
