"""Writing text tables: a cell keeps its text unless its value changed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from jella.io.dataset import Options
from jella.io.delimited import TRUTH, TextTable, load_text, read_delimited, unique_heads
from jella.io.formulas import guarded
from jella.io.put_back import Rows, cells, unchanged
from jella.io.tables import Table, find_ids


def write_delimited(views: dict[str, Any], path: Path, source: Path, options: Options) -> None:
    """Write the table of the source with the values of the only view."""
    (view,) = views.values()
    text, table = load_text(source, options), find_ids(read_delimited(source, options), options)
    rows = Rows.of(table, view)
    columns = _columns(text, table, view, rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=text.delimiter, lineterminator="\n")
        if text.header is not None:
            new = [str(column) for column in view.columns if column not in table.frame]
            writer.writerow([*text.header, *new])
        writer.writerows(zip(*columns, strict=True))


def _columns(text: TextTable, table: Table, view: Any, rows: Rows) -> list[list[str]]:
    """Columns of cells: first those of the file in their order, then those that only the view has."""
    stored = [list(column) for column in zip(*text.rows, strict=True)]
    names = unique_heads(text)
    ids = [str(name) for name in view.index[rows.extra]]
    out = []
    if text.leads_with_ids:
        out.append(stored.pop(0) + ids)
    for name, column in zip(names, stored, strict=True):
        if name in view:
            out.append(_filled(column, unchanged(table.frame[name], view[name], rows), cells(view[name]), rows))
        else:
            out.append(column + (ids if name == table.id_column else [""] * len(ids)))
    blank, lacks = [""] * len(text.rows), rows.positions < 0
    out += [_filled(blank, lacks, cells(view[c]), rows) for c in view.columns if c not in table.frame]
    return out


def _filled(stored: list[str], same: np.ndarray, new: np.ndarray, rows: Rows) -> list[str]:
    """The cells of a column: old texts for unchanged values, new texts for others, and the additional samples."""
    out, truth = list(stored), _truth_like(stored)
    for i in np.flatnonzero(~same):
        out[i] = _text(new[rows.positions[i]], truth)
    return out + [_text(new[position], truth) for position in rows.extra]


def _truth_like(stored: list[str]) -> tuple[str, str]:
    """False and true in the letters that a column has."""
    known = next((cell for cell in stored if cell.strip().lower() in TRUTH), "True").strip()
    return ("FALSE", "TRUE") if known.isupper() else ("false", "true") if known.islower() else ("False", "True")


def _text(value: Any, truth: tuple[str, str]) -> str:
    """The shortest text that reads as the same number; an empty text for NaN; a level of a category as it is."""
    if value != value:
        return ""
    if isinstance(value, str):
        return guarded(value)
    if isinstance(value, bool | np.bool_):
        return truth[int(value)]
    return str(int(value)) if isinstance(value, int | np.integer) else repr(float(value))
