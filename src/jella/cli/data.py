"""The argument DATA: from files to views and known classes, for all commands that read data."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from jella.cli.words import say

if TYPE_CHECKING:
    from jella.io import Dataset
    from jella.views import Schema

DATA_HELP = (
    "a file (.npz, .mat, .h5mu, .h5ad, .xlsx, .rda, a table), a folder of tables or of Matrix Market files, or several "
    "tables (.csv, .tsv, .parquet, .feather), one per view"
)


def data_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument DATA and the options for reading it."""
    parser.add_argument("data", nargs="*", metavar="DATA", help=DATA_HELP)
    group = parser.add_argument_group("reading")
    group.add_argument("--id-column", metavar="NAME", help="column with the names of the samples")
    group.add_argument(
        "--labels", metavar="NAME", help="column, table or variable with known classes; used only to score"
    )
    group.add_argument(
        "--missing", metavar="MARK", action="append", default=[], help="value that means missing, e.g. -999"
    )
    group.add_argument(
        "--non-numeric",
        choices=("categories", "error", "drop", "encode"),
        default="categories",
        help="columns of text: read those of few levels as categories and refuse others (default), refuse all, leave "
        "them out, or make one column of numbers per text",
    )
    group.add_argument(
        "--samples",
        choices=("auto", "rows", "columns"),
        default="auto",
        help="where samples are in tables, .mat and .npz files (auto: the rows of tables)",
    )
    group.add_argument(
        "--ids",
        metavar="RULE",
        default="exact",
        help="how sample ids are made equal: exact (default), union (go on if few match), or rules with commas between "
        "them: text, strip, casefold, zeros, digits, prefix:N, re:PATTERN",
    )
    group.add_argument(
        "--zero-rows",
        choices=("observed", "missing"),
        default="observed",
        help="whether rows of zeros are values or samples without the view (default observed)",
    )


def read_data(options: argparse.Namespace, schema: Schema | None = None) -> Dataset:
    """The data set of DATA; its views are aligned only once. With a schema of categories, this says what text means."""
    from jella.io import read
    from jella.views import ReadOnce

    if not options.data:
        raise ValueError("expected a file or folder with the data, got none; name it after the command")
    known = schema is not None and any(schema.categories)
    say(options, "reading")
    dataset = read(
        options.data if len(options.data) > 1 else options.data[0],
        id_column=options.id_column,
        labels=options.labels,
        missing=tuple(options.missing),
        non_numeric="keep" if options.non_numeric == "categories" and known else options.non_numeric,
        samples=options.samples,
        ids=getattr(options, "ids", "exact"),  # which run.json of earlier versions lacks
        zero_rows=getattr(options, "zero_rows", "observed"),
    )
    return replace(dataset, views=ReadOnce(dataset.views))


def aligned_labels(dataset: Dataset) -> Any:
    """Known classes in the order of the samples of a fit, or None."""
    from jella.views import read_views

    if dataset.labels is None:
        return None
    views = read_views(dataset.views)
    if views.sample_names is not None and hasattr(dataset.labels, "reindex"):
        return dataset.labels.reindex(views.sample_names).to_numpy()
    return dataset.labels if len(dataset.labels) == views.n_samples else None


def class_scores(labels: Any, truth: Any) -> dict[str, float]:
    """Agreement of clusters with known classes, over the samples that have a cluster and a class."""
    from jella.metrics import adjusted_rand, nmi

    labels, known = np.asarray(labels), np.array([one is not None and one == one for one in truth], dtype=bool)
    scored = (labels >= 0) & known
    classes, clusters = np.asarray(truth[scored].tolist()), labels[scored]
    return {"nmi": nmi(classes, clusters), "ari": adjusted_rand(classes, clusters)}
