"""Fits of samples in memory; results in the format of DATA."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from jella.cli.completion import calibrate, completion_record, write_completed
from jella.cli.data import aligned_labels, class_scores, read_data
from jella.cli.fitted import Fitted, Record
from jella.cli.fitting import chosen_device, fit, make_model
from jella.cli.metadata import NOTHING, Known, as_fitted, for_adjusted, known_about
from jella.cli.output import sample_column, write_embedding, write_table
from jella.cli.pairs import known_pairs
from jella.cli.place import Out
from jella.cli.reporting import report_on
from jella.cli.signals import in_fit
from jella.cli.words import one_sentence, say
from jella.numerics.optional import need
from jella.numerics.progress import StatusLine

if TYPE_CHECKING:
    from jella.estimators.on_device import Device
    from jella.io import Dataset
    from jella.oneshot.completed import Completed
    from jella.views import Views

#: features per cluster and view in the table of features
MOST_FEATURES = 100


@contextmanager
def fitted_in_memory(options: argparse.Namespace, place: Out) -> Iterator[Fitted]:
    """The fitted model that the options describe."""
    device, model = chosen_device(options), make_model(options)
    dataset = read_data(options)
    known, pairs = known_about(options, dataset), known_pairs(options, model, dataset)
    dataset = as_fitted(dataset, known)
    say(options, "fitting")
    model = fit(for_adjusted(model, known), dataset.views, device, **pairs)
    if known.adjusted is not None:
        known.adjusted.mark(model)
    where = {} if device is None else {"device": str(device)}
    fitted = FittedInMemory(options, model, place.folder, dataset.name, where, dataset, device, known)
    fitted.gather_evidence()
    fitted.calibrate()
    yield fitted


@dataclass(eq=False)
class FittedInMemory(Fitted):
    """A model fitted on samples in memory.

    Attributes
    ----------
    dataset : Dataset
        With the views that were fitted.
    device : Device or None
        The device of the fit.
    known : Known
        What is known about the samples.
    """

    dataset: Dataset
    device: Device | None
    known: Known = NOTHING

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
        """Number of cells of each view, over all samples; a category has one cell per sample."""
        from jella.views.table_cells import n_cells

        return {view.name: n_cells(view) for view in self.views}

    def write_labels_and_embedding(self) -> np.ndarray:
        """Write labels and embedding as tables; returns the sizes of the clusters."""
        labels, samples = np.asarray(self.model.labels_), sample_column(self.views.sample_names, self.n_samples)
        columns: dict[str, Any] = {"sample": samples, "cluster": labels}
        if hasattr(self.model, "label_probabilities_"):
            from jella.evidence.confidence import label_columns

            columns |= label_columns(labels, self.model.label_probabilities_)
        write_table(self.folder, "labels", columns, self.options.tables)
        if hasattr(self.model, "embedding_"):
            write_embedding(self.folder, samples, self.model, self.model.embedding_, self.options.tables)
        return np.bincount(labels[labels >= 0])

    def write_features(self) -> None:
        """Write the features that distinguish the clusters as a table, if there are at least two clusters."""
        from jella.describe.markers import marker_columns
        from jella.describe.subject import Subject

        subject = Subject.of(self.model, self.dataset.views)
        if subject.clusters.size > 1:
            with self._line():
                columns = marker_columns(subject, MOST_FEATURES)
            write_table(self.folder, "features", columns, self.options.tables)

    def gather_evidence(self) -> None:
        """Let a model with clusters refit parts of its samples; after Ctrl-C it goes on without evidence."""
        if not hasattr(self.model, "gather_evidence") or not hasattr(self.model, "labels_"):
            return
        if vars(self.model).get("evidence_", self) is None:  # Ctrl-C has ended the search within the fit, which said so
            self.cut_evidence = True
            return
        with self._line(), in_fit():
            try:
                self.model.gather_evidence()
            except KeyboardInterrupt:
                self.model.evidence_, self.cut_evidence = None, True
                self.left_out.append("no evidence for the clusters: interrupted; probabilities are not calibrated")

    def evidence(self) -> Record:
        """What run.json says about the evidence for clusters."""
        found = getattr(self.model, "evidence_", None)
        if found is None:
            return {}
        from jella.evidence.confidence import uncertain

        path, labels = found.path, np.asarray(self.model.labels_)
        doubtful = uncertain(labels, self.model.label_probabilities_)
        samples = sample_column(self.views.sample_names, self.n_samples)
        return {
            "evidence": {
                "clear": path.is_clear,
                "words": found.words(labels.size - len(self.model.dropped_)),
                "supported": path.supported.tolist(),
                "seconds": round(found.seconds, 3),
                "uncertain": int(doubtful.size),
                "least_certain": [samples[row] for row in doubtful[:20]],
            }
        }

    def calibrate(self) -> None:
        """Let a model that can learn from hidden values do so, before anything is written."""
        self.cut = not calibrate(self.model, quiet=self.options.quiet)

    @cached_property
    def completed(self) -> Completed:
        """The completed views, with what is known of them."""
        from jella.oneshot.completed import Completed

        interval = self.options.interval
        if interval is not None and self.model.imputer_ is None:
            self.left_out.append("no intervals: they need a calibration on hidden values")
            interval = None
        of = self.known.adjusted
        views, covariates = (self.dataset.views, None) if of is None else (of.given, of.covariates)
        with self._line():
            return Completed.by(self.model, views, interval=interval, covariates=covariates)

    def write_completed(self) -> Record:
        """Write the completed views; returns the number of filled cells of each, and what is known of the values."""
        from jella.views.table_cells import n_missing_cells

        write_completed(self.completed, self.dataset, self.folder)
        n_left = len(self.model.dropped_)
        filled = {
            view.name: n_missing_cells(view) - n_left * (self.n_entries[view.name] // self.n_samples)
            for view in self.views
        }
        return {"filled": filled} | completion_record(self.model, self.completed, cut=self.cut)

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
        second = "" if getattr(self.model, "imputer_", None) is not None else ", with a second fit on hidden values"
        say(self.options, f"writing the report{second}")
        report_on(self.dataset, self.model, self.folder / "report.html", self.options, self.known)

    def write_metadata(self) -> Record:
        """Write how clusters go along with metadata and known classes; returns what run.json says about it."""
        from jella.describe.confusion import Confusion
        from jella.describe.metadata import MetadataFindings

        labels, truth, kind = np.asarray(self.model.labels_), aligned_labels(self.dataset), self.options.tables
        record: Record = {} if self.known.adjusted is None else {"adjusted": self.known.notes[0]}
        if truth is not None:
            write_table(self.folder, "confusion", Confusion.of(labels, truth).columns(), kind)
        if not self.known.columns:
            return record
        with self._line():
            found = MetadataFindings.of(self.known.columns, labels, self.views, self.known.survival, self.options.seed)
        write_table(self.folder, "metadata", found.table(), kind)
        if found.survival is not None:
            write_table(self.folder, "survival", found.survival.columns(), kind)
        return record | {"metadata": {"words": found.words(), "columns": found.rows()}}

    def agreement(self) -> Record:
        """Scores of the clusters against known classes, if there are some."""
        truth = aligned_labels(self.dataset)
        return {} if truth is None else class_scores(self.model.labels_, truth)

    def errors(self) -> Record:
        """Errors of the completion on hidden values, from the calibration or a second fit; none after Ctrl-C."""
        from jella.model_selection.against_mean import errors_against_mean

        if (quality := self.completed.quality) is not None:
            return quality.as_record()
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

    def _line(self) -> StatusLine:
        """A line for what is being done."""
        return StatusLine(enabled=not self.options.quiet)

    def _where_fitted(self) -> Any:
        """The views as the fit received them: as read, or as tensors on the device."""
        from jella.views import ReadOnce

        return self.dataset.views if self.device is None else ReadOnce(self.device.tensors(self.dataset.views))
