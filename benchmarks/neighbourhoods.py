"""NMI of SparseBDR's labels with fixed sizes of the neighbourhood, beside the size that it takes itself.

Run: JELLA_DATA=<folder> python benchmarks/neighbourhoods.py [--sets Yale]

One mask (seed 0) of each setting at 30 %, the naturally incomplete sets unchanged, the number of classes given; sets of
at most 3000 samples. One fit per cell; only the graph of labels differs. Finished cells are appended to
benchmarks/results/neighbourhoods.jsonl and not computed again; the table is written to docs/results/neighbourhoods.md.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from measuring import add_results, load
from real_sets import NATURAL, OTHERS, SETS, needed_folder, read_set
from result_cells import RESULTS, SETTINGS, SOURCE

import jella
from jella.datasets import make_incomplete
from jella.metrics import adjusted_rand, nmi
from jella.readout import neighbours

FILE = Path(__file__).parent / "results" / "neighbourhoods.jsonl"
SIZES = (5, 7, 10, 20, 30, 50, 100)
LARGE = ("Corel5k",)


def compute(name: str, setting: str, views: dict[str, Any], y: np.ndarray) -> dict[str, Any]:
    holed = views if setting == "natural" else make_incomplete(views, 0.3, setting, random_state=0)
    k = len(np.unique(y))
    readout = jella.SparseBDR(k, random_state=0).fit(holed).readout_
    truth, own, scores = y[readout.known.places], neighbours.label_neighbours, {}
    try:
        for size in (*SIZES, None):
            fixed = own if size is None else lambda n, *_, size=size: min(size, n - 1)
            neighbours.label_neighbours = fixed
            labels = readout.find_labels(k, 10, 0)
            scores[str(size or "own")] = [round(nmi(truth, labels), 4), round(adjusted_rand(truth, labels), 4)]
    finally:
        neighbours.label_neighbours = own
    return {"set": name, "setting": setting, "scores": scores, "source": SOURCE}


def page(rows: list[dict[str, Any]]) -> str:
    heads = [*map(str, SIZES), "own"]
    lines = [
        "# Neighbourhoods of fixed sizes",
        "",
        "Written by `python benchmarks/neighbourhoods.py` (its first lines say what is measured). NMI of the labels.",
        "Own: the size that SparseBDR takes, that of an average cluster within limits. A neighbour of rank r weighs",
        f"about 1/r in all columns. Source of the library: {', '.join(sorted({row['source'] for row in rows}))}.",
        "",
        "| set | setting | " + " | ".join(heads) + " |",
        "|---" * (len(heads) + 2) + "|",
    ]
    for row in rows:
        cells = " | ".join(f"{row['scores'][head][0]:.3f}" for head in heads)
        lines.append(f"| {row['set']} | {row['setting']} | {cells} |")
    for place, what in enumerate(("NMI", "ARI")):
        means = " | ".join(f"{np.mean([row['scores'][head][place] for row in rows]):.3f}" for head in heads)
        lines.append(f"| mean {what} | {len(rows)} cells | {means} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="*", default=[s for s in (*OTHERS, *NATURAL, *SETS) if s not in LARGE])
    chosen = parser.parse_args()
    data = needed_folder()
    warnings.simplefilter("ignore")
    done = {(row["set"], row["setting"]) for row in load(FILE)}
    todo = [(name, one) for name in chosen.sets for one in (("natural",) if name in NATURAL else SETTINGS)]
    rows = (compute(name, setting, *read_set(name, data)) for name, setting in todo if (name, setting) not in done)
    add_results(FILE, rows, RESULTS / "neighbourhoods.md", page)


if __name__ == "__main__":
    main()
