"""Finish or repeat what `jella cluster` and `jella complete` add to their results, from a folder and its data.

For a folder of `jella cluster` this is report.html; for one of `jella complete`, the estimate of the error, which needs
a fit and others on hidden values.
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from jella.cli import cluster, complete
from jella.cli.completion import error_line
from jella.cli.data import read_data
from jella.cli.fitting import chosen_device, fit, make_model
from jella.cli.flow import add_later
from jella.cli.in_memory import FittedInMemory
from jella.cli.metadata import as_fitted, for_adjusted, known_about, metadata_arguments
from jella.cli.output import file_to_write
from jella.cli.place import bring_back, held, kept
from jella.cli.reporting import report_on
from jella.cli.results import checked_options, load_model
from jella.cli.run_file import PENDING, read_run, update_run
from jella.cli.signals import was_stopped
from jella.cli.words import say

HELP = "write report.html (or the estimate of the error) again, from a folder of results"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: the folder, and another path for the report."""
    parser.add_argument("folder", metavar="OUT", help="folder that `jella cluster` or `jella complete` wrote")
    parser.add_argument("--data", nargs="*", default=None, help="the data, if they were moved")
    parser.add_argument("--to", metavar="FILE", help="write the report to this file instead of OUT/report.html")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    metadata_arguments(parser, adjust=False)


def run(options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """Load the model, read the data as the first run did, and add the part that comes last."""
    folder = Path(options.folder)
    bring_back(folder)
    done = read_run(folder)
    command = done["options"].get("command")
    if command not in ("cluster", "complete") or done["options"].get("dask") is not None:
        raise ValueError(
            f"expected a folder that `jella cluster` or `jella complete` wrote from samples in memory, got "
            f"{str(folder)!r}, which holds other results; name one"
        )
    parser = argparse.ArgumentParser(add_help=False)
    {"cluster": cluster, "complete": complete}[command].arguments(parser)
    given = checked_options(done, parser, str(folder / "run.json"))
    given.data, given.quiet = options.data or given.data, options.quiet
    if options.metadata or options.survival:
        given.metadata, given.survival = options.metadata or given.metadata, options.survival
    try:
        with nullcontext() if options.to else held(folder):
            return (_estimate if command == "complete" else _report)(options, folder, done, given)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) or was_stopped():  # which an import turns into an error of its own
            error.add_note(kept(folder, read_run(folder)))
        raise


def _report(
    options: argparse.Namespace, folder: Path, done: dict[str, Any], given: argparse.Namespace
) -> tuple[list[str], dict[str, Any]]:
    path = _target(options, folder, done, given)
    say(options, "reading the model")
    model, dataset = load_model(folder), read_data(given)
    known = known_about(given, dataset)
    dataset = as_fitted(dataset, known)
    if options.to:
        report_on(dataset, model, path, given, known)
        return [f"written to {path}"], {"report": str(path)}
    done["files"] = sorted({*map(str, done["files"]), cluster.REPORT})
    update_run(folder, done, parts={cluster.LATER.name: PENDING})
    fitted = FittedInMemory(given, model, folder, dataset.name, {}, dataset, None, known)
    add_later(fitted, cluster.LATER, done)
    lines = fitted.left_out or [f"written to {path}"]
    return lines, {"report": None if fitted.left_out else str(path)}


def _target(options: argparse.Namespace, folder: Path, done: dict[str, Any], given: argparse.Namespace) -> Path:
    """The path of the report; refused if it belongs to something else."""
    if options.to:
        if Path(options.to).resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"expected a file outside of {str(folder)!r}, got {options.to!r}; leave --to out")
        inputs = argparse.Namespace(**{**vars(options), "data": given.data})
        return file_to_write(options.to, inputs)
    path = folder / cluster.REPORT
    if path.exists() and cluster.REPORT not in done["files"]:
        raise ValueError(f"expected a report of jella to replace, got {str(path)!r}, which is another file; move it")
    return path


def _estimate(
    options: argparse.Namespace, folder: Path, done: dict[str, Any], given: argparse.Namespace
) -> tuple[list[str], dict[str, Any]]:
    if options.to:
        raise ValueError("expected --to for a folder of `jella cluster`, got one of `jella complete`; leave --to out")
    device, dataset = chosen_device(given), read_data(given)
    known = known_about(given, dataset)
    dataset, given.interval, model = as_fitted(dataset, known), None, for_adjusted(make_model(given), known)
    if done["summary"].get("calibrated") is False and "calibrate" in model.get_params():
        model.set_params(calibrate=False)  # the error of the values that were written
    model = fit(model, dataset.views, device)
    fitted = FittedInMemory(given, model, folder, dataset.name, {}, dataset, device, known)
    fitted.calibrate()
    found = add_later(fitted, complete.LATER, done)
    text = error_line(found) if found else "no estimate of the error: too few values are known"
    return [text, f"written to {folder / 'run.json'}"], found
