"""Which method suits DATA: hide known values, let each method predict them, and compare with filling in the mean.

No labels are needed. The error is in standard deviations of a feature, on the same hidden values for all methods. Where
--labels names known classes, each method also clusters the data as they are, and NMI and adjusted Rand index are shown.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

from jella.cli.data import aligned_labels, data_arguments, read_data
from jella.cli.fitting import n_clusters
from jella.cli.words import one_sentence, table

HELP = "methods against each other on hidden values, without labels"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What to read, which methods, how much to hide."""
    data_arguments(parser)
    parser.add_argument(
        "--methods", nargs="+", default=["all"], metavar="NAME", help="as `jella methods` lists them, or all"
    )
    parser.add_argument("--rate", type=float, default=0.1, help="share of the known values to hide (default 0.1)")
    parser.add_argument("--repeats", type=int, default=1, help="how often to hide anew (default 1)")
    parser.add_argument(
        "-k", "--clusters", type=n_clusters, default=None, metavar="K", help="number of clusters, or auto"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="also write the table as CSV")


def run(options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Read, hide, fit each method, compare."""
    from jella.estimators.catalogue import find_method, methods
    from jella.model_selection import HeldOut
    from jella.numerics.progress import ProgressLine
    from jella.views import read_views

    dataset = read_data(options)
    views = read_views(dataset.views)
    chosen = list(methods().values()) if options.methods == ["all"] else [find_method(name) for name in options.methods]
    held_out = HeldOut(options.repeats, share=options.rate, random_state=options.seed)
    splits = list(held_out.split(dataset.views))
    truth = aligned_labels(dataset, views.sample_names, views.n_samples)
    k = options.clusters or (len(set(truth.tolist())) if truth is not None else None)
    rows = [_mean_row(dataset.views, splits, held_out)]
    with ProgressLine(len(chosen), "methods", enabled=not options.quiet) as line:
        for method in chosen:
            rows.append(_row(method, views, dataset.views, splits, held_out, truth, k, options.seed))
            line.step(method.command_name)
    rows.sort(key=lambda row: (row["error"] is None, row["error"] or 0.0))
    if options.output:
        _write(options.output, rows)
    return _text(rows, truth is not None, options), {"data": dataset.name, "rate": options.rate, "methods": rows}


def _mean_row(views: Any, splits: list[Any], held_out: Any) -> dict[str, Any]:
    from jella.model_selection.against_mean import mean_filled

    errors = [held_out.score(views, mean_filled(holed), hidden) for holed, hidden in splits]
    return {"method": "mean-fill", "error": float(np.mean(errors)), "seconds": 0.0, "why": None}


def _row(
    method: Any, views: Any, X: Any, splits: list[Any], held_out: Any, truth: Any, k: int | None, seed: int
) -> dict[str, Any]:
    """Error on what was hidden, scores where there are classes, or why not."""
    row: dict[str, Any] = {"method": method.command_name, "error": None, "seconds": None, "why": method.obstacle(views)}
    if row["why"] is not None:
        return row
    params = method.kind().get_params()
    given = {name: value for name, value in {"random_state": seed, "n_clusters": k}.items() if name in params}
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if method.completes:
                fitted = [method.kind(**given).fit(holed).complete(holed) for holed, _ in splits]
                pairs = zip(fitted, splits, strict=True)
                row["error"] = float(np.mean([held_out.score(X, done, hidden) for done, (_, hidden) in pairs]))
            if truth is not None and method.clusters:
                row |= _scores(method.kind(**given), X, truth)
    except Exception as error:  # one method that fails must not hide the others
        row["why"] = one_sentence(error)
    row["seconds"] = time.perf_counter() - started
    return row


def _scores(model: Any, X: Any, truth: Any) -> dict[str, float]:
    from jella.metrics import adjusted_rand, nmi

    found = np.asarray(model.fit(X).labels_)
    scored = found >= 0
    return {"nmi": nmi(truth[scored], found[scored]), "ari": adjusted_rand(truth[scored], found[scored])}


def _text(rows: list[dict[str, Any]], scored: bool, options: argparse.Namespace) -> str:
    heads = ("method", "error", *(("NMI", "ARI") if scored else ()), "seconds")
    lines = [heads]
    for row in rows:
        values = [row["error"], *((row.get("nmi"), row.get("ari")) if scored else ())]
        numbers = ["-" if value is None else f"{value:.3f}" for value in values]
        seconds = "-" if row["seconds"] is None else f"{row['seconds']:.1f}"
        lines.append((row["method"], *numbers, seconds))
    out = table(lines, "<" + ">" * (len(heads) - 1))
    out += [f"{row['method']}: {row['why']}" for row in rows if row["why"]]
    share = f"{options.rate:.0%}".replace("%", " %")
    out.append(f"error: root mean square on {share} of the known values, hidden; 1 is a feature's standard deviation")
    return "\n".join(out)


def _write(path: str, rows: list[dict[str, Any]]) -> None:
    import csv

    names = ["method", "error", "nmi", "ari", "seconds", "why"]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows([{name: row.get(name) for name in names} for row in rows])
