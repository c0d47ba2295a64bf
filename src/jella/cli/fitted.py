"""A fitted model with its data, whose results commands write: one interface for memory and for Dask."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

#: the content of run.json and --json
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
        The folder for the results.
    name : str
        Name of the data.
    where : dict
        What run.json says about the device or the cluster.
    left_out : list of str
        Results that are not written, and why.
    cut, cut_evidence : bool
        Whether Ctrl-C ended the calibration, or the search for evidence of clusters, early.
    """

    options: argparse.Namespace
    model: Any
    folder: Path
    name: str
    where: Record
    left_out: list[str] = field(default_factory=list, init=False)
    cut: bool = field(default=False, init=False)
    cut_evidence: bool = field(default=False, init=False)

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of samples, over all views."""

    @property
    @abstractmethod
    def n_entries(self) -> dict[str, int]:
        """Number of cells of each view, over all samples; a category has one cell per sample."""

    @property
    def fit_is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the fit early."""
        from jella.estimators.interrupted import was_interrupted

        return was_interrupted(self.model)

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the fit, the search for evidence or the calibration early."""
        return self.cut or self.cut_evidence or self.fit_is_interrupted

    @abstractmethod
    def write_labels_and_embedding(self) -> np.ndarray:
        """Write labels and embedding; returns the sizes of the clusters."""

    @abstractmethod
    def write_completed(self) -> Record:
        """Write the completed views; returns the number of filled cells of each, and what is known of the values."""

    @abstractmethod
    def write_model(self) -> None:
        """Write model.jella."""

    @abstractmethod
    def write_report(self) -> None:
        """Write report.html."""

    def write_features(self) -> None:
        """Write the features of each cluster, if the samples are in memory."""
        return

    def write_metadata(self) -> Record:
        """Write how clusters go along with metadata and known classes, if there are some."""
        return {}

    def evidence(self) -> Record:
        """The evidence for the clusters, if there is some."""
        return {}

    @abstractmethod
    def agreement(self) -> Record:
        """Scores of the clusters against known classes, if there are some."""

    @abstractmethod
    def errors(self) -> Record:
        """Errors of the completion on hidden values, if they can be estimated."""
