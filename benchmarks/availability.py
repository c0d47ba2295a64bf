"""Does an embedding show which views a sample has?

Run: JELLA_DATA=<folder> python benchmarks/availability.py [--masks 5] [--sets Yale] [--methods SparseBDR] [--draw]
     [--device cuda]

Half of the samples lose one view ('missing-view', rate .5, the same samples for all methods). From the rows of the
embedding, at unit norm, two classifiers predict for each view whether a sample has it: 10 nearest neighbours, and
logistic regression on standardised columns with balanced classes. The figure is the ROC AUC, the mean over 5 stratified
folds. The same with the availability permuted at random, 3 times per mask, gives the chance level and its standard
deviation. A set, view and classifier holds if the mean over the masks is at most .60, or at most two standard
deviations (over masks and permutations) above the permuted mean.

Each finished cell is appended to docs/results/availability.jsonl at once; a cell in the file is not computed again,
and --draw writes docs/results/availability.md from the file without computing. Methods at their defaults, the number
of classes given; SparseBDR gets the raw data, the others samples at unit norm, as in methods_table.py.
--device fits on an accelerator with PyTorch; the rows in the file say which.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from methods_table import ON_RAW_DATA
from real_sets import SETS, read_set, unit_samples
from result_cells import SOURCE, arguments, device_argument, failure, fill, origin, states
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jella
from jella.datasets import make_incomplete
from jella.estimators.on_device import Device, fit_on
from jella.numerics.kmeans import unit_rows
from jella.views import read_views

METHODS: dict[str, dict[str, str]] = {"SparseBDR": {}, "MVLIV": {"scale": "sample"}, "IMLBDR": {}}
CLASSIFIERS: dict[str, ClassifierMixin] = {
    "k-NN": KNeighborsClassifier(10),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000)),
}
SETTING, RATE, PERMUTATIONS, FOLDS = "missing-view", 0.5, 3, 5
#: an AUC up to this value holds, whatever the chance level
LIMIT = 0.60


def cells(name: str, masks: int, methods: list[str]) -> Iterator[dict[str, Any]]:
    """Cells of a set: all methods of a mask before the next mask."""
    for mask, method in product(range(masks), methods):
        yield {"set": name, "setting": SETTING, "rate": RATE, "repeat": mask, "method": method}


def auc(W: np.ndarray, present: np.ndarray, classifier: str, seed: int) -> float:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return float(cross_val_score(CLASSIFIERS[classifier], W, present, cv=folds, scoring="roc_auc").mean())


def figures(W: np.ndarray, present: np.ndarray, mask: int) -> dict[str, Any]:
    """By classifier, the AUC of a view's availability, and those of the permuted availability."""
    rng = np.random.default_rng(mask)
    permuted = [rng.permutation(present) for _ in range(PERMUTATIONS)]
    return {
        name: {"auc": auc(W, present, name, mask), "permuted": [auc(W, p, name, mask) for p in permuted]}
        for name in CLASSIFIERS
    }


def compute(cell: dict[str, Any], raw: dict[str, Any], k: int, device: Device | None) -> dict[str, Any]:
    method, mask = cell["method"], cell["repeat"]
    views = raw if method in ON_RAW_DATA else unit_samples(raw)
    holed = make_incomplete(views, RATE, SETTING, random_state=mask)
    started = time.perf_counter()
    try:
        model = fit_on(device, getattr(jella, method)(n_clusters=k, random_state=mask, **METHODS[method]), holed)
        spent = time.perf_counter() - started
        W = unit_rows(np.asarray(model.embedding_))
        there = zip(holed, read_views(holed), strict=True)
        result: dict[str, Any] = {
            "views": {name: figures(W, view.presence().astype(int), mask) for name, view in there}
        }
    except Exception as error:
        spent = time.perf_counter() - started
        result = failure(error)
    whole = {"seconds": spent, "seconds_in_all": time.perf_counter() - started}
    return {**cell, **result, **whole, **origin(device), "source": SOURCE}


