"""Labels beside what they name, moved apart where they would overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jella.plot.style import INK

#: rounds in which overlapping labels are pushed apart
ROUNDS = 200


def label_groups(ax: Any, groups: Sequence[np.ndarray], words: Sequence[str], colours: Sequence[str]) -> list[Any]:
    """Write a word in a frame of its colour at the middle of each group of points (m, 2).

    A group that its word would hide has it above. A thin line leads to a word that had to be moved for others.
    """
    if not len(words):
        return []
    ax.autoscale_view()
    to_pixels, per_point = ax.transData, ax.figure.dpi / 72
    size = 10.0 if len(words) <= 20 else 8.0
    boxes = np.array([[0.65 * size * len(word) + 6, size + 7] for word in words]) * per_point
    middles = np.array([_middle(points) for points in groups])
    at = to_pixels.transform(middles)
    for i, points in enumerate(groups):
        hidden = (np.abs(to_pixels.transform(points) - at[i]) < boxes[i] / 2).all(axis=1)
        at[i, 1] += boxes[i, 1] * (hidden.mean() > 0.5)
    moved = apart(at, boxes)
    drawn = []
    for word, middle, place, wished, colour in zip(words, middles, moved, at, colours, strict=True):
        is_far = bool(np.hypot(*(place - wished)) > 6 * per_point)
        arrow = {"arrowprops": {"arrowstyle": "-", "color": INK, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0}}
        shown = ax.annotate(
            word,
            xy=middle,
            xytext=to_pixels.inverted().transform(place),
            textcoords="data",
            ha="center",
            va="center",
            color=INK,
            fontsize=size,
            fontweight="bold",
            annotation_clip=False,
            bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": colour, "alpha": 0.85},
            **(arrow if is_far else {}),
        )
        drawn.append(shown)
    return drawn


def _middle(points: np.ndarray) -> np.ndarray:
    """The point nearest to the medians of the coordinates."""
    centre = np.median(points, axis=0)
    return points[np.argmin(((points - centre) ** 2).sum(axis=1))]


def apart(centres: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Centres (m, 2) of boxes of these sizes (m, 2), moved little until no two boxes overlap, or for 200 rounds.

    >>> found = apart(np.array([[0.0, 0.0], [1.0, 0.0]]), np.full((2, 2), 4.0))
    >>> bool(np.abs(found[1] - found[0]).max() >= 4.0 - 1e-6)
    True
    """
    place = centres.astype(np.float64).copy()
    # equal centres would never part
    place += 1e-3 * np.stack([np.cos(np.arange(len(place))), np.sin(np.arange(len(place)))], axis=1)
    need = (sizes[:, None] + sizes[None]) / 2
    for _ in range(ROUNDS):
        between = place[:, None] - place[None]
        over = need - np.abs(between)
        clash = (over > 1e-9).all(axis=2)
        np.fill_diagonal(clash, False)
        if not clash.any():
            break
        along = over.argmin(axis=2)  # the shorter way out
        push = np.zeros_like(between)
        for axis in (0, 1):
            chosen = clash & (along == axis)
            push[:, :, axis] = np.where(chosen, np.sign(between[:, :, axis]) * over[:, :, axis] / 2, 0.0)
        place += push.sum(axis=1) / np.maximum(clash.sum(axis=1), 1)[:, None] + 0.0
    return place


def label_ends(ax: Any, lines: Sequence[tuple[str, float, float, str]]) -> None:
    """Write the name of each line (name, last x, last y, colour) to the right of its end, one above the other."""
    if not lines:
        return
    ax.autoscale_view()
    per_point = ax.figure.dpi / 72
    ends = ax.transData.transform([(x, y) for _, x, y, _ in lines])
    order, top = np.argsort(ends[:, 1], kind="stable"), -np.inf
    for i in order:
        name, x, y, colour = lines[i]
        half = 5.5 * per_point * (name.count("\n") + 1)
        up = max(ends[i, 1], top + half)
        top = up + half
        ax.annotate(
            name,
            xy=(x, y),
            xytext=(6, (up - ends[i, 1]) / per_point),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=colour,
            annotation_clip=False,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
        )
