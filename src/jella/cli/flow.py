"""The steps of all commands that fit: read, fit, write into a folder, summarise; the same in memory and on Dask.

A command adds what it writes and what it prints. A `Fitted` knows where the samples are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from jella.cli.data import data_arguments
from jella.cli.fitted import Fitted, Record
from jella.cli.fitting import method_arguments
from jella.cli.output import check_output, output_arguments, write_run
from jella.cli.words import say


def fit_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: what to read, what to fit, where to write."""
    from jella.cli.on_dask import dask_arguments

    data_arguments(parser)
    method_arguments(parser)
    dask_arguments(parser)
    output_arguments(parser)


def run_fit(
    options: argparse.Namespace, write: Callable[[Fitted], Record], describe: Callable[[Fitted, Record], Sequence[str]]
) -> tuple[str, Record]:
    """Fit, and write all results or none.

    Parameters
    ----------
    options : Namespace
    write : callable
        Writes the files of the command; returns the findings.
    describe : callable
        Returns lines that describe the findings.

    Returns
    -------
    text, record : str, dict
    """
    place = check_output(options)
    with _fitted(options, place) as fitted:
        say(options, "writing")
        record = {"data": fitted.name, "samples": fitted.n_samples, "method": type(fitted.model).__name__}
        record |= write(fitted) | {"interrupted": fitted.is_interrupted} | fitted.where
        write_run(fitted.folder, options, record)
    lines = list(describe(fitted, record))
    if fitted.is_interrupted:
        lines.append("interrupted: the results are those of the last accepted sweep")
    return "\n".join([*lines, written_to(place), *fitted.left_out]), record


def written_to(place: Path) -> str:
    """A line on the content of a folder."""
    return f"written to {place}: {', '.join(sorted(path.name for path in place.iterdir()))}"


def _fitted(options: argparse.Namespace, place: Path) -> AbstractContextManager[Fitted]:
    if options.dask is not None:
        from jella.cli.on_dask import fitted_on_dask

        return fitted_on_dask(options, place)
    from jella.cli.in_memory import fitted_in_memory

    return fitted_in_memory(options, place)