def verdicts(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """From the cells of one set and method, a verdict for each view and classifier over the masks."""
    fine = [result["views"] for result in results if "views" in result]
    out = []
    for view, classifier in product(fine[0] if fine else (), CLASSIFIERS):
        found = [views[view][classifier] for views in fine]
        permuted = np.concatenate([f["permuted"] for f in found])
        figure, chance, spread = float(np.mean([f["auc"] for f in found])), permuted.mean(), permuted.std(ddof=1)
        bound = max(LIMIT, float(chance + 2 * spread))
        verdict = {"figure": figure, "chance": float(chance), "spread": float(spread), "bound": bound}
        out.append({"view": view, "classifier": classifier, **verdict, "holds": figure <= bound})
    return out


def draw(results: list[dict[str, Any]]) -> str:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault((result["set"], result["method"]), []).append(result)
    judged = {group: verdicts(members) for group, members in groups.items()}
    lines = [
        "# Does an embedding show which views a sample has?",
        "",
        "Written by `python benchmarks/availability.py` (protocol in its first lines) from `availability.jsonl`, which",
        "has all views and masks. ROC AUC of predicting from the embedding whether a sample has a view, half of the",
        "samples lacking one: the view that is predicted best, by 10 nearest neighbours / by logistic regression,",
        "means over the masks. Chance: the same with the availability permuted, mean over the views. It holds if each",
        f"view and classifier is at most {LIMIT:.2f} or two standard deviations above chance.",
        "",
        "| set | masks | " + " | ".join(f"{m} | chance | holds" for m in METHODS) + " |",
        "|---|---|" + "---|" * (3 * len(METHODS)),
    ]
    for name in SETS:
        if any((name, method) in groups for method in METHODS):
            masks = [len(groups.get((name, method), [])) for method in METHODS]
            count = str(max(masks)) if len({m for m in masks if m}) == 1 else ", ".join(map(str, masks))
            entries = [_entry(groups.get((name, m), []), judged.get((name, m), [])) for m in METHODS]
            lines.append(f"| {name} | {count} | " + " | ".join(entries) + " |")
    lines += ["", "## Where it does not hold", "", *_failures(judged)]
    return "\n".join([*lines, *states(results, "SparseBDR")]) + "\n"


def _entry(members: list[dict[str, Any]], judged: list[dict[str, Any]]) -> str:
    if not members:
        return "– | – | –"
    if not judged:
        return f"failed: {members[0]['error'].split(':')[0]} | – | no"
    by = {c: [v for v in judged if v["classifier"] == c] for c in CLASSIFIERS}
    worst = " / ".join(f"{max(v['figure'] for v in by[c]):.2f}" for c in CLASSIFIERS)
    chance = " / ".join(f"{np.mean([v['chance'] for v in by[c]]):.2f}" for c in CLASSIFIERS)
    failing, errors = sum(not v["holds"] for v in judged), sum("error" in m for m in members)
    holds = f"no, {failing} of {len(judged)} fail" if failing else "yes"
    return f"{worst} | {chance} | {holds}" + (f" ({errors} fits failed)" if errors else "")


def _failures(judged: dict[tuple[str, str], list[dict[str, Any]]]) -> list[str]:
    lines = ["| method | set | view | classifier | AUC | chance | bound |", "|---|---|---|---|---|---|---|"]
    for method, name in product(METHODS, SETS):
        for v in judged.get((name, method), []):
            if not v["holds"]:
                chance = f"{v['chance']:.3f} ± {v['spread']:.3f}"
                about = f"{method} | {name} | {v['view']} | {v['classifier']}"
                lines.append(f"| {about} | {v['figure']:.3f} | {chance} | {v['bound']:.3f} |")
    clean = [m for m in METHODS if not any(line.startswith(f"| {m} |") for line in lines)]
    return [*(f"{m}: nowhere, over the sets above." for m in clean), "", *lines] if clean else lines


def main() -> None:
    parser = arguments(SETS, METHODS, "--masks")
    device_argument(parser)
    chosen = parser.parse_args()

    def fitted(cell: dict[str, Any], data: Path) -> dict[str, Any]:
        views, y = read_set(cell["set"], data)
        return compute(cell, views, len(np.unique(y)), chosen.device)

    fill(
        "availability",
        lambda data: (cell for name in chosen.sets for cell in cells(name, chosen.repeats, chosen.methods)),
        fitted,
        lambda result: result.get("error") or _short(result["views"]),
        draw,
        only_draw=chosen.draw,
    )


def _short(views: dict[str, Any]) -> dict[str, str]:
    """By view, the AUC of each classifier."""
    return {view: "/".join(f"{by[c]['auc']:.2f}" for c in CLASSIFIERS) for view, by in views.items()}


if __name__ == "__main__":
    main()
