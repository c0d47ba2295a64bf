"""Parts that the plots share: axes, bars, heat maps and margins, as Plotly describes them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Figure: TypeAlias = dict[str, Any]


def heat(values: np.ndarray, title: str, *, zmin: float, zmax: float, colorbar_format: str | None = None) -> Figure:
    """A heat map."""
    bar = {"title": {"text": title, "side": "top"}, "thickness": 12, "outlinewidth": 0}
    bar |= {} if colorbar_format is None else {"tickformat": colorbar_format}
    # single precision is enough for colours, and halves the file
    z = np.ascontiguousarray(values, dtype=np.float32)
    return {"type": "heatmap", "z": z, "zmin": zmin, "zmax": zmax, "autocolorscale": True, "colorbar": bar}


def bars(names: list[Any], values: list[Any], hover: str) -> Figure:
    """Bars."""
    return {"type": "bar", "x": names, "y": values, "hovertemplate": hover}


def cluster_bars(values: list[Any], hover: str) -> Figure:
    """Bars of all clusters, which the page colours and names."""
    return bars(list(range(len(values))), values, hover) | {"meta": {"clusters": list(range(len(values)))}}


def cluster_axis(k: int, title: str = "cluster") -> Figure:
    """An axis whose ticks are the clusters; the page writes their names."""
    return axis(title) | {"tickvals": list(range(k)), "ticktext": [str(i) for i in range(k)], "range": [-0.6, k - 0.4]}


def level_line(y: float) -> Figure:
    """A dashed line across a plot."""
    ends = {"xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y}
    return {"type": "line", **ends, "line": {"dash": "dash"}}


def line_at(axis: str, at: float, m: int) -> Figure:
    """A line across a square heat map of m rows."""
    across = {f"{axis}0": at, f"{axis}1": at}
    other = "y" if axis == "x" else "x"
    return {"type": "line", **across, f"{other}0": -0.5, f"{other}1": m - 0.5, "line": {"width": 1}}


def axis(title: str) -> Figure:
    """An axis with a title."""
    return {"title": {"text": title}, "automargin": True, "zeroline": False}


def below() -> Figure:
    """A legend above the plot, in a row."""
    return {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0}


def layout(height: int, **parts: Any) -> Figure:
    """A layout with narrow margins."""
    for name in ("xaxis", "yaxis"):
        parts[name] = {"automargin": True, **parts.get(name, {})}
    return {"height": height, "margin": {"l": 10, "r": 10, "t": 20, "b": 10}, **parts}


def few_digits(values: np.ndarray, digits: int = 4) -> list[float]:
    """Numbers rounded to the significant digits that a plot shows."""
    return [float(f"{value:.{digits}g}") for value in np.asarray(values, dtype=np.float64)]
