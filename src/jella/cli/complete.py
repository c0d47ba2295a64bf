"""Fill in the missing values and write the views in the format of DATA, with an estimate of the error.

OUT gets completed/ and run.json. Observed values are written as they were read. The error is measured on observed
values that are hidden from a second fit, and compared with filling in the mean. With --dask, completed/ has a folder of
Parquet parts a view, and the error is not estimated.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from jella.cli.data import data_arguments, read_data
from jella.cli.fitting import chosen_device, fit, make_model, method_arguments
from jella.cli.on_dask import dask_arguments
from jella.cli.output import check_output, output_arguments, output_folder, write_run
from jella.cli.words import percent, say, table

HELP = "the missing values filled in, with an estimate of the error"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What to read, where to write."""
    data_arguments(parser)
    method_arguments(parser)
    dask_arguments(parser)
    output_arguments(parser)
    parser.add_argument("--no-error", action="store_true", help="no estimate of the error, which takes a second fit")


def run(options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Read, fit, complete, write."""
    from jella.io import write_views
    from jella.model_selection.against_mean import errors_against_mean
    from jella.views import read_views

    place = check_output(options)
    if options.dask is not None:
        return _run_on_dask(options, place)
    device = chosen_device(options)
    say(options, "reading")
    dataset = read_data(options)
    model = make_model(options)
    if not hasattr(model, "complete"):
        raise ValueError(f"expected a method that completes, got {options.method}; `jella methods` tells which do")
    model = fit(model, dataset.views, device)
    read = read_views(dataset.views)
    lacking = {view.name: view.n_samples * view.n_features - view.n_observed() for view in read}
    record = _summary(model, dataset.name, read.n_samples, lacking)
    if device is not None:
        record["device"] = str(device)
    if not options.no_error and not record["interrupted"]:
        say(options, "estimating the error by a second fit on hidden values")
        views = dataset.views if device is None else device.tensors(dataset.views)
        ours, means = errors_against_mean(model, views)
        if ours is not None and means is not None:
            record |= {
                "error": ours[0],
                "mean_error": means[0],
                "error_by_view": ours[1],
                "mean_error_by_view": means[1],
            }
    with output_folder(place) as folder:
        write_views(model.complete(dataset.views), folder / "completed", like=dataset)
        write_run(folder, options, record)
    entries = {view.name: view.n_samples * view.n_features for view in read}
    return _text(record, entries, place), record


def _run_on_dask(options: argparse.Namespace, place: Path) -> tuple[str, dict[str, Any]]:
    """As `run`, of Parquet parts on a cluster."""
    from jella.cli.on_dask import data_name, fitted_on_dask
    from jella.cli.write_parts import write_completed

    with fitted_on_dask(options, place) as there:
        say(options, "writing")
        lacking, entries = write_completed(there), there.n_entries
        record = _summary(there.model, data_name(options), there.n_samples, lacking) | {"dask": there.where}
        write_run(there.folder, options, record)
    no_error = [] if options.no_error else ["no estimate of the error: it needs the samples in memory"]
    return "\n".join([_text(record, entries, place), *no_error]), record


def _summary(model: Any, name: str, n_samples: int, lacking: dict[str, int]) -> dict[str, Any]:
    from jella.model_selection.against_mean import interrupted

    return {
        "data": name,
        "samples": n_samples,
        "method": type(model).__name__,
        "filled": lacking,
        "interrupted": interrupted(model),
    }


def _text(record: dict[str, Any], entries: dict[str, int], place: Path) -> str:
    rows = [("view", "filled", "share", "error", "of the mean")]
    for name, filled in record["filled"].items():
        errors = [record.get(kind, {}).get(name, np.nan) for kind in ("error_by_view", "mean_error_by_view")]
        rows.append(
            (name, str(filled), percent(filled, entries[name]), *(f"{e:.3f}" if e == e else "-" for e in errors))
        )
    lines = table(rows, "<>>>>")
    if "error" in record:
        lines.append(
            f"error on hidden values, in standard deviations of a feature: {record['error']:.3f}; "
            f"of the mean: {record['mean_error']:.3f}"
        )
    if record["interrupted"]:
        lines.append("interrupted: the results are those of the last accepted sweep")
    return "\n".join([*lines, f"written to {place}"])
