"""What the plots share: axes, colours, markers and labels that can be read in black and white too."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np

from jella.describe.palette import NOTHING, palette
from jella.numerics.optional import need
from jella.numerics.words import shortened

#: colours of lines, and of bars below and above zero
INK, SOFT, LOW, HIGH = "#222222", "#888888", "#D55E00", "#0072B2"
#: scale of numbers: rises evenly in lightness
SCALE = "cividis"
#: signs in a line of a title
TITLE_WIDTH = 66
#: as many as have no common divisor with the eight basic colours: 88 pairs
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
#: longer names are shortened
NAME_WIDTH = 24
#: numbers of narrow groups need this part of an axis
NARROWEST = 32
#: hatch of what is missing
HATCH = "////"


def axes(ax: Any, width: float, height: float) -> Any:
    """The given Axes, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    return need("matplotlib.pyplot", "plot").subplots(figsize=(width, height), layout="constrained")[1]


def short(name: str) -> str:
    """A name that fits beside an axis, without signs that matplotlib would read as mathematics."""
    return shortened(name, NAME_WIDTH).replace("$", r"\$")


def titled(ax: Any, title: str) -> Any:
    """The Axes with a title on its left, and without lines at its top and right."""
    lines = "\n".join(fill(line, TITLE_WIDTH) for line in title.splitlines())
    ax.set_title(lines, loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def look(i: int, n: int) -> dict[str, Any]:
    """Colour and marker of group i of n; those of -1 are for no group."""
    if i < 0:
        return {"color": NOTHING, "marker": "."}
    return {"color": palette(n)[i], "marker": MARKERS[i % len(MARKERS)]}


def on_white() -> Any:
    """The scale of numbers for points on white, without its lightest part."""
    colours = need("matplotlib", "plot").colormaps[SCALE](np.linspace(0.0, 0.85, 256))
    return need("matplotlib.colors", "plot").ListedColormap(colours)


def hatched(ax: Any) -> None:
    """Hatch the background of a map: it shows where the values are missing."""
    ax.set_facecolor("white")
    ax.patch.set(hatch=HATCH, edgecolor="#BBBBBB", linewidth=0)


def scale_bar(ax: Any, drawn: Any, label: str, *, beside: float = 0.0, **settings: Any) -> Any:
    """A colour scale beside the Axes.

    Parameters
    ----------
    beside : float
        Room for words at the right of the Axes, as a share of its width; a constrained layout makes it by itself.
    """
    engine = ax.figure.get_layout_engine()
    is_constrained = engine is not None and not engine.colorbar_gridspec
    pad = 0.02 if is_constrained else 0.02 + beside
    bar = ax.figure.colorbar(drawn, ax=ax, label=label, pad=pad, fraction=0.05, aspect=25, **settings)
    bar.outline.set_visible(False)
    return bar


def number_columns(ax: Any, words: Sequence[str]) -> None:
    """Ticks at as many columns as there is room for when the figure is drawn."""
    ticker = need("matplotlib.ticker", "plot")
    ax.xaxis.set_major_locator(ticker.MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: dict(enumerate(words)).get(round(x), "")))


def group_ticks(ax: Any, groups: np.ndarray, sizes: np.ndarray, *, sides: str = "x") -> None:
    """Numbers of groups of neighbouring samples as ticks; narrow groups take turns in two rows, or have no number.

    Parameters
    ----------
    groups, sizes : arrays (g,)
        Names of the groups in their order, and their numbers of samples.
    sides : {'x', 'xy'}
        Axes that samples run along.
    """
    ends = np.cumsum(sizes)
    for side in sides:
        turned_ticks(ax, ends - sizes / 2 - 0.5, [str(name) for name in groups], ends[-1] / NARROWEST, side)


def turned_ticks(ax: Any, places: np.ndarray, words: Sequence[str], room: float, side: str = "x") -> None:
    """Words as ticks; where neighbours are closer than `room` they take turns in two rows, or are left out."""
    crowded = bool(np.any(np.diff(places) < room))
    size, apart = "x-small" if crowded else "small", {"x": "\n{}", "y": "{}\u2003\u2002"}[side]
    named = np.flatnonzero(_with_room(places, room)).tolist() if crowded else list(range(len(places)))
    shown = [apart.format(words[at]) if crowded and i % 2 else words[at] for i, at in enumerate(named)]
    (ax.set_xticks if side == "x" else ax.set_yticks)(places[named], shown, fontsize=size)
    ax.tick_params(axis="both", length=0)


def _with_room(middles: np.ndarray, least: float) -> np.ndarray:
    """Which ticks are this far from the one before the last, which is in their row."""
    chosen: list[int] = []
    for i, middle in enumerate(middles):
        if len(chosen) < 2 or middle - middles[chosen[-2]] >= least:
            chosen.append(i)
    return np.isin(np.arange(middles.size), chosen)
