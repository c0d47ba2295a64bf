"""The places of a view's rows in the table that it was read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.io.errors import DataError, need
from jella.io.stored import stored_like
from jella.io.tables import Table


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
        ids, wanted = table.indexed().index, pd.Index([str(i) for i in view.index])
        return cls(wanted.get_indexer(ids), np.flatnonzero(~wanted.isin(ids)))

    @property
    def order(self) -> np.ndarray:
        """Position in the view of each row to be written."""
        return np.concatenate([self.positions, self.extra])


def merged(table: Table, view: Any) -> Any:
    """The table with the values of the view, its other columns unchanged, and the samples that it lacked."""
    rows = Rows.of(table, view)
    out = _extended(table, view, rows)
    there = np.flatnonzero(rows.order >= 0)
    for column in view.columns:
        new = view[column].array.take(rows.order[there])
        if there.size == len(out):
            out[column] = _typed(new, table.frame[column].dtype) if column in table.frame else new
        else:
            out.iloc[there, out.columns.get_loc(column)] = new
    return out


def _typed(values: Any, dtype: Any) -> Any:
    """Values in the type of the table's column, if that is a NumPy type and changes no value."""
    plain = isinstance(dtype, np.dtype) and isinstance(values.dtype, np.dtype)
    return stored_like(values.to_numpy(), dtype) if plain else values


def _extended(table: Table, view: Any, rows: Rows) -> Any:
    """The table with rows for additional samples, which have an id and no values yet."""
    pd = need("pandas", "pandas")
    if not rows.extra.size:
        return table.frame.copy()
    names = view.index[rows.extra]
    if table.id_column is None:
        index = table.frame.index.append(pd.Index(names).astype(table.frame.index.dtype))
        return table.frame.reindex(index).rename_axis(table.frame.index.name)
    out = table.frame.reindex(range(len(table.frame) + rows.extra.size))
    column = table.frame[table.id_column]
    out[table.id_column] = pd.concat([column, pd.Series(names).astype(column.dtype)], ignore_index=True)
    return out
