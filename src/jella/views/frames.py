"""Values of a view while it is read, with their names; DataFrames, and alignment by the names of samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array
from jella.numerics.words import counted, listed
from jella.views.categories import (
    Category,
    cell_names,
    cell_places,
    expanded_names,
    indicators,
    most_probable,
    placed,
)
from jella.views.category_columns import find_category, is_number_column, level_codes, new_column


@dataclass(frozen=True)
class Frame:
    """Values of one view while it is read, with names and the mask of the user."""

    values: Array  # (n, d) or CSR
    index: Any = None
    columns: tuple[str, ...] | None = None
    observed: Array | None = None  # (n, 1) or (n, d) booleans: the mask of the user
    categories: tuple[Category, ...] = ()  # columns whose features are indicators
    absent: np.ndarray | None = None  # (n,) samples that the frame did not have before alignment
    first_row: int = 0  # number of the first row in messages

    def take_columns(self, order: Sequence[int], categories: tuple[Category, ...]) -> Frame:
        """The frame, and its mask, with the columns in another order, in which the categories are where they say."""
        columns = None if self.columns is None else tuple(self.columns[j] for j in order)
        observed = self.observed
        if observed is not None and observed.shape[1] > 1:
            observed = observed[:, order]
        return replace(self, values=self.values[:, order], columns=columns, observed=observed, categories=categories)

    def place(self, index: Any) -> Frame:
        """The frame on all samples of an index; those it does not have are absent."""
        if self.index.equals(index):
            return replace(self, absent=np.zeros(len(index), dtype=bool))
        positions = self.index.get_indexer(index)  # -1, the last row, for a sample that the frame lacks
        observed = None if self.observed is None else _take(self.observed, positions, False)
        return replace(
            self,
            values=_take(self.values, positions, np.nan),
            index=index,
            observed=observed,
            absent=positions < 0,
        )

    def locate(self, row: int, column: int) -> str:
        """The name of an entry in messages: its own names where it has them, else its position."""
        feature = int(column) if self.columns is None else repr(self.columns[column])
        sample = f"row {self.first_row + int(row)}" if self.index is None else f"sample {label(self.index, row)}"
        return f"{sample}, column {feature}"


def label(index: Any, row: int) -> str:
    """The name of a sample of an index in messages."""
    return repr(index[row : row + 1].tolist()[0])


def column_names(raw: Any) -> tuple[str, ...]:
    """Names of a DataFrame's columns."""
    return tuple(str(column) for column in raw.columns)


def column_order(columns: tuple[str, ...], wanted: tuple[str, ...]) -> list[int] | None:
    """Position of each wanted column among the columns; None where the two are not the same set of names."""
    if columns == wanted:
        return list(range(len(wanted)))
    position = {column: j for j, column in enumerate(columns)}
    if len(position) != len(columns) or len(columns) != len(wanted) or position.keys() != set(wanted):
        return None
    return [position[column] for column in wanted]


def read_frame(raw: Any, name: str, known: Sequence[Category] | None = None) -> Frame:
    """Numbers, index and column names of a DataFrame; columns that are not numeric are named in the error.

    Parameters
    ----------
    known : sequence of Category, optional
        The columns that are categories; all others must be numbers or truth values. By default columns of truth
        values, of categories, and of text with few levels are categories.
    """
    import pandas as pd

    columns = column_names(raw)
    categories = frame_categories(raw, columns, name) if known is None else _present(known, columns)
    here = {category.column for category in categories}
    kinds = [(column, dtype) for column, dtype in zip(columns, raw.dtypes, strict=True) if column not in here]
    wrong = [column for column, dtype in kinds if not _is_number(dtype)]
    refuse_objects([columns.index(column) for column in wrong], raw, name)
    check_numeric(wrong, name)
    dtype = np.float32 if kinds and all(numpy_dtype(dtype) == np.float32 for _, dtype in kinds) else np.float64
    if categories:
        return _expanded(raw, columns, categories, dtype, name)
    if raw.shape[1] and all(isinstance(dtype, pd.SparseDtype) and dtype.fill_value == 0 for dtype in raw.dtypes):
        return Frame(sparse.csr_array(raw.sparse.to_coo(), dtype=dtype), raw.index, columns)
    return Frame(raw.to_numpy(dtype=dtype, na_value=np.nan), raw.index, columns)


def frame_categories(raw: Any, columns: Sequence[str], name: str) -> tuple[Category, ...]:
    """The columns of a DataFrame that are categories."""
    numbers = {dtype: is_number_column(dtype) for dtype in set(raw.dtypes)}
    others = [j for j, dtype in enumerate(raw.dtypes) if not numbers[dtype]]
    found = [find_category(raw.iloc[:, j], columns[j], name) for j in others]
    return checked_categories([category for category in found if category is not None], columns, name)


