"""Write report.html again, from a folder that `jella cluster` wrote and the data it was made from."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jella.cli.data import aligned_labels, read_data

HELP = "report.html again, from a folder of results"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The folder, and another place for the report."""
    parser.add_argument("folder", metavar="OUT", help="folder that `jella cluster` wrote")
    parser.add_argument("--data", nargs="*", default=None, help="the data, where they are not where they were")
    parser.add_argument("--to", metavar="FILE", help="write here instead of OUT/report.html")


def run(options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Load, read, write."""
    from jella.views import read_views

    folder = Path(options.folder)
    if not (folder / "run.json").exists():
        raise ValueError(
            f"expected a folder that `jella cluster` wrote, got {str(folder)!r}, without a run.json; name one"
        )
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    model = load_model(folder)
    dataset = read_data(SimpleNamespace(**{**run["options"], "data": options.data or run["options"]["data"]}))  # type: ignore[arg-type]
    names = read_views(dataset.views).sample_names
    path = write_from(folder, model, dataset, names, run["command"], run["options"]["seed"], options.to)
    return f"written to {path}", {"report": str(path)}


def load_model(where: str | Path) -> Any:
    """A saved model, or the one of a folder of results."""
    from jella.estimators.loading import load

    path = Path(where)
    return load(path / "model.jella" if path.is_dir() else path)


def write_from(
    folder: Path, model: Any, dataset: Any, names: Any, command: str, seed: int, to: str | None = None
) -> Path:
    """The report of a fit on a data set; known classes are offered as a colour and only scored."""
    from jella.report import write_report

    truth = aligned_labels(
        dataset, names, len(model.embedding_) if hasattr(model, "embedding_") else len(model.labels_)
    )
    path = Path(to) if to else folder / "report.html"
    return write_report(path, model, dataset.views, labels=truth, command=command, seed=seed, title=dataset.name)
