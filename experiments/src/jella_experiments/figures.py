"""Figures of the paper's experiments, readable in colour, in grey and at half width."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from jella.io.stored import replacing
from jella.numerics.optional import need
from jella_experiments.cell import Cell
from jella_experiments.contenders import Parameters
from jella_experiments.paper import BESIDE, MISSING_VIEW_METHODS
from jella_experiments.summary import BY_LABELS, Found, Place, Summary, by_combination, by_place, summaries, titles

Lines = dict[str, dict[str, dict[float, Summary]]]  # data set -> line -> rate -> summary
Styles = Mapping[str, Mapping[str, Any]]

SCORES = {"nmi": "NMI", "ari": "AdjRI"}
ALL_VIEWS = "all views"
# Okabe and Ito's colours, which colour-blind readers can distinguish, without the yellow that is faint on white; in
# grey, markers and line styles distinguish the lines
_PAPER = tuple(name for name in MISSING_VIEW_METHODS if name not in BESIDE)
_COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#999999", "#D55E00")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
METHOD_STYLES: Styles = {
    name: {"color": colour, "marker": marker, "linestyle": "-"}
    for name, colour, marker in zip(_PAPER, _COLOURS, _MARKERS, strict=True)
} | {
    BESIDE[0]: {"color": "black", "marker": "o", "linestyle": ":", "markerfacecolor": "white"},
    BESIDE[1]: {"color": "black", "marker": "*", "linestyle": "--", "markersize": 12},
}
VIEW_STYLES = (
    {"color": "#0072B2", "marker": "s", "linestyle": "--", "markerfacecolor": "white"},
    {"color": "#E69F00", "marker": "^", "linestyle": ":", "markerfacecolor": "white"},
    {"color": "#009E73", "marker": "D", "linestyle": "-.", "markerfacecolor": "white"},
)
STRATEGY_STYLES: dict[str, dict[str, Any]] = {
    "basic": {"color": "#0072B2", "linestyle": "--", "label": "basic"},
    "sor": {"color": "#D55E00", "linestyle": "-", "label": "basic + SOR"},
}
_LOOK = {
    "font.size": 14,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 8,
    "svg.hashsalt": "jella",  # so that the same results give the same file
}


def draw_missing_view(cells: Iterable[Cell], found: Found, rule: str, caption: str, stem: Path) -> list[Path]:
    """NMI and AdjRI against the rate: one line per method, one column per data set."""
    planned = list(cells)
    rows = {score: _lines(summaries(planned, found, score, rule)) for score in SCORES}
    if not rows["nmi"]:
        return []
    with _figure(len(rows), len(rows["nmi"]), caption, stem) as (figure, axes, written):
        _draw_curves(axes, rows, dict.fromkeys(rows["nmi"], METHOD_STYLES))
        handles = {line.get_label(): line for axis in axes.flat for line in axis.get_legend_handles_labels()[0]}
        named = [handles[name] for name in METHOD_STYLES if name in handles]
        n_columns = 5 if len(rows["nmi"]) > 2 else 3  # as many names as fit into the width
        figure.legend(handles=named, loc="outside upper center", ncols=n_columns, fontsize=13)
    return written


def draw_views(cells: Iterable[Cell], found: Found, caption: str, stem: Path) -> list[Path]:
    """NMI and AdjRI of IML-BDR against the rate, for each pair of views and for all of them."""
    planned = list(cells)
    rows = {score: _lines(summaries(planned, found, score, BY_LABELS), by_views=True) for score in SCORES}
    styles = {
        dataset: dict(zip((name for name in lines if name != ALL_VIEWS), VIEW_STYLES, strict=False))
        | {ALL_VIEWS: METHOD_STYLES["IML-BDR"]}
        for dataset, lines in rows["nmi"].items()
    }
    if not styles:
        return []
    with _figure(len(rows), len(styles), caption, stem, panel=(4.2, 3.0)) as (_, axes, written):
        _draw_curves(axes, rows, styles)
        for axis in axes[0]:
            axis.legend(fontsize=12, loc="lower center", bbox_to_anchor=(0.5, 1.12), ncols=2)
    return written


def draw_weights(cells: Iterable[Cell], found: Found, caption: str, stem: Path) -> list[Path]:
    """NMI of IML-BDR over alpha and gamma: one map per data set, with the numbers in it."""
    maps = {place.dataset: by_combination(group, found, "nmi") for place, group in by_place(cells).items()}
    maps = {dataset: grid for dataset, grid in maps.items() if any(one.n for one in grid.values())}
    if not maps:
        return []
    every = [one.mean for grid in maps.values() for one in grid.values() if one.n]
    with _figure(1, len(maps), caption, stem, panel=(4.6, 4.0)) as (figure, axes, written):
        for axis, (dataset, grid) in zip(axes[0], maps.items(), strict=True):
            image = _draw_map(axis, grid, min(every), max(every))
            axis.set_title(dataset)
        figure.colorbar(image, ax=list(axes[0]), label="NMI", shrink=0.8)
    return written


def draw_convergence(cells: Iterable[Cell], found: Found, caption: str, stem: Path) -> list[Path]:
    """The objective by sweep, basic against SOR, and below it the distance to the lowest value of the repetition."""
    planned = list(cells)
    names = titles(planned)
    paths: dict[str, dict[Cell, np.ndarray]] = {}
    for cell in planned:
        if "objective" in found.get(cell, {}):
            paths.setdefault(names[cell.dataset, cell.setting], {})[cell] = np.array(found[cell]["objective"])
    if not paths:
        return []
    with _figure(2, len(paths), caption, stem, panel=(4.0, 3.0)) as (_, axes, written):
        for (above, below), (dataset, there) in zip(axes.T, paths.items(), strict=True):
            _draw_paths(above, there)
            _draw_paths(below, _left_to_lowest(there))
            above.set_title(dataset)
            below.set_xlabel("sweep")
        axes[0, 0].set_ylabel("objective")
        axes[1, 0].set_ylabel("above the lowest")
        axes[0, 0].legend(reverse=True)
    return written


@contextmanager
def _figure(
    n_rows: int, n_columns: int, caption: str, stem: Path, panel: tuple[float, float] = (3.6, 3.0)
) -> Iterator[tuple[Any, np.ndarray, list[Path]]]:
    """A figure with panels and its caption below; written as PNG and SVG at the end."""
    matplotlib = _matplotlib()
    width, written = max(n_columns * panel[0] + 0.4, 8.0), [stem.with_suffix(end) for end in (".png", ".svg")]
    text = textwrap.fill(caption, round(width * 13))
    below = 0.145 * (text.count("\n") + 2)
    height = n_rows * panel[1] + 0.7 + below
    with matplotlib.rc_context(_LOOK):
        figure = matplotlib.figure.Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots(n_rows, n_columns, squeeze=False), written
        figure.get_layout_engine().set(rect=(0, below / height, 1, 1 - below / height))
        figure.text(0.01, 0.06 / height, text, fontsize=9, color="#444444", va="bottom", parse_math=False)
        with replacing(written[0]) as part:
            figure.savefig(part, dpi=150, metadata={"Description": caption, "Software": None})
        figure.set_layout_engine("none")  # the layout is fixed and not computed again
        with replacing(written[1]) as part:
            figure.savefig(part, metadata={"Description": caption, "Date": None})


def _matplotlib() -> Any:
    for module in ("matplotlib.figure", "matplotlib.ticker"):
        need(module, "plot")
    return need("matplotlib", "plot")


def _lines(there: Mapping[Place, Summary], *, by_views: bool = False) -> Lines:
    """Summaries that have a value, sorted into panels and lines."""
    panels: Lines = {}
    names = titles(there)
    for place, summary in there.items():
        if summary.n:
            name = (" + ".join(place.views) or ALL_VIEWS) if by_views else place.method
            panels.setdefault(names[place.dataset, place.setting], {}).setdefault(name, {})[place.rate] = summary
    return panels


def _draw_curves(axes: np.ndarray, rows: Mapping[str, Lines], styles: Mapping[str, Styles]) -> None:
    """One row of panels per score, one column per data set."""
    for row, (score, panels) in zip(axes, rows.items(), strict=True):
        for axis, (dataset, lines) in zip(row, panels.items(), strict=True):
            for position, (name, style) in enumerate(styles[dataset].items()):
                if name in lines:
                    shift = 0.0025 * (position - (len(styles[dataset]) - 1) / 2)  # bars next to each other
                    _draw_line(axis, name, lines[name], style, shift)
            axis.set_xticks(sorted({rate for line in lines.values() for rate in line}))
        row[0].set_ylabel(SCORES[score])
    for axis, dataset in zip(axes[0], styles, strict=True):
        axis.set_title(dataset)
    for axis in axes[-1]:
        axis.set_xlabel("rate of missing values, m")


def _draw_line(axis: Any, name: str, line: Mapping[float, Summary], style: Mapping[str, Any], shift: float) -> None:
    rates = np.array(sorted(line))
    means, deviations = (np.array([getattr(line[rate], what) for rate in rates]) for what in ("mean", "std"))
    axis.errorbar(rates + shift, means, deviations, fmt="none", ecolor=style["color"], elinewidth=1.2, alpha=0.4)
    axis.plot(rates + shift, means, label=name, **style)


def _draw_map(axis: Any, grid: Mapping[Parameters, Summary], low: float, high: float) -> Any:
    """Draw means in cells, NaN cells white; the text is light on dark cells."""
    alphas, gammas = (sorted({dict(weights)[name] for weights in grid}) for name in ("alpha", "gamma"))
    means = np.array([[grid[("alpha", a), ("gamma", g)].mean for g in gammas] for a in alphas])
    image = axis.imshow(means, cmap="cividis", vmin=low, vmax=high, origin="lower")
    for (row, column), mean in np.ndenumerate(means):
        ink = "white" if mean < (low + high) / 2 else "black"
        text = f"{mean:.3f}".removeprefix("0") if np.isfinite(mean) else "–"
        axis.text(column, row, text, ha="center", va="center", color=ink, fontsize=13)
    axis.set_xticks(range(len(gammas)), [f"{value:g}" for value in gammas])
    axis.set_yticks(range(len(alphas)), [f"{value:g}" for value in alphas])
    axis.set(xlabel="γ", ylabel="α")
    axis.grid(visible=False)
    return image


def _left_to_lowest(paths: Mapping[Cell, np.ndarray]) -> dict[Cell, np.ndarray]:
    """Objectives minus the lowest of their repetition, relative to it; NaN at the lowest itself, for the log axis."""
    lowest: dict[int, float] = {}
    for cell, path in paths.items():
        lowest[cell.repetition] = min(lowest.get(cell.repetition, np.inf), path.min())
    left = {cell: path / lowest[cell.repetition] - 1 for cell, path in paths.items()}
    return {cell: np.where(path > 0, path, np.nan) for cell, path in left.items()}


def _draw_paths(axis: Any, paths: Mapping[Cell, np.ndarray]) -> None:
    """Draw the first repetition thick and above the others; basic, which is dashed, above SOR."""
    first = min(cell.repetition for cell in paths)
    strategy = {cell: dict(cell.parameters)["solver"] for cell in paths}
    for cell in sorted(paths, key=lambda one: (one.repetition == first, strategy[one] == "basic")):
        style = dict(STRATEGY_STYLES[strategy[cell]])
        if cell.repetition != first:
            style |= {"linewidth": 0.8, "alpha": 0.35, "label": "_others"}
        axis.plot(range(1, len(paths[cell]) + 1), paths[cell], **style)
    axis.set(xscale="log", yscale="log")
    _number_log_axes(axis)


def _number_log_axes(axis: Any) -> None:
    """Label with plain numbers instead of powers of ten; more than one per decade if there are few decades."""
    ticker = _matplotlib().ticker
    low, high = axis.get_ylim()
    for side, steps in ((axis.xaxis, (1,)), (axis.yaxis, (1, 2, 3, 4, 6) if high < 50 * low else (1,))):
        side.set_major_locator(ticker.LogLocator(subs=steps))
        side.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        side.set_minor_formatter(ticker.NullFormatter())
