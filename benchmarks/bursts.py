"""Clusters with bursts of near-duplicates: whether a burst is taken for a cluster.

Run: python benchmarks/bursts.py [--draws 3]

Six classes of 200 samples, in two to five views of 20 features, 30 % missing in one of two settings. With bursts, each
class has five bursts of 20 near-duplicates among its 200 samples: copies of one sample with noise of a tenth of the
class's own. SparseBDR is given the number of classes. Finished draws are appended to benchmarks/results/bursts.jsonl
and not computed again; the table is printed and written to docs/results/bursts.md.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from measuring import add_results, load
from result_cells import RESULTS, SETTINGS, SOURCE
from sklearn.metrics import normalized_mutual_info_score

import jella
from jella.datasets import make_incomplete

FILE = Path(__file__).parent / "results" / "bursts.jsonl"
PAGE = RESULTS / "bursts.md"
CLASSES, SIZE, BURSTS, BURST, WIDTH = 6, 200, 5, 20, 20
CASES = list(product((2, 3, 4, 5), SETTINGS, (False, True)))


def classes(n_views: int, bursts: bool, rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
    y = np.repeat(np.arange(CLASSES), SIZE)
    views = [rng.normal(size=(CLASSES, WIDTH))[y] + rng.normal(size=(y.size, WIDTH)) for _ in range(n_views)]
    if bursts:
        for start in range(0, y.size, SIZE):
            for first in range(start, start + BURSTS * BURST, BURST):
                for X in views:
                    X[first : first + BURST] = X[first] + 0.1 * rng.normal(size=(BURST, WIDTH))
    return views, y


def draw(n_views: int, setting: str, bursts: bool, number: int) -> dict[str, Any]:
    views, y = classes(n_views, bursts, np.random.default_rng(number))
    holed = make_incomplete(views, 0.3, setting, random_state=number)
    labels = jella.SparseBDR(CLASSES, random_state=0, on_empty="drop").fit(holed).labels_
    return {
        "views": n_views,
        "setting": setting,
        "bursts": bursts,
        "draw": number,
        "nmi": round(float(normalized_mutual_info_score(y, labels)), 4),
        "source": SOURCE,
    }


def page(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Bursts of near-duplicates",
        "",
        "Written by `python benchmarks/bursts.py` (its first lines say what is drawn). Mean NMI with the classes, and",
        "the lowest of the draws in brackets.",
        f"Source of the library: {', '.join(sorted({row['source'] for row in rows}))}.",
        "",
        "| views | setting | draws | without bursts | with bursts |",
        "|---|---|---|---|---|",
    ]
    for n_views, setting in product((2, 3, 4, 5), SETTINGS):
        here = [row for row in rows if (row["views"], row["setting"]) == (n_views, setting)]
        scores = [np.array([row["nmi"] for row in here if row["bursts"] is bursts]) for bursts in (False, True)]
        if all(one.size for one in scores):
            cells = " | ".join(f"{one.mean():.3f} ({one.min():.3f})" for one in scores)
            lines.append(f"| {n_views} | {setting} | {scores[0].size} | {cells} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=3)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    done = {(row["views"], row["setting"], row["bursts"], row["draw"]) for row in load(FILE)}
    todo = [(*case, number) for number in range(chosen.draws) for case in CASES]
    add_results(FILE, (draw(*one) for one in todo if one not in done), PAGE, page)


if __name__ == "__main__":
    main()
