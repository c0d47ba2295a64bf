"""MATLAB files: version 5 through SciPy, version 7.3 (HDF5) through h5py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from jella.io import kinds
from jella.io.dataset import Dataset, Options
from jella.io.errors import DataError, need
from jella.io.guard import OBJECT_BYTES, Budget
from jella.io.layout import Slot, find_layout
from jella.io.mat_check import check_mat
from jella.io.sparse_parts import check_indices, checked_sparse, sparse_bytes
from jella.io.stored import giving_arrays, restored, stored_like
from jella.io.trial import try_first


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

    check_mat(path)
    loaded = giving_arrays(loadmat)(path)
    return {name: _checked(value, path) for name, value in loaded.items() if not name.startswith("__")}


def _checked(value: Any, path: Path) -> Any:
    """A variable, after a check of the indices of its sparse matrices."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        for entry in value.ravel():
            _checked(entry, path)
    return checked_sparse(value, path) if sparse.issparse(value) else value


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
    try_first(path)
    with h5py.File(path, "r") as file:
        reader = _Hdf5(file, path)
        loaded = {name: reader.variable(item) for name, item in file.items() if not name.startswith("#")}
    return {name: value for name, value in loaded.items() if value is not None}


class _Hdf5:
    """Variables of an HDF5 file as loadmat would return them: HDF5 stores the axes in reverse order."""

    def __init__(self, file: Any, path: Path) -> None:
        self.file, self.path = file, path
        self.budget = Budget(path)  # cells refer to others, any number of times

    def variable(self, item: Any, depth: int = 0) -> Any:
        """The values of a dataset or group."""
        if "MATLAB_sparse" in item.attrs:
            return self._sparse(item)
        if not hasattr(item, "shape"):
            return None  # a struct: not a view
        if "MATLAB_empty" in item.attrs:
            return np.empty((0, 0))
        self.budget.need(OBJECT_BYTES + 8 * item.size)
        kind = item.attrs.get("MATLAB_class", b"double")
        values = np.asarray(item[()]).T
        if values.dtype.names == ("real", "imag"):
            return values["real"] + 1j * values["imag"]
        if kind == b"cell":
            return self._cells(values, depth)
        if kind == b"char":
            return np.array(["".join(map(chr, row)) for row in values])
        return values

    def _cells(self, references: np.ndarray, depth: int) -> np.ndarray:
        if depth > 50:
            raise DataError(
                f"expected at most 50 cells in one another in {self.path.name}, got more; store one matrix per view"
            )
        cells = np.empty(references.shape, dtype=object)
        cells.ravel()[:] = [None] * cells.size
        for place, reference in np.ndenumerate(references):
            cells[place] = self.variable(self.file[reference], depth + 1)
        return cells

    def _sparse(self, group: Any) -> sparse.csc_array:
        starts = np.asarray(group["jc"]).astype(np.int64)
        shape = (int(group.attrs["MATLAB_sparse"]), starts.size - 1)
        self.budget.need(sparse_bytes(shape, 0))
        if "data" not in group:
            return sparse.csc_array(shape)
        values, rows = np.asarray(group["data"]), np.asarray(group["ir"]).astype(np.int64)
        check_indices(starts, rows, len(values), (shape[1], shape[0]), self.path)
        return sparse.csc_array((values, rows, starts), shape=shape)
