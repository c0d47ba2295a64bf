"""Text tables with a comma, tab, semicolon, bar or space between the columns."""

from __future__ import annotations

import csv
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jella.io.dataset import Options
from jella.io.errors import DataError, need
from jella.io.formulas import unguarded
from jella.io.guard import COLUMN_BYTES, check_size
from jella.io.tables import Table, is_numeral, is_unnamed
from jella.views.exact import DOUBLE_BITS
from jella.views.frames import repeated
from jella.views.id_columns import is_id_name

_DELIMITERS = (",", "\t", ";", "|", " ")
_SNIFFED = 50  # number of lines that must agree on a delimiter

#: texts of missing values, besides those that the user names
MISSING = ("", "NA", "N/A", "NaN", "nan", "NAN", "n/a", "null", "NULL", "None", "#N/A", "<NA>")

#: numbers of truth values, in lower case
TRUTH = {"true": "1", "false": "0"}


@dataclass(frozen=True)
class TextTable:
    """The cells of a text table, all as text."""

    delimiter: str
    header: list[str] | None
    rows: list[list[str]]

    @property
    def leads_with_ids(self) -> bool:
        """Whether rows have one cell more than the header, which is how R writes row names."""
        return self.header is not None and len(self.rows[0]) == len(self.header) + 1


def read_delimited(path: Path, options: Options) -> Table:
    """The table with numbers and texts; a column that may hold sample ids stays text."""
    pd = need("pandas", "pandas")
    text = load_text(path, options)
    missing = {*MISSING, *options.missing}
    columns = [list(cells) for cells in zip(*text.rows, strict=True)]
    ids = list(map(unguarded, columns.pop(0))) if text.leads_with_ids else None
    candidate = None if ids is not None else _id_candidate(text, options)
    heads = unique_heads(text)
    alone = len(columns) - (candidate is not None) == 1  # such a table holds labels if it is text
    data = {
        j: _column(cells, missing, as_text=j == candidate, truth=not alone and heads[j] != options.labels)
        for j, cells in enumerate(columns)
    }
    frame = pd.DataFrame(data, index=ids)
    if options.samples == "columns" and len(set(text.header or ())) < len(text.header or ()):
        twice = repeated(pd.Index(text.header))
        raise DataError(f"expected one column per sample in {path.name}, got {twice}; keep one column of each")
    return Table(path.stem, frame.set_axis(heads, axis=1))


def unique_heads(text: TextTable) -> list[str]:
    """Names of the columns: a second 'a' becomes 'a.1', and columns without a header are numbered from 0."""
    if text.header is None:
        return [str(j) for j in range(len(text.rows[0]))]
    heads = list(map(unguarded, text.header))
    taken, counts, names = set(heads), dict.fromkeys(heads, 0), []
    for head in heads:
        name = head
        while counts[head] and name in taken:
            name, counts[head] = f"{head}.{counts[head]}", counts[head] + 1
        counts[head] = counts[head] or 1
        taken.add(name)
        names.append(name)
    return names


def _column(cells: list[str], missing: set[str], as_text: bool, truth: bool) -> Any:
    """Whole numbers, floats with NaN, truth values, or texts with NaN: the first type that can hold all cells.

    If `truth`, true and false are truth values, and among numbers they are 1 and 0.
    """
    numbers = None if as_text else _numbers(cells, missing)
    if numbers is None and truth and not as_text:
        coded = [cell if cell in missing else TRUTH.get(cell.strip().lower(), cell) for cell in cells]
        numbers = _numbers(coded, missing)
        if numbers is not None and all(cell in missing or cell.strip().lower() in TRUTH for cell in cells):
            return _truth_values(numbers)
    if numbers is not None:
        return numbers
    return [np.nan if cell in missing else unguarded(cell) for cell in cells]


def _truth_values(numbers: np.ndarray) -> Any:
    """Truth values of 1, 0 and NaN, of a type that can lack some if some are missing."""
    lacks = np.isnan(numbers)
    return need("pandas", "pandas").arrays.BooleanArray(numbers == 1, lacks) if lacks.any() else numbers == 1


def _numbers(cells: list[str], missing: set[str]) -> Any:
    """Whole numbers, or floats with NaN; None if a cell is text."""
    if "_" in ",".join(cells):  # Python would read '1_2' as 12
        return None
    complete = missing.isdisjoint(cells)
    with suppress(ValueError, OverflowError):
        if complete:
            return np.array(list(map(int, cells)), dtype=np.int64)
    with suppress(ValueError):
        there = cells if complete else ["nan" if cell in missing else cell for cell in cells]
        return _with_all_digits(there, np.array(list(map(float, there))))
    return None