def checked_categories(found: Sequence[Category], columns: Sequence[str], name: str) -> tuple[Category, ...]:
    """The categories; refused where their columns, or the features that they become, have the name of another."""
    names = expanded_names(columns, found) if found else ()
    twice = next((one for one, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"expected features of different names in view {name!r}, got {twice!r} twice; rename a column")
    return tuple(found)


def _present(known: Sequence[Category], columns: Sequence[str]) -> tuple[Category, ...]:
    """The known categories that are among the columns."""
    return tuple(category for category in known if category.column in columns)


def _expanded(raw: Any, columns: Sequence[str], categories: Sequence[Category], dtype: Any, name: str) -> Frame:
    """The values of a DataFrame with indicators in the place of the columns that are categories."""
    places = placed(columns, categories)
    values = np.empty((len(raw), len(expanded_names(columns, categories))), dtype=dtype)
    first = 0
    for j, (_, category) in enumerate(places):
        if category is None:
            values[:, first] = raw.iloc[:, j].to_numpy(dtype=dtype, na_value=np.nan)
            first += 1
        else:
            codes = level_codes(raw.iloc[:, j], category, name)
            values[:, category.features] = indicators(codes, len(category.levels), dtype)
            first = category.features.stop
    here = tuple(category for _, category in places if category is not None)
    return Frame(values, raw.index, expanded_names(columns, categories), categories=here)


def is_sparse_frame(raw: Any) -> bool:
    """Whether all columns of a DataFrame are sparse."""
    return raw.shape[1] > 0 and all(hasattr(dtype, "subtype") for dtype in set(raw.dtypes))


def check_numeric(wrong: list[str], name: str) -> None:
    """Refuse a view with columns that do not hold numbers."""
    if wrong:
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise ValueError(
            f"view {name!r} must hold real numbers, got non-numeric columns {wrong[:5]}{more}; make a column "
            "of sample ids the index, encode or drop the others"
        )


def refuse_objects(positions: Sequence[int], raw: Any, name: str) -> None:
    """Refuse columns that hold numbers, or truth values, in a type for any object: the type says nothing of them."""
    import pandas as pd

    kinds = {"integer", "floating", "mixed-integer-float", "decimal"}
    found = [j for j in positions if pd.api.types.is_object_dtype(raw.dtypes.iloc[j])]
    if found and all(pd.api.types.infer_dtype(raw.iloc[:, j], skipna=True) in kinds for j in found):
        columns = [str(raw.columns[j]) for j in found[:5]]
        raise ValueError(
            f"expected columns of a numeric type in view {name!r}, got numbers of type object in {columns}; convert "
            "them with pandas.to_numeric"
        )


def check_unique(index: Any, name: str) -> Any:
    """The index of a view, which must have an id for each sample, and none more than once."""
    if index.nlevels == 1 and index.hasnans:
        row = int(np.flatnonzero(index.isna())[0])
        raise ValueError(f"expected an id for each sample of view {name!r}, got none in row {row}; name this sample")
    if not index.has_duplicates:
        return index
    twice = index.duplicated()
    if twice.any():
        raise ValueError(f"view {name!r} has {repeated(index)}; keep one row per sample")
    return index.take(np.arange(len(index)))  # a part of an index with duplicates: pandas takes it for one with some


def repeated(index: Any) -> str:
    """Which ids an index has more than once, and how many they are.

    >>> import pandas as pd
    >>> repeated(pd.Index(["a", "b", "a", "c", "b"]))
    "the samples 'a' and 'b' more than once"
    """
    twice = [repr(one) for one in index[index.duplicated()].unique().tolist()]
    return f"the sample{'s' * (len(twice) > 1)} {listed(twice, 3)} more than once"


def check_levels(names: Sequence[str], indices: Sequence[Any]) -> None:
    """Refuse an index of several levels beside one of another number of levels: no ids can match."""
    for name, index in zip(names, indices, strict=True):
        if index.nlevels != indices[0].nlevels:
            raise ValueError(
                f"expected ids of {counted(indices[0].nlevels, 'level')} in view {name!r} as in {names[0]!r}, got "
                f"{index.nlevels}; give all views the same kind of index"
            )


def with_others(ids: Any, own: Any) -> Any:
    """Ids, and after them those of a view that are not among them."""
    others = own[~own.isin(ids)]
    return ids.append(others) if len(others) else ids


def on_union(frames: Sequence[Frame | None], names: Sequence[str]) -> tuple[list[Frame | None], Any]:
    """Frames with an index, each on the union of all samples; and the union."""
    present = [frame for frame in frames if frame is not None]
    plain = [name for name, f in zip(names, frames, strict=True) if f is not None and f.index is None]
    if plain:
        raise ValueError(
            f"view {plain[0]!r} has no index while others are DataFrames; pass all views as DataFrames, or none"
        )
    check_levels([n for n, f in zip(names, frames, strict=True) if f is not None], [frame.index for frame in present])
    union = present[0].index
    for frame in present[1:]:
        union = with_others(union, frame.index)
    return [None if frame is None else frame.place(union) for frame in frames], union


def _take(values: Array, positions: np.ndarray, elsewhere: float) -> Array:
    """Rows of the values at these positions; -1 means a row of `elsewhere`, or an empty one in a sparse array."""
    d = values.shape[1]
    if sparse.issparse(values):
        return sparse.vstack([values, sparse.csr_array((1, d), dtype=values.dtype)], format="csr")[positions]
    return np.concatenate([values, np.full((1, d), elsewhere, dtype=values.dtype)])[positions]


def _is_number(dtype: Any) -> bool:
    import pandas as pd

    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype)


def numpy_dtype(dtype: Any) -> Any:
    """The NumPy type that corresponds to a nullable or sparse column type."""
    return getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype))


def new_frame(
    values: Any, sample_names: Any, feature_names: tuple[str, ...] | None, categories: Sequence[Category] = ()
) -> Any:
    """A DataFrame of values, dense or sparse, and names, with a column for each category."""
    import pandas as pd

    make: Any = pd.DataFrame
    make = make.sparse.from_spmatrix if sparse.issparse(values) else make
    frame = make(values, index=sample_names, columns=feature_names)
    if not categories or feature_names is None:
        return frame
    starts, _ = cell_places(len(feature_names), categories)
    out = frame.iloc[:, starts].set_axis(cell_names(feature_names, categories), axis=1)
    for category in categories:
        out[category.column] = new_column(category, most_probable(values[:, category.features]), out.index)
    return out
