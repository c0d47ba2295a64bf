"""Tables, one per view, of any file type: which column holds the sample ids, which table or column the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jella.io.dataset import Dataset, Options
from jella.io.errors import DataError, need, some
from jella.io.kinds import is_label_name
from jella.io.stored import rounding
from jella.numerics.words import counted, listed
from jella.views.categories import Category
from jella.views.category_columns import find_category
from jella.views.exact import DOUBLE_BITS
from jella.views.frames import repeated
from jella.views.id_columns import is_id_name

#: kinds of columns that hold neither numbers nor text, as pandas names them, and their names in messages
_NO_TEXT = {
    **dict.fromkeys(("date", "datetime"), "dates"),
    **dict.fromkeys(("time", "timedelta"), "times"),
    "decimal": "decimals",
    "complex": "complex numbers",
}
#: texts that hold a number, what they are, and what to do
_UNUSUAL = (
    (r"[+-]?\d{1,3}(,\d{3})+\.\d+", "commas between thousands", "leave them out"),
    (r"[+-]?\d+,\d+", "decimal commas", "write them with a point, and nothing between thousands"),
    (r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)? ?%", "percent signs", "leave them out"),
)


@dataclass(frozen=True)
class Table:
    """A table as stored, before its sample ids are found."""

    name: str
    frame: Any  # DataFrame, indexed by sample if the file says so
    id_column: Any = None  # name of the column with the ids
    notes: tuple[str, ...] = ()  # what was decided while the file was read

    @property
    def has_ids(self) -> bool:
        """Whether the samples have names."""
        return self.id_column is not None or not _is_range(self.frame.index)

    def indexed(self) -> Any:
        """The data columns, indexed by sample ids (as text) or by position."""
        if not self.has_ids:
            return self.frame
        ids = self.frame.index if self.id_column is None else self.frame[self.id_column]
        data = self.frame if self.id_column is None else self.frame.drop(columns=[self.id_column])
        return data.set_axis(_checked_ids(ids, self.name), axis=0)


def find_ids(table: Table, options: Options) -> Table:
    """The table with its id column: the named one, or a first column without name, called id, or of distinct texts."""
    columns = table.frame.columns
    if options.id_column is not None and options.id_column in columns:
        return replace(table, id_column=options.id_column)
    if not _is_range(table.frame.index) or len(columns) < 2:
        return table
    first = table.frame[columns[0]]
    names_features = options.samples == "columns" and not _is_range(columns)
    called_id = is_unnamed(columns[0]) or is_id_name(str(columns[0])) or names_features
    return replace(table, id_column=columns[0]) if called_id or _are_names(first, options) else table


def check_names(frame: Any, name: str) -> None:
    """Refuse a table with several levels of names, or with two columns of one name."""
    for axis, word in ((frame.index, "index"), (frame.columns, "header")):
        if axis.nlevels > 1:
            raise DataError(
                f"expected one level of names in the {word} of {name!r}, got {axis.nlevels}; keep one, or join them"
            )
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"expected columns of different names in {name!r}, got {twice!r} more than once; rename them")


def is_unnamed(column: Any) -> bool:
    """Whether a column has no name, or one that pandas made."""
    return str(column).strip() == "" or str(column).startswith("Unnamed: ")


def assemble(name: str, tables: Sequence[Table], options: Options) -> Dataset:
    """The data set in tables.

    A table of a single column of text holds labels: the first such table, or the one that `options.labels` names.
    """
    for table in tables:
        check_names(table.frame, table.name)
    identified = [find_ids(table, options) for table in tables]
    _check_ids(identified, options)
    frames = {table.name: table.indexed() for table in identified}
    labellings = {key: frame.iloc[:, 0] for key, frame in frames.items() if _is_labels(key, frame)}
    views = {key: frame for key, frame in frames.items() if key not in labellings}
    if not views:
        raise DataError(
            f"expected a table of numbers in {name}, got only labels ({some(list(labellings))}); add a view"
        )
    if options.samples == "columns":
        views = {key: _turned_table(frame, key) for key, frame in views.items()}
    label_name, labels, views = _choose_labels(labellings, views, options)
    notes = [note for table in tables for note in table.notes]
    notes += [] if label_name is None else [f"Labels are from {label_name!r}."]
    others = [key for key in labellings if key != label_name]
    if others:
        notes.append(f"Other labels, not read: {some(others)}; pass labels={others[0]!r} to use these.")
    views, changes = _numeric(views, options)
    views = {key: _without_codes(frame, options.missing) for key, frame in views.items()}
    changes += rounding(views)
    has_ids = identified[0].has_ids
    aligned_by = _id_notes(identified, options) if has_ids else ["Rows are aligned by position: no sample ids."]
    notes += [*changes, *aligned_by]
    if labels is not None and not has_ids:
        labels = labels.to_numpy()
    return Dataset(name, views, labels, notes=tuple(notes))


def _without_codes(frame: Any, missing: Sequence[str]) -> Any:
    """The frame with NaN in place of numbers that mean missing, however they are written: -999 is -999.0."""
    codes = [float(mark) for mark in missing if is_numeral(mark)]
    changed = {}
    for place, (_, column) in enumerate(frame.items()):
        if not codes or column.dtype.kind not in "iuf":
            continue
        coded = column.isin(codes).to_numpy(dtype=bool)
        if coded.any():
            whole = column.dtype.kind in "iu" and (column.abs() > 2**DOUBLE_BITS).any()
            changed[place] = (column.astype("Int64") if whole else column).mask(coded)
    if not changed:
        return frame
    pd = need("pandas", "pandas")
    columns = [changed.get(place, column) for place, (_, column) in enumerate(frame.items())]
    return pd.concat(columns, axis=1).set_axis(frame.columns, axis=1)


def is_numeral(cell: str) -> bool:
    """Whether a text is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _check_ids(tables: Sequence[Table], options: Options) -> None:
    """Check that all tables have sample ids, or that none has and they have equal lengths."""
    if options.id_column is not None:
        lacking = [table.name for table in tables if table.id_column != options.id_column]
        if lacking:
            raise DataError(
                f"expected the id column {options.id_column!r} in all tables, got none in {some(lacking)}; use one "
                "name in all tables"
            )
    named, plain = [t for t in tables if t.has_ids], [t for t in tables if not t.has_ids]
    if named and plain:
        raise DataError(
            f"expected sample ids in all tables or in none, got ids in {named[0].name!r} and none in "
            f"{plain[0].name!r}; name the column with id_column"
        )
    lengths = {table.name: len(table.frame) for table in plain}
    if len(set(lengths.values())) > 1:
        raise DataError(
            f"expected tables without sample ids to have equal numbers of rows, got {lengths}; add a column of ids"
        )


