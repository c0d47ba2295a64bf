"""The argument DATA: how files become views, for every command that reads some."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jella.io import Dataset

DATA_HELP = (
    "a file (.npz, .mat, .h5mu, .h5ad, .xlsx, .rda, a table), a folder of tables or of Matrix Market files, or several "
    "tables (.csv, .tsv, .parquet, .feather), one a view"
)


def data_arguments(parser: argparse.ArgumentParser) -> None:
    """DATA and how to read it."""
    parser.add_argument("data", nargs="*", metavar="DATA", help=DATA_HELP)
    group = parser.add_argument_group("reading")
    group.add_argument("--id-column", metavar="NAME", help="column with the names of the samples")
    group.add_argument("--labels", metavar="NAME", help="column, table or variable with known classes; only to score")
    group.add_argument(
        "--missing", metavar="MARK", action="append", default=[], help="value that means missing, e.g. -999"
    )
    group.add_argument(
        "--non-numeric",
        choices=("error", "drop", "encode"),
        default="error",
        help="columns that are not numbers: refuse, leave out, or one column a value (default error)",
    )
    group.add_argument(
        "--samples",
        choices=("auto", "rows", "columns"),
        default="auto",
        help="where samples are in .mat and .npz files",
    )


def read_data(options: argparse.Namespace) -> Dataset:
    """What DATA holds."""
    from jella.io import read

    if not options.data:
        raise ValueError("expected a file or folder with the data, got none; name it after the command")
    return read(
        options.data if len(options.data) > 1 else options.data[0],
        id_column=options.id_column,
        labels=options.labels,
        missing=tuple(options.missing),
        non_numeric=options.non_numeric,
        samples=options.samples,
    )


def aligned_labels(dataset: Dataset, names: Any, n_samples: int) -> Any:
    """Known classes in the order of the samples of a fit, or None."""
    if dataset.labels is None:
        return None
    if names is not None and hasattr(dataset.labels, "reindex"):
        return dataset.labels.reindex(names).to_numpy()
    return dataset.labels if len(dataset.labels) == n_samples else None
