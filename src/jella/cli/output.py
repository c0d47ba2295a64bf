"""The option -o, and the tables of a folder of results."""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from jella.cli.place import Out, claimed, files_read
from jella.numerics.optional import need

TABLE_FORMATS = ("csv", "parquet")


def output_arguments(parser: argparse.ArgumentParser) -> None:
    """Add -o OUT and the options for its content."""
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="OUT", help="folder for the results; must not exist yet")
    group.add_argument(
        "--overwrite", action="store_true", help="replace OUT if it holds earlier results and nothing else"
    )
    group.add_argument(
        "--tables", choices=TABLE_FORMATS, default="csv", help="format of labels, embedding and features (default csv)"
    )


def output(options: argparse.Namespace) -> AbstractContextManager[Out]:
    """OUT, for this process only; refused before any work if it must not be written to."""
    if not options.output:
        raise ValueError("expected a folder for the results, got none; pass -o OUT")
    if options.tables == "parquet":
        need("pyarrow", "parquet")
    return claimed(options.output, overwrite=options.overwrite, inputs=inputs_of(options))


def inputs_of(options: argparse.Namespace) -> list[str]:
    """The files and folders that a command reads."""
    single = (getattr(options, name, None) for name in ("config", "model", "folder", "metadata"))
    return [*(options.data or []), *(path for path in single if path)]


def file_to_write(given: str, options: argparse.Namespace) -> Path:
    """The path of a single file to write; refused before any work if it must not be replaced."""
    path = Path(given)
    taken = path.is_symlink() or (path.exists() and not path.is_file())
    if not path.name or taken or not path.parent.is_dir():
        what = "a link or not a file" if taken else "no name in a folder that exists"
        raise ValueError(f"expected a file to write, got {given!r}, which is {what}; name another")
    if os.path.lexists(path) and not options.overwrite:
        raise ValueError(f"expected a new file, got {given!r}, which exists; pass --overwrite")
    for one in inputs_of(options):
        if path.exists() and any(path.resolve().is_relative_to(read) for read in files_read(one)):
            raise ValueError(f"expected a file that is not read, got {given!r}, which is part of {one!r}; name another")
    return path


def write_table(folder: Path, name: str, columns: Mapping[str, Sequence[Any] | np.ndarray], kind: str) -> Path:
    """Write columns of equal length as a table; returns its path."""
    path = folder / f"{name}.{kind}"
    if kind == "parquet":
        need("pandas", "pandas").DataFrame(dict(columns)).to_parquet(path, index=False)
        return path
    with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        writer = csv.writer(file)
        writer.writerow(_cells(list(columns)))
        writer.writerows(zip(*(_cells(values) for values in columns.values()), strict=True))
    return path


def _cells(values: Sequence[Any] | np.ndarray) -> list[Any]:
    """Values as Python's; texts so that a spreadsheet does not run them."""
    from jella.io.formulas import guarded

    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return [guarded(one) if isinstance(one, str) else one for one in listed]


def write_embedding(folder: Path, samples: Sequence[Any], model: Any, embedding: Any, kind: str) -> None:
    """Write the table of the embedding (n, r) of samples."""
    from jella.numerics.arrays import to_numpy

    W = np.asarray(to_numpy(embedding))
    heads = model.get_feature_names_out() if hasattr(model, "get_feature_names_out") else range(W.shape[1])
    columns = {str(head): W[:, j] for j, head in enumerate(heads)}
    write_table(folder, "embedding", {"sample": samples, **columns}, kind)


def sample_column(names: Any, n_samples: int) -> list[Any]:
    """Names of the samples, or their positions."""
    return list(range(n_samples)) if names is None else [str(name) for name in names]
