"""Writing completed views in the format that they were read from."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from jella.io.annotated import write_annotated
from jella.io.columnar import write_columnar
from jella.io.dataset import Dataset, Options, Origin
from jella.io.delimited_write import write_delimited
from jella.io.errors import DataError, need
from jella.io.excel import write_sheets
from jella.io.file_names import NAMES, file_names, name_of, names_to_list, target_in
from jella.io.formulas import guarded
from jella.io.matlab import write_mat
from jella.io.npz import save_arrays, write_npz
from jella.io.put_back import has_levels
from jella.io.read import FILES, TABLES, read
from jella.io.stored import replacing
from jella.views.containers import is_frame
from jella.views.frames import is_sparse_frame

#: views by name, path to write to, source file, options with which it was read
Writer = Callable[[dict[str, Any], Path, Path, Options], None]
#: a file to write, and the function that writes it
_Step = tuple[Path, Callable[[Path], Any]]

_FILES: dict[str, Writer] = {
    ".mat": write_mat,
    ".npz": write_npz,
    ".xlsx": write_sheets,
}
#: formats that are written with layers
ANNOTATED = (".h5ad", ".h5mu")
_TABLES: dict[str, Writer] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), write_delimited),
    **dict.fromkeys((".parquet", ".feather"), write_columnar),
}


def write_views(
    views: Mapping[str, Any],
    path: str | os.PathLike[str],
    *,
    like: Dataset | str | os.PathLike[str] | None = None,
    layers: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Path]:
    """Write views to files, in the format, layout and types of the files they came from.

    Names, their order, and everything in the files that is not a view are kept. Values that did not change are written
    as they were stored; in text tables, with the same text. MATLAB files are written in version 5. Files are written
    under a temporary name first, so that there is never an incomplete file.

    Parameters
    ----------
    views : dict of str to array, CSR array or DataFrame
        With the names that they have in `like`.
    path : path
        A folder, or the file if `like` is a single file.
    like : Dataset or path, optional
        What the views were read from; a path is read with `read`. If there is none, or its format is not
        written (R data, Matrix Market), the views become a NumPy archive if the path ends in .npz, otherwise a folder
        of CSV tables.
    layers : dict of str to views, optional
        More values of the same views, by the name of the layer; only where `like` is an .h5ad or .h5mu file.

    Returns
    -------
    list of Path
        The files written.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from jella.io import read, write_views
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_views({"left": np.eye(3), "right": np.ones((3, 2))}, folder)
    ...     print([file.name for file in written], list(read(folder).views))
    ['left.csv', 'right.csv'] ['left', 'right']
    """
    _check(views)
    known = read(like) if isinstance(like, str | os.PathLike) else like
    if layers and not has_layers(known):
        raise DataError("expected an .h5ad or .h5mu file as like= with layers, got another format; leave layers out")
    steps = _steps(dict(views), Path(path), known, layers or {})
    with ExitStack() as stack:
        for target, write in steps:
            write(stack.enter_context(replacing(target)))
    return [target for target, _ in steps]


def has_layers(like: Dataset | None) -> bool:
    """Whether the file that views came from has room for more values of them."""
    source = None if like is None else like.source
    return source is not None and any(file.suffix.lower() in ANNOTATED for file in _files(source)[:1])


def _check(views: Mapping[str, Any]) -> None:
    """Refuse two names that are one in files, and what is not samples x features."""
    known: dict[str, Any] = {}
    for name, view in views.items():
        if str(name) in known:
            raise DataError(
                f"expected views of different names, got {known[str(name)]!r} and {name!r}, which are one name in "
                "files; rename one"
            )
        known[str(name)] = name
        shape = view.shape if hasattr(view, "shape") else np.shape(view)
        if len(shape) != 2:
            raise DataError(
                f"expected a 2-D array (samples x features) for view {str(name)!r}, got {len(shape)} dimension(s); "
                "reshape it"
            )


def _steps(
    views: dict[str, Any], path: Path, like: Dataset | None, layers: Mapping[str, Mapping[str, Any]]
) -> list[_Step]:
    """The files to write, with the function that writes each."""
    if like is None or like.source is None:
        return _plain_steps(views, path)
    if not _is_written(like.source):
        return _plain_steps({name: _as_stored(view, name, like.source) for name, view in views.items()}, path)
    unknown = [name for name in views if name not in like.views]
    if unknown:
        raise DataError(f"expected views of {like.name!r}, got {unknown[0]!r}; it has {list(like.views)}")
    source, options = like.source, like.source.options
    views, files = _all_as_stored(views, like, source), _files(source)
    if files[0].suffix.lower() in ANNOTATED:
        more = {name: _all_as_stored(values, like, source) for name, values in layers.items()}
        return [(_target(path, files[0]), lambda part: write_annotated(views, part, files[0], more))]
    if files[0].suffix.lower() in _FILES:
        return [_step(_FILES, views, _target(path, files[0]), files[0], options)]
    by_name = {name_of(file.stem, file.parent): file for file in files}
    single = isinstance(source.path, Path) and source.path.is_file()
    targets = {name: _target(path, file) if single else path / file.name for name, file in by_name.items()}
    steps = [_step(_TABLES, {name: v}, targets[name], by_name[name], options) for name, v in views.items()]
    return steps if single else steps + _names_step(path, {name: by_name[name].stem for name in views})


def _step(writers: Mapping[str, Writer], views: dict[str, Any], target: Path, source: Path, options: Options) -> _Step:
    write = writers[source.suffix.lower()]
    return target, lambda part: write(views, part, source, options)


def _files(source: Origin) -> Sequence[Path]:
    """The data files of a source, tables before others as in `read`."""
    if not isinstance(source.path, Path):
        return source.path
    if source.path.is_file():
        return [source.path]
    files = sorted(file for file in source.path.iterdir() if file.is_file())
    tables = [file for file in files if file.suffix.lower() in TABLES and file.suffix.lower() != ".txt"]
    return tables or [file for file in files if file.suffix.lower() in (*_FILES, *ANNOTATED)]


def _is_written(source: Origin) -> bool:
    files = _files(source)
    return bool(files) and files[0].suffix.lower() in (*_FILES, *ANNOTATED, *_TABLES)


def _target(path: Path, source: Path) -> Path:
    """The path itself if it has the suffix of the source; otherwise a file with the source's name in the folder."""
    if path.suffix.lower() == source.suffix.lower() and not path.is_dir():
        return path
    if path.suffix and not path.is_dir():
        raise DataError(
            f"expected a folder or a path that ends in {source.suffix}, got {path.name!r}; pass one of these"
        )
    return path / source.name


