"""Whether a folder of results is complete and of one piece."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np

#: what each command writes at least
FILES = {
    "cluster": ("labels.csv", "embedding.csv", "model.jella", "run.json", "completed"),
    "complete": ("run.json", "completed"),
    "transform": ("embedding.csv", "run.json"),
}


def problem(out: Path, command: str) -> str:
    """What is wrong with the results of `cluster`, `complete` or `transform`; empty if they are complete.

    The files must be there, readable, and say the same: the labels of the table are those of the model and of the
    summary. Run it in a child process: it loads the model.
    """
    missing = [name for name in FILES[command] if not (out / name).exists()]
    if missing:
        return f"missing: {', '.join(missing)}"
    try:
        return _completed(out) or _labels(out, command) or _report(out)
    except Exception as error:
        return f"unreadable: {type(error).__name__}: {error}"


def _labels(out: Path, command: str) -> str:
    """Labels, embedding, model and summary say the same."""
    summary = json.loads((out / "run.json").read_text(encoding="utf-8"))["summary"]
    if not (out / "labels.csv").exists():
        return ""
    rows = _rows(out / "labels.csv")
    labels = np.array([int(row["cluster"]) for row in rows])
    if np.bincount(labels[labels >= 0]).tolist() != summary["sizes"] or len(rows) != summary["samples"]:
        return "labels.csv and run.json differ"
    if [row["sample"] for row in _rows(out / "embedding.csv")] != [row["sample"] for row in rows]:
        return "labels.csv and embedding.csv differ"
    if command == "cluster":
        import jella

        if not np.array_equal(jella.load(out / "model.jella").labels_, labels):
            return "labels.csv and model.jella differ"
    return ""


def _report(out: Path) -> str:
    report = out / "report.html"
    if report.exists() and not report.read_text(encoding="utf-8").rstrip().endswith("</html>"):
        return "report.html is cut short"
    return ""


def identity(out: Path) -> str:
    """The seed of the command that wrote a folder: it tells the earlier result from the new one."""
    return str(json.loads((out / "run.json").read_text(encoding="utf-8"))["options"]["seed"])


def table_problem(path: Path, methods: set[str]) -> str:
    """What is wrong with the table of `compare`."""
    try:
        rows = _rows(path)
        found = {row["method"] for row in rows}
        if found != methods or not all(row["error"] for row in rows):
            return f"rows: {sorted(found)}"
    except Exception as error:
        return f"unreadable: {type(error).__name__}: {error}"
    return ""


def drawn_problem(out: Path, model: Path) -> str:
    """What is wrong with the folder of `reproduce`, compared with a complete one."""
    for path in sorted(model.iterdir()):
        if path.name == "results.jsonl":
            continue
        if not (out / path.name).exists():
            return f"missing: {path.name}"
        if _form((out / path.name).read_text(encoding="utf-8")) != _form(path.read_text(encoding="utf-8")):
            return f"{path.name} is cut short or mixed"
    return ""


def cells(path: Path) -> Counter[str]:
    """The finished cells of a results file; an unfinished last line is not counted, any other bad line is an error."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    keys = ("dataset", "scenario", "rate", "repetition", "method", "setting", "views")
    records = [json.loads(line) for line in lines]
    return Counter(json.dumps({k: r.get(k) for k in keys}, sort_keys=True) for r in records if "dataset" in r)


def _form(text: str) -> str:
    """A text without its numbers, marks of the best and spaces."""
    return re.sub(r"[\d.\s*–+-]+|\\textbf|[{}]", "#", text).replace("#", "")


def _completed(out: Path) -> str:
    if not (out / "completed").exists():
        return ""
    files = [path for path in (out / "completed").rglob("*") if path.is_file()]
    if not files or any(path.stat().st_size == 0 for path in files):
        return "completed/ is empty, or a file in it is"
    return ""


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))
