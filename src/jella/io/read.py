"""Reading files and folders, by their suffix and their content."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from jella.io.annotated import read_h5ad, read_h5mu
from jella.io.columnar import read_feather, read_parquet
from jella.io.dataset import Dataset, Options, Origin, checked
from jella.io.delimited import read_delimited
from jella.io.errors import DataError, some
from jella.io.excel import read_sheets
from jella.io.file_names import name_of
from jella.io.guard import check_is_file, reading
from jella.io.matching import matched
from jella.io.matlab import read_mat
from jella.io.matrix_market import read_matrix_market
from jella.io.npz import read_npz
from jella.io.rda import read_rda
from jella.io.results_check import check_no_results
from jella.io.tables import Table, assemble
from jella.views.align import ZERO_ROWS, check_choice

_NAMED = ("labels", "ids", "zero_rows")
_MATRICES = ("labels", "samples", "ids", "zero_rows")
_TABLE_OPTIONS = (*_MATRICES, "id_column", "missing", "non_numeric")


@dataclass(frozen=True)
class Format:
    """The function that reads a kind of file, and the options that it uses."""

    read: Callable[[Path, Options], Dataset]
    options: tuple[str, ...]


def _read_excel(path: Path, options: Options) -> Dataset:
    return assemble(path.stem, read_sheets(path, options), options)


#: one table per file
TABLES: dict[str, Callable[[Path, Options], Table]] = {
    ".csv": read_delimited,
    ".tsv": read_delimited,
    ".txt": read_delimited,
    ".parquet": read_parquet,
    ".feather": read_feather,
}
#: one data set per file
FILES: dict[str, Format] = {
    ".mat": Format(read_mat, _MATRICES),
    ".npz": Format(read_npz, _MATRICES),
    ".mtx": Format(read_matrix_market, _NAMED),
    ".rda": Format(read_rda, _TABLE_OPTIONS),
    ".rdata": Format(read_rda, _TABLE_OPTIONS),
    ".rds": Format(read_rda, _TABLE_OPTIONS),
    ".xlsx": Format(_read_excel, _TABLE_OPTIONS),
    ".h5ad": Format(read_h5ad, _NAMED),
    ".h5mu": Format(read_h5mu, _NAMED),
}


def read(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    labels: str | None = None,
    samples: str = "auto",
    id_column: str | None = None,
    missing: Sequence[str] = (),
    non_numeric: str = "categories",
    ids: Any = "exact",
    zero_rows: str = "observed",
) -> Dataset:
    """Read multi-view data from a file, a folder, or a list of tables.

    Parameters
    ----------
    path : path, or list of paths
        - .mat (also version 7.3): a cell array of matrices, or several matrices; and labels.
        - .npz: one array per view; and labels and sample names.
        - .csv, .tsv, .txt, .parquet, .feather: one table per view; pass a folder or a list. .xlsx: one sheet per view.
        - a folder of .mtx files, with names in .docs and .terms and classes in .clist.
        - .rda, .RData, .rds: a list of matrices. .h5ad, .h5mu: the matrix X of each modality.
    labels : str, optional
        The variable, table or column that holds the labels, if the usual names and rules do not find it. A column
        of a table is removed from its view.
    samples : {'auto', 'rows', 'columns'}, default='auto'
        Where the samples are in tables, .mat and .npz; 'auto' takes the rows of tables, and decides for .mat and .npz
        by the labels and the agreement of the views. For 'columns', the first column of a table has the names of the
        features, and its header the ids of the samples; a table of labels has its samples in rows.
    id_column : str, optional
        For tables: the column with the sample ids. By default a first column that has no name, is called id or sample,
        or holds distinct texts; without such a column, rows are aligned by position.
    missing : list of str, optional
        For tables: further marks of a missing value, besides 'NA', 'NaN', 'null', the empty cell and similar. A number
        is one however it is written.
    non_numeric : {'categories', 'error', 'drop', 'encode', 'keep'}, default='categories'
        For tables: what to do with columns of text in a view. 'categories': a column of at most 50 different texts, and
        at most half as many as it has texts, is a category, which is completed and written as text; others are refused.
        'error' refuses all, 'drop' leaves them out, 'encode' makes one column of numbers per text, 'keep' leaves them
        as they are: for new samples of a model, which may be few, and whose levels the model knows. Columns of True and
        False are categories in any case; among numbers these are 1 and 0.
    ids, zero_rows : optional
        How ids are made equal, and whether rows of zeros are missing; as in `jella.align`. With ids='exact', views that
        share too few samples are read, a note says what differs, and a fit refuses them.

    Returns
    -------
    Dataset
        Views, labels and notes on what was decided.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "pair.npz"
    ...     np.savez(file, left=np.eye(3), right=np.ones((3, 2)), y=[1, 1, 2])
    ...     print(read(file).labels)
    [1 1 2]
    """
    options = Options(labels, samples, id_column, tuple(missing), non_numeric, ids, zero_rows)
    check_choice("samples", samples, ("auto", "rows", "columns"))
    check_choice("non_numeric", non_numeric, ("categories", "error", "drop", "encode", "keep"))
    check_choice("zero_rows", zero_rows, ZERO_ROWS)
    if isinstance(path, str | os.PathLike):
        where = Path(path)
        check_is_file(where)
        with reading(where):
            dataset = _read_folder(where, options) if where.is_dir() else _read_file(where, options)
            return _finished(dataset, Origin(where, options))
    files = tuple(Path(file) for file in path)
    if not files:
        raise DataError("expected the paths of tables, got an empty list; pass at least one")
    with reading(files[0]):
        return _finished(_read_tables(files, options, "tables"), Origin(files, options))


def _finished(dataset: Dataset, source: Origin) -> Dataset:
    """The data set with its source, its ids matched; labels of samples that no view has are left out."""
    dataset = matched(dataset, source)
    labels, notes = dataset.labels, dataset.notes
    if hasattr(labels, "index"):
        known = labels.index.isin(dataset.sample_names)
        if not known.all():
            notes = (*notes, f"{int((~known).sum())} labels are left out: no view has their samples.")
            labels = labels[known]
    return checked(replace(dataset, labels=labels, notes=notes))


def _read_file(path: Path, options: Options) -> Dataset:
    ending = path.suffix.lower()
    if path.stat().st_size == 0:
        raise DataError(f"expected data, got the empty file {path.name}; fetch it again")
    if ending in TABLES:
        return _read_tables((path,), options, path.stem)
    if ending not in FILES:
        raise DataError(f"expected a file that ends in {', '.join((*FILES, *TABLES))}, got {path.name!r}; convert it")
    _check_options(options, FILES[ending].options, ending)
    return FILES[ending].read(path, options)


def _read_folder(folder: Path, options: Options) -> Dataset:
    """The data set in a folder: Matrix Market files, tables, or the only data file."""
    check_no_results(folder)
    files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    matrices = [file for file in files if file.suffix.lower() == ".mtx"]
    tables = [file for file in files if file.suffix.lower() in TABLES and file.suffix.lower() != ".txt"]
    others = [file for file in files if file.suffix.lower() in FILES and file not in matrices]
    kinds = [kind for kind in (matrices, tables, others) if kind]
    if len(kinds) != 1 or len(others) > 1:
        raise DataError(f"expected one data set in the folder {folder.name!r}, got {_contents(folder, kinds)}")
    if matrices:
        _check_options(options, FILES[".mtx"].options, ".mtx")
        return read_matrix_market(folder, options)
    return _read_tables(tables, options, folder.name) if tables else _read_file(others[0], options)


def _contents(folder: Path, kinds: Sequence[Sequence[Path]]) -> str:
    """What a folder holds that is not one data set, and what to pass instead."""
    if kinds:
        return f"the files {some([file.name for kind in kinds for file in kind])}; pass one of them"
    inside = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    folders = [path.name for path in inside if path.is_dir()]
    if folders:
        return f"no data file but the folders {some(folders)}; pass one of these, or the tables in them one by one"
    held = some([path.name for path in inside]) or "nothing"
    if any(path.suffix.lower() in TABLES for path in inside):  # .txt, which is often no table
        return f"{held}; pass the tables one by one"
    return f"{held}; put files there that end in {', '.join((*FILES, *TABLES))}"


def _read_tables(files: Sequence[Path], options: Options, name: str) -> Dataset:
    _check_options(options, _TABLE_OPTIONS, "tables")
    for file in files:
        if file.suffix.lower() not in TABLES:
            raise DataError(f"expected tables ({', '.join(TABLES)}), got {file.name!r}; pass this file on its own")
        if not file.is_file() or file.stat().st_size == 0:
            raise DataError(f"expected a table, got {file.name!r}, which is no file or is empty; check the path")
    if len({file.stem for file in files}) < len(files):
        raise DataError(f"expected tables of different names, got {[file.name for file in files]}; rename them")
    return assemble(name, [_read_table(file, options) for file in files], options)


def _read_table(file: Path, options: Options) -> Table:
    with reading(file):
        table = TABLES[file.suffix.lower()](file, options)
    return replace(table, name=name_of(file.stem, file.parent))


def _check_options(options: Options, known: tuple[str, ...], kind: str) -> None:
    """Refuse an option that would be ignored."""
    for field in fields(options):
        if field.name not in known and getattr(options, field.name) != field.default:
            raise DataError(f"expected only {', '.join(known)} for {kind}, got {field.name}; leave it out")
