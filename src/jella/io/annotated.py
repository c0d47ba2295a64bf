"""Annotated matrices: .h5ad (anndata), one view, and .h5mu (mudata), one view per modality."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from jella.io.dataset import Dataset, Options
from jella.io.errors import DataError, need, some
from jella.io.guard import COLUMN_BYTES, check_size, reading
from jella.io.sparse_parts import as_csr
from jella.io.stored import restored, rounding
from jella.io.trial import try_first
from jella.views.frames import is_sparse_frame, repeated


def read_h5ad(path: Path, options: Options) -> Dataset:
    """A data set of the matrix X, with names of samples and features; a column of obs as labels."""
    stored = load_annotated(path)
    labels, notes = _labels([stored.obs], options, path)
    notes += rounding({path.stem: stored.X})
    return Dataset(path.stem, {path.stem: _view(stored, path.stem, path)}, labels, notes=notes)


def read_h5mu(path: Path, options: Options) -> Dataset:
    """A data set of the matrix X of each modality; a column of obs, common or of a modality, as labels."""
    stored = load_annotated(path)
    parts = {str(name): part for name, part in stored.mod.items()}
    if not parts:
        raise DataError(f"expected modalities in {path.name}, got none; store one per view")
    labels, notes = _labels([stored.obs, *(part.obs for part in parts.values())], options, path)
    notes += rounding({name: part.X for name, part in parts.items()})
    return Dataset(path.stem, {name: _view(part, name, path) for name, part in parts.items()}, labels, notes=notes)


def load_annotated(path: Path) -> Any:
    """The AnnData or MuData object of a file."""
    is_mudata = path.suffix.lower() == ".h5mu"
    reader = need("mudata", "mudata").read_h5mu if is_mudata else need("anndata", "mudata").read_h5ad
    try_first(path)
    with reading(path):
        return reader(path)


def write_annotated(views: dict[str, Any], path: Path, source: Path, layers: Mapping[str, dict[str, Any]]) -> None:
    """Write the object of the source with the values of the views as its matrices X, and with more layers."""
    with warnings.catch_warnings():  # as in reading
        warnings.simplefilter("ignore")
        _write(views, path, load_annotated(source), layers)


def _write(views: dict[str, Any], path: Path, stored: Any, layers: Mapping[str, dict[str, Any]]) -> None:
    def renewed(part: Any, name: str) -> Any:
        return _with_values(part, views[name], {layer: values[name] for layer, values in layers.items()})

    if not hasattr(stored, "mod"):
        (name,) = views
        renewed(stored, name).write_h5ad(path)
        return
    parts = {name: renewed(part, name) if name in views else part for name, part in stored.mod.items()}
    if all(parts[name] is stored.mod[name] for name in parts):
        stored.write_h5mu(path)
        return
    whole = need("mudata", "mudata").MuData(parts)
    whole.obs = whole.obs.join(stored.obs[[c for c in stored.obs if c not in whole.obs]])
    whole.write_h5mu(path)


def _with_values(stored: Any, view: Any, layers: Mapping[str, Any]) -> Any:
    """The same annotations with other values and more layers; samples that are new come last, without annotations."""
    known = view.index.isin(stored.obs_names)
    names = stored.obs_names.append(view.index[~known])
    X, *more = (_matrix(stored, one, names) for one in (view, *layers.values()))
    if known.all():
        made = stored
        made.X = X
    else:
        made = need("anndata", "mudata").AnnData(X, obs=stored.obs.reindex(names), var=stored.var)
        made.uns = stored.uns
    for layer, values in zip(layers, more, strict=True):
        made.layers[layer] = values
    return made


def _matrix(stored: Any, view: Any, names: Any) -> Any:
    """The values of a view for these samples, in the type of the stored ones."""
    X = restored(stored.X, _rows(stored, view, names))
    return sparse.csr_matrix(X) if sparse.issparse(X) else X


def _rows(stored: Any, view: Any, names: Any) -> Any:
    """The values of the view for these samples; the stored ones for samples that the view lacks."""
    positions = view.index.get_indexer(names)
    lacking = positions < 0
    if is_sparse_frame(view):
        new = sparse.csr_array(view.sparse.to_coo())
        whole = sparse.vstack([new, sparse.csr_array(stored.X).astype(new.dtype)], format="csr")
        return whole[np.where(lacking, len(view) + np.arange(len(names)), positions)]
    new = view.to_numpy()[positions]
    if lacking.any():
        new[lacking] = stored[lacking[: stored.n_obs]].to_df().to_numpy()
    return new


def _view(stored: Any, name: str, path: Path) -> Any:
    pd = need("pandas", "pandas")
    if stored.X is None:
        raise DataError(f"expected a matrix X in {name!r}, got none; store the values there")
    if not stored.obs_names.is_unique:
        raise DataError(f"expected each sample once in {name!r}, got {repeated(stored.obs_names)}; keep one of each")
    if stored.X.dtype.kind not in "biuf":
        raise DataError(f"expected real numbers in X of {name!r}, got {stored.X.dtype}; store numbers there")
    dtype = np.float32 if stored.X.dtype == np.float32 else np.float64
    names: dict[str, Any] = {"index": pd.Index(stored.obs_names), "columns": pd.Index(stored.var_names)}
    if sparse.issparse(stored.X):
        check_size(path, COLUMN_BYTES * stored.n_vars)
        return pd.DataFrame.sparse.from_spmatrix(as_csr(stored.X, path, dtype), **names)
    return pd.DataFrame(np.asarray(stored.X, dtype=dtype), **names)


def _labels(tables: list[Any], options: Options, path: Path) -> tuple[Any, tuple[str, ...]]:
    """The named column of the first table that has it."""
    offered = list(dict.fromkeys(str(column) for table in tables for column in table.columns))
    if options.labels is None:
        return None, (f"Columns that labels= can name: {some(offered)}.",) if offered else ()
    for table in tables:
        if options.labels in table.columns:
            column = table[options.labels]
            return column.astype(object if column.dtype == "category" else column.dtype), ()
    raise DataError(
        f"expected labels={options.labels!r} to name a column of obs in {path.name}, got another name; use one of "
        f"{some(offered) or 'none, there are no columns'}"
    )