def _with_all_digits(cells: list[str], values: np.ndarray) -> Any:
    """The values, as nullable integers if all of them are integers and one is too large for a double."""
    if not (np.abs(values[np.isfinite(values)]) > 2**DOUBLE_BITS).any():
        return values
    numbers = [None if value != value else cell for cell, value in zip(cells, values, strict=True)]
    for dtype in ("Int64", "UInt64"):
        with suppress(ValueError, OverflowError, TypeError):
            return need("pandas", "pandas").array([None if n is None else int(n) for n in numbers], dtype=dtype)
    return values


def load_text(path: Path, options: Options) -> TextTable:
    """All cells of a text table; its rows must have equal lengths."""
    delimiter, rows = load_rows(path)
    header = rows.pop(0) if options.samples == "columns" or _is_header(rows, {*MISSING, *options.missing}) else None
    if not rows:
        raise DataError(f"expected rows below the header of {path.name}, got none; add the samples")
    width = len(rows[0]) if header is None or len(rows[0]) == len(header) + 1 else len(header)
    for number, row in enumerate(rows):
        if len(row) != width:
            raise DataError(
                f"expected {width} cells in each row of {path.name}, got {len(row)} in row {number + 1}; "
                "the file is cut short or its separators differ"
            )
    if header is not None and width > len(header) and not any(row[-1] for row in rows):
        raise DataError(
            f"expected {len(header)} cells in each row of {path.name}, got a separator at the end of rows; remove it"
        )
    return TextTable(delimiter, header, rows)


def load_rows(path: Path) -> tuple[str, list[list[str]]]:
    """The separator of a text table, and its rows that are not empty."""
    lines = _lines(path)
    delimiter = _sniff(lines[:_SNIFFED])
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if row]
        check_size(path, COLUMN_BYTES * max(map(len, rows), default=0))
    except csv.Error as error:
        raise DataError(f"expected a table of short cells in {path.name}, got {error}; check its separators") from None
    return delimiter, rows


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(
            f"expected a text table, got bytes in {path.name} that are not UTF-8; save it as UTF-8"
        ) from None
    if "\0" in text:
        raise DataError(
            f"expected a text table, got binary data in {path.name}; rename it with the suffix of its format"
        )
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise DataError(f"expected a table, got the empty file {path.name}; fetch it again")
    return lines


def _sniff(lines: list[str]) -> str:
    """The delimiter that splits all lines into the same, largest number of cells; a header may have one less."""
    best, most = "", 1
    for delimiter in _DELIMITERS:
        try:
            head, *widths = [len(row) for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True)]
        except csv.Error:  # cells beyond csv's limit: not this delimiter
            continue
        width = widths[0] if widths else head
        agree = len(set(widths)) <= 1 and (head == width or (head == width - 1 and width > 2))
        if agree and width > most:
            best, most = delimiter, width
    if best:
        return best
    counts = {delimiter: lines[0].count(delimiter) for delimiter in _DELIMITERS[:-1]}
    return max(counts, key=lambda delimiter: counts[delimiter])


def _id_candidate(text: TextTable, options: Options) -> int | None:
    """The position of the column that may hold sample ids; they must stay text, since '001' is not 1."""
    header = text.header or []
    if text.leads_with_ids or len(text.rows[0]) < 2:
        return None
    if options.samples == "columns":
        return 0
    if options.id_column is not None:
        return header.index(options.id_column) if options.id_column in header else None
    there = [row[0] for row in text.rows[:_SNIFFED] if row[0] not in (*MISSING, *options.missing)]
    is_text = 2 * sum(not is_numeral(cell) and cell.strip().lower() not in TRUTH for cell in there) > len(there)
    return 0 if is_text or (header and (is_unnamed(header[0]) or is_id_name(header[0]))) else None


def _is_header(rows: list[list[str]], missing: set[str]) -> bool:
    """Whether the first row holds column names: texts outside the column of ids, or numbers counted from 0 or 1.

    A row of numbers and missing values is a sample.
    """
    first = rows[0]
    if len(first) == 1 and not is_numeral(first[0]):
        return first not in rows[1:]  # a label that is repeated is not a name
    rest = first if all(is_numeral(cell) for cell in first) else first[1:]
    known = [cell for cell in rest if cell not in missing]
    if is_id_name(first[0]) or not known or not all(is_numeral(cell) for cell in known):
        return True
    if not all(is_numeral(cell) for cell in rest):
        return False
    numbers = [float(cell) for cell in rest]
    counted = numbers[0] in (0, 1) and numbers == [numbers[0] + j for j in range(len(numbers))]
    return counted and (len(numbers) > 1 or is_unnamed(first[0]))
