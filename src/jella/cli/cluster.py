"""Find clusters, an embedding and the missing values, and write them together with a model and a report.

OUT gets labels and embedding (by sample), features (that distinguish each cluster; their q-values are too small, since
clusters were found in the same data), completed/ (the views in the format of DATA), model.jella (for `jella
transform`), report.html and run.json; with --interval, completed-lower/ and completed-upper/; and probabilities/ if a
view has categories; with --metadata, metadata (how clusters go along with its columns); with --survival, survival
(Kaplan-Meier curves); and confusion if classes are known. Observed values are written as they were read. With --dask,
labels, embedding and the completed views are folders of Parquet parts, and there are no features and no report.
"""

from __future__ import annotations

import argparse
from typing import Any

from jella.cli.completion import error_line, note_lines
from jella.cli.fitted import Fitted, Record
from jella.cli.fitting import chosen_method, clusters_argument
from jella.cli.flow import Later, fit_arguments, run_fit
from jella.cli.metadata import metadata_arguments
from jella.cli.pairs import pairs_arguments
from jella.numerics.words import counted

HELP = "clusters, embedding, completed views, a model and a report"
REPORT = "report.html"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: what to read, how many clusters, where to write."""
    clusters_argument(parser)
    fit_arguments(parser)
    metadata_arguments(parser)
    pairs_arguments(parser)
    parser.add_argument("--no-report", action="store_true", help="no report.html")


def run(options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """Fit, and write the clusters and the other results."""
    method = chosen_method(options)
    if not method.clusters:
        raise ValueError(f"expected a method that clusters, got {options.method}; `jella methods` shows them")
    if options.clusters is None and not method.can.chooses_n_clusters:
        raise ValueError(f"expected a number of clusters for {method.command_name}, got auto; pass -k NUMBER")
    return run_fit(options, _write, None if options.no_report else LATER, _describe)


def _write(fitted: Fitted) -> Record:
    sizes = fitted.write_labels_and_embedding()
    fitted.write_features()
    found: Record = {"clusters": int(sizes.size), "sizes": sizes.tolist()}
    if hasattr(fitted.model, "complete"):
        found["completion"] = fitted.write_completed()
    fitted.write_model()
    found |= fitted.write_metadata()
    landmarks = getattr(fitted.model, "landmarks_", None)
    if landmarks is not None and landmarks.is_worth_a_word:
        found["landmarks"] = str(landmarks)
    return found | fitted.evidence() | fitted.agreement()


def _add_report(fitted: Fitted) -> Record | None:
    before = len(fitted.left_out)
    fitted.write_report()
    return {} if len(fitted.left_out) == before else None


LATER = Later("report", _add_report, (REPORT,))


def _describe(fitted: Fitted, record: Record) -> list[str]:
    sizes = ", ".join(map(str, sorted(record["sizes"], reverse=True)))
    found = f"{counted(record['clusters'], 'cluster')} ({sizes}), by {record['method']}"
    lines = [f"{counted(record['samples'], 'sample')} of {record['data']} in {found}"]
    if "nmi" in record:
        lines.append(
            f"agreement with the known classes: NMI {record['nmi']:.3f}, adjusted Rand index {record['ari']:.3f}"
        )
    evidence = record.get("evidence")
    if evidence is not None:
        lines.append(evidence["words"])
        if evidence["uncertain"]:
            from jella.evidence.confidence import UNCERTAIN

            some = ", ".join(map(str, evidence["least_certain"][:5])) + (" ..." if evidence["uncertain"] > 5 else "")
            who = counted(evidence["uncertain"], "sample is", "samples are")
            lines.append(f"{who} uncertain (probability below {UNCERTAIN:g}): {some}")
    lines += [record["landmarks"]] if "landmarks" in record else []
    lines += [record["metadata"]["words"]] if "metadata" in record else []
    lines += [record["adjusted"]] if "adjusted" in record else []
    completion = record.get("completion", {})
    if completion.get("error") is not None:
        lines.append(f"completed values: {error_line(completion)}")
    return lines + note_lines(completion)
