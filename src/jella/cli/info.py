"""Show what DATA holds: views, sizes, what is missing and how, scale, and which methods can run on it."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np

from jella.cli.data import data_arguments, read_data
from jella.numerics.limits import as_size, available_memory
from jella.numerics.words import aligned, as_time, counted, percent

HELP = "views, sizes, what is missing, and which methods can run"
SHOWN_PATTERNS = 8


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: what to read."""
    data_arguments(parser)


def run(options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """Read and describe the data."""
    from jella.estimators.catalogue import methods
    from jella.views import read_views
    from jella.views.missing_codes import code_notes
    from jella.views.zero_rows import constant_row_notes

    dataset = read_data(options)
    views = read_views(dataset.views)
    record = {
        "data": dataset.name,
        "samples": views.n_samples,
        "named": views.sample_names is not None and views.sample_names.dtype.kind not in "iu",
        "views": [_describe(view) for view in views],
        "patterns": _patterns(views),
        "classes": None if dataset.labels is None else _classes(dataset.labels),
        "methods": {m.command_name: m.obstacle(views) for m in methods().values()},
        "needs": {m.command_name: asdict(m.needs(views)) for m in methods().values()},
        "memory_available": available_memory(),
        "notes": [*dataset.notes, *constant_row_notes(views), *code_notes(views)],
    }
    return _text(record), record


def _describe(view: Any) -> dict[str, Any]:
    from jella.numerics.arrays import to_numpy
    from jella.views.table_cells import n_cells, n_missing_cells

    values = view.X.data if view.is_sparse else to_numpy(view.X)[np.broadcast_to(to_numpy(view.mask), view.X.shape)]
    present = view.presence()
    return {
        "name": view.name,
        "features": view.n_features,
        "kind": "sparse" if view.is_sparse else "dense",
        "samples_without": int((~present).sum()),
        "entries": n_cells(view),
        "missing": n_missing_cells(view),
        "minimum": float(values.min(initial=0.0)) if view.is_sparse else float(values.min()),
        "median": float(np.median(values)) if values.size else 0.0,
        "maximum": float(values.max()) if values.size else 0.0,
        "whole_numbers": bool((values == np.round(values)).all()),
    }


def _patterns(views: Any) -> list[dict[str, Any]]:
    """The combinations of missing views, and the number of samples with each."""
    presence = views.presence()
    counts = Counter(map(tuple, presence.tolist()))
    return [
        {"lacks": [name for name, there in zip(views.names, pattern, strict=True) if not there], "samples": count}
        for pattern, count in counts.most_common()
    ]


def _classes(labels: Any) -> dict[str, int]:
    values = labels.dropna() if hasattr(labels, "dropna") else labels
    names, counts = np.unique(np.asarray(values), return_counts=True)
    return {str(name): int(count) for name, count in zip(names, counts, strict=True)}


def _text(record: dict[str, Any]) -> list[str]:
    n = record["samples"]
    named = ", named" if record["named"] else ""
    lines = [f"{record['data']}: {counted(n, 'sample')}{named}, {counted(len(record['views']), 'view')}", ""]
    rows = [("view", "features", "kind", "without it", "missing entries", "minimum", "median", "maximum")]
    for view in record["views"]:
        kind = view["kind"] + (", whole numbers" if view["whole_numbers"] else "")
        missing = percent(view["missing"], view["entries"])
        numbers = (f"{view[name]:.4g}" for name in ("minimum", "median", "maximum"))
        rows.append(
            (view["name"], f"{view['features']:,}", kind, percent(view["samples_without"], n), missing, *numbers)
        )
    lines += [*aligned(rows, "<><>>>>>"), "", *_pattern_lines(record["patterns"])]
    if record["classes"]:
        shown = ", ".join(f"{name} {count}" for name, count in list(record["classes"].items())[:10])
        more = f" and {len(record['classes']) - 10} more" if len(record["classes"]) > 10 else ""
        lines += ["", f"labels: {len(record['classes'])} classes ({shown}{more}); used only to score"]
    lines += ["", *_needs_lines(record)]
    lines += [f"cannot: {name} ({why})" for name, why in record["methods"].items() if why is not None]
    if record["notes"]:
        lines += ["", *(f"note: {note}" for note in record["notes"])]
    return lines


def _needs_lines(record: dict[str, Any]) -> list[str]:
    """What each method that can run needs, by estimate."""
    rows = [("can run", "memory", "time of a core")]
    for name, why in record["methods"].items():
        if why is None:
            needs = record["needs"][name]
            rows.append((name, as_size(needs["memory"]), f"up to {as_time(max(needs['seconds'], 1.0))}"))
    room = record["memory_available"]
    left = "" if room is None else f"; {as_size(room)} of memory are available"
    return [*aligned(rows, "<>>"), f"memory besides the data, and time, by estimate{left}"]


def _pattern_lines(patterns: list[dict[str, Any]]) -> list[str]:
    lines = []
    for pattern in patterns[:SHOWN_PATTERNS]:
        what = "lack " + ", ".join(pattern["lacks"]) if pattern["lacks"] else "have all views"
        lines.append(f"{pattern['samples']:>8,d} samples {what}")
    if len(patterns) > SHOWN_PATTERNS:
        rest = sum(pattern["samples"] for pattern in patterns[SHOWN_PATTERNS:])
        lines.append(f"{rest:>8,d} samples with {len(patterns) - SHOWN_PATTERNS} other patterns")
    return lines
