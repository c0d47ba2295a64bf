"""DataFrames of polars, pyarrow and others, in and out through narwhals; a column of ids names their samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jella.numerics.optional import need
from jella.views.categories import (
    Category,
    cell_names,
    cell_places,
    expanded_names,
    indicators,
    most_probable,
    on_features,
    placed,
)
from jella.views.category_columns import find_category, level_codes, new_column
from jella.views.exact import is_exact, rounded
from jella.views.fill import fill_category
from jella.views.frames import Frame, check_numeric, checked_categories
from jella.views.id_columns import is_id_name


def read_other_frame(raw: Any, name: str, known: Sequence[Category] | None = None) -> Frame:
    """Numbers, ids and column names of a frame; columns that are not numeric are named in the error.

    Parameters
    ----------
    known : sequence of Category, optional
        The columns that are categories; as in `read_frame`.
    """
    frame = _opened(raw)
    columns = feature_columns(raw)
    _check_texts(frame, name)
    categories = other_categories(raw, name) if known is None else known
    places = placed(columns, categories)
    plain = [column for column, category in places if category is None]
    check_numeric([column for column in plain if not _is_number(frame[column].dtype)], name)
    types = {type(frame[column].dtype).__name__ for column in plain}
    dtype = np.float32 if types == {"Float32"} else np.float64
    features = expanded_names(columns, categories)
    values = np.empty((len(frame), len(features)), dtype=dtype)
    here = tuple(category for _, category in places if category is not None)
    for first, (column, category) in zip(cell_places(len(features), here)[0].tolist(), places, strict=True):
        if category is not None:
            codes = level_codes(_pandas(frame[column]), category, name)
            values[:, category.features] = indicators(codes, len(category.levels), dtype)
        else:
            values[:, first] = _numbers(frame[column])
            values[frame[column].is_null().to_numpy(), first] = np.nan
    return Frame(values, ids_of(raw), features, categories=here)


def other_categories(raw: Any, name: str) -> tuple[Category, ...]:
    """The columns of a frame that are categories."""
    frame, columns = _opened(raw), feature_columns(raw)
    others = [column for column in columns if _is_text(frame[column].dtype) or _is_truth(frame[column].dtype)]
    found = [find_category(_pandas(frame[column]), column, name) for column in others]
    return checked_categories([category for category in found if category is not None], columns, name)


def ids_of(raw: Any) -> Any:
    """The ids of the samples, a pandas Index; None if no column holds them."""
    frame = _opened(raw)
    column = id_column(frame)
    return None if column is None else need("pandas", "pandas").Index(frame[column].to_list(), name=column)


def as_pandas(raw: Any) -> Any:
    """The frame as DataFrame of pandas, with the ids as index if a column holds them."""
    frame = _opened(raw)
    out = need("pandas", "pandas").DataFrame({column: frame[column].to_list() for column in frame.columns})
    column = id_column(frame)
    return out if column is None else out.set_index(column)


def with_ids(raw: Any, names: Any) -> Any:
    """The frame with other ids in the column that holds them."""
    frame = _opened(raw)
    # the ids of samples that were drawn twice are not distinct
    column = id_column(frame) or next((one for one in frame.columns if _is_text(frame[one].dtype)), None)
    if column is None:
        raise ValueError(f"expected a frame with a column of ids, got the columns {frame.columns}; add one")
    nw = need("narwhals", "polars")
    return frame.with_columns(_series(frame, column, [str(name) for name in names], nw.String())).to_native()


def feature_columns(raw: Any) -> tuple[str, ...]:
    """The columns of a frame without that of the ids."""
    frame = _opened(raw)
    ids = id_column(frame)
    return tuple(column for column in frame.columns if column != ids)


def id_column(frame: Any) -> str | None:
    """The column with a usual name of ids, or else the only column of text if its values are distinct."""
    if len(frame.columns) < 2:
        return None
    called = [column for column in frame.columns if is_id_name(column)]
    texts = [column for column in frame.columns if _is_text(frame[column].dtype)]
    if called:
        return called[0]
    return texts[0] if len(texts) == 1 and frame[texts[0]].n_unique() == len(frame) else None


def fill_other_frame(
    raw: Any, lacked: Any, keep: np.ndarray, values: np.ndarray, categories: Sequence[Category] = ()
) -> Any:
    """A frame with `values` where `keep` is False: on its own samples and then on those it lacked.

    Columns keep their order and, where it can hold the values, their type: integers become floats, unless that would
    change a kept integer. Categories get their most probable level. Entries for which a value is NaN become missing.
    """
    frame = _opened(raw)
    ids = id_column(frame)
    places = np.concatenate([np.arange(len(frame)), np.zeros(len(lacked), dtype=int)]).tolist()
    own = frame[places] if len(lacked) else frame
    new = {}
    places = placed(feature_columns(raw), categories)
    here = [category for _, category in places if category is not None]
    keep, starts = on_features(keep, values.shape[1], here), cell_places(values.shape[1], here)[0]
    for j, (column, category) in zip(starts.tolist(), places, strict=True):
        if keep[:, j].all():
            continue
        if category is None:
            new[column] = _filled(own[column], keep[:, j], values[:, j])
        else:
            new[column] = _filled_category(own[column], category, keep[:, j], values[:, category.features])
    if ids is not None and len(lacked):
        new[ids] = _series(own, ids, [*frame[ids].to_list(), *lacked.tolist()], frame[ids].dtype)
    return _like_stored(own.with_columns(*new.values()) if new else own.clone(), frame)


def new_other_frame(
    like: Any, values: np.ndarray, sample_names: Any, feature_names: Any, categories: Sequence[Category] = ()
) -> Any:
    """A frame of the same library with other columns, and with the column of ids if there are names of samples."""
    frame = _opened(like)
    names = [f"feature{j}" for j in range(values.shape[1])] if feature_names is None else feature_names
    starts, _ = cell_places(len(names), categories)
    data: dict[str, Any] = dict(zip(cell_names(names, categories), values.T[starts], strict=True))
    for category in categories:
        codes = most_probable(values[:, category.features])
        data[category.column] = _cells(new_column(category, codes, range(len(codes))))
    ids = id_column(frame)
    if sample_names is not None:
        data = {"sample" if ids is None else ids: sample_names.tolist()} | data
    return need("narwhals", "polars").from_dict(data, backend=frame.implementation).to_native()


def mask_of_other_frame(raw: Any, name: str) -> tuple[Any, bool]:
    """A mask as DataFrame of pandas, and whether it names its samples."""
    mask = read_other_frame(raw, name, ())
    frame = need("pandas", "pandas").DataFrame(mask.values, index=mask.index, columns=mask.columns)
    return frame.fillna(0), mask.index is not None


def _check_texts(frame: Any, name: str) -> None:
    """Refuse a column of text that would hold the ids if no text came twice."""
    texts = [column for column in frame.columns if _is_text(frame[column].dtype)]
    if id_column(frame) is None and len(texts) == 1 and 2 * frame[texts[0]].n_unique() > len(frame):
        twice = frame[texts[0]].filter(frame[texts[0]].is_duplicated()).to_list()[0]
        raise ValueError(
            f"view {name!r} must have distinct ids in its column of text {texts[0]!r}, got {twice!r} more than once; "
            "keep one row per sample, or drop the column"
        )


def _filled(column: Any, keep: np.ndarray, values: np.ndarray) -> Any:
    """A column with new values where `keep` is False, missing where they are NaN."""
    nw = need("narwhals", "polars")
    known, dtype, put = _numbers(column), column.dtype, ~keep & ~np.isnan(values)
    if known.dtype.kind in "biu" and put.any() and is_exact(known[keep]):
        dtype = nw.Float64()
        column = _series(column, column.name, known.astype(np.float64), dtype)
    new = rounded(values, known.dtype) if dtype.is_integer() else values.astype(np.float64)
    cells = [value if there else None for value, there in zip(new.tolist(), put, strict=True)]
    made = _series(column, column.name, cells, dtype if dtype.is_integer() else nw.Float64()).cast(dtype)
    return column.zip_with(_series(column, "keep", keep, nw.Boolean()), made)


def _filled_category(column: Any, category: Category, keep: np.ndarray, values: np.ndarray) -> Any:
    """A column of categories with the most probable level where `keep` is False, missing where values are NaN."""
    made = fill_category(_pandas(column), range(len(keep)), category, keep, values)
    return _series(column, column.name, _cells(made), column.dtype)


def _pandas(column: Any) -> Any:
    """A column of text, categories or truth values as one of pandas."""
    pd = need("pandas", "pandas")
    cells, kind = column.to_list(), type(column.dtype).__name__
    if kind == "Enum":
        return pd.Series(pd.Categorical(cells, categories=list(column.dtype.categories), ordered=True))
    if kind == "Categorical":  # its levels are those that it has
        return pd.Series(pd.Categorical(cells))
    return pd.Series(cells, dtype="boolean" if kind == "Boolean" else object)


def _cells(column: Any) -> list[Any]:
    """The values of a column of pandas, None where it has none."""
    return [None if lacks else value for value, lacks in zip(column.tolist(), column.isna(), strict=True)]


def _opened(raw: Any) -> Any:
    return need("narwhals", "polars").from_native(raw, eager_only=True)


def _series(like: Any, name: str, values: Any, dtype: Any) -> Any:
    return need("narwhals", "polars").new_series(name, values, dtype, backend=like.implementation)


def _numbers(column: Any) -> np.ndarray:
    """The values of a column of numbers or booleans in their own type, zero where they are missing."""
    return column.fill_null(False if _is_truth(column.dtype) else 0).to_numpy()


def _is_number(dtype: Any) -> bool:
    return dtype.is_numeric() or _is_truth(dtype)


def _is_truth(dtype: Any) -> bool:
    return type(dtype).__name__ == "Boolean"


def _is_text(dtype: Any) -> bool:
    return type(dtype).__name__ in ("String", "Categorical", "Enum")


def _like_stored(frame: Any, source: Any) -> Any:
    """The native frame; pyarrow has several types for one of narwhals: those of the source for unchanged columns."""
    native, stored = frame.to_native(), source.to_native()
    if type(stored).__module__.partition(".")[0] != "pyarrow":
        return native
    schema = stored.schema
    for j, column in enumerate(frame.columns):
        if frame[column].dtype != source[column].dtype:
            schema = schema.set(j, native.schema.field(j))
    return native.cast(schema)
