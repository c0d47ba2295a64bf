"""The kinds of pandas, for names of samples. Imported only if a model has such names."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from jella.saving.kinds import Kind, UnsaveableError
from jella.saving.rules import require

#: names of these kinds, known without pandas
NAMES = ("Index", "RangeIndex", "MultiIndex", "pandas scalar")
#: types of an index that stores its values one by one
LISTED = ("object", "str", "string")


@cache
def pandas_kinds() -> dict[type, Kind]:
    """All kinds of pandas, by the exact type of the values."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "expected pandas, since the model has names of samples, got none; run pip install 'jella[pandas]'"
        ) from None

    plain_types = (str, int, float, bytes, tuple, type(None), np.generic, pd.Timestamp, pd.Timedelta)

    def index(values: Any, dtype: str | None, name: Any) -> pd.Index:
        if not isinstance(values, np.ndarray):
            require(all(isinstance(value, plain_types) for value in values) and dtype in LISTED, "names in an index")
        return pd.Index(values, dtype=dtype, name=name, tupleize_cols=False)

    plain = Kind("Index", _index_apart, index, shared=True)
    # an index of one value stores it
    scalar = Kind("pandas scalar", lambda value: {"index": pd.Index([value])}, lambda index: index[0])
    return {
        pd.Index: plain,
        pd.DatetimeIndex: plain,
        pd.TimedeltaIndex: plain,
        pd.RangeIndex: Kind("RangeIndex", _range_apart, pd.RangeIndex, shared=True),
        pd.MultiIndex: Kind("MultiIndex", _multi_apart, pd.MultiIndex, shared=True),
        pd.Timestamp: scalar,
        pd.Timedelta: scalar,
    }


def _index_apart(index: Any) -> dict[str, Any]:
    if isinstance(index.dtype, np.dtype) and index.dtype.kind in "biufMm":
        return {"values": index.to_numpy(), "dtype": None, "name": index.name}
    if str(index.dtype) not in LISTED:
        raise UnsaveableError(f"a pandas index of {index.dtype}")
    return {"values": index.tolist(), "dtype": str(index.dtype), "name": index.name}


def _range_apart(index: Any) -> dict[str, Any]:
    return {name: getattr(index, name) for name in ("start", "stop", "step", "name")}


def _multi_apart(index: Any) -> dict[str, Any]:
    codes = [np.asarray(codes) for codes in index.codes]
    return {"levels": list(index.levels), "codes": codes, "names": list(index.names)}
