"""Run the campaign, or pieces of it: `python -m campaign files:0-200 signals laws:0-10`.

Each finished attack is one line of JSON in a file; attacks that are there are not done again. At the end a table of
counts and the attacks that found something are written.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from campaign import disk, fakes, files, handmade, laws_part, models, signals, table, writers
from campaign.attack import SEED, Attack, Finding

PARTS = {
    "handmade": handmade.attacks,
    "files": files.attacks,
    "models": models.attacks,
    "signals": signals.attacks,
    "writers": writers.attacks,
    "disk": disk.attacks,
    "laws": laws_part.attacks,
}
#: attacks on the campaign itself: each must be noticed
OWN = {"fakes": fakes.attacks}


def main(words: Sequence[str] | None = None) -> int:
    """Run what is asked for; returns 1 if something was found."""
    parser = argparse.ArgumentParser(prog="campaign", description=__doc__)
    parser.add_argument(
        "pieces", nargs="*", default=list(PARTS), help=f"PART, PART:FROM-TO or PART:FROM-TO/STEP of {', '.join(PARTS)}"
    )
    parser.add_argument("--lines", type=Path, default=Path(".campaign/lines.jsonl"), help="one line per attack")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", type=Path, help="folder for campaign.md and campaign.jsonl")
    parser.add_argument("--again", action="store_true", help="first forget the attacks that found something")
    options = parser.parse_args(words)
    lines = options.lines.absolute()
    lines.parent.mkdir(parents=True, exist_ok=True)
    if options.again:
        kept = [record for record in table.records(lines) if record["verdict"] == "ok"]
        lines.write_text("".join(json.dumps(record) + "\n" for record in kept), encoding="utf-8")
    wanted = [attack for piece in options.pieces for attack in _piece(piece)]
    done = {(record["part"], record["name"]) for record in table.records(lines)}
    todo = [attack for attack in wanted if (attack.part, attack.name) not in done]
    _run(todo, lines, options.jobs)
    asked = {(attack.part, attack.name) for attack in wanted}
    found = [r for r in table.records(lines) if (r["part"], r["name"]) in asked and r["verdict"] != "ok"]
    if options.table:
        table.write(lines, options.table)
    print(f"{len(wanted)} attacks, {len(todo)} of them new; {len(found)} found something", file=sys.stderr)
    return int(bool(found))


def _piece(text: str) -> list[Attack]:
    part, _, span = text.partition(":")
    attacks = (PARTS | OWN)[part]()
    if not span:
        return attacks
    span, _, step = span.partition("/")
    first, _, last = span.partition("-")
    return attacks[int(first) : int(last) : int(step or 1)]


def _run(attacks: Sequence[Attack], lines: Path, jobs: int) -> None:
    """Share the attacks among processes; the expensive ones are spread evenly."""
    workers = []
    for number in range(1, jobs):
        pid = os.fork()
        if pid == 0:
            try:
                _work(attacks[number::jobs], lines)
            finally:
                os._exit(0)
        workers.append(pid)
    _work(attacks[::jobs], lines)
    for pid in workers:
        os.waitpid(pid, 0)


def _work(attacks: Sequence[Attack], lines: Path) -> None:
    """Do attacks one after the other, each in a folder of its own."""
    if attacks:
        _import_everything()
    scratch = Path(tempfile.mkdtemp(prefix="campaign-"))
    try:
        for number, attack in enumerate(attacks):
            root = scratch / f"attack-{number}"
            root.mkdir()
            started = time.monotonic()
            try:
                found = attack.strike(root)
            except Exception as error:  # a defect of the campaign must not end it, nor pass unseen
                found = Finding("harness", said=f"{type(error).__name__}: {error}")
            record = {"part": attack.part, "group": attack.group, "name": attack.name, "count": attack.count}
            record |= {name: value for name, value in asdict(found).items() if value != ""}
            record["took"] = round(time.monotonic() - started, 2)
            with lines.open("ab", buffering=0) as file:
                file.write((json.dumps(record) + "\n").encode())
            shutil.rmtree(root, ignore_errors=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _import_everything() -> None:
    """Import what attacks need, so that forks start at once; nothing is called, since that may start threads."""
    import importlib

    names = (
        "jella.cli.main jella.io jella.estimators.catalogue jella.estimators.on_device jella.report jella.oneshot "
        "jella.model_selection.against_mean jella_experiments.reproduce pandas pyarrow.parquet pyarrow.feather h5py "
        "anndata mudata openpyxl rdata scipy.io scipy.sparse sklearn.cluster plotly.graph_objects"
    )
    for name in names.split():
        importlib.import_module(name)
    import jella

    for name in jella.__all__:
        getattr(jella, name)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that mounts and folders are taken away
    print(f"seed {SEED}", file=sys.stderr)
    raise SystemExit(main())
