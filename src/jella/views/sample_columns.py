"""What is known about samples besides their views: columns of a table, matched by the ids of the samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from jella.numerics.words import listed
from jella.views.containers import is_frame, is_other_frame
from jella.views.ids import IdRule
from jella.views.other_frames import as_pandas
from jella.views.overlap import ENOUGH

#: days of a mean year, and the length of an ISO date
DAYS, DATE = 365.2425, len("2015-01-31")
#: a column of numbers with more different values than this is a scale, not a set of categories
FEW_NUMBERS = 10


@dataclass(frozen=True, eq=False)
class SampleColumn:
    """One value per sample: a category or a number.

    Attributes
    ----------
    name : str
    values : array (n,)
        Positions among the levels, -1 where the value is not known; or numbers, NaN where it is not known.
    levels : tuple of str, or None for numbers

    Examples
    --------
    >>> SampleColumn.of("site", ["b", "a", None, "b"])
    SampleColumn(name='site', values=array([ 1,  0, -1,  1]), levels=('a', 'b'))
    """

    name: str
    values: np.ndarray
    levels: tuple[str, ...] | None = None

    @classmethod
    def of(cls, name: str, raw: Iterable[Any], few_numbers: float = FEW_NUMBERS) -> SampleColumn:
        """A column of numbers if it has more than a few different ones and nothing else; otherwise of categories.

        Dates count as numbers of years, and spans of time as numbers of days.

        >>> SampleColumn.of("day", [f"2015-01-{day:02d}" for day in range(1, 21)]).values[:2].round(3)
        array([2015.   , 2015.003])
        """
        cells = _cells(raw)
        known = ~np.array([_is_missing(cell) for cell in cells], dtype=bool)
        cells[known] = _times_as_numbers(cells[known], few_numbers)
        numeric = all(_is_number(cell) for cell in cells[known])
        if numeric and len(set(cells[known])) > few_numbers:
            numbers = [float(cell) if there else np.nan for cell, there in zip(cells, known, strict=True)]
            return cls(name, np.array(numbers, dtype=np.float64))
        order = sorted(set(cells[known])) if numeric else sorted({_word(cell) for cell in cells[known]})
        levels = tuple(dict.fromkeys(_word(cell) for cell in order))
        place = {level: position for position, level in enumerate(levels)}
        codes = [place[_word(cell)] if there else -1 for cell, there in zip(cells, known, strict=True)]
        return cls(name, np.array(codes, dtype=np.intp), levels)

    @property
    def known(self) -> np.ndarray:
        """Samples whose value is known, (n,) booleans."""
        return np.isfinite(self.values) if self.levels is None else self.values >= 0

    def take(self, rows: np.ndarray) -> SampleColumn:
        """The column of some of the samples."""
        return SampleColumn(self.name, self.values[rows], self.levels)


def read_columns(
    table: Any, sample_names: Any, n_samples: int, *, what: str = "metadata", ids: Any = "exact"
) -> dict[str, np.ndarray]:
    """The columns of a DataFrame or dict by name, each an array (n,) of objects in the order of the samples.

    Parameters
    ----------
    table : DataFrame, or dict of name -> column; None has no columns
        A DataFrame, or a Series, is aligned by its index if the samples have ids, so it may lack samples and have
        others. Anything else must be in the order of the samples.
    sample_names : pandas Index or None
        Ids of the samples.
    n_samples : int
    what : str
        What messages call the table.
    ids : as in `jella.align`
        How the ids of the table are changed before they are matched.
    """
    if table is None:
        return {}
    table = as_pandas(table) if is_other_frame(table) else table
    if is_series(table):
        table = {what if table.name is None else table.name: table}
    if not is_frame(table) and not isinstance(table, Mapping):
        raise ValueError(
            f"expected {what} to be a DataFrame or a dict of columns, got {type(table).__name__}; pass for "
            "example {'batch': batch}"
        )
    if not is_frame(table):
        return {
            str(name): read_column(column, str(name), sample_names, n_samples, ids=ids)
            for name, column in table.items()
        }
    frame = _aligned(table, sample_names, n_samples, what, ids)
    names = list(map(str, frame.columns))
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(
            f"expected {what} with each column once, got {listed([repr(one) for one in twice], 3)} more than once; "
            "rename or drop the others"
        )
    return {str(name): np.asarray(frame.iloc[:, j], dtype=object) for j, name in enumerate(frame.columns)}


def read_column(column: Any, name: str, sample_names: Any, n_samples: int, *, ids: Any = "exact") -> np.ndarray:
    """A column as an array (n,) of objects, aligned by its index if it and the samples have one."""
    if is_series(column):
        frame = _aligned(column.to_frame(), sample_names, n_samples, repr(name), ids)
        return np.asarray(frame.iloc[:, 0], dtype=object)
    values = np.asarray(column, dtype=object)
    if values.shape != (n_samples,):
        raise ValueError(
            f"expected one value of {name!r} for each of the {n_samples} samples, got shape {values.shape}; leave "
            "unknown ones as NaN or None"
        )
    return values


def is_series(column: Any) -> bool:
    """Whether a column has an index, as those of pandas."""
    return hasattr(column, "index") and hasattr(column, "to_frame")


def _aligned(frame: Any, sample_names: Any, n_samples: int, what: str, ids: Any) -> Any:
    """The rows of the samples, in their order; rows of NaN for samples that the frame lacks."""
    if sample_names is None:
        if len(frame) != n_samples:
            raise ValueError(
                f"expected {what} with {n_samples} rows, one per sample, got {len(frame)}; pass the samples in their "
                "order"
            )
        return frame
    index = IdRule.of(ids).index(frame.index, what)
    if index.has_duplicates:
        twice = listed([repr(one) for one in index[index.duplicated()].unique()], 3)
        raise ValueError(f"expected {what} with each sample once, got {twice} more than once; keep one row of each")
    if index.isin(sample_names).sum() < ENOUGH * min(len(frame), n_samples):
        raise ValueError(
            f"expected {what} with the names of the samples as index, such as {str(sample_names[0])!r}, got names that "
            f"do not match, such as {str(index[0])!r}; {_advice(frame, sample_names)}"
        )
    return frame.set_axis(index, axis=0).reindex(sample_names)


def _advice(frame: Any, sample_names: Any) -> str:
    for column in frame.columns:
        if frame[column].isin(sample_names).sum() >= ENOUGH * min(len(frame), len(sample_names)):
            return f"column {str(column)!r} has them: pass its set_index({str(column)!r})"
    return "set it to the names that the views have"


def _cells(raw: Iterable[Any]) -> np.ndarray:
    """A copy of a column as objects; times of NumPy become those of Python."""
    cells = raw if isinstance(raw, np.ndarray) else np.array(raw, dtype=object)
    return cells.astype(f"{cells.dtype.kind}8[us]").astype(object) if cells.dtype.kind in "mM" else cells.astype(object)


def _times_as_numbers(cells: np.ndarray, few_numbers: float) -> np.ndarray:
    """Dates as years and spans of time as days, if all cells are such and more than a few differ; else the cells."""
    if len(set(map(str, cells))) <= few_numbers:
        return cells
    if all(isinstance(cell, timedelta) for cell in cells):
        return np.array([cell / timedelta(days=1) for cell in cells], dtype=object)
    try:
        return np.array([_year(cell) for cell in cells], dtype=object)
    except (TypeError, ValueError):  # some are no dates
        return cells


def _year(cell: Any) -> float:
    """A date, or an ISO text of one, as a number of years."""
    if isinstance(cell, str) and (len(cell) < DATE or cell[4] != "-"):
        raise ValueError(f"expected a date such as '2015-01-31', got {cell!r}")
    when = datetime.fromisoformat(cell) if isinstance(cell, str) else cell
    if not isinstance(when, date):
        raise TypeError(f"expected a date, got {cell!r}")
    hours = when.hour + when.minute / 60 + when.second / 3600 if isinstance(when, datetime) else 0
    new_year = date(when.year, 1, 1).toordinal()
    return when.year + (when.toordinal() - new_year + hours / 24) / DAYS


def _word(cell: Any) -> str:
    if isinstance(cell, datetime) and cell == datetime(cell.year, cell.month, cell.day, tzinfo=cell.tzinfo):
        return cell.isoformat()[:DATE]  # no time of day
    return str(int(cell)) if _is_number(cell) and float(cell).is_integer() else str(cell)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float | np.integer | np.floating) and not isinstance(cell, bool | np.bool_)


def _is_missing(cell: Any) -> bool:
    if cell is None or str(cell) in ("<NA>", "NaT"):
        return True
    return bool(cell != cell) or (_is_number(cell) and bool(np.isinf(cell)))
