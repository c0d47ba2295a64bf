"""Write report.html again, from a folder that `jella cluster` wrote and its data."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from jella.cli.data import aligned_labels, read_data

if TYPE_CHECKING:
    from jella.io import Dataset

HELP = "write report.html again, from a folder of results"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: the folder, and another path for the report."""
    parser.add_argument("folder", metavar="OUT", help="folder that `jella cluster` wrote")
    parser.add_argument("--data", nargs="*", default=None, help="the data, if they were moved")
    parser.add_argument("--to", metavar="FILE", help="write to this file instead of OUT/report.html")


def run(options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Load the model, read the data as `jella cluster` did, and write the report."""
    folder = Path(options.folder)
    if not (folder / "run.json").exists():
        raise ValueError(
            f"expected a folder that `jella cluster` wrote, got {str(folder)!r}, without a run.json; name one"
        )
    done = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    given = SimpleNamespace(**done["options"] | ({"data": options.data} if options.data else {}))
    path = Path(options.to) if options.to else folder / "report.html"
    model, dataset = load_model(folder), read_data(cast(argparse.Namespace, given))
    report_on(dataset, model, path, done["command"], given.seed)
    return f"written to {path}", {"report": str(path)}


def load_model(where: str | Path) -> Any:
    """The model in a file, or in a folder of results."""
    from jella.estimators.loading import load

    path = Path(where)
    return load(path / "model.jella" if path.is_dir() else path)


def report_on(dataset: Dataset, model: Any, path: Path, command: str, seed: int) -> None:
    """Write the report of a fit on a data set; known classes are used to colour and to score."""
    from jella.report import write_report

    truth = aligned_labels(dataset)
    write_report(path, model, dataset.views, labels=truth, command=command, seed=seed, title=dataset.name)
