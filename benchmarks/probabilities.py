"""Whether the probabilities of labels are right: how often fresh refits agree with the labels, by probability.

Run: JELLA_DATA=<folder> python benchmarks/probabilities.py [--sets Yale] [--refits 4]

Sets of at most 2000 samples, 30 % missing-view (seed 0), with the number of classes. `label_probabilities_` rest on
refits to halves of the samples. Here other parts are drawn, and whole models with other seeds are fitted to them as a
user would: halves, which is what the probabilities are about, and parts of 75 %, on which fits agree more often.
Clusters are matched to those of the fit. Finished sets are appended to benchmarks/results/probabilities.jsonl and not
computed again; the table is printed and written to docs/results/probabilities.md.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from measuring import add_results, load
from real_sets import NATURAL, OTHERS, SETS, needed_folder, read_set
from result_cells import RESULTS, SOURCE

import jella
from jella.datasets import make_incomplete
from jella.evidence.confidence import CLASSES
from jella.evidence.refits import matched_labels

FILE = Path(__file__).parent / "results" / "probabilities.jsonl"
PAGE = RESULTS / "probabilities.md"
MOST_SAMPLES = 2000
PARTS = {"halves": 0.5, "75 %": 0.75}


def agreements(model: Any, views: Any, share: float, refits: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the labels of samples, and whether a fresh fit to a part gives them this label."""
    n, k = len(model.labels_), model.n_clusters_
    own = model.label_probabilities_[np.arange(n), model.labels_]
    rng, chances, agree = np.random.default_rng([int(100 * share), 12345]), [], []
    for seed in range(1000, 1000 + refits):
        rows = np.sort(rng.permutation(n)[: int(share * n)])
        labels = model.labels_[rows]
        part = {name: X[rows] for name, X in views.items()}
        found = jella.SparseBDR(k, random_state=seed, on_empty="drop").fit(part).labels_
        there = (found >= 0) & (labels >= 0)
        agree.append(matched_labels(found[there], labels[there], k) == labels[there])
        chances.append(own[rows][there])
    return np.concatenate(chances), np.concatenate(agree)


def measured(name: str, data: Path, refits: int) -> dict[str, Any] | None:
    views, y = read_set(name, data)
    if y.size > MOST_SAMPLES:
        return None
    holed = views if name in NATURAL else make_incomplete(views, 0.3, "missing-view", random_state=0)
    model = jella.SparseBDR(len(np.unique(y)), random_state=0, on_empty="drop").fit(holed)
    row: dict[str, Any] = {"set": name, "samples": int(y.size), "classes": int(model.n_clusters_), "source": SOURCE}
    for words, share in PARTS.items():
        chance, agree = agreements(model, holed, share, refits)
        place = np.digitize(chance, CLASSES[1:-1])
        row[words] = [
            [int((place == c).sum()), float(chance[place == c].sum()), int(agree[place == c].sum())]
            for c in range(len(CLASSES) - 1)
        ]
    return row


def figures(table: np.ndarray) -> tuple[float, float, float]:
    """Mean probability, how often refits agree, and the mean gap between both over classes of probability."""
    cases = table[:, 0].sum()
    return table[:, 1].sum() / cases, table[:, 2].sum() / cases, np.abs(table[:, 1] - table[:, 2]).sum() / cases


def page(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Probabilities of labels",
        "",
        "Written by `python benchmarks/probabilities.py` (its first lines say what is measured). Expected: the mean",
        "probability of the label of the fit. Agree: how often a fresh fit to a part gives this label. Probabilities",
        "promise agreement with fits to halves; fits to larger parts agree more often.",
        f"Source of the library: {', '.join(sorted({row['source'] for row in rows}))}.",
        "",
        "All sets together, each set with the same weight:",
        "",
        "| probability | expected, halves | agree, halves | expected, 75 % | agree, 75 % |",
        "|---|---|---|---|---|",
    ]
    shares = {p: np.sum([np.array(r[p], float) / np.sum(r[p], axis=0)[0] for r in rows], axis=0) for p in PARTS}
    for c, (low, high) in enumerate(pairwise(CLASSES)):
        if all(share[c, 0] > 0 for share in shares.values()):
            cells = " | ".join(f"{s[c, 1] / s[c, 0]:.2f} | {s[c, 2] / s[c, 0]:.2f}" for s in shares.values())
            lines.append(f"| {low:g} to {high:g} | {cells} |")
    lines += [
        "",
        "By set; gap: the mean distance between the two, over the classes of probability above:",
        "",
        "| set | samples | classes | expected | agree, halves | gap, halves | agree, 75 % | gap, 75 % |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        (expected, half, half_gap), (_, agree, gap) = (figures(np.array(row[p], float)) for p in PARTS)
        numbers = f"{expected:.2f} | {half:.2f} | {half_gap:.2f} | {agree:.2f} | {gap:.2f}"
        lines.append(f"| {row['set']} | {row['samples']} | {row['classes']} | {numbers} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="*", default=[*SETS, *OTHERS, *NATURAL])
    parser.add_argument("--refits", type=int, default=4)
    chosen = parser.parse_args()
    data = needed_folder()
    warnings.simplefilter("ignore")
    done = {row["set"] for row in load(FILE)}
    rows = (measured(name, data, chosen.refits) for name in chosen.sets if name not in done)
    add_results(FILE, (row for row in rows if row is not None), PAGE, page)


if __name__ == "__main__":
    main()
