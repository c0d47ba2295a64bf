"""What pairs of samples are worth: SparseBDR with pairs that share a cluster, or do not, drawn from the classes.

Run: JELLA_DATA=<folder> python benchmarks/pairs.py

Sets of at most 600 samples, 30 % missing-view, eight draws; in each, another mask and other random pairs of samples, of
which it is known whether they are of one class. The number of classes is given. Scores are over all samples, and over
those in no pair. It takes minutes; the table is printed and written to docs/results/pairs.md.
"""

from __future__ import annotations

import warnings

import numpy as np
from real_sets import NATURAL, OTHERS, SETS, needed_folder, read_set
from result_cells import RESULTS, SOURCE
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import jella
from jella.datasets import make_incomplete

PAGE = RESULTS / "pairs.md"
MOST_SAMPLES, DRAWS, COUNTS = 600, 8, (50, 100, 200)


def drawn_pairs(y: np.ndarray, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random pairs of samples of one class, and of two."""
    pairs = np.random.default_rng(seed).integers(y.size, size=(2 * count, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:count]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return pairs[same], pairs[~same]


def scores(y: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """NMI and ARI; NaN for fewer samples than classes."""
    if y.size <= np.unique(y).size:
        return np.nan, np.nan
    return float(normalized_mutual_info_score(y, labels)), float(adjusted_rand_score(y, labels))


def rows_of(name: str) -> list[str]:
    views, classes = read_set(name, needed_folder())
    y = np.unique(classes, return_inverse=True)[1]
    if y.size > MOST_SAMPLES:
        return []
    found: dict[int, list[list[float]]] = {count: [] for count in COUNTS}
    kept: dict[int, list[int]] = {count: [] for count in COUNTS}
    model = jella.SparseBDR(int(y.max()) + 1, random_state=0, on_empty="drop", evidence=False)
    for draw in range(DRAWS):
        holed = views if name in NATURAL else make_incomplete(views, 0.3, "missing-view", random_state=draw)
        plain = model.fit(holed).labels_
        for count in COUNTS:
            must, cannot = drawn_pairs(y, count, draw)
            labels = model.fit(holed, must_link=must, cannot_link=cannot).labels_
            kept[count] += [
                *(labels[must[:, 0]] == labels[must[:, 1]]),
                *(labels[cannot[:, 0]] != labels[cannot[:, 1]]),
            ]
            free = np.setdiff1d(np.arange(y.size), np.concatenate([must, cannot]))
            found[count].append([*scores(y, labels), *scores(y, plain), *scores(y[free], labels[free])])
            found[count][-1] += scores(y[free], plain[free])
    return [row(name, y.size, count, np.array(found[count]), float(np.mean(kept[count]))) for count in COUNTS]


def row(name: str, n: int, count: int, figures: np.ndarray, kept: float) -> str:
    means = np.mean(figures, axis=0)
    cells = ["–" if np.isnan(a) else f"{a:.3f} / {b:.3f}" for a, b in means.reshape(4, 2)]
    gain = figures[:, 4] - figures[:, 6]
    known = "–" if np.isnan(gain).any() else f"{gain.mean():+.3f} ± {gain.std() / np.sqrt(DRAWS - 1):.3f}"
    return f"| {name} | {n} | {count} | {' | '.join(cells)} | {known} | {kept:.0%} |"


def main() -> None:
    warnings.simplefilter("ignore")
    lines = [
        "# Pairs of samples",
        "",
        "Written by `python benchmarks/pairs.py` (its first lines say what is measured). Mean NMI / ARI with and",
        "without pairs, over all samples and over those in no pair; – where these are too few. Gain: NMI of samples",
        "in no pair with pairs minus that without, its mean and its standard error over the draws. Kept: the share of",
        "the pairs that the labels agree with.",
        f"Source of the library: {SOURCE}.",
        "",
        "| set | samples | pairs | all, with | all, without | in no pair, with | in no pair, without | gain | kept |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in [*SETS, *OTHERS, *NATURAL]:
        for line in rows_of(name):
            print(line, flush=True)
            lines.append(line)
    PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
