"""Find clusters, an embedding and the missing values, and write them with a model and a report.

OUT gets labels and embedding (by sample), completed/ (the views in the format of DATA), model.jella (for
`jella transform`), report.html and run.json. Observed values are written as they were read. With --dask, labels,
embedding and the completed views are folders of Parquet parts, and there is no report.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from jella.cli.data import aligned_labels, data_arguments, read_data
from jella.cli.fitting import chosen_device, fit, make_model, method_arguments, n_clusters
from jella.cli.on_dask import dask_arguments
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
    dask_arguments(parser)
    output_arguments(parser)
    parser.add_argument("--no-report", action="store_true", help="no report.html")


def run(options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Read, fit, write."""
    from jella.views import read_views

    place = check_output(options)
    if options.dask is not None:
        return _run_on_dask(options, place)
    device = chosen_device(options)
    say(options, "reading")
    dataset = read_data(options)
    say(options, "fitting")
    model = fit(make_model(options, options.clusters), dataset.views, device)
    names = read_views(dataset.views).sample_names
    labels = np.asarray(model.labels_)
    record = _summary(model, dataset.name, labels.size, np.bincount(labels[labels >= 0]))
    record |= _scores(labels, aligned_labels(dataset, names, labels.size))
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


def _run_on_dask(options: argparse.Namespace, place: Path) -> tuple[str, dict[str, Any]]:
    """As `run`, of Parquet parts on a cluster."""
    from jella.cli.on_dask import data_name, fitted_on_dask
    from jella.cli.write_parts import write_completed, write_labels_and_embedding

    with fitted_on_dask(options, place, options.clusters) as there:
        say(options, "writing")
        sizes = write_labels_and_embedding(there)
        write_completed(there)
        left_out = [] if options.no_report else ["no report.html: it needs the samples in memory"]
        if not there.model.readout_.in_memory:
            left_out.append("no model.jella: the model needs the samples of its fit, which stay where they are")
        else:
            there.model.save(there.folder / "model.jella")
        record = _summary(there.model, data_name(options), there.n_samples, sizes) | {"dask": there.where}
        write_run(there.folder, options, record)
    return "\n".join([_text(record, place), *left_out]), record


def write_results(folder: Path, model: Any, dataset: Any, names: Any, options: argparse.Namespace) -> None:
    """Labels, embedding, completed views and the model."""
    from jella.io import write_views
    from jella.numerics.arrays import to_numpy

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


def _summary(model: Any, name: str, n_samples: int, sizes: np.ndarray) -> dict[str, Any]:
    from jella.model_selection.against_mean import interrupted

    return {
        "data": name,
        "samples": n_samples,
        "method": type(model).__name__,
        "clusters": int(sizes.size),
        "sizes": sizes.tolist(),
        "interrupted": interrupted(model),
    }


def _scores(labels: np.ndarray, truth: Any) -> dict[str, float]:
    """Agreement with known classes, where there are some."""
    from jella.metrics import adjusted_rand, nmi

    if truth is None:
        return {}
    scored = labels >= 0
    return {"nmi": nmi(truth[scored], labels[scored]), "ari": adjusted_rand(truth[scored], labels[scored])}


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
