"""The containers of users: which one X is, and one value per view in the same kind of container.

Containers are recognised by what they offer: pandas, xarray, polars, AnnData, MuData and Dask are not imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

#: what the classes of AnnData and MuData have; asked of the class, because a DataFrame may have a column of any name
_NAMES = ("obs_names", "var_names")


def is_frame(raw: Any) -> bool:
    """Whether raw is a pandas DataFrame, or offers the same."""
    return hasattr(raw, "iloc") and hasattr(raw, "columns") and hasattr(raw, "index")


def is_annotated(raw: Any) -> bool:
    """Whether raw is an AnnData: one matrix X whose observations and variables have names."""
    return all(hasattr(type(raw), names) for names in _NAMES) and hasattr(type(raw), "X")


def is_mudata(X: Any) -> bool:
    """Whether X is a MuData: several modalities, each with its own observations."""
    return all(hasattr(type(X), names) for names in _NAMES) and hasattr(X, "mod")


def is_data_array(raw: Any) -> bool:
    """Whether raw is a DataArray of xarray; its Dataset is a dict of them."""
    return all(hasattr(type(raw), part) for part in ("dims", "coords", "indexes")) and not isinstance(raw, Mapping)


def is_variables(X: Any) -> bool:
    """Whether X is a Dataset of xarray: variables by name, each of which is a DataArray."""
    return isinstance(X, Mapping) and hasattr(type(X), "data_vars")


def is_other_frame(raw: Any) -> bool:
    """Whether raw is a DataFrame of polars, a Table of pyarrow or similar: columns in memory, and no index."""
    streams = hasattr(type(raw), "__arrow_c_stream__") or hasattr(type(raw), "__dataframe__")
    return streams and hasattr(type(raw), "columns") and not is_frame(raw)


def is_dask(raw: Any) -> bool:
    """Whether raw is a Dask collection itself; an object that only contains one is not."""
    return type(raw).__module__.partition(".")[0] in ("dask", "dask_expr")


def is_chunked(X: Any) -> bool:
    """Whether X is a Dask collection, or has one among its views."""
    views = X.values() if isinstance(X, Mapping) else X if isinstance(X, list | tuple) else [X]
    return any(is_dask(view) for view in views)


def is_single(X: Any) -> bool:
    """Whether X is one 2-D array rather than a collection of views."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and not any(_is_matrix(item) for item in X)
    return not isinstance(X, Mapping) and not is_mudata(X) and (hasattr(X, "shape") or hasattr(X, "__array__"))


def check_given(X: Any) -> None:
    """Refuse paths and lazy frames, which are not data yet, and say how to get the data."""
    items = list(X.values()) if isinstance(X, Mapping) else list(X) if isinstance(X, list | tuple) else [X]
    for item in items:
        if isinstance(item, str | PathLike):
            paths = [str(one) for one in items if isinstance(one, str | PathLike)]
            where = paths if len(paths) > 1 else paths[0]
            raise ValueError(
                f"expected views, got the text {str(item)!r}; if it is a file, pass jella.io.read({where!r}).views"
            )
        if hasattr(type(item), "collect_schema") and not hasattr(type(item), "shape"):
            raise ValueError(f"expected a frame in memory, got a {type(item).__name__}; call its collect() first")


def collect(values: Sequence[Any], X: Any, names: Sequence[str]) -> Any:
    """One value per view in the container of X: a dict with the keys of X first, in their order; or a tuple or list."""
    X = X.mod if is_mudata(X) else X
    if isinstance(X, Mapping):
        by_name = dict(zip(names, values, strict=True))
        own = {key: by_name.pop(str(key)) for key in X}
        return own | by_name
    return tuple(values) if isinstance(X, tuple) and not is_single(X) else list(values)


def _is_matrix(item: Any) -> bool:
    if item is None or hasattr(item, "shape"):
        return item is None or len(item.shape) >= 2
    return isinstance(item, list | tuple) and len(item) > 0 and isinstance(item[0], list | tuple | np.ndarray)
