"""What a few known classes are worth: SparseBDR with and without them, and IMCL with them.

Run: JELLA_DATA=<folder> python benchmarks/seeds.py [--sets Yale] [--draws 10]

Sets of at most 2000 samples, 30 % missing-view; sets of at most 250 samples have three times as many draws. In each
draw, another mask and another 5 % of the samples of each class have a known class, at least one per class. All methods
get the number of classes. Scores are over the samples without a known class. IMCL refuses negative values, so each
feature of a view with negative values is shifted to a least observed value of zero for it. Finished draws are appended
to benchmarks/results/seeds.jsonl and not computed again; the table is printed and written to
docs/results/known-labels.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measuring import add_results, load
from real_sets import NATURAL, OTHERS, SETS, needed_folder, read_set
from result_cells import RESULTS, SOURCE, failure
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import jella
from jella.datasets import make_incomplete

FILE = Path(__file__).parent / "results" / "seeds.jsonl"
PAGE = RESULTS / "known-labels.md"
MOST_SAMPLES, SHARE = 2000, 0.05
#: sets of at most this many samples have three times as many draws, since their scores vary more
FEW_SAMPLES = 250
METHODS = ("SparseBDR with y", "SparseBDR", "IMCL with y")


def some_known(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The classes of a few samples of each class, -1 for the others."""
    known = np.full(y.size, -1)
    for c in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == c))
        known[members[: max(1, round(SHARE * members.size))]] = c
    return known


def shifted(X: Any) -> Any:
    """The view without negative values."""
    if sparse.issparse(X) or np.nanmin(X) >= 0:
        return X
    return X - np.nanmin(X, axis=0)


def found_by(method: str, views: Any, known: np.ndarray, k: int) -> np.ndarray:
    if method == "IMCL with y":
        imcl = jella.IMCL(k, random_state=0, on_empty="drop")
        return imcl.fit({name: shifted(X) for name, X in views.items()}, known).labels_
    model = jella.SparseBDR(k, random_state=0, on_empty="drop")
    return model.fit(views, known if method.endswith("y") else None).labels_


def scores(method: str, views: Any, known: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    try:
        labels = found_by(method, views, known, int(y.max()) + 1)
    except ValueError as error:
        return failure(error)
    free = known < 0
    return {
        "nmi": round(float(normalized_mutual_info_score(y[free], labels[free])), 4),
        "ari": round(float(adjusted_rand_score(y[free], labels[free])), 4),
        "accuracy": round(float(np.mean(y[free] == labels[free])), 4),
    }


def page(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Known classes of some samples",
        "",
        "Written by `python benchmarks/seeds.py` (its first lines say what is measured). Mean NMI / ARI over the",
        "samples without a known class; for SparseBDR with y, also the share of them whose label is their class. Gain:",
        "NMI with y minus that without, its mean and its standard error over the draws. A loss: known classes make the",
        "mean NMI of SparseBDR lower, or IMCL has a higher one.",
        f"Source of the library: {', '.join(sorted({row['source'] for row in rows}))}.",
        "",
        f"| set | classes | known | draws | {' | '.join(METHODS)} | gain | loss |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(row["set"] for row in rows):
        cells, means = [], []
        here = [row for row in rows if row["set"] == name]
        for method in METHODS:
            own = [row for row in here if row["method"] == method and "nmi" in row]
            figures = [
                np.mean([row[figure] for row in own]) if own else np.nan for figure in ("nmi", "ari", "accuracy")
            ]
            means.append(figures[0])
            shown = figures if method == METHODS[0] else figures[:2]  # only its labels are the classes
            cells.append(" / ".join(f"{figure:.3f}" for figure in shown) if own else "failed")
        loss = [word for word, other in zip(("to no y", "to IMCL"), means[1:], strict=True) if means[0] < other]
        draws = len({row["draw"] for row in here})
        known, plain = ({row["draw"]: row["nmi"] for row in here if row["method"] == m} for m in METHODS[:2])
        gains = [known[draw] - plain[draw] for draw in known]
        gain = f"{np.mean(gains):+.3f} ± {np.std(gains) / np.sqrt(max(draws - 1, 1)):.3f}"
        counts = f"{here[0]['classes']} | {here[0]['known']} | {draws}"
        lines.append(f"| {name} | {counts} | {' | '.join(cells)} | {gain} | {', '.join(loss) or '–'} |")
    return "\n".join(lines) + "\n"


def missing(names: list[str], draws: int, data: Path) -> Iterator[dict[str, Any]]:
    """The results that the file lacks, one per set, draw and method."""
    done = {(row["set"], row["draw"], row["method"]) for row in load(FILE)}
    for name in names:
        views, classes = read_set(name, data)
        y = np.unique(classes, return_inverse=True)[1]
        if y.size > MOST_SAMPLES:
            continue
        for number in range(draws * (3 if y.size <= FEW_SAMPLES else 1)):
            holed = views if name in NATURAL else make_incomplete(views, 0.3, "missing-view", random_state=number)
            known = some_known(y, np.random.default_rng(number))
            for method in METHODS:
                if (name, number, method) not in done:
                    case = {"set": name, "classes": int(y.max()) + 1, "known": int((known >= 0).sum()), "draw": number}
                    yield case | {"method": method} | scores(method, holed, known, y) | {"source": SOURCE}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="*", default=[*SETS, *OTHERS, *NATURAL])
    parser.add_argument("--draws", type=int, default=10)
    chosen = parser.parse_args()
    data = needed_folder()
    warnings.simplefilter("ignore")
    add_results(FILE, missing(chosen.sets, chosen.draws, data), PAGE, page)


if __name__ == "__main__":
    main()
