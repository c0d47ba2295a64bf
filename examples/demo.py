"""The main task on embedded data: digits in three views with missing values; embed, complete, cluster, compare.

Run: make demo   (or: python examples/demo.py). Prints a table and saves demo.png.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import jella
from jella.metrics import adjusted_rand, nmi, rmse

Views = dict[str, np.ndarray]
RATE, SEED, K = 0.3, 0, 10
NEXT = """
What to try next:
  .venv-demo/bin/python examples/first_steps.py    the same in a few lines
  .venv-demo/bin/jella --help                      the command line; `jella cluster DATA -o OUT` for your own files
  docs/first-steps.md                              what the output means, and where to go from there"""


def mean_filled(views: Views) -> Views:
    return {name: np.where(np.isnan(X), np.nanmean(X, axis=0), X) for name, X in views.items()}


def mean_fill_kmeans(views: Views) -> tuple[np.ndarray, Views]:
    from sklearn.cluster import KMeans

    filled = mean_filled(views)
    return KMeans(K, n_init=10, random_state=SEED).fit_predict(np.hstack(list(filled.values()))), filled


def knn_spectral(views: Views) -> tuple[np.ndarray, Views]:
    from sklearn.cluster import SpectralClustering
    from sklearn.impute import KNNImputer

    widths = np.cumsum([X.shape[1] for X in views.values()])[:-1]
    filled = KNNImputer().fit_transform(np.hstack(list(views.values())))
    spectral = SpectralClustering(K, affinity="nearest_neighbors", random_state=SEED)
    return spectral.fit_predict(filled), dict(zip(views, np.split(filled, widths, axis=1), strict=True))


def mean_fill_and_knn() -> dict[str, Callable[[Views], tuple[np.ndarray, Views]]]:
    return {"mean-fill + k-means": mean_fill_kmeans, "KNNImputer + SpectralClustering": knn_spectral}


def ours() -> dict[str, Callable[[Views], Any]]:
    def fitted(method: type, **options: str) -> Callable[[Views], Any]:
        return lambda views: method(n_clusters=K, random_state=SEED, **options).fit(views)

    return {
        "jella.PVC": fitted(jella.PVC),
        "jella.MVLIV": fitted(jella.MVLIV),
        "jella.SparseBDR": fitted(jella.SparseBDR),
    }


def compare(full: Views, holed: Views, labels: np.ndarray) -> Any:
    """Print one line per method; returns the last model."""
    missing = {name: np.isnan(X) for name, X in holed.items()}
    print(f"{'':37}{'NMI':>7}{'ARI':>7}{'RMSE':>8}{'seconds':>9}")

    def line(name: str, started: float, found: np.ndarray, completed: Views) -> None:
        seconds, error = time.perf_counter() - started, rmse(full, completed, missing=missing)
        print(f"{name:37}{nmi(labels, found):7.3f}{adjusted_rand(labels, found):7.3f}{error:8.4f}{seconds:9.2f}")

    for name, run in mean_fill_and_knn().items():
        started = time.perf_counter()
        line(name, started, *run(holed))
    for name, fit in ours().items():
        started = time.perf_counter()
        model = fit(holed)
        line(name, started, model.labels_, model.complete(holed))
    return model


def draw(full: Views, holed: Views, completed: Views, model: Any, path: str) -> None:
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    names = jella.datasets.load_digits_views().feature_names["pixels"]
    figure = plt.figure(figsize=(12, 7), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[1.1, 1])
    left, right = top.subplots(1, 2, width_ratios=[1, 1])
    _draw_holes(left, holed)
    W = model.embedding_
    axes = np.argsort(-W.var(axis=0))[:2]
    right.scatter(*W[:, axes].T, c=model.labels_, cmap="tab10", s=6)
    right.set(title="Embedding, coloured by cluster", xlabel="strongest component", ylabel="second")
    _draw_digits(bottom, names, full["pixels"], holed["pixels"], completed["pixels"])
    figure.savefig(path, dpi=110)


def _draw_holes(axes: object, holed: Views) -> None:
    """Draw the samples sorted by missing values, views side by side; dark is missing."""
    missing = np.hstack([np.isnan(X) for X in holed.values()])
    gone = np.stack([np.isnan(X).all(axis=1) for X in holed.values()], axis=1)
    order = np.lexsort(gone.T[::-1])
    axes.imshow(missing[order], aspect="auto", cmap="Greys", interpolation="nearest")  # type: ignore[attr-defined]
    ends = np.cumsum([X.shape[1] for X in holed.values()])
    for end in ends[:-1]:
        axes.axvline(end - 0.5, color="tab:red", linewidth=1)  # type: ignore[attr-defined]
    middles = ends - [X.shape[1] / 2 for X in holed.values()]
    axes.set_xticks(middles, list(holed))  # type: ignore[attr-defined]
    axes.set(title="What is missing (black)", ylabel="samples, sorted")  # type: ignore[attr-defined]


def _draw_digits(panel: object, names: list[str], *stages: np.ndarray) -> None:
    """Draw twelve digits: original, with missing values, completed; red marks missing values."""
    pixels = [int(name.rsplit("_", 2)[-2]) * 8 + int(name.rsplit("_", 1)[-1]) for name in names]
    partial = np.flatnonzero(~np.isnan(stages[1]).all(axis=1))[:8]
    lacking = np.flatnonzero(np.isnan(stages[1]).all(axis=1))[:4]
    grid = panel.subplots(3, 12)  # type: ignore[attr-defined]
    for row, (stage, title) in enumerate(zip(stages, ("true", "observed", "completed"), strict=True)):
        for column, sample in enumerate([*partial, *lacking]):
            image = np.zeros(64)
            image[pixels] = stage[sample]
            axes = grid[row, column]
            axes.set_facecolor("#d62728")
            axes.imshow(np.ma.masked_invalid(image.reshape(8, 8)), cmap="gray")
            axes.set_xticks([])
            axes.set_yticks([])
            if column == 0:
                axes.set_ylabel(title)
    panel.suptitle("Pixels: eight digits with missing entries, four that lack the whole view (red = missing)")  # type: ignore[attr-defined]


def main() -> None:
    warnings.simplefilter("ignore")
    digits = jella.datasets.load_digits_views()
    full = {name: X / np.linalg.norm(X, axis=1, keepdims=True) for name, X in digits.data.items()}
    holed = jella.datasets.make_incomplete(full, RATE, "incomplete-view", random_state=SEED)
    share = np.mean(np.hstack([np.isnan(X) for X in holed.values()]))
    print(f"digits: {len(digits.target)} samples, views {', '.join(f'{k} ({X.shape[1]})' for k, X in full.items())}")
    print(f"{RATE:.0%} of the samples lose a view, then {RATE:.0%} of the entries: {share:.0%} is missing\n")
    model = compare(full, holed, digits.target)
    draw(full, holed, model.complete(holed), model, "demo.png")
    print("\nRMSE is over the missing entries, samples at unit norm. Picture: demo.png")
    print(NEXT)


if __name__ == "__main__":
    main()