def _turned_table(frame: Any, name: str) -> Any:
    """A table of features as rows and samples as columns, with samples as rows; features of numbers are numeric."""
    if _is_range(frame.index):
        frame = frame.set_axis([str(row) for row in frame.index], axis=0)
    over = frame.set_axis(_checked_ids(frame.columns, name), axis=1).T
    if not any(dtype.kind == "O" for dtype in over.dtypes):
        return over
    return need("pandas", "pandas").concat([numbers_of(column) for _, column in over.items()], axis=1)


def numbers_of(column: Any) -> Any:
    """A column of texts or objects as numbers, if it holds nothing else."""
    if column.dtype.kind != "O":
        return column
    try:
        return need("pandas", "pandas").to_numeric(column)
    except (ValueError, TypeError):
        return column


def _are_names(column: Any, options: Options) -> bool:
    """Whether a column holds distinct texts, most of which are not numbers; a few ids that occur twice are refused."""
    pd = need("pandas", "pandas")
    if _is_numeric(column) or column.isna().any() or _is_nested(column):
        return False
    leaves_text = options.non_numeric in ("drop", "encode", "keep")
    asked_for = options.labels == column.name or leaves_text or options.id_column is not None
    if not column.is_unique and (asked_for or 2 * column.nunique() <= len(column)):
        return False
    return bool(pd.to_numeric(column, errors="coerce").isna().mean() > 0.5)


