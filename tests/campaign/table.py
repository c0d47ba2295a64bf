"""From lines of finished attacks to a table of counts."""

from __future__ import annotations

import json
import platform
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from campaign.attack import SEED

PACKAGES = [
    "jella",
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "h5py",
    "openpyxl",
    "rdata",
    "anndata",
    "mudata",
]
TITLES = {
    "handmade": "Hand-written hostile files",
    "files": "Damaged files",
    "models": "Tampered models",
    "signals": "Signals",
    "writers": "Two writers at a time",
    "disk": "Full and read-only disks",
    "laws": "Laws over drawn problems",
}


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The finished lines; the last one may be unfinished."""
    if path.exists():
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
            yield json.loads(line)


def write(lines: Path, folder: Path) -> None:
    """Write campaign.md, the counts, and campaign.jsonl, the counts and each attack that found something."""
    found = list(records(lines))
    about = _about()
    counts = _counts(found)
    folder.mkdir(parents=True, exist_ok=True)
    kept: list[Mapping[str, Any]] = [about, *counts, *(record for record in found if record["verdict"] != "ok")]
    (folder / "campaign.jsonl").write_text("".join(json.dumps(one) + "\n" for one in kept), encoding="utf-8")
    (folder / "campaign.md").write_text(_page(about, counts, found), encoding="utf-8")


def _about() -> dict[str, Any]:
    ask = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return {
        "seed": SEED,
        "revision": ask.stdout.strip() or "unknown",
        "date": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": {name: _version(name) for name in PACKAGES},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def _counts(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One record per row of the table."""
    rows: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for record in found:
        rows[record["part"], record["group"]].append(record)
    made = []
    for part in TITLES:
        for (of, group), members in rows.items():
            if of == part:
                verdicts, states = Counter[str](), Counter[str]()
                for member in members:
                    verdicts[member["verdict"]] += member["count"]
                    states[member.get("state", "")] += member["count"]
                made.append(
                    {
                        "part": part,
                        "group": group,
                        "attacks": verdicts.total(),
                        "verdicts": dict(verdicts.most_common()),
                        "states": {state: n for state, n in states.most_common() if state},
                        "slowest": max(member["seconds"] for member in members),
                        "largest": max(member["mib"] for member in members),
                    }
                )
    return made


def _page(about: Mapping[str, Any], counts: list[dict[str, Any]], found: list[dict[str, Any]]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    total = sum(row["attacks"] for row in counts)
    good = sum(row["verdicts"].get("ok", 0) for row in counts)
    lines = [
        "# The campaign",
        "",
        "Written by `make campaign`: attacks on the command line and the library. [Safety](../safety.md) says what is",
        "promised. An attack is ok if the program ends with exit code 0 or 2 (signals: also 130, or the code of the",
        "signal), with at most 30 s of the processor and 2 GiB, without a traceback, with at most one sentence on",
        "standard error and no control characters in its output, if nothing outside OUT changed, inputs included, and",
        "if OUT is complete or not there.",
        "",
        f"Revision {about['revision']}, seed {about['seed']}, {about['date']}, Python {about['python']},",
        f"{about['machine']};",
        f"{versions}.",
        "",
        f"**{total:,} attacks, {total - good:,} of them found something.**",
    ]
    for part, title in TITLES.items():
        rows = [row for row in counts if row["part"] == part]
        if not rows:
            continue
        lines += ["", f"## {title}", "", "| | attacks | ok | found | what happened | slowest, s | largest, MiB |"]
        lines += ["|---|---:|---:|---|---|---:|---:|"]
        lines += [_row(row) for row in rows]
    bad = [record for record in found if record["verdict"] != "ok"]
    if bad:
        lines += ["", "## What was found", "", "| part | attack | verdict |", "|---|---|---|"]
        lines += [f"| {r['part']} | {_cell(r['name'])} | {r['verdict']} |" for r in bad[:100]]
        if len(bad) > 100:
            lines += ["", f"And {len(bad) - 100} more, in `campaign.jsonl`."]
    return "\n".join(lines) + "\n"


def _row(row: Mapping[str, Any]) -> str:
    wrong = ", ".join(f"{n} {what}" for what, n in row["verdicts"].items() if what != "ok") or "–"
    states = ", ".join(f"{n} {what}" for what, n in row["states"].items())
    numbers = f"{row['attacks']:,} | {row['verdicts'].get('ok', 0):,} | {wrong} | {states}"
    return f"| {_cell(row['group'])} | {numbers} | {row['slowest']:.1f} | {row['largest']:.0f} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
