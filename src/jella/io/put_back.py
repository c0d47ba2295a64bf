"""The places of a view's rows in the table that it was read from."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.io.errors import DataError, need
from jella.io.stored import stored_like
from jella.io.tables import Table, id_text
from jella.views.fill import fill_frame, nullable
from jella.views.frames import numpy_dtype


@dataclass(frozen=True)
class Rows:
    """The rows of a table in a view, and the samples that the table lacks."""

    positions: np.ndarray  # position in the view of each row of the table, -1 if the view lacks it
    extra: np.ndarray  # positions of the view's samples that the table lacks

    @classmethod
    def of(cls, table: Table, view: Any) -> Rows:
        """Match by sample id, or by position if the table has no ids."""
        if not table.has_ids:
            if len(view) != len(table.frame):
                raise DataError(
                    f"expected the {len(table.frame)} rows of {table.name!r}, got {len(view)}; pass the same samples"
                )
            return cls(np.arange(len(view)), np.empty(0, dtype=int))
        pd = need("pandas", "pandas")
        ids, wanted = table.indexed().index, pd.Index([id_text(i) for i in view.index])
        return cls(wanted.get_indexer(ids), np.flatnonzero(~wanted.isin(ids)))

    @property
    def order(self) -> np.ndarray:
        """Position in the view of each row to be written."""
        return np.concatenate([self.positions, self.extra])


def numbers(column: Any) -> np.ndarray:
    """The values of a column; integers of Python and NaN if its type is one of nullable integers, NaN for text."""
    if column.dtype.kind == "O":
        column = need("pandas", "pandas").to_numeric(column, errors="coerce")
    if column.dtype.kind == "f":
        return column.to_numpy(dtype=numpy_dtype(column.dtype), na_value=np.nan)
    return column.to_numpy(dtype=object, na_value=np.nan) if column.hasnans else column.to_numpy()


def has_levels(column: Any) -> bool:
    """Whether a column of a view holds the levels of a category, texts or truth values, rather than numbers."""
    return bool(column.dtype.kind in "Ob" or column.dtype == "string")


def cells(column: Any) -> np.ndarray:
    """The values of a column of a view: numbers, or the levels of a category with NaN where there is none."""
    return column.astype(object).where(column.notna(), np.nan).to_numpy() if has_levels(column) else numbers(column)


def unchanged(stored: Any, new: Any, rows: Rows) -> np.ndarray:
    """Whether each row of a stored column has the same value in the column of the view, up to its floating type."""
    if has_levels(new):
        return (rows.positions < 0) | _same_texts(stored, cells(new)[rows.positions])
    old, now = numbers(stored), numbers(new)[rows.positions]
    if now.dtype.kind == "f":
        old = old.astype(now.dtype)  # the view may hold what reading made of an integer
    return np.asarray((rows.positions < 0) | (old == now) | ((old != old) & (now != now)), dtype=bool)


def _same_texts(stored: Any, now: np.ndarray) -> np.ndarray:
    """Where a stored column has these levels of a category, or these numbers, or neither has anything."""
    pd = need("pandas", "pandas")
    old = cells(stored.astype(object))
    alike = numbers(stored.astype(object)) == pd.to_numeric(pd.Series(now), errors="coerce").to_numpy()
    return np.asarray((old == now) | alike | (pd.isna(old) & pd.isna(now)), dtype=bool)


def merged(table: Table, view: Any) -> Any:
    """The table with the values of the view, its other columns unchanged, and the samples that it lacked."""
    rows = Rows.of(table, view)
    out = _extended(table, view, rows)
    there = np.flatnonzero(rows.order >= 0)
    for column in view.columns:
        if column in table.frame:
            out[column] = _column(table.frame[column], view[column], rows, out.index)
        elif there.size == len(out):
            out[column] = view[column].array.take(rows.order)
        else:
            out.loc[out.index[there], column] = view[column].array.take(rows.order[there])
    return out


def _column(stored: Any, new: Any, rows: Rows, index: Any) -> Any:
    """The stored column, then the additional samples; only values that differ from what was read are new."""
    keep = np.concatenate([unchanged(stored, new, rows), np.zeros(rows.extra.size, dtype=bool)])
    values = cells(new)[np.maximum(rows.order, 0)]
    if has_levels(new):
        levels = np.where(keep, np.array([*stored, *[None] * rows.extra.size], dtype=object), values)
        return need("pandas", "pandas").Series(levels, index, dtype=stored.dtype).array
    if stored.dtype.kind == "O":  # texts, since other rows of the table hold words
        texts = [*stored, *[None] * rows.extra.size]
        return [old if kept else str(new) for old, kept, new in zip(texts, keep, values.tolist(), strict=True)]
    values = values if values.dtype.kind == "f" else values.astype(np.float64)
    out = fill_frame(stored.to_frame(), index, keep[:, None], values[:, None]).iloc[:, 0]
    plain = isinstance(stored.dtype, np.dtype) and isinstance(out.dtype, np.dtype)
    return stored_like(out.to_numpy(), stored.dtype) if plain else out.array


def _extended(table: Table, view: Any, rows: Rows) -> Any:
    """The table with rows for additional samples, which have an id and no values yet."""
    pd = need("pandas", "pandas")
    if not rows.extra.size:
        return table.frame.copy()
    names = view.index[rows.extra]
    whole = [c for c, dtype in table.frame.dtypes.items() if isinstance(dtype, np.dtype) and dtype.kind in "iu"]
    own = table.frame.astype({column: nullable(table.frame[column].dtype) for column in whole})
    stored = table.frame.index if table.id_column is None else table.frame[table.id_column]
    ids = joined_ids(pd.Index(stored), list(names))
    out = own.reset_index(drop=True).reindex(range(len(own) + rows.extra.size))
    if table.id_column is None:
        return out.set_axis(ids, axis=0)
    out[table.id_column] = ids
    return out


def joined_ids(stored: Any, names: list[Any]) -> Any:
    """The stored ids, then those of additional samples; all of them as text if the stored type cannot hold the new.

    >>> import pandas as pd
    >>> joined_ids(pd.Index([7, 8]), ["9"]).tolist(), joined_ids(pd.Index([7, 8]), ["09"]).tolist()
    ([7, 8, 9], ['7', '8', '09'])
    """
    pd = need("pandas", "pandas")
    if isinstance(stored.dtype, pd.CategoricalDtype):
        known = stored.dtype.categories
        made = joined_ids(pd.Index(stored.to_numpy(), dtype=known.dtype), names)
        categories = joined_ids(known, names).unique()
        return pd.CategoricalIndex(made, categories, ordered=stored.dtype.ordered, name=stored.name)
    texts = [id_text(name) for name in names]
    as_bytes = len(stored) > 0 and all(isinstance(one, bytes) for one in stored)
    with suppress(ValueError, TypeError, OverflowError):
        new = pd.Index([t.encode() for t in texts] if as_bytes else texts, dtype=object).astype(stored.dtype)
        if [id_text(one) for one in new] == texts:
            return stored.append(new)
    return pd.Index([*map(id_text, stored), *texts], name=stored.name)
