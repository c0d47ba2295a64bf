"""How often data without clusters are said to have none, by SparseBDR without a number of clusters.

Run: python benchmarks/no_clusters.py [--first 0] [--draws 100] [--kinds curve]

Each draw has 50 to 5000 samples and one to three views of 5 to 2000 features (both uniform in the logarithm), and
loses 30 % in one of two settings. Kinds: independent values of five distributions, one Gaussian blob of five
dimensions, one skewed blob, one curve. No draw from number 200 on had a part in finding the first rules. Finished draws
are appended to benchmarks/results/no_clusters.jsonl and not computed again; the table is printed and written to
docs/results/no-clusters.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from measuring import add_results, load
from result_cells import SOURCE

import jella
from jella.datasets import make_incomplete

FILE = Path(__file__).parent / "results" / "no_clusters.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "results" / "no-clusters.md"
NOISE = ("gaussian", "uniform", "t with 3 degrees", "Poisson", "binary")
KINDS = (*NOISE, "blob", "skewed blob", "curve")
#: draws from this number on were computed after the last change of rules, and never looked at before
UNSEEN = 448


def values(kind: str, n: int, d: int, hidden: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    noise = rng.normal(size=(n, d))
    if kind == "gaussian":
        return noise
    if kind == "uniform":
        return rng.uniform(size=(n, d))
    if kind == "t with 3 degrees":
        return rng.standard_t(3, size=(n, d))
    if kind == "Poisson":
        return rng.poisson(2.0, size=(n, d)).astype(float)
    if kind == "binary":
        return (rng.uniform(size=(n, d)) < 0.3).astype(float)
    if kind == "blob":
        return hidden @ rng.normal(size=(5, d)) + noise
    if kind == "skewed blob":
        return np.exp(hidden) @ np.abs(rng.normal(size=(5, d))) + noise
    turn = 3.0 * np.argsort(np.argsort(hidden[:, 0]))[:, None] / n
    return 3.0 * np.hstack([np.cos(turn), np.sin(turn), turn]) @ rng.normal(size=(3, d)) + 0.3 * noise


def draw(number: int) -> dict[str, Any]:
    rng = np.random.default_rng(number)
    kind = KINDS[number % len(KINDS)]
    n = int(np.exp(rng.uniform(np.log(50), np.log(5000))))
    widths = [int(np.exp(rng.uniform(np.log(5), np.log(2000)))) for _ in range(rng.integers(1, 4))]
    hidden = rng.normal(size=(n, 5))
    setting = ("missing-view", "incomplete-view")[int(rng.integers(2))] if len(widths) > 1 else "mcar"
    views = make_incomplete([values(kind, n, d, hidden, rng) for d in widths], 0.3, setting, random_state=number)
    begin = time.process_time()
    model = jella.SparseBDR(random_state=0, on_empty="drop").fit(views)
    path = model.cluster_path_
    return {
        "draw": number,
        "kind": kind,
        "samples": n,
        "features": widths,
        "setting": setting,
        "n_clusters": model.n_clusters_,
        "excess": round(float(np.nanmax(np.where(path.numbers == path.best, path.excess, np.nan))), 2),
        "cpu_seconds": round(time.process_time() - begin, 1),
        "source": SOURCE,
    }


def page(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Data without clusters",
        "",
        "Written by `python benchmarks/no_clusters.py` (its first lines say what is drawn). Said: `n_clusters_` is 1.",
        f"Source of the library: {', '.join(sorted({row['source'] for row in rows}))}.",
        "",
        f"Draws up to {UNSEEN - 1} were computed with earlier rules; those from {UNSEEN} on with the present ones,",
        "which had not seen them. Data of few features are among the [small sets](small-sets.md) too.",
        "",
        "| kind | draws, earlier rules | said to have no clear clusters | draws, present rules | said to have none |",
        "|---|---|---|---|---|",
    ]
    for words, kinds in [*((kind, (kind,)) for kind in KINDS), ("independent values, all five", NOISE)]:
        said = [(row["draw"] >= UNSEEN, row["n_clusters"] == 1) for row in rows if row["kind"] in kinds]
        seen, new = ([one for unseen, one in said if unseen == late] for late in (False, True))
        lines.append(f"| {words} | {len(seen)} | {sum(seen)} | {len(new)} | {sum(new)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    done = {row["draw"] for row in load(FILE)}
    todo = [n for n in range(chosen.first, chosen.first + chosen.draws) if KINDS[n % len(KINDS)] in chosen.kinds]
    add_results(FILE, (draw(number) for number in todo if number not in done), PAGE, page)


if __name__ == "__main__":
    main()
