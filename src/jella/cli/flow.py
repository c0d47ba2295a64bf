"""The way of every command that fits: read, fit, write into a folder, summarise; in memory and on Dask alike.

A command adds what it writes and what it says. Where the samples are is the matter of a `Fitted`.
"""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from jella.cli.data import data_arguments
from jella.cli.fitting import method_arguments
from jella.cli.output import check_output, output_arguments, write_run
from jella.cli.words import say

#: what run.json and --json say
Record = dict[str, Any]


@dataclass(eq=False)
class Fitted(ABC):
    """A fitted model with its data, while results are written.

    Attributes
    ----------
    options : Namespace
        Of the command.
    model : estimator
    folder : Path
        For the results.
    name : str
        Of the data.
    where : dict
        What run.json says of the device or the cluster that computed.
    left_out : list of str
        What is not written although it was asked for, and why.
    """

    options: argparse.Namespace
    model: Any
    folder: Path
    name: str
    where: Record
    left_out: list[str] = field(default_factory=list, init=False)

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of samples of all views together."""

    @property
    @abstractmethod
    def n_entries(self) -> dict[str, int]:
        """Number of entries of each view on all samples."""

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the fit early."""
        from jella.model_selection.against_mean import interrupted

        return interrupted(self.model)

    @abstractmethod
    def write_labels_and_embedding(self) -> np.ndarray:
        """Write both; returns the sizes of the clusters."""

    @abstractmethod
    def write_completed(self) -> dict[str, int]:
        """Write the completed views; returns the number of values that each lacked."""

    @abstractmethod
    def write_model(self) -> None:
        """Write model.jella."""

    @abstractmethod
    def write_report(self) -> None:
        """Write report.html."""

    @abstractmethod
    def agreement(self) -> Record:
        """Scores of the clusters against known classes, where there are some."""

    @abstractmethod
    def errors(self) -> Record:
        """Errors of the completion on hidden values, where they can be estimated."""


def fit_arguments(parser: argparse.ArgumentParser) -> None:
    """What to read, what to fit, where to write."""
    from jella.cli.on_dask import dask_arguments

    data_arguments(parser)
    method_arguments(parser)
    dask_arguments(parser)
    output_arguments(parser)


def run_fit(
    options: argparse.Namespace, write: Callable[[Fitted], Record], describe: Callable[[Fitted, Record], Sequence[str]]
) -> tuple[str, Record]:
    """Fit, and write the results as a whole or not at all.

    Parameters
    ----------
    options : Namespace
    write : callable
        Writes the files of the command; returns what it found.
    describe : callable
        Lines on what was found.

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
    """A line on what a folder holds."""
    return f"written to {place}: {', '.join(sorted(path.name for path in place.iterdir()))}"


def _fitted(options: argparse.Namespace, place: Path) -> AbstractContextManager[Fitted]:
    if options.dask is not None:
        from jella.cli.on_dask import fitted_on_dask

        return fitted_on_dask(options, place)
    from jella.cli.in_memory import fitted_in_memory

    return fitted_in_memory(options, place)
