"""Writing report.html."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jella.cli.data import aligned_labels
from jella.cli.metadata import Known

if TYPE_CHECKING:
    from jella.io import Dataset


def report_on(dataset: Dataset, model: Any, path: Path, options: argparse.Namespace, known: Known) -> None:
    """Write the report of a fit on a data set, whole or not at all; known classes are used to colour and to score."""
    from jella.io.stored import replacing
    from jella.report import write_report

    truth = aligned_labels(dataset)
    how: dict[str, Any] = {"command": options.command_line, "seed": options.seed, "title": dataset.name}
    how |= {"metadata": known.columns or None, "survival": known.survival, "notes": known.notes}
    how["progress"] = not options.quiet
    with replacing(path) as part:
        write_report(part, model, dataset.views, labels=truth, **how)
