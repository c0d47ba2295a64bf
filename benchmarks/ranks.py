"""Whether a rank that is chosen without labels clusters better than the default: SparseBDR at several ranks.

Run: JELLA_DATA=<folder> python benchmarks/ranks.py [--sets Yale] [--masks 2]

Sets of at most 600 samples, 30 % missing-view and incomplete-view; the number of classes k is given. Ranks are the
default, k, 2k, 3k, 4k, 20, 40 and 80, below the number of samples. Scaling and weights of views are those of the fit at
the default rank. What is known without labels: the error on values that two further fits at the rank do not see (10 %
are hidden); how much their labels agree with those of the fit; the modularity of the labels in the graph of neighbours
in the data; and how much labels agree with those at other ranks. Finished cells are appended to
benchmarks/results/ranks.jsonl and not computed again; the table is written to docs/results/ranks.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from measuring import add_results, load
from real_sets import NATURAL, OTHERS, SETS, needed_folder, read_set
from result_cells import RESULTS, SETTINGS, SOURCE
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import jella
from jella.datasets import make_incomplete
from jella.graphs.spectral import modularity
from jella.model_selection import HeldOut

FILE, PAGE = Path(__file__).parent / "results" / "ranks.jsonl", RESULTS / "ranks.md"
MOST_SAMPLES = 600

#: from the ranks of a cell, each with its figures, to the rank that a rule takes
Rule = Callable[[dict[int, dict[str, Any]]], int]


def best(figure: str, sign: int = 1) -> Rule:
    return lambda at: max(at, key=lambda rank: sign * at[rank][figure])


def nearest(wanted: Callable[[dict[str, Any]], float]) -> Rule:
    return lambda at: min(at, key=lambda rank: abs(rank - wanted(at[rank])))


RULES: dict[str, Rule] = {
    "default": nearest(lambda row: row["default"]),
    "k": nearest(lambda row: row["classes"]),
    "3k": nearest(lambda row: 3 * row["classes"]),
    "4k": nearest(lambda row: 4 * row["classes"]),
    "20": nearest(lambda row: 20),
    "40": nearest(lambda row: 40),
    "least error on hidden values": best("error", -1),
    "labels that refits find again": best("stability"),
    "labels that agree with other ranks": best("agreement"),
    "highest modularity": best("modularity"),
    "best by the classes": best("nmi"),
}


def fitted(k: int, holed: Any, rank: int | None, like: Any = None) -> Any:
    model = jella.SparseBDR(k, n_components=rank, random_state=0, on_empty="drop", evidence=False, calibrate=False)
    if like is not None:
        model.set_params(scale=list(like.kinds), view_weights=[one.root_weight**2 for one in like.scales])
    return model.fit(holed)


def agreement(one: np.ndarray, other: np.ndarray) -> float:
    both = (one >= 0) & (other >= 0)
    return float(adjusted_rand_score(one[both], other[both]))


def cell(holed: Any, y: np.ndarray, seed: int) -> list[dict[str, Any]]:
    """A row of figures per rank."""
    k = int(y.max()) + 1
    first, held_out = fitted(k, holed, None), HeldOut(2, random_state=seed)
    default = first.embedding_.shape[1]
    most = min(y.size - 1, first.n_features_in_)
    ranks = sorted({default, *(rank for rank in (k, 2 * k, 3 * k, 4 * k, 20, 40, 80) if 2 <= rank <= most)})
    rows, found = [], []
    for rank in ranks:
        model = fitted(k, holed, rank, first.scaling_)
        labels, places = np.asarray(model.labels_), np.sort(model.readout_.known.places)
        errors, again = [], []
        for X, hidden in held_out.split(holed):
            trial = fitted(k, X, rank, first.scaling_)
            errors.append(held_out.score(holed, trial.complete(X), hidden))
            again.append(agreement(labels, np.asarray(trial.labels_)))
        found.append(labels)
        rows.append({"classes": k, "default": default, "rank": rank})
        rows[-1] |= {"error": float(np.mean(errors)), "stability": float(np.mean(again))}
        rows[-1]["modularity"] = modularity(model.graph_ + model.graph_.T, labels[places])
        rows[-1]["nmi"] = float(normalized_mutual_info_score(y[places], labels[places]))
        rows[-1]["ari"] = float(adjusted_rand_score(y[places], labels[places]))
    for row, labels in zip(rows, found, strict=True):
        row["agreement"] = float(np.mean([agreement(labels, other) for other in found]))
    return rows


def page(rows: list[dict[str, Any]]) -> str:
    cells: dict[tuple[str, str, int], dict[int, dict[str, Any]]] = {}
    for row in rows:
        cells.setdefault((row["set"], row["setting"], row["mask"]), {})[row["rank"]] = row
    sets = list(dict.fromkeys(name for name, *_ in cells))
    lines = [
        "# Ranks",
        "",
        "Written by `python benchmarks/ranks.py` (its first lines say what is measured). Mean NMI / ARI over sets, for",
        "the rank that a rule takes in each cell; the mean difference of the NMI to that of the default over every",
        "other set; and the sets where it is lowest and highest. The last rule knows the classes: none can be better.",
        f"Sets: {', '.join(sets)}. Source of the library: {', '.join(sorted({row['source'] for row in rows}))}.",
        "",
        "| rank | NMI | ARI | half of the sets | the others | lowest | highest |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, rule in RULES.items():
        taken = {key: (at[rule(at)], at[RULES["default"](at)]) for key, at in cells.items()}
        means = np.array(
            [
                np.mean(
                    [(a["nmi"], a["ari"], a["nmi"] - b["nmi"]) for key, (a, b) in taken.items() if key[0] == one], 0
                )
                for one in sets
            ]
        )
        gain, low, high = means[:, 2], sets[means[:, 2].argmin()], sets[means[:, 2].argmax()]
        ends = " | ".join(
            f"{value:+.3f} {one}" if value else "–" for value, one in ((gain.min(), low), (gain.max(), high))
        )
        halves = f"{gain[::2].mean():+.3f} | {gain[1::2].mean():+.3f}"
        lines.append(f"| {name} | {means[:, 0].mean():.3f} | {means[:, 1].mean():.3f} | {halves} | {ends} |")
    return "\n".join(lines) + "\n"


def missing(sets: list[str], masks: int, data: Path) -> Iterator[dict[str, Any]]:
    """The results that the file lacks."""
    done = {(row["set"], row["setting"], row["mask"]) for row in load(FILE)}
    for mask, name in product(range(masks), sets):
        views, classes = read_set(name, data)
        y = np.unique(classes, return_inverse=True)[1]
        for setting in SETTINGS if name not in NATURAL else ("natural",)[mask:]:
            if y.size <= MOST_SAMPLES and (name, setting, mask) not in done:
                holed = views if name in NATURAL else make_incomplete(views, 0.3, setting, random_state=mask)
                for row in cell(holed, y, mask):
                    yield {"set": name, "setting": setting, "mask": mask} | row | {"source": SOURCE}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="*", default=[*SETS, *OTHERS, *NATURAL])
    parser.add_argument("--masks", type=int, default=2)
    chosen, data = parser.parse_args(), needed_folder()
    warnings.simplefilter("ignore")
    add_results(FILE, missing(chosen.sets, chosen.masks, data), PAGE, page)


if __name__ == "__main__":
    main()
