"""Find clusters, an embedding and the missing values, and write them with a model and a report.

OUT gets labels and embedding (by sample), completed/ (the views in the format of DATA), model.jella (for
`jella transform`), report.html and run.json. Observed values are written as they were read.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from jella.cli.data import aligned_labels, data_arguments, read_data
from jella.cli.fitting import chosen_device, fit, make_model, method_arguments, n_clusters
from jella.cli.output import check_output, output_arguments, output_folder, sample_column, write_run, write_table
from jella.cli.words import say

HELP = "clusters, embedding, completed views, a model and a report"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What to read, how many clusters, where to write."""
    data_arguments(parser)
    parser.add_argument(
        "-k",
        "--clusters",
        type=n_clusters,
        default=None,
        metavar="K",
        help="number of clusters, or auto (default auto)",
    )
    method_arguments(parser)
    output_arguments(parser)
    parser.add_argument("--no-report", action="store_true", help="no report.html")


def run(options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Read, fit, write."""
    from jella.views import read_views

    place, device = check_output(options), chosen_device(options)
    say(options, "reading")
    dataset = read_data(options)
    say(options, "fitting")
    model = fit(make_model(options, options.clusters), dataset.views, device)
    names = read_views(dataset.views).sample_names
    record = _summary(model, dataset, names)
    if device is not None:
        record["device"] = str(device)
    with output_folder(place) as folder:
        write_results(folder, model, dataset, names, options)
        if not options.no_report:
            from jella.cli.report import write_from

            say(options, "making the report, with a second fit on hidden values")
            write_from(folder, model, dataset, names, options.command_line, options.seed)
        write_run(folder, options, record)
    return _text(record, place), record


def write_results(folder: Path, model: Any, dataset: Any, names: Any, options: argparse.Namespace) -> None:
    """Labels, embedding, completed views and the model."""
    from jella.arrays import to_numpy
    from jella.io import write_views

    if hasattr(model, "labels_"):
        samples = sample_column(names, len(model.labels_))
        write_table(folder, "labels", {"sample": samples, "cluster": model.labels_}, options.tables)
    if hasattr(model, "embedding_"):
        W = np.asarray(to_numpy(model.embedding_))
        heads = model.get_feature_names_out() if hasattr(model, "get_feature_names_out") else range(W.shape[1])
        columns = {str(head): W[:, j] for j, head in enumerate(heads)}
        write_table(folder, "embedding", {"sample": sample_column(names, len(W)), **columns}, options.tables)
    if hasattr(model, "complete"):
        write_views(model.complete(dataset.views), folder / "completed", like=dataset)
    model.save(folder / "model.jella")


def _summary(model: Any, dataset: Any, names: Any) -> dict[str, Any]:
    from jella.metrics import adjusted_rand, nmi
    from jella.model_selection.against_mean import interrupted

    labels = np.asarray(model.labels_)
    sizes = np.bincount(labels[labels >= 0])
    record: dict[str, Any] = {
        "data": dataset.name,
        "samples": int(labels.size),
        "method": type(model).__name__,
        "clusters": int(sizes.size),
        "sizes": sizes.tolist(),
        "interrupted": interrupted(model),
    }
    truth = aligned_labels(dataset, names, labels.size)
    if truth is not None:
        scored = labels >= 0
        record |= {"nmi": nmi(truth[scored], labels[scored]), "ari": adjusted_rand(truth[scored], labels[scored])}
    return record


def _text(record: dict[str, Any], place: Path) -> str:
    sizes = ", ".join(map(str, sorted(record["sizes"], reverse=True)))
    found = f"{record['clusters']} clusters ({sizes}), by {record['method']}"
    lines = [f"{record['samples']} samples of {record['data']} in {found}"]
    if "nmi" in record:
        lines.append(f"against the known classes: NMI {record['nmi']:.3f}, adjusted Rand index {record['ari']:.3f}")
    if record["interrupted"]:
        lines.append("interrupted: the results are those of the last accepted sweep")
    lines.append(f"written to {place}: " + ", ".join(sorted(path.name for path in place.iterdir())))
    return "\n".join(lines)
