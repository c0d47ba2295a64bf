"""What SparseBDR says of small well-known data without a number of clusters: the sets that people try first.

Run: python benchmarks/small_sets.py [--only unseen] [--earlier]

Sets of scikit-learn and planted groups, as one view, or with their features divided among two or three views, complete
or with holes. The two nearest centres of planted groups are `gap` standard deviations apart. The first table was
looked at when rules were chosen; the unseen one was drawn afterwards, with other shapes, dimensions and seeds. One rule
was still changed then, because a ring of the unseen table was cut into eight parts; and so were the labels of values in
steps, because those of the first such set were wrong. Before: the same with an earlier
source of the library, run with --earlier. Right: clear, and the number of classes is met; within one of it for more
than three classes. Data without groups are right if that is said. Finished cases are appended to
benchmarks/results/small_sets.jsonl and not computed again; the tables are printed and written to
docs/results/small-sets.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measuring import add_results, load
from result_cells import SOURCE
from sklearn import datasets

import jella
from jella.datasets import make_incomplete
from jella.metrics import adjusted_rand

FILE = Path(__file__).parent / "results" / "small_sets.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "results" / "small-sets.md"
Drawn = tuple[np.ndarray, np.ndarray]


def planted(k: int, d: int, n: int, gap: float = 6.0, shape: str = "round", seed: int = 0) -> Drawn:
    """Groups of equal or unequal sizes, round, stretched or heavy-tailed; their nearest centres lie a gap apart."""
    rng = np.random.default_rng([seed, k, d, n])
    centres = max((rng.normal(size=(k, d)) for _ in range(200)), key=_spread)
    centres *= gap / _nearest(centres)
    shares = np.linspace(1, 5, k) if shape == "unequal" else np.ones(k)
    y = rng.permutation(np.repeat(np.arange(k), np.maximum(np.round(n * shares / shares.sum()), 2).astype(int)))
    noise = rng.standard_t(5, size=(len(y), d)) * 0.6**0.5 if shape == "heavy" else rng.normal(size=(len(y), d))
    if shape == "stretched":
        noise = noise * np.where(rng.uniform(size=(k, d)) < 0.3, 2.0, 0.8)[y]
    return centres[y] + noise, y


def _nearest(centres: np.ndarray) -> float:
    apart = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    return float(apart[~np.eye(len(centres), dtype=bool)].min())


def _spread(centres: np.ndarray) -> float:
    return _nearest(centres) / float(np.sqrt(np.sum((centres - centres.mean(axis=0)) ** 2) / len(centres)))


def without(kind: str, n: int, d: int, seed: int = 0) -> Drawn:
    """Data of few dimensions without groups."""
    rng = np.random.default_rng([seed, n, d])
    if kind == "blob":
        return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)), np.zeros(n, dtype=int)
    draw = {"gaussian": rng.normal, "uniform": rng.uniform, "exponential": rng.exponential}
    values = partial(rng.standard_t, 3) if kind == "t with 3 degrees" else draw[kind]
    return values(size=(n, d)), np.zeros(n, dtype=int)


def shaped(shape: str, k: int, d: int, n: int, seed: int = 29) -> Drawn:
    """Groups that are boxes, skewed, flat in one direction and wide in others, of unequal width, or of unequal size."""
    rng = np.random.default_rng([seed, k, d, n])
    centres = max((rng.normal(size=(k, d)) for _ in range(200)), key=_spread)
    y = np.minimum(rng.permutation(n) * (k if shape != "few" else k + 3) // n, k - 1)
    noise = {"boxes": rng.uniform(-1.7, 1.7, size=(n, d)), "skewed": rng.exponential(size=(n, d)) - 1.0}.get(
        shape, rng.normal(size=(n, d))
    )
    gap = 7.0
    if shape == "plates":  # one behind the other
        centres = np.outer(np.arange(k), np.eye(d)[0])
        noise[:, 1:] *= 4.0
    if shape == "one wide":
        noise[y == 0] *= 2.5
        gap = 10.0
    turn, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return (centres[y] * gap / _nearest(centres) + noise) @ turn, y


def rings(n: int, seed: int = 29) -> Drawn:
    """Two rings in two features, and the same two groups as rings in two others."""
    (X, y), (Z, other) = (datasets.make_circles(n, noise=0.05, factor=0.35, random_state=seed + i) for i in range(2))
    return np.hstack([X[np.argsort(y)], Z[np.argsort(other)]]), np.sort(y)


def in_steps(levels: int, draw: Callable[[], Drawn]) -> Drawn:
    """The same with all values read off a scale of a few levels."""
    X, y = draw()
    return np.digitize(X, np.linspace(X.min(), X.max(), levels + 1)[1:-1]).astype(float), y


def one_factor(n: int, d: int, skewed: bool = False, seed: int = 41) -> Drawn:
    """Features that go together, as the answers to questions about the same thing, without groups."""
    rng = np.random.default_rng([seed, n, d])
    X = 0.65 * rng.normal(size=(n, 1)) + 0.75 * rng.normal(size=(n, d))
    return np.exp(X) if skewed else X, np.zeros(n, dtype=int)


def known(name: str) -> Drawn:
    """A set of scikit-learn."""
    found: Drawn = getattr(datasets, f"load_{name}")(return_X_y=True)
    return found


def blobs(seed: int, **given: Any) -> Drawn:
    found: Drawn = datasets.make_blobs(random_state=seed, **given)
    return found


def classes(k: int, n: int = 300, d: int = 20, informative: int = 5, seed: int = 0) -> Drawn:
    found: Drawn = datasets.make_classification(
        n, d, n_informative=informative, n_classes=k, n_clusters_per_class=1, class_sep=2.0, random_state=seed
    )
    return found


#: name, how it is drawn, views, share of holes
Case = tuple[str, Callable[[], Drawn], int, float]

SEEN: list[Case] = [
    *((name, partial(known, name), views, holes) for name in ("iris", "wine", "breast_cancer")
      for views, holes in ((1, 0.0), (2, 0.0), (2, 0.2))),
    ("digits", partial(known, "digits"), 1, 0.0),
    ("make_blobs, 3 of 2", partial(blobs, 0, n_samples=200, centers=3), 1, 0.0),
    ("make_blobs, 5 of 2, deviation .5", partial(blobs, 0, n_samples=200, centers=5, cluster_std=0.5), 1, 0.0),
    ("make_blobs, 4 of 5", partial(blobs, 0, n_samples=200, centers=4, n_features=5), 1, 0.0),
    ("make_classification, 2", partial(classes, 2), 1, 0.0),
    ("make_classification, 3", partial(classes, 3), 1, 0.0),
    ("make_moons", lambda: datasets.make_moons(300, noise=0.05, random_state=0), 1, 0.0),
    ("make_circles", lambda: datasets.make_circles(300, noise=0.05, factor=0.4, random_state=0), 1, 0.0),
    *((f"planted, {k} of {d}, n {n}", partial(planted, k, d, n), views, holes) for k, d, n, views, holes in (
        (2, 2, 200, 1, 0.0), (2, 5, 200, 1, 0.0), (2, 10, 200, 2, 0.0), (2, 50, 200, 2, 0.3), (2, 20, 50, 1, 0.0),
        (3, 2, 200, 1, 0.0), (3, 5, 60, 1, 0.0), (3, 10, 200, 2, 0.3), (4, 20, 80, 2, 0.0), (5, 2, 200, 1, 0.0),
        (5, 10, 100, 2, 0.0), (7, 10, 200, 3, 0.0), (10, 2, 500, 1, 0.0), (10, 20, 200, 2, 0.3))),
    *((kind, partial(without, kind, n, d), views, 0.0) for kind, n, d, views in (
        ("gaussian", 200, 2, 1), ("uniform", 200, 4, 1), ("t with 3 degrees", 200, 4, 1), ("exponential", 200, 5, 1),
        ("blob", 100, 10, 2), ("uniform", 80, 3, 1), ("gaussian", 60, 5, 1))),
]  # fmt: skip
SEEN += [
    *((f"planted {shape}, {k} of {d}, n {n}, gap {gap:g}", partial(planted, k, d, n, gap, shape, 11), views, holes)
      for shape, k, d, n, gap, views, holes in (
        ("stretched", 2, 3, 120, 8.0, 1, 0.0), ("stretched", 3, 8, 150, 8.0, 2, 0.2),
        ("stretched", 4, 15, 240, 8.0, 3, 0.3), ("stretched", 6, 6, 300, 9.0, 1, 0.1),
        ("heavy", 2, 4, 100, 7.0, 1, 0.0), ("heavy", 3, 12, 90, 7.0, 2, 0.0),
        ("heavy", 5, 7, 250, 7.0, 1, 0.0), ("heavy", 8, 30, 400, 7.0, 2, 0.3), ("unequal", 2, 6, 80, 7.0, 1, 0.0),
        ("unequal", 3, 3, 200, 7.0, 1, 0.0), ("unequal", 4, 40, 160, 7.0, 2, 0.2), ("unequal", 6, 12, 300, 7.0, 2, 0.0),
        ("round", 2, 1, 150, 6.0, 1, 0.0), ("round", 2, 30, 60, 6.0, 2, 0.3), ("round", 3, 4, 500, 5.0, 1, 0.0),
        ("round", 4, 2, 100, 8.0, 1, 0.0), ("round", 5, 25, 125, 6.0, 1, 0.2), ("round", 6, 3, 150, 7.0, 1, 0.0),
        ("round", 9, 9, 450, 6.0, 3, 0.0), ("round", 10, 40, 1000, 6.0, 2, 0.3))),
    ("make_blobs, 3 of 2, seed 42", partial(blobs, 42, n_samples=300, centers=3), 1, 0.0),
    ("make_blobs, 4 of 2, deviation .6", partial(blobs, 7, n_samples=300, centers=4, cluster_std=0.6), 1, 0.0),
    ("make_blobs, 8 of 8", partial(blobs, 3, n_samples=400, centers=8, n_features=8), 2, 0.2),
    ("make_classification, 2, seed 5", partial(classes, 2, 200, 12, 4, 5), 2, 0.0),
    ("make_classification, 4, seed 6", partial(classes, 4, 400, 15, 6, 6), 1, 0.0),
    *((kind, partial(without, kind, n, d, 11), views, holes) for kind, n, d, views, holes in (
        ("gaussian", 120, 3, 1, 0.0), ("gaussian", 400, 9, 2, 0.3), ("uniform", 150, 2, 1, 0.0),
        ("uniform", 300, 6, 2, 0.0), ("t with 3 degrees", 150, 3, 1, 0.0), ("t with 3 degrees", 300, 8, 2, 0.3),
        ("exponential", 100, 4, 1, 0.0), ("exponential", 250, 8, 2, 0.0), ("blob", 80, 5, 1, 0.0),
        ("blob", 300, 3, 1, 0.0), ("blob", 500, 12, 2, 0.3), ("uniform", 60, 7, 1, 0.1))),
]  # fmt: skip


UNSEEN: list[Case] = [
    *((f"{shape}, {k} of {d}, n {n}", partial(shaped, shape, k, d, n), views, holes)
      for shape, k, d, n, views, holes in (
        ("boxes", 2, 2, 150, 1, 0.0), ("boxes", 4, 3, 240, 1, 0.0), ("boxes", 3, 8, 180, 2, 0.2),
        ("skewed", 2, 3, 160, 1, 0.0), ("skewed", 3, 6, 210, 2, 0.0), ("skewed", 5, 12, 300, 2, 0.3),
        ("plates", 2, 3, 200, 1, 0.0), ("plates", 3, 5, 240, 1, 0.0), ("plates", 2, 12, 120, 2, 0.2),
        ("one wide", 3, 2, 210, 1, 0.0), ("one wide", 4, 7, 200, 1, 0.1), ("one wide", 2, 20, 100, 2, 0.0),
        ("few", 2, 3, 240, 1, 0.0), ("few", 3, 4, 300, 2, 0.0), ("few", 4, 10, 400, 2, 0.2))),
    ("rings in 2 views, n 240", partial(rings, 240), 2, 0.0),
    ("make_moons, noise .02, n 500", lambda: datasets.make_moons(500, noise=0.02, random_state=3), 1, 0.0),
    ("make_circles, factor .3, n 500", lambda: datasets.make_circles(500, noise=0.04, factor=0.3, random_state=3), 1,
     0.0),
    *((f"make_blobs, {k} of 2, seed {seed}", partial(blobs, seed, n_samples=150, centers=k), 1, 0.0)
      for k, seed in ((2, 21), (3, 22), (3, 23), (4, 24))),
    *((kind, partial(without, kind, n, d, 29), views, holes) for kind, n, d, views, holes in (
        ("gaussian", 70, 2, 1, 0.0), ("gaussian", 250, 4, 1, 0.1), ("gaussian", 500, 15, 2, 0.3),
        ("uniform", 100, 3, 1, 0.0), ("uniform", 400, 5, 1, 0.0), ("uniform", 200, 12, 2, 0.2),
        ("t with 3 degrees", 90, 2, 1, 0.0), ("t with 3 degrees", 400, 5, 2, 0.0), ("exponential", 70, 3, 1, 0.0),
        ("exponential", 350, 6, 2, 0.2), ("exponential", 200, 2, 1, 0.0), ("blob", 120, 4, 1, 0.0),
        ("blob", 250, 8, 2, 0.0), ("blob", 400, 2, 1, 0.0), ("gaussian", 1000, 3, 1, 0.0),
        ("uniform", 800, 2, 1, 0.0))),
]  # fmt: skip


UNSEEN += [
    *((f"planted, {k} of {d}, n {n}, in {levels} steps",
       partial(in_steps, levels, partial(planted, k, d, n, 7.0, "round", 41)), views, holes)
      for levels, k, d, n, views, holes in (
        (5, 2, 6, 150, 1, 0.0), (5, 3, 8, 240, 2, 0.0), (5, 4, 12, 300, 2, 0.2), (10, 3, 5, 200, 1, 0.0),
        (10, 5, 10, 400, 2, 0.2), (3, 3, 20, 300, 2, 0.0), (2, 3, 24, 300, 2, 0.0))),
    *((f"one {'skewed ' * skewed}factor, {d} of n {n}, in {levels} steps",
       partial(in_steps, levels, partial(one_factor, n, d, skewed)), views, holes)
      for levels, n, d, skewed, views, holes in (
        (5, 250, 6, False, 2, 0.0), (5, 400, 10, False, 2, 0.2), (5, 300, 20, False, 2, 0.0),
        (5, 300, 8, False, 1, 0.0), (3, 300, 12, False, 2, 0.0), (3, 500, 9, False, 3, 0.2),
        (2, 300, 12, False, 2, 0.0), (2, 400, 24, False, 2, 0.2), (10, 500, 9, True, 2, 0.0),
        (20, 300, 6, True, 1, 0.1))),
]  # fmt: skip


def measured(case: Case, *, earlier: bool) -> dict[str, Any]:
    name, draw, views, holes = case
    X, y = draw()
    columns = np.array_split(np.random.default_rng(0).permutation(X.shape[1]), views)
    data = [X[:, one] for one in columns] if views > 1 else [X]
    if holes:
        data = make_incomplete(data, holes, "missing-view" if views > 1 else "mcar", random_state=0)
    begin = time.process_time()
    model = jella.SparseBDR(random_state=0, on_empty="drop").fit(data)
    seconds, k, kept = time.process_time() - begin, len(np.unique(y)), model.labels_ >= 0
    off = 1 if k > 3 else 0
    return {
        "case": name,
        "views": views,
        "holes": holes,
        "unseen": case in UNSEEN,
        "earlier": earlier,
        "samples": len(y),
        "classes": k,
        "found": model.n_clusters_,
        "best": model.cluster_path_.best,
        "right": bool(abs(model.n_clusters_ - k) <= off),
        "ari": round(float(adjusted_rand(y[kept], model.labels_[kept])), 3),
        "cpu_seconds": round(seconds, 1),
        "source": SOURCE,
    }


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["case"], row["views"], row["holes"], row["samples"]


def _count(rows: list[dict[str, Any]]) -> str:
    some, none = ([row["right"] for row in rows if (row["classes"] > 1) == has] for has in (True, False))
    return f"{sum(some)} of {len(some)} sets with groups, {sum(none)} of {len(none)} without"


def _cells(row: dict[str, Any] | None) -> str:
    if row is None:
        return " | | "
    found = f"1 (best {row['best']})" if row["found"] == 1 else str(row["found"])
    rand = f"{row['ari']:.2f}" if row["classes"] > 1 else ""
    return f"{found} | {'yes' if row['right'] else 'no'} | {rand}"


def page(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Small well-known data",
        "",
        "Written by `python benchmarks/small_sets.py` (its first lines say what is measured). No number of clusters is",
        "given. Found: the number chosen, 1 where no clear clusters are said, with the best number behind it.",
        "After the unseen table was first computed two rules were changed: a ring in it had been cut into eight parts,",
        "and the labels of the first set in steps were wrong. Later, how rare samples are between clusters was",
        "counted, by people who had seen both tables.",
        f"Source of the library: {', '.join(sorted({row['source'] for row in rows}))}.",
    ]
    before = {key(row): row for row in rows if row["earlier"]}
    for unseen, words in ((False, "Looked at when rules were chosen"), (True, "Unseen")):
        chosen = [row for row in rows if row["unseen"] == unseen and not row["earlier"]]
        lines += [
            "",
            f"## {words}",
            "",
            f"Right: {_count(chosen)}. Before: {_count([before[key(row)] for row in chosen if key(row) in before])}.",
            "",
            "| set | n | views | holes | classes | found | right | ARI | found before | right | ARI |",
            "|---|---|---|---|---|---|---|---|---|---|---|",
        ]
        for row in chosen:
            facts = f"{row['case']} | {row['samples']} | {row['views']} | {row['holes']:.0%} | {row['classes']}"
            lines.append(f"| {facts} | {_cells(row)} | {_cells(before.get(key(row)))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=["seen", "unseen"])
    parser.add_argument("--earlier", action="store_true", help="the library on the path is an earlier one")
    parser.add_argument("--draw", action="store_true", help="write the page without computing")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = {"seen": SEEN, "unseen": UNSEEN, None: [*SEEN, *UNSEEN]}[chosen.only]
    done = {key(row) for row in load(FILE) if row["earlier"] == chosen.earlier}
    todo = (case for case in cases if (case[0], case[2], case[3], len(case[1]()[1])) not in done)
    rows = (measured(case, earlier=chosen.earlier) for case in todo)
    add_results(FILE, () if chosen.draw else rows, PAGE, page)


if __name__ == "__main__":
    main()
