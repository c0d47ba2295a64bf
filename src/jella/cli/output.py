"""The folder OUT: written under a temporary name next to it, and renamed when it is complete."""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from jella.numerics.optional import need

TABLE_FORMATS = ("csv", "parquet")


def output_arguments(parser: argparse.ArgumentParser) -> None:
    """Add -o OUT and the options for its content."""
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="OUT", help="folder for the results; must not exist yet")
    group.add_argument("--overwrite", action="store_true", help="replace OUT if it exists")
    group.add_argument(
        "--tables", choices=TABLE_FORMATS, default="csv", help="format of labels and embedding (default csv)"
    )


def check_output(options: argparse.Namespace) -> Path:
    """The path of OUT; refused before any work if it must not be replaced."""
    if not options.output:
        raise ValueError("expected a folder for the results, got none; pass -o OUT")
    if options.tables == "parquet":
        need("pyarrow", "parquet")
    place = Path(options.output)
    if place.exists() and not options.overwrite:
        raise ValueError(f"expected a new folder for the results, got {str(place)!r}, which exists; pass --overwrite")
    if place.exists() and not (place.is_dir() and (not any(place.iterdir()) or (place / "run.json").exists())):
        raise ValueError(
            f"expected a folder of earlier results to replace, got {str(place)!r}, which holds none; name another"
        )
    return place


@contextmanager
def output_folder(place: Path) -> Iterator[Path]:
    """A folder to write into; it is renamed to `place` at the end, and removed if something fails."""
    place.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{place.name}-", suffix=".part", dir=place.parent))
    try:
        yield part
        part.chmod(0o755)
        if place.exists():
            old = part.with_suffix(".old")
            os.replace(place, old)
            os.replace(part, place)
            shutil.rmtree(old)
        else:
            os.replace(part, place)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_table(folder: Path, name: str, columns: Mapping[str, Sequence[Any] | np.ndarray], kind: str) -> Path:
    """Write columns of equal length as a table; returns its path."""
    path = folder / f"{name}.{kind}"
    if kind == "parquet":
        need("pandas", "pandas").DataFrame(dict(columns)).to_parquet(path, index=False)
        return path
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True))
    return path


def write_embedding(folder: Path, samples: Sequence[Any], model: Any, embedding: Any, kind: str) -> None:
    """Write the table of the embedding (n, r) of samples."""
    from jella.numerics.arrays import to_numpy

    W = np.asarray(to_numpy(embedding))
    heads = model.get_feature_names_out() if hasattr(model, "get_feature_names_out") else range(W.shape[1])
    columns = {str(head): W[:, j] for j, head in enumerate(heads)}
    write_table(folder, "embedding", {"sample": samples, **columns}, kind)


def write_run(folder: Path, options: argparse.Namespace, record: Mapping[str, Any]) -> None:
    """Write run.json: command, versions, options and summary. It marks a folder of results."""
    from jella.experiments.measuring import describe_environment

    kept = {
        name: value for name, value in vars(options).items() if name not in ("command_line", "json", "quiet", "debug")
    }
    run = {
        "command": options.command_line,
        "options": kept,
        "finished": time.strftime("%Y-%m-%d %H:%M:%S"),
        "versions": describe_environment(),
        "summary": dict(record),
    }
    (folder / "run.json").write_text(json.dumps(run, indent=2, default=str) + "\n", encoding="utf-8")


def sample_column(names: Any, n_samples: int) -> list[Any]:
    """Names of the samples, or their positions."""
    return list(range(n_samples)) if names is None else [str(name) for name in names]
