"""DataArrays of xarray, in and out: the first dimension holds the samples, its coordinate their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jella.views.containers import is_dask
from jella.views.fill import fill
from jella.views.frames import Frame


def read_data_array(raw: Any, name: str) -> Frame:
    """Values and names of a DataArray; its numbers keep their type."""
    if is_dask(raw.data):
        raise ValueError(
            f"expected view {name!r} in memory, got a DataArray in chunks; call its compute(), or pass its data, a "
            "Dask array"
        )
    columns = raw.indexes.get(raw.dims[1]) if raw.ndim == 2 else None
    return Frame(raw.to_numpy(), sample_index(raw), None if columns is None else tuple(map(str, columns)))


def sample_index(raw: Any) -> Any:
    """The coordinate of the samples, a pandas Index; None if there is none."""
    return raw.indexes.get(raw.dims[0]) if raw.dims else None


def fill_data_array(raw: Any, lacked: Any, keep: np.ndarray, values: np.ndarray) -> Any:
    """A DataArray with `values` where `keep` is False: on its own samples and then on those it lacked.

    Names, attributes and coordinates stay; samples that it lacked have no value in other coordinates.
    """
    own = raw.to_numpy()
    out = raw
    if len(lacked):
        own = np.concatenate([own, np.zeros((len(lacked), raw.shape[1]), dtype=own.dtype)])
        samples = sample_index(raw)
        out = raw.reindex({raw.dims[0]: samples.append(lacked).rename(samples.name)})
        out[raw.dims[0]].attrs.update(raw[raw.dims[0]].attrs)
    return out.copy(data=fill(own, keep, values))


def new_data_array(like: Any, values: np.ndarray, sample_names: Any, feature_names: Any, name: str) -> Any:
    """A DataArray of another view on the sample dimension of a given one."""
    import xarray as xr

    sample, feature = like.dims[0], f"{name}_feature"
    coords = {} if sample_names is None else {sample: sample_names}
    coords |= {} if feature_names is None else {feature: list(feature_names)}
    return xr.DataArray(values, dims=(sample, feature), coords=coords, name=name)


def mask_of_data_array(raw: Any, frame: Frame) -> tuple[Any, bool]:
    """A mask as pandas object, with the columns of the view where it has no names; and whether it names its samples."""
    mask = raw.to_pandas()
    if raw.ndim == 2 and raw.dims[1] not in raw.indexes and frame.columns and len(frame.columns) == raw.shape[1]:
        mask.columns = list(frame.columns)
    return mask, sample_index(raw) is not None


def check_variables(dataset: Mapping[str, Any]) -> None:
    """Refuse a Dataset whose variables do not have the same first dimension."""
    first = {name: array.dims[0] if array.dims else None for name, array in dataset.items()}
    if len(set(first.values())) > 1:
        raise ValueError(
            f"expected variables with the samples as first dimension, got the first dimensions {first}; transpose "
            "them, or pass some of the variables"
        )
