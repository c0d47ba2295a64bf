"""MATLAB files: version 5 through SciPy, version 7.3 (HDF5) through h5py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from jella.io import kinds
from jella.io.dataset import Dataset, Options
from jella.io.errors import DataError, need
from jella.io.layout import Slot, find_layout
from jella.io.stored import giving_arrays, restored, stored_like


def read_mat(path: Path, options: Options) -> Dataset:
    """The data set in a MATLAB file."""
    variables = load_variables(path)
    layout = find_layout(variables, options, path.name)
    return Dataset(path.stem, layout.views(variables), layout.labels, notes=layout.notes)


def write_mat(views: dict[str, Any], path: Path, source: Path, options: Options) -> None:
    """Write the variables of the source with new values in the views, as a file of version 5."""
    from scipy.io import savemat

    variables = load_variables(source)
    places = find_layout(variables, options, source.name).places
    for name, values in views.items():
        place = places[name]
        new = _as_stored(variables, place, values)
        if place.cell is None:
            variables[place.variable] = new
        else:
            cells = variables[place.variable].copy()
            cells[np.unravel_index(place.cell, cells.shape)] = new
            variables[place.variable] = cells
    with path.open("wb") as file:
        savemat(file, variables, do_compression=True, long_field_names=True)


def load_variables(path: Path) -> dict[str, Any]:
    """The variables of a MATLAB file of any version, by name."""
    with path.open("rb") as file:
        head = file.read(520)
    if head.startswith(b"MATLAB 7.3") or b"\x89HDF" in head[:8] + head[512:]:
        return _load_hdf5(path)
    from scipy.io import loadmat

    try:
        loaded = giving_arrays(loadmat)(path)
    except Exception as error:  # SciPy raises a dozen kinds of errors, depending on where the bytes are wrong
        raise DataError(
            f"expected a MATLAB file, got bytes in {path.name} that are damaged or cut short ({error}); fetch it again"
        ) from error
    return {name: value for name, value in loaded.items() if not name.startswith("__")}


def _as_stored(variables: dict[str, Any], place: Slot, values: Any) -> Any:
    """Values in the orientation, kind and type that the file has."""
    old = place.value(variables)
    new = values.T if place.turned else values
    if place.cell is None and kinds.is_triplets(variables[place.variable]):
        return stored_like(kinds.to_triplets(new), variables[place.variable].dtype)
    new = restored(old, new)
    return sparse.csc_array(new) if sparse.issparse(new) else new


def _load_hdf5(path: Path) -> dict[str, Any]:
    h5py = need("h5py", "mat73")
    try:
        with h5py.File(path, "r") as file:
            loaded = {name: _variable(item, file) for name, item in file.items() if not name.startswith("#")}
    except (OSError, KeyError, RuntimeError) as error:
        raise DataError(
            f"expected a MATLAB 7.3 file, got bytes in {path.name} that are damaged or cut short; fetch it again"
        ) from error
    return {name: value for name, value in loaded.items() if value is not None}


def _variable(item: Any, file: Any) -> Any:
    """A dataset or group of an HDF5 file as loadmat would return it: HDF5 stores the axes in reverse order."""
    if "MATLAB_sparse" in item.attrs:
        return _sparse(item)
    if not hasattr(item, "dtype"):
        return None  # a struct: not a view
    if "MATLAB_empty" in item.attrs:
        return np.empty((0, 0))
    kind = item.attrs.get("MATLAB_class", b"double")
    values = np.asarray(item[()]).T
    if kind == b"cell":
        cells = np.empty(values.shape, dtype=object)
        cells.ravel()[:] = [None] * cells.size
        for place, reference in np.ndenumerate(values):
            cells[place] = _variable(file[reference], file)
        return cells
    if kind == b"char":
        return np.array(["".join(map(chr, row)) for row in values])
    return values


def _sparse(group: Any) -> sparse.csc_array:
    starts = np.asarray(group["jc"]).astype(np.int64)
    shape = (int(group.attrs["MATLAB_sparse"]), starts.size - 1)
    if "data" not in group:
        return sparse.csc_array(shape)
    return sparse.csc_array((np.asarray(group["data"]), np.asarray(group["ir"]).astype(np.int64), starts), shape=shape)