def _all_as_stored(views: Mapping[str, Any], like: Dataset, source: Origin) -> dict[str, Any]:
    """Views as their files hold them."""
    return {name: _as_stored(_as_read(view, like.views[name]), name, source) for name, view in views.items()}


def _as_read(view: Any, known: Any) -> Any:
    """A view in the kind of container that `read` returned: a table if that has names."""
    if not is_frame(known) or is_frame(view):
        return view
    pd = need("pandas", "pandas")
    if view.shape != known.shape:
        raise DataError(
            f"expected the shape {known.shape}, got a view of {view.shape}; pass a DataFrame with sample ids"
        )
    values = view.toarray() if sparse.issparse(view) else view
    return pd.DataFrame(values, index=known.index, columns=known.columns)


def _as_stored(view: Any, name: str, source: Origin) -> Any:
    """A table with the ids of its file, turned as there; .mat and .npz files turn their arrays themselves."""
    if not is_frame(view):
        return view
    ids = source.stored_ids.get(name, {})
    view = view.set_axis([ids.get(one, one) for one in view.index], axis=0) if ids else view
    files = _files(source)
    of_arrays = bool(files) and files[0].suffix.lower() in (".mat", ".npz")
    return view.T if source.options.samples == "columns" and not of_arrays else view


def _plain_steps(views: dict[str, Any], path: Path) -> list[_Step]:
    """The files to write: one archive, or one CSV table per view."""
    if path.suffix.lower() == ".npz":
        return [(path, lambda part: save_arrays(_arrays(views), part))]
    if path.suffix.lower() in (*FILES, *TABLES) and not path.is_dir():
        raise DataError(f"expected a folder or a path that ends in .npz, got {path.name!r}; change it")
    stems = file_names(map(str, views))
    steps = [(target_in(path, stems[str(name)], ".csv"), _csv_writer(view)) for name, view in views.items()]
    return steps + _names_step(path, stems)


def _names_step(folder: Path, stems: dict[str, str]) -> list[_Step]:
    """The file with the names that are too long, if there are some."""
    listed = names_to_list(stems)
    return [] if listed is None else [(folder / NAMES, lambda part: part.write_text(listed, encoding="utf-8"))]


def _arrays(views: dict[str, Any]) -> dict[str, Any]:
    """Dense arrays on all samples, with the names of the samples if they have some."""
    dataset = Dataset("views", views)
    stems = file_names(map(str, views), cut=False)
    dense = {str(k): v.toarray() if sparse.issparse(v) else v for k, v in dataset.as_arrays().views.items()}
    arrays = {stems[name]: values for name, values in dense.items()}
    names = dataset.sample_names
    if not isinstance(names, range):
        free = next(name for name in ("samples", *(f"samples_{k}" for k in range(len(arrays)))) if name not in arrays)
        arrays[free] = names.to_numpy().astype(str)
    return arrays


def _guarded(name: Any) -> Any:
    return guarded(name) if isinstance(name, str) else name


def _csv_writer(view: Any) -> Callable[[Path], None]:
    pd = need("pandas", "pandas")
    if not is_frame(view):
        values = view.toarray() if sparse.issparse(view) else view
        frame = pd.DataFrame(values, columns=[f"feature{j}" for j in range(values.shape[1])])
    else:
        frame = view.sparse.to_dense() if is_sparse_frame(view) else view
    texts = {column: frame[column].map(_guarded) for column in frame.columns if has_levels(frame[column])}
    frame = frame.assign(**texts) if texts else frame
    named = not isinstance(frame.index, pd.RangeIndex)
    frame = frame.rename(columns=_guarded, index=_guarded if named else None)
    return lambda part: frame.to_csv(part, index=named, index_label="sample" if named else None)
