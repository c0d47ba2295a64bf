"""Compare methods on DATA: hide known values, let each method predict them, and compare with imputing the mean.

Beside the methods of `jella methods` there are KNNImputer and IterativeImputer of scikit-learn and, if the packages
fancyimpute and mofapy2 are installed, SoftImpute and MOFA+. The error is in standard deviations of a feature, on the
same hidden values for all methods, with its standard error over several splits. Each method has one scaling, which the
table names: 'auto', or 'feature' if it takes no negative values.

No labels are needed. If --labels names known classes, each method also clusters the data as they are, at its default
scaling, and NMI and adjusted Rand index are shown. The number of clusters is chosen without labels, unless -k gives
it; -k labels takes the number of known classes.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jella.cli.comparison import Comparison, Contestant, Row, column_means, contestants
from jella.cli.data import aligned_labels, data_arguments, read_data
from jella.cli.fitting import clusters_argument
from jella.cli.numbers import share, whole
from jella.cli.output import file_to_write
from jella.cli.signals import Stopped
from jella.numerics.words import aligned, number

if TYPE_CHECKING:
    from jella.io import Dataset

HELP = "compare methods on hidden values, without labels"
COLUMNS = ("method", "error", "error_se", "scaling", "rank", "nmi", "ari", "seconds", "why")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: what to read, which methods, how much to hide."""
    data_arguments(parser)
    parser.add_argument(
        "--methods",
        nargs="+",
        default=["all"],
        metavar="NAME",
        help="as `jella methods` lists them, knn-imputer, iterative-imputer, soft-impute, mofa, or all",
    )
    parser.add_argument("--rate", type=share, default=0.1, help="share of the known values to hide (default 0.1)")
    parser.add_argument("--repeats", type=whole(1, 1000), default=3, help="number of splits (default 3)")
    clusters_argument(parser, labels="labels")
    parser.add_argument("-o", "--output", metavar="FILE", help="also write the table as CSV; must not exist yet")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")


def run(options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """Read the data, hide values, fit each method, compare; Ctrl-C leaves the methods that are done."""
    from jella.model_selection.held_out import HeldOut, Trials
    from jella.numerics.progress import StatusLine
    from jella.views.align import check_overlap
    from jella.views.read import split

    file = None if options.output is None else file_to_write(options.output, options)
    chosen = contestants(options.methods)
    dataset = read_data(options)
    check_overlap(*split(dataset.views))
    truth = aligned_labels(dataset)
    asked = _n_classes(dataset, truth) if options.clusters == "labels" else options.clusters
    trials = Trials.draw(HeldOut(options.repeats, share=options.rate, random_state=options.seed), dataset.views)
    splits = [trials.holed(number) for number in range(len(trials))]
    with StatusLine(enabled=not options.quiet) as line:
        place = _Place(line, len(chosen))
        scored = truth is not None and any(method.clustering is not None for method in chosen)
        k = _chosen_number(dataset, options, place.tell) if scored and asked is None else asked
        comparison = Comparison(
            trials, splits, truth, {"random_state": options.seed, "n_clusters": asked}, k, place.tell
        )
        rows, left = _compared(comparison, chosen, place)
    rows.sort(key=lambda row: (row["error"] is None, row["error"] or 0.0))
    if file is not None:
        _write(file, rows)
    lines = _text(rows, truth is not None, options, k)
    if left:
        lines.append(f"interrupted: not compared are {', '.join(method.name for method in left)}")
    record = {"data": dataset.name, "rate": options.rate, "repeats": options.repeats, "n_clusters": k}
    return lines, record | {"methods": rows, "interrupted": bool(left)}


class _Place:
    """The line that says which method is at work, and at which split."""

    def __init__(self, line: Any, total: int) -> None:
        self.line, self.total, self.done = line, total, 0

    def tell(self, what: str) -> None:
        self.line.show(f"{self.done} of {self.total} methods compared; {what}", at_once=True)


def _compared(comparison: Comparison, chosen: list[Contestant], place: _Place) -> tuple[list[Row], list[Contestant]]:
    """The rows of the methods, and the methods that Ctrl-C left out."""
    left = list(chosen)
    rows = [comparison.row(column_means())]
    try:
        while left:
            rows.append(comparison.row(left[0]))
            left.pop(0)
            place.done += 1
    except (KeyboardInterrupt, Stopped):
        if len(left) == len(chosen):
            raise  # nothing is done, so an earlier table stays
    return rows, left


def _n_classes(dataset: Dataset, truth: Any) -> int:
    if truth is None:
        raise ValueError("expected known classes for -k labels, got none; pass --labels NAME, or -k with a number")
    return dataset.n_classes


def _chosen_number(dataset: Dataset, options: argparse.Namespace, tell: Any) -> int:
    """The number of clusters, chosen without labels."""
    import warnings

    from jella.model_selection.clusters import select_n_clusters

    tell("choosing the number of clusters")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return select_n_clusters(dataset.views, random_state=options.seed).n_clusters


def _text(rows: list[Row], scored: bool, options: argparse.Namespace, k: int | None) -> list[str]:
    heads = ("method", "error", "± se", "scaling", "rank", *(("NMI", "ARI") if scored else ()), "seconds")
    lines = [heads]
    for row in rows:
        rank = "–" if row["rank"] is None else str(row["rank"])
        scores = [row.get("nmi"), row.get("ari")] if scored else []
        errors = [row["error"], row["error_se"]]
        numbers = [*map(number, errors), row["scaling"] or "–", rank, *map(number, scores)]
        lines.append((row["method"], *numbers, number(row["seconds"], ".1f")))
    out = aligned(lines, "<>><" + ">" * (len(heads) - 4))
    out += [f"{row['method']}: {row['why']}" for row in rows if row["why"]]
    hidden = f"{100 * options.rate:g}% of the known values, which were hidden"
    splits = f"mean of {options.repeats} splits" if options.repeats > 1 else "one split"
    out.append(f"error: root mean square on {hidden} ({splits}); 1 is one standard deviation of a feature")
    if scored and k is not None:
        how = {None: "chosen without labels", "labels": "as many as classes"}.get(options.clusters, "as given")
        out.append(f"NMI, ARI: {k} clusters ({how}) of all data, at the default scaling of each method")
    return out


def _write(path: Path, rows: list[Row]) -> None:
    import csv

    from jella.io.formulas import guarded
    from jella.io.stored import replacing

    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in rows:
            cells = {name: row.get(name) for name in COLUMNS}
            writer.writerow({name: guarded(cell) if isinstance(cell, str) else cell for name, cell in cells.items()})
