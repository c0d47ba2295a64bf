"""Embed new samples with a saved model, and find their clusters and missing values.

DATA has the views of the fit, or some of them, with the same features. OUT gets the embedding, the clusters if the
model has some, completed/ (the views of DATA), predicted/ (views that DATA lacks) and run.json; with --interval, also
the ends of intervals, e.g. completed-lower/ and completed-upper/; and probabilities/ if a view has categories. A model
that was fitted with --adjust needs --metadata with the same columns for the new samples.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from jella.cli.completion import calibrate, completion_record, interval_argument, note_lines, write_completed
from jella.cli.data import data_arguments, read_data
from jella.cli.fitted import Record
from jella.cli.flow import written_to
from jella.cli.metadata import covariates_of
from jella.cli.output import output, output_arguments, sample_column, write_embedding, write_table
from jella.cli.results import load_model
from jella.cli.run_file import new_run
from jella.cli.words import say
from jella.numerics.progress import StatusLine, doing
from jella.numerics.words import counted

HELP = "embed new samples with a saved model, find their clusters and missing values"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: the model, what to read, where to write."""
    parser.add_argument("model", metavar="MODEL", help="model.jella, or a folder that `jella cluster` wrote")
    data_arguments(parser)
    parser.add_argument(
        "--metadata",
        metavar="FILE",
        help="for a model fitted with --adjust: table with the columns whose effects are removed from the samples "
        "(.csv, .tsv, .parquet, .feather, .xlsx), matched by their ids",
    )
    interval_argument(parser)
    output_arguments(parser)


def run(options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """Load the model, read the data, transform them, and write the results."""
    from jella.oneshot.completed import Completed
    from jella.views import read_views

    with output(options) as place:
        say(options, "reading the model")
        model = load_model(options.model)
        if not hasattr(model, "transform"):
            raise ValueError(
                f"expected a model that embeds new samples, got {type(model).__name__}; fit another method"
            )
        dataset = read_data(options, model.schema_)
        views = read_views(dataset.views, schema=model.schema_)
        how = {} if (covariates := covariates_of(model, options, dataset)) is None else {"covariates": covariates}
        samples = sample_column(views.sample_names, views.n_samples)
        cut = not calibrate(model, quiet=options.quiet)
        if options.interval is not None and getattr(model, "imputer_", None) is None:
            raise ValueError(
                f"expected a model that was calibrated on hidden values with --interval, got {type(model).__name__} "
                "without; leave --interval out, or fit sparse-bdr"
            )
        record: Record = {"data": dataset.name, "samples": views.n_samples, "method": type(model).__name__}
        folder = place.folder
        with StatusLine(enabled=not options.quiet):
            doing(f"placing {counted(views.n_samples, 'sample')}")
            W = model.transform(dataset.views, **how)
        write_embedding(folder, samples, model, W, options.tables)
        if hasattr(model, "predict"):
            labels = model.predict(dataset.views, **how)
            write_table(folder, "labels", {"sample": samples, "cluster": labels}, options.tables)
            record["sizes"] = np.bincount(labels[labels >= 0]).tolist()
        if hasattr(model, "complete"):
            with StatusLine(enabled=not options.quiet):
                done = Completed.by(model, dataset.views, interval=options.interval, **how)
            write_completed(done, dataset, folder)
            record |= {"completion": completion_record(model, done, cut=cut), "interrupted": cut}
        place.publish(new_run(options, record))
    text = f"{record['samples']:,} samples of {record['data']} by {record['method']}"
    return [text, *note_lines(record.get("completion", {})), written_to(place.path)], record
