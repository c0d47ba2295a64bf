"""Drawings of the documentation: framework.svg, sparse-bdr.svg, calibration.svg, and overview.png of the README.

Run: python docs/images/draw.py     (writes beside itself; overview.png takes half a minute)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

import jella

HERE = Path(__file__).parent
COLOURS = ("#1f5f8b", "#b5532a", "#4d7c3a")
INK, MISSING = "#333333", "#ffffff"
matplotlib.rcParams |= {"font.size": 11, "svg.hashsalt": "jella", "text.color": INK}


def blank(width: float, height: float) -> tuple[Any, Any]:
    """A figure whose units are centimetres of the drawing, without axes."""
    figure, axes = plt.subplots(figsize=(width / 2.2, height / 2.2))
    figure.subplots_adjust(0, 0, 1, 1)
    axes.set(xlim=(0, width), ylim=(0, height), aspect="equal")
    axes.axis("off")
    return figure, axes


def cells(axes: Any, values: np.ndarray, x: float, y: float, size: float, cmap: str = "Blues") -> None:
    """A matrix as coloured cells with its upper left corner at (x, y); NaN is white with a thin border."""
    colours = matplotlib.colormaps[cmap]
    for (i, j), value in np.ndenumerate(values):
        face = MISSING if np.isnan(value) else colours(0.15 + 0.75 * value)
        box(axes, x + j * size, y - (i + 1) * size, size, facecolor=face, edgecolor="#bbbbbb", lw=0.6)


def box(axes: Any, x: float, y: float, width: float, height: float | None = None, **look: Any) -> None:
    """A rectangle with its lower left corner at (x, y), square without a height."""
    axes.add_patch(plt.Rectangle((x, y), width, width if height is None else height, **look))


def links(axes: Any, affinity: np.ndarray, x: float, y: float, size: float) -> None:
    """A frame with a cell for each pair that is not zero."""
    side = size * len(affinity)
    box(axes, x, y - side, side, facecolor="#f4f7fa", edgecolor="#bbbbbb", lw=1)
    for i, j in np.argwhere(affinity):
        box(axes, x + j * size, y - (i + 1) * size, size, facecolor=COLOURS[0], alpha=float(affinity[i, j]))


def arrow(axes: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.4, "mutation_scale": 14})


def words(axes: Any, x: float, y: float, text: str, **options: Any) -> None:
    axes.text(x, y, text, **{"ha": "center", "va": "center", **options})


def below(axes: Any, x: float, text: str) -> None:
    words(axes, x, 0.5, text, fontsize=9.5)


def three_views() -> tuple[list[np.ndarray], np.ndarray, list[np.ndarray]]:
    """Values with holes, embedding and bases of a small low-rank example."""
    rng = np.random.default_rng(4)
    W = np.sort(rng.random((9, 2)), axis=0)[::-1] * [[1, 0]] + rng.random((9, 2)) * [[0, 1]]
    bases = [rng.random((d, 2)) for d in (5, 4, 3)]
    full = [(W @ U.T) / (W @ U.T).max() for U in bases]
    holed = [X.copy() for X in full]
    holed[0][6:] = np.nan
    holed[1][1:3] = np.nan
    holed[2][4] = np.nan
    for X in holed:
        X[rng.random(X.shape) < 0.15] = np.nan
    return holed, W / W.max(), bases


def draw_framework() -> None:
    """Views with holes, the product of embedding and bases, and what is read from it."""
    holed, W, bases = three_views()
    maps = ("Blues", "Oranges", "Greens")
    figure, axes = blank(26, 9)
    x = 0.6
    for X, cmap, name in zip(holed, maps, ("view 1", "view 2", "view 3"), strict=True):
        cells(axes, X, x, 6.6, 0.6, cmap)
        words(axes, x + 0.3 * X.shape[1], 7.1, name)
        x += 0.6 * X.shape[1] + 0.4
    words(axes, 4.6, 0.6, "views of the same samples;\nwhite is missing", fontsize=10)
    words(axes, 9.4, 4.0, "≈", fontsize=24)
    cells(axes, W, 10.3, 6.6, 0.6, "Purples")
    words(axes, 10.9, 7.1, "W")
    words(axes, 10.9, 0.6, "embedding:\none row per sample", fontsize=10)
    words(axes, 12.2, 4.0, "·", fontsize=24)
    x = 12.9
    for number, (U, cmap) in enumerate(zip(bases, maps, strict=True), 1):
        cells(axes, U.T / U.max(), x, 4.6, 0.6, cmap)
        words(axes, x + 0.3 * len(U), 5.1, f"U{'₁₂₃'[number - 1]}ᵀ")
        x += 0.6 * len(U) + 0.35
    words(axes, 17.0, 0.6, "bases:\none per view", fontsize=10)
    arrow(axes, (21.4, 5.4), (22.6, 6.6))
    arrow(axes, (21.4, 4.0), (22.6, 4.0))
    arrow(axes, (21.4, 2.6), (22.6, 1.4))
    answers = ("new samples\nsolve for their row", "missing values\nW Uᵀ in the holes", "clusters\nof the rows of W")
    for y, text in zip((1.2, 4.0, 6.8), answers, strict=True):
        words(axes, 22.8, y, text, ha="left", fontsize=10)
    words(axes, 13, 8.5, "Only observed values count in the fit; terms on W and U say what kind of answer is wanted")
    save(figure, "framework.svg")


def draw_sparse_bdr() -> None:
    """Neighbours over shared entries, an affinity of neighbours, blocks."""
    rng = np.random.default_rng(1)
    figure, axes = blank(26, 8.6)
    centres = np.array([[2.0, 5.2], [4.6, 4.9], [3.2, 2.6]])
    points = np.concatenate([centre + 0.5 * rng.normal(size=(7, 2)) for centre in centres])
    group = np.repeat([0, 1, 2], 7)
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    near = np.argsort(distance, axis=1)[:, 1:4]
    for i, others in enumerate(near):
        for j in others:
            axes.plot(*points[[i, j]].T, color="#bbbbbb", lw=1, zorder=1)
    axes.scatter(*points.T, c=[COLOURS[g] for g in group], s=46, zorder=2)
    words(axes, 3.3, 7.7, "1  neighbours over shared entries", fontsize=11)
    below(axes, 3.3, "samples are compared on what\nboth have; views are scaled and\nweighted by how well they agree")
    arrow(axes, (6.6, 4.0), (8.0, 4.0))

    order = rng.permutation(21)
    affinity = np.zeros((21, 21))
    for i, others in enumerate(near):
        affinity[i, others] = affinity[others, i] = 0.5 + 0.5 * rng.random()
    links(axes, affinity[order][:, order], 8.6, 6.9, 0.27)
    words(axes, 11.4, 7.7, "2  embedding and affinity together", fontsize=11)
    below(
        axes,
        11.4,
        "only pairs of neighbours are kept,\nso memory grows with n, not n²;\nlinks inside groups become strong",
    )
    arrow(axes, (14.8, 4.0), (16.2, 4.0))

    links(axes, affinity, 16.8, 6.9, 0.27)
    side = 7 * 0.27
    for g in range(3):
        box(axes, 16.8 + g * side, 6.9 - (g + 1) * side, side, fill=False, edgecolor=COLOURS[g], lw=2.4)
    words(axes, 19.6, 7.7, "3  blocks are clusters", fontsize=11)
    below(
        axes,
        19.6,
        "labels come from the neighbour graph\nof the embedding; refits say\nhow many blocks the data support",
    )
    arrow(axes, (22.9, 4.0), (23.7, 4.0))
    for g, y in enumerate((5.6, 4.0, 2.4)):
        axes.scatter([24.5], [y], color=COLOURS[g], s=90)
        words(axes, 25.3, y, "ABC"[g], fontsize=12)
    save(figure, "sparse-bdr.svg")


def draw_calibration() -> None:
    """Hide observed values, predict them in several ways, learn weights and errors, apply them to the holes."""
    rng = np.random.default_rng(2)
    holed, _, _ = three_views()
    X = np.hstack(holed[:2])
    figure, axes = blank(26, 8.4)
    cells(axes, X, 0.7, 6.8, 0.55, "Blues")
    observed = np.argwhere(~np.isnan(X))
    for i, j in observed[rng.choice(len(observed), 9, replace=False)]:
        box(axes, 0.7 + j * 0.55, 6.8 - (i + 1) * 0.55, 0.55, facecolor=COLOURS[1], edgecolor=INK, lw=1)
    words(axes, 3.2, 7.6, "1  hide some observed values", fontsize=11)
    below(axes, 3.2, "in the way in which the data\nlack values: whole views, or entries")
    arrow(axes, (6.2, 4.3), (7.3, 4.3))
    names = ("mean of the feature", "low-rank models", "model of the clusters", "nearest samples")
    weights = (0.10, 0.45, 0.25, 0.20)
    for k, (name, weight) in enumerate(zip(names, weights, strict=True)):
        y = 6.3 - 1.3 * k
        box(axes, 7.6, y - 0.45, 4.6, 0.9, facecolor="#eef3f7", edgecolor="#8aa7bd")
        words(axes, 9.9, y, name, fontsize=10)
        box(axes, 12.6, y - 0.25, 5 * weight, 0.5, facecolor=COLOURS[0])
    words(axes, 9.9, 7.6, "2  predict them in several ways", fontsize=11)
    words(axes, 14.9, 7.6, "3  weigh them", fontsize=11)
    below(
        axes,
        12.3,
        "weights, a small correction per feature\nand the error that is left are learned\nfrom what was hidden",
    )
    arrow(axes, (15.6, 4.3), (16.7, 4.3))
    x, middle = np.arange(6), np.array([3.6, 4.6, 4.1, 5.1, 4.4, 5.0])
    half = np.array([0.9, 0.6, 1.1, 0.7, 0.9, 0.8])
    for k in x:
        box(axes, 17.7 + 1.2 * k, middle[k] - half[k], 0.2, 2 * half[k], facecolor=COLOURS[0], alpha=0.35)
    axes.scatter(17.8 + 1.2 * x, middle, color=COLOURS[0], s=36, zorder=3)
    truth = middle + np.array([0.4, -0.3, 0.2, 0.95, -0.5, 0.1])
    axes.scatter(17.8 + 1.2 * x, truth, color=COLOURS[1], marker="x", s=46, zorder=4)
    words(axes, 20.8, 7.6, "4  fill the real holes, with intervals", fontsize=11)
    below(axes, 20.8, "nine of ten true values (crosses)\nlie within a 90 % interval")
    save(figure, "calibration.svg")


def draw_overview() -> None:
    """What is missing, the clusters, and completed pixels, of 600 digits."""
    digits = jella.datasets.load_digits_views(600)
    views = jella.datasets.make_incomplete(digits.data, 0.3, "incomplete-view", random_state=0)
    found = jella.cluster(views, n_clusters=10)
    completed = jella.complete(views).views["pixels"]
    figure = plt.figure(figsize=(11, 3.6), layout="constrained")
    left, middle, right = figure.subfigures(1, 3, width_ratios=[1, 1, 1.15])
    draw_missing(left.subplots(), views)
    draw_map(middle.subplots(), found)
    draw_digits(right, digits, views["pixels"], completed)
    figure.savefig(HERE / "overview.png", dpi=130)


def draw_missing(axes: Any, views: dict[str, np.ndarray]) -> None:
    lacks = np.stack([np.isnan(X).all(axis=1) for X in views.values()])
    order = np.lexsort(lacks)
    widths = [X.shape[1] for X in views.values()]
    missing = np.hstack([np.isnan(X) for X in views.values()])[order]
    axes.imshow(missing, aspect="auto", cmap="Greys", interpolation="nearest")
    for end in np.cumsum(widths)[:-1]:
        axes.axvline(end - 0.5, color=COLOURS[1], lw=1.2)
    axes.set_xticks(np.cumsum(widths) - np.array(widths) / 2, list(views))
    axes.tick_params(length=0)
    axes.set(yticks=[], ylabel="600 samples", title="in: views with holes (black)")


def draw_map(axes: Any, found: Any) -> None:
    from sklearn.manifold import TSNE

    flat = TSNE(perplexity=25, random_state=0).fit_transform(found.embedding)
    axes.scatter(*flat.T, c=found.labels, cmap="tab10", s=9, linewidths=0)
    axes.set(xticks=[], yticks=[], title="out: embedding and clusters")


def draw_digits(panel: Any, digits: Any, given: np.ndarray, completed: np.ndarray) -> None:
    names = digits.feature_names["pixels"]
    place = [int(name.rsplit("_", 2)[-2]) * 8 + int(name.rsplit("_", 1)[-1]) for name in names]
    lacking = np.isnan(given).all(axis=1)
    shown = [*np.flatnonzero(~lacking)[10:14], *np.flatnonzero(lacking)[:2]]
    grid = panel.subplots(3, len(shown))
    for row, (title, X) in enumerate({"true": digits.data["pixels"], "in": given, "out": completed}.items()):
        for axes, sample in zip(grid[row], shown, strict=True):
            image = np.zeros(64)
            image[place] = X[sample]
            axes.imshow(np.ma.masked_invalid(image.reshape(8, 8)), cmap="gray")
            axes.set(xticks=[], yticks=[], facecolor=COLOURS[1])
        grid[row, 0].set_ylabel(title)
    panel.suptitle("out: completed values (orange: missing)")


def save(figure: Any, name: str) -> None:
    figure.savefig(HERE / name, metadata={"Date": None}, facecolor="white")
    plt.close(figure)


if __name__ == "__main__":
    plt.switch_backend("Agg")
    draw_framework()
    draw_sparse_bdr()
    draw_calibration()
    draw_overview()
