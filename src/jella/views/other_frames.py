"""DataFrames of polars, pyarrow and others, in and out through narwhals; a column of ids names their samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.numerics.optional import need
from jella.views.exact import is_exact, rounded
from jella.views.frames import Frame, check_numeric
from jella.views.id_columns import is_id_name


def read_other_frame(raw: Any, name: str) -> Frame:
    """Numbers, ids and column names of a frame; columns that are not numeric are named in the error."""
    frame = _opened(raw)
    columns = feature_columns(raw)
    _check_texts(frame, name)
    check_numeric([column for column in columns if not _is_number(frame[column].dtype)], name)
    types = [frame[column].dtype for column in columns]
    dtype = np.float32 if types and all(type(one).__name__ == "Float32" for one in types) else np.float64
    values = np.empty((len(frame), len(columns)), dtype=dtype)
    for j, column in enumerate(columns):
        values[:, j] = _numbers(frame[column])
        values[frame[column].is_null().to_numpy(), j] = np.nan
    return Frame(values, ids_of(raw), columns)


def ids_of(raw: Any) -> Any:
    """The ids of the samples, a pandas Index; None if no column holds them."""
    frame = _opened(raw)
    column = id_column(frame)
    return None if column is None else need("pandas", "pandas").Index(frame[column].to_list(), name=column)


def with_ids(raw: Any, names: Any) -> Any:
    """The frame with other ids in the column that holds them."""
    frame = _opened(raw)
    column = id_column(frame)
    assert column is not None
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


def fill_other_frame(raw: Any, lacked: Any, keep: np.ndarray, values: np.ndarray) -> Any:
    """A frame with `values` where `keep` is False: on its own samples and then on those it lacked.

    Columns keep their order and, where it can hold the values, their type: integers and booleans become floats, unless
    that would change a kept integer. Entries for which a value is NaN become missing.
    """
    frame = _opened(raw)
    ids = id_column(frame)
    places = np.concatenate([np.arange(len(frame)), np.zeros(len(lacked), dtype=int)]).tolist()
    own = frame[places] if len(lacked) else frame
    new = {}
    for j, column in enumerate(feature_columns(raw)):
        if not keep[:, j].all():
            new[column] = _filled(own[column], keep[:, j], values[:, j])
    if ids is not None and len(lacked):
        new[ids] = _series(own, ids, [*frame[ids].to_list(), *lacked.tolist()], frame[ids].dtype)
    return _like_stored(own.with_columns(*new.values()) if new else own.clone(), frame)


def new_other_frame(like: Any, values: np.ndarray, sample_names: Any, feature_names: Any) -> Any:
    """A frame of the same library with other columns, and with the column of ids if there are names of samples."""
    frame = _opened(like)
    names = [f"feature{j}" for j in range(values.shape[1])] if feature_names is None else feature_names
    data: dict[str, Any] = dict(zip(names, values.T, strict=True))
    ids = id_column(frame)
    if sample_names is not None:
        data = {"sample" if ids is None else ids: sample_names.tolist()} | data
    return need("narwhals", "polars").from_dict(data, backend=frame.implementation).to_native()


def mask_of_other_frame(raw: Any, name: str) -> tuple[Any, bool]:
    """A mask as DataFrame of pandas, and whether it names its samples."""
    mask = read_other_frame(raw, name)
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


def _opened(raw: Any) -> Any:
    return need("narwhals", "polars").from_native(raw, eager_only=True)


def _series(like: Any, name: str, values: Any, dtype: Any) -> Any:
    return need("narwhals", "polars").new_series(name, values, dtype, backend=like.implementation)


def _numbers(column: Any) -> np.ndarray:
    """The values of a column of numbers or booleans in their own type, zero where they are missing."""
    return column.fill_null(False if type(column.dtype).__name__ == "Boolean" else 0).to_numpy()


def _is_number(dtype: Any) -> bool:
    return dtype.is_numeric() or type(dtype).__name__ == "Boolean"


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
