"""Fits of samples in memory; results in the format of DATA."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jella.cli.data import aligned_labels, class_scores, read_data
from jella.cli.fitted import Fitted, Record
from jella.cli.fitting import chosen_device, fit, make_model
from jella.cli.output import sample_column, write_embedding, write_table
from jella.cli.place import Out
from jella.cli.reporting import report_on
from jella.cli.words import one_sentence, say
from jella.numerics.optional import need

if TYPE_CHECKING:
    from jella.estimators.on_device import Device
    from jella.io import Dataset
    from jella.views import Views


@contextmanager
def fitted_in_memory(options: argparse.Namespace, place: Out) -> Iterator[Fitted]:
    """The fitted model that the options describe."""
    device, model = chosen_device(options), make_model(options)
    say(options, "reading")
    dataset = read_data(options)
    say(options, "fitting")
    model = fit(model, dataset.views, device)
    where = {} if device is None else {"device": str(device)}
    yield FittedInMemory(options, model, place.folder, dataset.name, where, dataset, device)


@dataclass(eq=False)
class FittedInMemory(Fitted):
    """A model fitted on samples in memory.

    Attributes
    ----------
    dataset : Dataset
    device : Device or None
        The device of the fit.
    """

    dataset: Dataset
    device: Device | None

    @property
    def views(self) -> Views:
        """The views of the data, aligned."""
        from jella.views import read_views

        return read_views(self.dataset.views)

    @property
    def n_samples(self) -> int:
        """Number of samples, over all views."""
        return self.views.n_samples

    @property
    def n_entries(self) -> dict[str, int]:
        """Number of entries of each view, over all samples."""
        return {view.name: view.n_samples * view.n_features for view in self.views}

    def write_labels_and_embedding(self) -> np.ndarray:
        """Write labels and embedding as tables; returns the sizes of the clusters."""
        labels, samples = np.asarray(self.model.labels_), sample_column(self.views.sample_names, self.n_samples)
        write_table(self.folder, "labels", {"sample": samples, "cluster": labels}, self.options.tables)
        if hasattr(self.model, "embedding_"):
            write_embedding(self.folder, samples, self.model, self.model.embedding_, self.options.tables)
        return np.bincount(labels[labels >= 0])

    def write_completed(self) -> dict[str, int]:
        """Write the completed views; returns the number of missing values of each."""
        from jella.io import write_views

        write_views(self.model.complete(self.dataset.views), self.folder / "completed", like=self.dataset)
        return {view.name: self.n_entries[view.name] - view.n_observed() for view in self.views}

    def write_model(self) -> None:
        """Write model.jella."""
        self.model.save(self.folder / "model.jella")

    def write_report(self) -> None:
        """Write report.html, if the package that draws it is installed."""
        try:
            need("plotly", "report")
        except ImportError:
            self.left_out.append(
                "no report.html: it needs the package 'plotly'; run pip install 'jella[report]' and then jella report, "
                "or pass --no-report"
            )
            return
        say(self.options, "writing the report, with a second fit on hidden values")
        report_on(self.dataset, self.model, self.folder / "report.html", self.options)

    def agreement(self) -> Record:
        """Scores of the clusters against known classes, if there are some."""
        truth = aligned_labels(self.dataset)
        return {} if truth is None else class_scores(self.model.labels_, truth)

    def errors(self) -> Record:
        """Errors of the completion on hidden values, from a second fit; none after Ctrl-C."""
        from jella.model_selection.against_mean import errors_against_mean

        if self.is_interrupted:
            return {}
        say(self.options, "estimating the error by a second fit on hidden values")
        try:
            ours, means = errors_against_mean(self.model, self._where_fitted())
        except ValueError as error:  # too few values to hide, or none that vary
            self.left_out.append(f"no estimate of the error: {one_sentence(error)}")
            return {}
        if ours is None or means is None:
            return {}
        return {"error": ours[0], "mean_error": means[0], "error_by_view": ours[1], "mean_error_by_view": means[1]}

    def _where_fitted(self) -> Any:
        """The views as the fit received them: as read, or as tensors on the device."""
        from jella.views import ReadOnce

        return self.dataset.views if self.device is None else ReadOnce(self.device.tensors(self.dataset.views))