def id_text(one: Any) -> str:
    """An id of a table as text."""
    return one.decode(errors="replace") if isinstance(one, bytes) else str(one)


def _checked_ids(ids: Any, name: str) -> Any:
    pd = need("pandas", "pandas")
    blank = np.array([bool(lacks) or not str(one).strip() for lacks, one in zip(pd.isna(ids), ids, strict=True)])
    if blank.any():
        row = int(np.flatnonzero(blank)[0])
        raise DataError(f"expected an id for each sample of {name!r}, got none in row {row}; name this sample")
    index = pd.Index([id_text(i) for i in ids])
    if index.has_duplicates:
        raise DataError(f"expected one row per sample in {name!r}, got {repeated(index)}; keep one row of each")
    return index


def _is_labels(name: str, frame: Any) -> bool:
    if frame.shape[1] != 1:
        return False
    column = frame.iloc[:, 0]
    if _is_numeric(column):
        return is_label_name(name) or is_label_name(str(frame.columns[0]))
    if _is_nested(column):
        return False
    if column.nunique() == len(column) and len(column) > 2:
        raise DataError(
            f"expected columns separated by a comma, tab, semicolon, bar or space in {name!r}, got one column of "
            f"distinct texts such as {column.iloc[0]!r}; save it with one of these separators"
        )
    return True


def _choose_labels(
    labellings: dict[str, Any], views: dict[str, Any], options: Options
) -> tuple[str | None, Any, dict[str, Any]]:
    """The name of the labels, the labels, and the views without them."""
    wanted = options.labels
    if wanted is None:
        first = next(iter(labellings), None)
        return first, None if first is None else labellings[first], views
    by_column = {str(series.name): series for series in labellings.values()}
    if wanted in labellings or wanted in by_column:
        key = wanted if wanted in labellings else next(k for k, s in labellings.items() if str(s.name) == wanted)
        return key, labellings[key], views
    having = [key for key, frame in views.items() if wanted in frame.columns]
    if not having:
        raise DataError(
            f"expected labels={wanted!r} to name a table or a column, got another name; there are the labels "
            f"{list(labellings)} and the views {list(views)}"
        )
    labels = views[having[0]][wanted]
    return wanted, labels, {k: f.drop(columns=[wanted]) if k in having else f for k, f in views.items()}


def _numeric(views: dict[str, Any], options: Options) -> tuple[dict[str, Any], list[str]]:
    """Views of numbers and categories: other text is refused, dropped or encoded, as the options say."""
    out, notes = {}, []
    for name, frame in views.items():
        texts = [column for column in frame.columns if not _is_numeric(frame[column])]
        if options.non_numeric == "categories":
            found = {column: find_category(frame[column], str(column), name) for column in texts}
            notes += _category_notes(name, [category for category in found.values() if category is not None])
            texts = [column for column in texts if found[column] is None]
        if options.non_numeric == "keep":
            texts = []
        lists = [column for column in texts if _is_nested(frame[column])]
        if lists and options.non_numeric != "drop":
            raise DataError(_no_numbers(name, lists[0], "lists"))
        if texts and options.non_numeric in ("categories", "error"):
            raise DataError(_text_columns(name, frame, texts))
        if texts:
            done = "dropped" if options.non_numeric == "drop" else "encoded, one column per value"
            notes.append(f"Columns of text in {name!r} {done}: {some([str(c) for c in texts])}.")
            frame = frame.drop(columns=texts) if options.non_numeric == "drop" else _encoded(frame, texts)
        if frame.shape[1]:
            out[name] = frame
        else:
            notes.append(f"{name!r} has no column of numbers and is not a view.")
    if not out:
        raise DataError(f"expected columns of numbers, got none in {some(list(views))}; encode the text first")
    return out, notes


def _category_notes(name: str, categories: Sequence[Category]) -> list[str]:
    """A note on the columns that are read as categories."""
    if len(categories) == 1:
        (one,) = categories
        return [f"Column {one.column!r} of view {name!r} read as a category of {counted(len(one.levels), 'level')}."]
    found = [f"{one.column!r} ({counted(len(one.levels), 'level')})" for one in categories]
    return [f"Columns of view {name!r} read as categories: {listed(found)}."] if found else []


