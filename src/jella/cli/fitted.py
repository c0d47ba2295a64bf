"""A fitted model with its data, as commands write its results: in memory or on Dask alike."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

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
