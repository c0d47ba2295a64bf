"""Frames and DataArrays of any library: the names of their samples and features, and new values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jella.views.categories import Category
from jella.views.containers import is_annotated, is_data_array, is_frame, is_other_frame
from jella.views.data_arrays import fill_data_array, read_data_array, sample_index
from jella.views.fill import fill_table
from jella.views.frames import column_names
from jella.views.other_frames import feature_columns, fill_other_frame, ids_of, with_ids


def names_of(raw: Any) -> Any:
    """The names of the samples of a raw view, a pandas Index; None where samples are known by position."""
    if is_frame(raw):
        return raw.index
    if is_annotated(raw):
        return raw.obs_names
    if is_data_array(raw):
        return sample_index(raw)
    return ids_of(raw) if is_other_frame(raw) else None


def renamed_samples(raw: Any, names: Any) -> Any:
    """The container with other names of its samples."""
    if is_frame(raw):
        return raw.set_axis(names, axis=0)
    if is_data_array(raw):
        return raw.assign_coords({raw.dims[0]: names})
    if is_other_frame(raw):
        return with_ids(raw, names)
    out = raw.copy()
    out.obs_names = names
    return out


def columns_of(raw: Any) -> tuple[str, ...]:
    """The names of the columns; none if the container does not name them."""
    if is_frame(raw):
        return column_names(raw)
    return read_data_array(raw, "").columns or () if is_data_array(raw) else feature_columns(raw)


def fill_named(raw: Any, lacked: Any, keep: np.ndarray, values: np.ndarray, categories: Sequence[Category] = ()) -> Any:
    """The container with `values` where `keep` is False, on its own samples and then on those it lacked.

    Parameters
    ----------
    lacked : pandas Index, or empty
    keep, values : arrays (n, d)
        n is the number of its own samples and of those it lacked; d that of its features, where a category has one
        per level.
    categories : sequence of Category
        The columns that are categories.
    """
    if is_data_array(raw):
        return fill_data_array(raw, lacked, keep, values)
    if not is_frame(raw):
        return fill_other_frame(raw, lacked, keep, values, categories)
    index = raw.index.append(lacked).set_names(raw.index.names) if len(lacked) else raw.index
    return fill_table(raw, index, keep, values, categories)
