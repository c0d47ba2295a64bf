"""The steps of all commands that fit: read, fit, write, publish, add what takes longer; the same in memory and on Dask.

A command adds what it writes and what it prints. A `Fitted` knows where the samples are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from jella.cli.completion import completion_arguments
from jella.cli.data import data_arguments
from jella.cli.fitted import Fitted, Record
from jella.cli.fitting import method_arguments
from jella.cli.output import output, output_arguments
from jella.cli.place import Out
from jella.cli.run_file import LEFT_OUT, WRITTEN, new_run, update_run
from jella.cli.words import say


@dataclass(frozen=True)
class Later:
    """A part of the results that is added when the others are in place.

    Attributes
    ----------
    name : str
        Its name in run.json.
    add : callable
        Adds it; returns the findings, or None if it is left out.
    files : tuple of str
        The files that it writes.
    """

    name: str
    add: Callable[[Fitted], Record | None]
    files: tuple[str, ...] = ()


def fit_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: what to read, what to fit, where to write."""
    from jella.cli.on_dask import dask_arguments

    data_arguments(parser)
    method_arguments(parser)
    completion_arguments(parser)
    dask_arguments(parser)
    output_arguments(parser)


def run_fit(
    options: argparse.Namespace,
    write: Callable[[Fitted], Record],
    later: Later | None,
    describe: Callable[[Fitted, Record], Sequence[str]],
) -> tuple[list[str], Record]:
    """Fit, write all results or none, and then add what takes longer.

    Parameters
    ----------
    options : Namespace
    write : callable
        Writes the files of the command; returns the findings.
    later : Later, optional
        What is added to the results, unless the findings have a value of its name already.
    describe : callable
        Returns lines that describe the findings.

    Returns
    -------
    lines, record : list of str, dict
    """
    with output(options) as place, _fitted(options, place) as fitted:
        say(options, "writing")
        record = {"data": fitted.name, "samples": fitted.n_samples, "method": type(fitted.model).__name__}
        record |= write(fitted) | {"interrupted": fitted.is_interrupted} | fitted.where
        later = None if later is None or later.name in record else later
        run = new_run(options, record, [later.name] if later else [])
        place.publish(run, later.files if later else ())
        fitted.folder = place.path
        if later is not None:
            record |= add_later(fitted, later, run)
    lines = list(describe(fitted, record))
    if fitted.fit_is_interrupted:
        lines.append("interrupted: the results are those of the last accepted sweep")
    return [*lines, written_to(place.path), *fitted.left_out], record


def add_later(fitted: Fitted, later: Later, run: Record) -> Record:
    """Add a part to results that are in place, and say so in run.json; returns the findings."""
    found = later.add(fitted)
    update_run(fitted.folder, run, summary=found or {}, parts={later.name: LEFT_OUT if found is None else WRITTEN})
    return found or {}


def written_to(place: Path) -> str:
    """A line on the content of a folder."""
    return f"written to {place}: {', '.join(sorted(path.name for path in place.iterdir()))}"


def _fitted(options: argparse.Namespace, place: Out) -> AbstractContextManager[Fitted]:
    if options.dask is not None:
        from jella.cli.on_dask import fitted_on_dask

        return fitted_on_dask(options, place)
    from jella.cli.in_memory import fitted_in_memory

    return fitted_in_memory(options, place)
