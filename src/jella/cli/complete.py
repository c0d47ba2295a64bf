"""Impute the missing values and write the views in the format of DATA, with an estimate of the error.

OUT gets completed/ and run.json; with --interval, completed-lower/ and completed-upper/; and probabilities/ if a view
has categories. Observed values are written as they were read. Observed values are hidden a few times, to weigh and
correct predictions and to measure the error, which is compared with imputing the mean; other methods than sparse-bdr
are fitted a second time for that. Methods scale the views with scale='auto', or scale='feature' if they take no
negative values, unless --set scale=NAME is given. With --dask, completed/ has a folder of Parquet parts per view, and
errors are estimated for sparse-bdr only.
"""

from __future__ import annotations

import argparse
from typing import Any

from jella.cli.completion import note_lines
from jella.cli.fitted import Fitted, Record
from jella.cli.fitting import chosen_method
from jella.cli.flow import Later, fit_arguments, run_fit
from jella.cli.metadata import metadata_arguments
from jella.numerics.words import aligned

HELP = "impute the missing values, with an estimate of the error"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: what to read, where to write."""
    fit_arguments(parser)
    metadata_arguments(parser, survival=False)
    parser.add_argument(
        "--no-error",
        action="store_true",
        help="no second fit to estimate the error; a calibrated completion has the estimate anyway",
    )


def run(options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """Fit, write the completed views."""
    method = chosen_method(options)
    if not method.completes:
        raise ValueError(f"expected a method that completes, got {options.method}; `jella methods` shows them")
    options.set = [f"scale={method.scale_to_complete}", *options.set]  # the default of a clustering method may be other
    return run_fit(options, _write, None if options.no_error else LATER, _describe)


def _write(fitted: Fitted) -> Record:
    return fitted.write_completed()


LATER = Later("error", lambda fitted: fitted.errors() or None)


def _describe(fitted: Fitted, record: Record) -> list[str]:
    from jella.oneshot.words import SIDES, completion_rows, verdict

    kinds = ("error", "standard_error", "mean_error")
    by_view = {name: [record.get(f"{kind}_by_view", {}).get(name) for kind in kinds] for name in record["filled"]}
    overall = [record.get(kind) for kind in kinds]
    rows, last = completion_rows(record["filled"], fitted.n_entries, record.get("kinds", {}), by_view, overall)
    said = [verdict(record["error"], record["mean_error"])] if "error" in record else []
    return [*aligned([*rows, *last], SIDES), *said, *note_lines(record)]
