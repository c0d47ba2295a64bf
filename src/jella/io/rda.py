"""R data files: lists of matrices with row names; parts (training and test samples) are stacked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from jella.io.dataset import Dataset, Options
from jella.io.errors import DataError, need
from jella.io.rda_check import checked_sequences, unpacked
from jella.io.tables import Table, assemble


def read_rda(path: Path, options: Options) -> Dataset:
    """The data set in an R data file (.rda, .RData, .rds)."""
    content = _load(path)
    while isinstance(content, Mapping) and len(content) == 1 and isinstance(next(iter(content.values())), Mapping):
        content = next(iter(content.values()))
    if not isinstance(content, Mapping):
        content = {path.stem: content}
    parts = {name: part for name, part in content.items() if isinstance(part, Mapping)}
    notes = (
        [f"Samples of {' and '.join(parts)} stacked; a view that is absent from one is missing for its samples."]
        if parts
        else []
    )
    over = options.samples == "columns"
    frames = _stacked(list(parts.values()), over) if parts else _frames(content, over)
    if not frames:
        raise DataError(f"expected matrices in {path.name}, got {list(content)[:5]}; save a list of matrices")
    dataset = assemble(path.stem, [Table(name, frame) for name, frame in frames.items()], options)
    return replace(dataset, notes=(*notes, *dataset.notes))


def _load(path: Path) -> Any:
    rdata = need("rdata", "r")
    parsed = rdata.parser.parse_data(
        unpacked(path),
        altrep_constructor_dict=checked_sequences(rdata.parser.DEFAULT_ALTREP_MAP, path),
        extension=path.suffix.lower() if path.suffix.lower() == ".rds" else ".rda",
    )
    return rdata.conversion.convert(parsed)


def _frames(part: Mapping[str, Any], over: bool = False) -> dict[str, Any]:
    """The matrices, data frames and factors of a list; those without row names get the names of the others' samples.

    Parameters
    ----------
    over : bool
        Whether samples are the columns of matrices and data frames.
    """
    pd = need("pandas", "pandas")
    frames = {str(name): frame for name, value in part.items() if (frame := _frame(str(name), value)) is not None}
    indices = [frame.columns if over else frame.index for frame in frames.values()]
    named = next((index for index in indices if len(index) > 1 and not isinstance(index, pd.RangeIndex)), None)
    if named is None:
        return frames
    return {
        name: frame.set_axis(named, axis=0)
        if isinstance(frame.index, pd.RangeIndex) and len(frame) == len(named)
        else frame
        for name, frame in frames.items()
    }


def _frame(name: str, value: Any) -> Any:
    pd = need("pandas", "pandas")
    if isinstance(value, pd.DataFrame):
        return value
    if hasattr(value, "dims"):  # an xarray.DataArray: a matrix with dimnames
        return value.to_pandas() if value.ndim == 2 else None
    if isinstance(value, pd.Categorical) or (isinstance(value, np.ndarray) and value.ndim == 1 and value.size > 1):
        return pd.DataFrame({name: np.asarray(value)})
    return pd.DataFrame(value) if isinstance(value, np.ndarray) and value.ndim == 2 else None


def _stacked(parts: list[Mapping[str, Any]], over: bool = False) -> dict[str, Any]:
    """Views of the same name stacked; features are matched by name."""
    pd = need("pandas", "pandas")
    read = [_frames(part, over) for part in parts]
    alike = {name: [part[name] for part in read if name in part] for part in read for name in part}
    return {name: pd.concat(frames, axis=1 if over and frames[0].shape[1] > 1 else 0) for name, frames in alike.items()}