def _no_numbers(name: str, column: Any, words: str) -> str:
    """The error message for a column of values that are neither numbers nor text."""
    return (
        f"expected numbers in view {name!r}, got {words} in the column {str(column)!r}; store it as numbers, or pass "
        "non_numeric='drop'"
    )


def _text_columns(name: str, frame: Any, texts: list[Any]) -> str:
    """The error message for columns that hold text, alone or among numbers."""
    pd = need("pandas", "pandas")
    column = frame[texts[0]].dropna()
    kind = pd.api.types.infer_dtype(column).rstrip("0123456789")
    if column.dtype.kind != "O" or kind in _NO_TEXT:
        return _no_numbers(name, texts[0], _NO_TEXT.get(kind, f"values of the type {column.dtype}"))
    odd = column[pd.to_numeric(column, errors="coerce").isna()]
    if odd.empty:
        return _no_numbers(name, texts[0], f"values of the type {column.dtype}")
    for pattern, what, instead in _UNUSUAL:
        if odd.astype(str).str.fullmatch(pattern).all():
            return (
                f"expected numbers in view {name!r}, got {what} such as {str(odd.iloc[0])!r} in "
                f"{some([str(c) for c in texts])}; {instead}"
            )
    twice = column[column.duplicated()]
    if texts == [frame.columns[0]] and _is_range(frame.index) and len(twice) and 2 * column.nunique() > len(frame):
        return (
            f"expected numbers, or distinct sample ids, in the first column {texts[0]!r} of view {name!r}, got "
            f"{str(twice.iloc[0])!r} more than once; keep one row per sample, or pass non_numeric='drop'"
        )
    if len(odd) < len(column) and (odd.nunique() < len(odd) or len(odd) == 1):
        return (
            f"expected numbers in view {name!r}, got text such as {str(odd.iloc[0])!r} in {len(odd)} of {len(frame)} "
            f"rows of {some([str(c) for c in texts])}; pass missing=[{str(odd.iloc[0])!r}] if it marks a missing "
            "value, or non_numeric='drop' or 'encode'"
        )
    may_name = len(odd) == len(frame) and not len(twice)
    names = f"id_column={str(texts[0])!r} if it names the samples, or " if may_name else ""
    return (
        f"expected numbers in view {name!r}, got text in the columns {some([str(c) for c in texts])}; pass {names}"
        "non_numeric='drop' or 'encode', or name the column of classes with labels="
    )


def _encoded(frame: Any, texts: list[Any]) -> Any:
    """Each text column replaced by one column per value, 0 or 1, NaN where the text is missing."""
    pd = need("pandas", "pandas")
    parts = []
    for column in frame.columns:
        if column in texts:
            coded = pd.get_dummies(frame[column], prefix=column, prefix_sep="=", dtype=np.float64)
            parts.append(coded.mask(frame[column].isna(), np.nan))
        else:
            parts.append(frame[[column]])
    return pd.concat(parts, axis=1)


def _id_notes(tables: Sequence[Table], options: Options) -> list[str]:
    if options.samples == "columns":
        return ["Samples were columns and are rows now; they are aligned by the header."]
    columns = {"the index" if t.id_column is None else _shown(t.id_column) for t in tables}
    return [f"Samples are aligned by {' and '.join(sorted(columns))}."]


def _shown(column: Any) -> str:
    return "the first column, which has no name" if is_unnamed(column) else f"the column {column!r}"


def _is_numeric(column: Any) -> bool:
    pd = need("pandas", "pandas")
    return bool(pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype))


def _is_nested(column: Any) -> bool:
    """Whether a column holds lists, arrays or other values with parts."""
    return column.dtype == object and any(isinstance(one, list | dict | set | np.ndarray) for one in column)


def _is_range(index: Any) -> bool:
    return isinstance(index, need("pandas", "pandas").RangeIndex)
