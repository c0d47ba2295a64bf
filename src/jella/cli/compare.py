"""Compare methods on DATA: hide known values, let each method predict them, and compare with imputing the mean.

No labels are needed. The error is in standard deviations of a feature, on the same hidden values for all methods. If
--labels names known classes, each method also clusters the data as they are, and NMI and adjusted Rand index are shown.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jella.cli.data import aligned_labels, class_scores, data_arguments, read_data
from jella.cli.fitting import clusters_argument
from jella.cli.output import file_to_write
from jella.cli.signals import Stopped
from jella.cli.words import one_sentence
from jella.numerics.words import aligned, number

if TYPE_CHECKING:
    from jella.estimators.catalogue import Method
    from jella.model_selection.held_out import Trials

HELP = "compare methods on hidden values, without labels"
MOST_REPEATS = 1000
COLUMNS = ("method", "error", "nmi", "ari", "seconds", "why")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: what to read, which methods, how much to hide."""
    data_arguments(parser)
    parser.add_argument(
        "--methods", nargs="+", default=["all"], metavar="NAME", help="as `jella methods` lists them, or all"
    )
    parser.add_argument("--rate", type=_rate, default=0.1, help="share of the known values to hide (default 0.1)")
    parser.add_argument("--repeats", type=_repeats, default=1, help="number of draws of hidden values (default 1)")
    clusters_argument(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="also write the table as CSV; must not exist yet")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")


def _rate(text: str) -> float:
    """The value of --rate."""
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0 < rate < 1:
        raise argparse.ArgumentTypeError(f"expected a share between 0 and 1, got {text!r}")
    return rate


def _repeats(text: str) -> int:
    """The value of --repeats."""
    count = int(text) if text.isdecimal() and len(text) < 6 else 0
    if not 1 <= count <= MOST_REPEATS:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to {MOST_REPEATS}, got {text!r}")
    return count


def run(options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """Read the data, hide values, fit each method, compare; Ctrl-C leaves the methods that are done."""
    from jella.estimators.catalogue import find_method, methods
    from jella.model_selection.against_mean import mean_errors
    from jella.model_selection.held_out import HeldOut, Trials
    from jella.numerics.progress import ProgressLine
    from jella.views.align import check_overlap
    from jella.views.read import split

    file = None if options.output is None else file_to_write(options.output, options)
    dataset = read_data(options)
    check_overlap(*split(dataset.views))
    chosen = list(methods().values()) if options.methods == ["all"] else [find_method(name) for name in options.methods]
    trials = Trials.draw(HeldOut(options.repeats, share=options.rate, random_state=options.seed), dataset.views)
    splits, truth = [trials.holed(number) for number in range(len(trials))], aligned_labels(dataset)
    k = options.clusters or (dataset.n_classes if truth is not None else None)
    contest = _Contest(trials, splits, truth, {"random_state": options.seed, "n_clusters": k})
    by_mean = float(np.mean([mean_errors(trials, holed, number)[0] for number, holed in enumerate(splits)]))
    rows: list[dict[str, Any]] = [{"method": "mean-fill", "error": by_mean, "seconds": 0.0, "why": None}]
    left = list(chosen)
    with ProgressLine(len(chosen), "methods", enabled=not options.quiet) as line:
        try:
            while left:
                rows.append(contest.row(left[0]))
                line.step(left.pop(0).command_name)
        except (KeyboardInterrupt, Stopped):
            if len(left) == len(chosen):
                raise  # nothing is done, so an earlier table stays
    rows.sort(key=lambda row: (row["error"] is None, row["error"] or 0.0))
    if file is not None:
        _write(file, rows)
    lines = _text(rows, truth is not None, options)
    if left:
        lines.append(f"interrupted: not compared are {', '.join(method.command_name for method in left)}")
    record = {"data": dataset.name, "rate": options.rate, "methods": rows, "interrupted": bool(left)}
    return lines, record


@dataclass(frozen=True)
class _Contest:
    """What each method gets: the same data, hidden values and settings."""

    trials: Trials
    splits: list[Any]  # the data without the values that each split hides
    truth: Any
    settings: dict[str, Any]

    def row(self, method: Method) -> dict[str, Any]:
        """The row of a method: error on hidden values, scores if there are classes; or why there is none."""
        why = method.obstacle(self.trials.views)
        row: dict[str, Any] = {"method": method.command_name, "error": None, "seconds": None, "why": why}
        if why is not None:
            return row
        started = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if method.completes:
                    row["error"] = float(np.mean([self._error(method, split) for split in range(len(self.splits))]))
                if self.truth is not None and method.clusters:
                    row |= class_scores(self._model(method).fit(self.trials.X).labels_, self.truth)
        except Exception as error:  # one method that fails must not hide the others
            row["why"] = one_sentence(error)
        row["seconds"] = time.perf_counter() - started
        return row

    def _error(self, method: Method, split: int) -> float:
        holed = self.splits[split]
        return self.trials.errors(self._model(method).fit(holed).complete(holed), split)[0]

    def _model(self, method: Method) -> Any:
        known = method.kind().get_params()
        return method.kind(**{name: value for name, value in self.settings.items() if name in known})


def _text(rows: list[dict[str, Any]], scored: bool, options: argparse.Namespace) -> list[str]:
    heads = ("method", "error", *(("NMI", "ARI") if scored else ()), "seconds")
    lines = [heads]
    for row in rows:
        values = [row["error"], *((row.get("nmi"), row.get("ari")) if scored else ())]
        lines.append((row["method"], *map(number, values), number(row["seconds"], ".1f")))
    out = aligned(lines, "<" + ">" * (len(heads) - 1))
    out += [f"{row['method']}: {row['why']}" for row in rows if row["why"]]
    hidden = f"{100 * options.rate:g}% of the known values, which were hidden"
    out.append(f"error: root mean square on {hidden}; 1 is one standard deviation of a feature")
    return out


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    import csv

    from jella.io.formulas import guarded
    from jella.io.stored import replacing

    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in rows:
            cells = {name: row.get(name) for name in COLUMNS}
            writer.writerow({name: guarded(cell) if isinstance(cell, str) else cell for name, cell in cells.items()})
