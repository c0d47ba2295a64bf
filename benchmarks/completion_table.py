"""Error on the missing entries of real data, beside other methods that users may choose.

Run: JELLA_DATA=<folder> python benchmarks/completion_table.py [--repeats 5] [--sets Yale] [--methods RPCA] [--draw]

Protocol of the JELLA paper: samples of the complete data at unit norm, then holes ('incomplete-view': a share of the
samples lose a view, then the same share of the entries left; rates .1, .3, .5), the same data for all methods.
RMSE over all missing entries of all views together, in the units of the unit-sample data. Methods at their defaults;
SparseBDR gets the number of classes; IterativeImputer (n_nearest_features=20, max_iter=5) runs only on sets with at
most 1000 features in total.

Each finished cell is appended to docs/results/completion.jsonl at once; a cell in the file is not computed again,
and --draw writes docs/results/completion.md from the file without computing. One repeat of all cells comes before the
next repeat; in it the cheap methods come first and Corel5k last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from real_sets import SETS, unit_samples
from result_cells import RATES, SOURCE, arguments, failure, fill, origin, states

import jella
from jella.datasets import make_incomplete
from jella.experiments.pipelines import all_features

SETTING, LARGEST, OURS = "incomplete-view", "Corel5k", "SparseBDR"
MOST_FEATURES = {"IterativeImputer": 1000}


def mean_fill(views: dict[str, Any], k: int, seed: int) -> np.ndarray:
    X = all_features(views)
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def knn(views: dict[str, Any], k: int, seed: int) -> np.ndarray:
    from sklearn.impute import KNNImputer

    return KNNImputer().fit_transform(all_features(views))


def iterative(views: dict[str, Any], k: int, seed: int) -> np.ndarray:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    imputer = IterativeImputer(n_nearest_features=20, max_iter=5, random_state=seed)
    return imputer.fit_transform(all_features(views))


def rpca(views: dict[str, Any], k: int, seed: int) -> np.ndarray:
    return all_features(jella.RPCA().fit(views).complete(views))


def sparse_bdr(views: dict[str, Any], k: int, seed: int) -> np.ndarray:
    return all_features(jella.SparseBDR(n_clusters=k, random_state=seed).fit(views).complete(views))


#: cheap ones first
METHODS: dict[str, Callable[[dict[str, Any], int, int], np.ndarray]] = {
    "mean-fill": mean_fill,
    OURS: sparse_bdr,
    "KNNImputer": knn,
    "RPCA": rpca,
    "IterativeImputer": iterative,
}


@lru_cache
def read(name: str, data: Path) -> tuple[dict[str, Any], int]:
    """Unit samples of a set, and the number of its classes."""
    views, y = SETS[name](data)
    return unit_samples(views), len(np.unique(y))


def cells(names: list[str], repeats: int, methods: list[str], data: Path) -> Iterator[dict[str, Any]]:
    parts = [[n for n in names if n != LARGEST], [n for n in names if n == LARGEST]]
    for repeat, part in product(range(repeats), parts):
        for method, name, rate in product([m for m in METHODS if m in methods], part, RATES):
            features = sum(X.shape[1] for X in read(name, data)[0].values())
            if features <= MOST_FEATURES.get(method, features):
                yield {"set": name, "setting": SETTING, "rate": rate, "repeat": repeat, "method": method}


def compute(cell: dict[str, Any], views: dict[str, Any], k: int) -> dict[str, Any]:
    holed = make_incomplete(views, cell["rate"], SETTING, random_state=cell["repeat"])
    started, cpu = time.perf_counter(), time.process_time()
    try:
        completed = METHODS[cell["method"]](holed, k, cell["repeat"])
        result = errors(completed, views, holed)
    except Exception as error:
        result = failure(error)
    spent = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - cpu}
    return {**cell, **result, **spent, **origin(), "source": SOURCE}


def errors(completed: np.ndarray, views: dict[str, Any], holed: dict[str, Any]) -> dict[str, Any]:
    """RMSE over all missing entries, and by view."""
    missing = np.isnan(all_features(holed))
    if not np.isfinite(completed[missing]).all():
        raise ValueError("values that are not finite are left")
    squares = np.where(missing, completed - all_features(views), 0.0) ** 2
    ends = np.cumsum([X.shape[1] for X in views.values()])[:-1]
    parts = zip(views, np.split(squares, ends, axis=1), np.split(missing, ends, axis=1), strict=True)
    by_view = {name: float(np.sqrt(part.sum() / where.sum())) for name, part, where in parts}
    return {"rmse": float(np.sqrt(squares.sum() / missing.sum())), "by_view": by_view}


Found = dict[tuple[str, float, str], dict[int, dict[str, Any]]]


def draw(results: list[dict[str, Any]]) -> str:
    found: Found = {}
    for result in results:
        found.setdefault((result["set"], result["rate"], result["method"]), {})[result["repeat"]] = result
    lines = [
        "# Completion of real data",
        "",
        "Written by `python benchmarks/completion_table.py` (protocol in its first lines) from `completion.jsonl`,",
        "which has all single runs with their errors by view. RMSE × 10⁴ on the missing entries, samples at unit norm,",
        "means over the repeats named with each table; the best in bold. Failures are shown, not dropped. Seconds",
        "are wall time on a busy machine with two cores: for orders of magnitude only.",
        "",
        *_summary(found),
    ]
    for name in SETS:
        rows = [m for m in METHODS if any((name, rate, m) in found for rate in RATES)]
        if rows:
            counts = sorted({len(found[name, r, m]) for r, m in product(RATES, rows) if (name, r, m) in found})
            repeats = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
            lines += ["", f"## {name} ({repeats} repeat{'' if repeats == '1' else 's'})", ""]
            lines += ["| method | " + " | ".join(f"{rate:.0%}" for rate in RATES) + " | seconds |"]
            lines += ["|---|" + "---|" * (len(RATES) + 1), *(_row(name, method, rows, found) for method in rows)]
    return "\n".join([*lines, *states(results, OURS)]) + "\n"


def _mean(runs: dict[int, dict[str, Any]], what: str, repeats: set[int] | None = None) -> float:
    values = [run[what] for repeat, run in runs.items() if what in run and (repeats is None or repeat in repeats)]
    return float(np.mean(values)) if values else float("nan")


def _row(name: str, method: str, rows: list[str], found: Found) -> str:
    entries = []
    for rate in RATES:
        runs = found.get((name, rate, method), {})
        score = _mean(runs, "rmse")
        best = np.nanmin([_mean(found.get((name, rate, m), {}), "rmse") for m in rows] + [np.inf])
        failed = [run["error"] for run in runs.values() if "error" in run]
        text = "–" if np.isnan(score) else f"{1e4 * score:.1f}"
        text = f"**{text}**" if score == best else text
        entries.append(text + (f" ({len(failed)} failed: {failed[0].split(':')[0]})" if failed else ""))
    spent = [_mean(found[name, rate, method], "seconds") for rate in RATES if (name, rate, method) in found]
    return f"| {method} | " + " | ".join(entries) + f" | {np.mean(spent):.1f} |"


def _summary(found: Found) -> list[str]:
    """How often our error is below each competitor's, by means over the repeats that both have, and all losses."""
    pairs: dict[str, list[tuple[str, float, float, float]]] = {m: [] for m in METHODS if m != OURS}
    for other, name, rate in product(pairs, SETS, RATES):
        own, runs = found.get((name, rate, OURS), {}), found.get((name, rate, other), {})
        both = {repeat for repeat in own.keys() & runs.keys() if "rmse" in runs[repeat]}
        if both:  # where ours failed, NaN: a loss
            failed = any("error" in own[repeat] for repeat in both)
            pairs[other].append((name, rate, np.nan if failed else _mean(own, "rmse", both), _mean(runs, "rmse", both)))
    losses = {(name, rate) for rows in pairs.values() for name, rate, mine, theirs in rows if not mine < theirs}
    compared = {(name, rate) for rows in pairs.values() for name, rate, *_ in rows}
    lines = [f"{OURS} has a lower error, by cell (set × rate, means over the repeats that both have), than", ""]
    for other, rows in pairs.items():
        lines.append(f"- {other}: in {sum(mine < theirs for *_, mine, theirs in rows)} of {len(rows)} cells")
    lines.append(f"- all that ran: in {len(compared) - len(losses)} of {len(compared)} cells")
    lines += ["", f"Where {OURS} loses:" if losses else f"{OURS} loses nowhere.", ""]
    for other, rows in pairs.items():
        for name, rate, mine, theirs in rows:
            if not mine < theirs:
                change = f"{1e4 * mine:.1f} against {1e4 * theirs:.1f}, {mine / theirs - 1:+.1%}"
                lines.append(f"- {name}, {rate:.0%}, {other}: " + ("failed" if np.isnan(mine) else change))
    return lines if losses else lines[:-1]


def main() -> None:
    chosen = arguments(SETS, METHODS).parse_args()
    fill(
        "completion",
        lambda data: cells(chosen.sets, chosen.repeats, chosen.methods, data),
        lambda cell, data: compute(cell, *read(cell["set"], data)),
        lambda result: result.get("error") or f"RMSE × 10⁴ {1e4 * result['rmse']:.1f}",
        draw,
        only_draw=chosen.draw,
    )


if __name__ == "__main__":
    main()
