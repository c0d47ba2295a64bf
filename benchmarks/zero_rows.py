"""Rows of zeros as values or as missing: clusters of SparseBDR with the known number of classes, on real sets.

Run: JELLA_DATA=folder python benchmarks/zero_rows.py
Sets without rows of zeros are only counted. Of BDGP, rows of zeros are animals without such an image. Of other sets,
subsets of the features make rows of zeros that are true observations: pages without a link, articles without one of
some words.
"""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from real_sets import ALL, Load, bbc_sport, bdgp, loadmat, needed_folder, read_set, three_sources
from scipy import sparse

import jella
from jella.metrics import adjusted_rand, nmi
from jella.views import read_views
from jella.views.zero_rows import constant_rows

SEEDS = (0, 1, 2)
RARE = (20, 60, 150)

Views = dict[str, Any]


def cornell_links(data: Path) -> tuple[Views, np.ndarray]:
    """Words, outgoing and incoming links of 195 pages, and their kinds; many pages have no link."""
    file = loadmat(data / "WebKB" / "Cornell.mat")
    words, links = (np.asarray(X, dtype=np.float64) for X in file["X"].ravel())
    return {"words": words, "outgoing": links[:, 195:390], "incoming": links[:, 390:]}, file["y"].ravel()


def fewer_words(read: Load, n_words: int) -> Load:
    """The set with words of the middle of the order by frequency in its last view; some articles have none of them."""

    def reduced(data: Path) -> tuple[Views, np.ndarray]:
        views, classes = read(data)
        name, last = list(views.items())[-1]
        frequency = np.asarray((last != 0).sum(axis=0)).ravel()
        chosen = np.argsort(-frequency, kind="stable")[50 : 50 + n_words]
        return views | {name: sparse.csr_array(last)[:, chosen]}, classes

    return reduced


TRUE_ZEROS: dict[str, Load] = {"Cornell, links by direction": cornell_links} | {
    f"{name}, {n} words in the last view": fewer_words(read, n)
    for name, read in (("3Sources", three_sources), ("BBCSport", bbc_sport))
    for n in RARE
}


def main() -> None:
    data = needed_folder()
    revision = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    print(f"SparseBDR(n_clusters=classes), other settings at their defaults, seeds {SEEDS}, means; revision {revision}")
    for name in ALL:
        show(name, *read_set(name, data))
    for name, read in {"BDGP": bdgp, **TRUE_ZEROS}.items():
        show(name, *read(data))


def show(name: str, views: Views, classes: np.ndarray) -> None:
    """Print the counts of a set and, if there are rows of zeros, the scores of both choices."""
    found = [one for view in read_views(views) if (one := constant_rows(view)) is not None]
    if not found:
        print(f"{name}: no rows of zeros in {len(views)} views", flush=True)
        return
    print(f"{name}: {len(classes)} samples, {len(set(classes.tolist()))} classes")
    for one in found:
        print(f"  {one}; {'a warning' if one.doubtful else 'no warning'}")
    for choice in ("observed", "missing"):
        scores = np.mean([_scores(views, classes, choice, seed) for seed in SEEDS], axis=0)
        print(f"  {choice:<8}  NMI {scores[0]:.3f}  ARI {scores[1]:.3f}", flush=True)


def _scores(views: Views, classes: np.ndarray, choice: str, seed: int) -> tuple[float, float]:
    """Agreement with the classes, over all samples; samples without any value are one more cluster."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = jella.SparseBDR(len(set(classes.tolist())), random_state=seed, on_empty="drop")
        labels = model.fit(jella.align(views, zero_rows=choice)).labels_
    return nmi(classes, labels), adjusted_rand(classes, labels)


if __name__ == "__main__":
    main()
