"""NumPy archives: one array per view, with labels and sample names as further arrays."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from jella.io.dataset import Dataset, Options
from jella.io.errors import DataError, need
from jella.io.file_names import name_of
from jella.io.guard import Budget, damaged
from jella.io.layout import find_layout
from jella.io.sparse_parts import as_csr
from jella.io.stored import restored
from jella.io.zip_check import check_archive
from jella.saving.archive import write_member
from jella.views.containers import is_frame
from jella.views.frames import is_sparse_frame


def read_npz(path: Path, options: Options) -> Dataset:
    """The data set in a NumPy archive; views become DataFrames if it holds sample names."""
    variables = {name_of(member): array for member, array in _load(path).items()}
    layout = find_layout(variables, options, path.name)
    views, labels = layout.views(variables), layout.labels
    n = next(iter(views.values())).shape[0]
    names = _sample_names(variables, n)
    notes = [*layout.notes, *(f"The file says: {value}" for value in variables.values() if _is_text(value))]
    if names is None:
        return Dataset(path.stem, views, labels, notes=tuple(notes))
    pd = need("pandas", "pandas")
    index = pd.Index(variables[names])
    notes.append(f"Sample names are from {names!r}.")
    return Dataset(
        path.stem,
        {name: _named(view, index) for name, view in views.items()},
        None if labels is None else pd.Series(labels, index=index, name="labels"),
        notes=tuple(notes),
    )


def write_npz(views: dict[str, Any], path: Path, source: Path, options: Options) -> None:
    """Write the arrays of the source with new values in the views."""
    stored = _load(source)
    members = {name_of(member): member for member in stored}
    variables = {name: stored[member] for name, member in members.items()}
    places = find_layout(variables, options, source.name).places
    for name, view in views.items():
        values = _in_stored_order(view, variables) if is_frame(view) else view
        new = restored(variables[name], values.T if places[name].turned else values)
        if sparse.issparse(new):
            sparse.save_npz(path, new)
            return
        variables[name] = new
    save_arrays({members[name]: array for name, array in variables.items()}, path)


def save_arrays(arrays: dict[str, Any], path: Path) -> None:
    """Write a compressed archive of dense arrays with any names: the arguments of numpy.savez reserve some names."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            write_member(archive, f"{name}.npy", np.asanyarray(array))


def _load(path: Path) -> dict[str, Any]:
    names = check_archive(path)
    _check_arrays(path, names)
    if {"indices.npy", "indptr.npy", "format.npy", "shape.npy"} <= set(names):
        return {path.stem: as_csr(sparse.load_npz(path), path)}
    with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        return {name: np.asarray(file[name]) for name in file.files}


def _check_arrays(path: Path, names: Sequence[str]) -> None:
    """Refuse arrays of Python objects, and arrays whose header declares more than there is."""
    budget = Budget(path)
    with zipfile.ZipFile(path) as archive:
        for name in names:
            with archive.open(name) as member:
                version = np.lib.format.read_magic(member)
                header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
                shape, _, dtype = header[version](member)
            if dtype.hasobject:
                raise DataError(
                    f"expected plain arrays in {path.name}, got pickled objects, which could run code when opened; "
                    "store one numeric array per view"
                )
            if min(shape, default=1) < 0 or math.prod(shape) * dtype.itemsize > archive.getinfo(name).file_size:
                raise damaged(path, f"an array of the shape {shape[:4]} in {archive.getinfo(name).file_size} bytes")
            budget.need(math.prod(shape) * max(dtype.itemsize, 8))


def _sample_names(variables: dict[str, Any], n: int) -> str | None:
    """The array of distinct texts, one per sample."""
    for name, value in variables.items():
        if value.dtype.kind == "U" and value.shape == (n,) and np.unique(value).size == n:
            return name
    return None


def _in_stored_order(view: Any, variables: dict[str, Any]) -> Any:
    """The values of a DataFrame, its samples in the order of the names in the file."""
    names = _sample_names(variables, len(view))
    placed = view if names is None else view.reindex(variables[names])
    return sparse.csr_array(placed.sparse.to_coo()) if is_sparse_frame(placed) else placed.to_numpy()


def _named(view: Any, index: Any) -> Any:
    pd = need("pandas", "pandas")
    if sparse.issparse(view):
        return pd.DataFrame.sparse.from_spmatrix(view, index=index)
    return pd.DataFrame(view, index=index)


def _is_text(value: Any) -> bool:
    return value.dtype.kind == "U" and value.ndim == 0
