"""The plots by cluster; the page gives each cluster its colour and its name in all of them."""

from __future__ import annotations

import numpy as np

from jella.describe.affinity import AffinityMap
from jella.report.cluster_heat import ClusterHeat
from jella.report.figure_parts import (
    Figure,
    axis,
    cluster_axis,
    cluster_bars,
    few_digits,
    heat,
    layout,
    level_line,
    line_at,
)
from jella.report.markup import for_plot
from jella.report.silhouettes import Silhouettes
from jella.report.stability import Stability
from jella.report.summary import UNSTABLE

#: lines between more clusters than these are faint
FEW = 15
#: numbers of clusters that have room along the affinity
MOST_TICKS = 24


def affinity_figure(found: AffinityMap, clusters: np.ndarray) -> Figure:
    """The affinity, with lines between the clusters."""
    m = found.values.shape[0]
    positive = found.values[found.values > 0]
    top = float(np.quantile(positive, 0.99)) if positive.size else 1.0
    shown = heat(found.values / top, "affinity", zmin=0, zmax=1) | {"hovertemplate": "%{z:.2f}<extra></extra>"}
    starts = np.concatenate([[0], found.ends[:-1]])
    middles = (starts + found.ends - 1) / 2
    named = _apart(middles, m / MOST_TICKS) if clusters.size else []
    ticks = {
        "tickvals": middles[named].tolist(),
        "tickangle": 0,
        "ticktext": [str(clusters[i]) for i in named],
        "showgrid": False,
        "range": [-0.5, m - 0.5],
        "constrain": "domain",
    }
    title = "cluster" if clusters.size else "samples"
    y = ticks | {"range": [m - 0.5, -0.5], "scaleanchor": "x", "title": {"text": title}}
    faint = {"opacity": 1.0 if clusters.size <= FEW else 0.3}
    lines = [line_at(side, float(end) - 0.5, m) | faint for end in found.ends[:-1] for side in "xy"]
    meta: Figure = {}
    if clusters.size > 1:
        meta |= {"ticks": {"xaxis": named, "yaxis": named}, "square": True}
        sides = np.stack([starts, found.ends, starts, found.ends], axis=1) - 0.5
        meta["blocks"] = sides.tolist()
    drawn = layout(520, xaxis=ticks | {"title": {"text": title}}, yaxis=y, shapes=lines, meta=meta)
    return {"data": [shown], "layout": drawn}


def _apart(places: np.ndarray, least: float) -> list[int]:
    """The places, in their order, that are at least so far from the one chosen before.

    >>> _apart(np.array([0.0, 1.0, 2.5, 3.0, 5.0]), 2.0)
    [0, 2, 4]
    """
    chosen = [0]
    for i in range(1, places.size):
        if places[i] - places[chosen[-1]] >= least:
            chosen.append(i)
    return chosen


def sizes_figure(sizes: np.ndarray) -> Figure:
    """Number of samples of each cluster."""
    shown = cluster_bars(sizes.tolist(), "%{x}: %{y} samples<extra></extra>")
    return _by_cluster(shown, sizes.size, "samples")


def stability_figure(found: Stability) -> Figure:
    """Stability of each cluster."""
    shown = cluster_bars(few_digits(found.by_cluster), "%{x}: %{y:.2f}<extra></extra>")
    return _by_cluster(shown, found.by_cluster.size, found.axis, range=[0, 1.02], shapes=[level_line(UNSTABLE)])


def silhouettes_figure(found: Silhouettes) -> Figure:
    """The middle half of the silhouettes of each cluster, as a bar, and their median."""
    k = found.middle.size
    shown = cluster_bars(few_digits(found.high - found.low), "")
    shown |= {"base": few_digits(found.low), "hovertemplate": "%{x}: %{customdata:.2f}<extra></extra>"}
    shown["customdata"] = few_digits(found.middle)
    marks: Figure = {"type": "scatter", "mode": "markers", "x": list(range(k)), "y": few_digits(found.middle)}
    marks |= {"marker": {"symbol": "line-ew-open", "size": 12 if k <= 30 else 6}, "hoverinfo": "skip", "meta": "ink"}
    low = min(float(np.nanmin(found.low)), 0.0)
    figure = _by_cluster(shown, k, "silhouette", range=[low - 0.05, 1.0], shapes=[level_line(0)])
    figure["data"].append(marks)
    return figure


def _by_cluster(shown: Figure, k: int, title: str, *, shapes: list[Figure] | None = None, **of_axis: object) -> Figure:
    ticks = {"ticks": {"xaxis": list(range(k))}}
    across = cluster_axis(k) | {"showgrid": False, "tickangle": 0 if k <= 12 else -90, "tickfont": {"size": 11}}
    drawn = layout(280, xaxis=across, yaxis=axis(title) | of_axis, shapes=shapes or [], meta=ticks)
    return {"data": [shown], "layout": drawn | {"showlegend": False, "bargap": 0.2}}


def heat_figure(found: ClusterHeat) -> Figure:
    """Clusters in rows, features in columns, with lines between the views."""
    k, f = found.differences.shape
    top = float(np.nanquantile(np.abs(found.differences), 0.98)) if np.isfinite(found.differences).any() else 1.0
    shown = heat(found.differences, "difference", zmin=-top, zmax=top)
    features = [for_plot(name, 22) for name in found.features]
    views = [for_plot(name) for name in found.views]
    shown |= {"x": list(range(f)), "y": list(range(k)), "hoverongaps": False, "xgap": 0.5, "ygap": 0.5}
    shown["customdata"] = [[[feature, view] for feature, view in zip(features, views, strict=True)]] * k
    shown["hovertemplate"] = "%{y}<br>%{customdata[0]} (%{customdata[1]}): %{z:.2f}<extra></extra>"
    shown["meta"] = {"rows": list(range(k))}
    ends = [j for j in range(1, f) if found.views[j] != found.views[j - 1]]
    starts = [0, *ends]
    marks = [
        {"x": (a + b - 1) / 2, "y": 1, "yref": "paper", "yanchor": "bottom", "text": views[a], "showarrow": False}
        for a, b in zip(starts, [*ends, f], strict=True)
    ]
    lines = [
        {"type": "line", "x0": j - 0.5, "x1": j - 0.5, "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 2}}
        for j in ends
    ]
    x: Figure = {"tickvals": list(range(f)), "ticktext": features, "tickangle": -90, "showgrid": False}
    x["tickfont"] = {"size": 10}
    y = cluster_axis(k, "") | {"range": [k - 0.5, -0.5], "showgrid": False, "tickfont": {"size": 10 if k > 20 else 12}}
    meta = {"ticks": {"yaxis": list(range(k))}, "blocks": [[-0.5, f - 0.5, i - 0.5, i + 0.5] for i in range(k)]}
    drawn = layout(190 + max(13, min(28, 320 // k)) * k, xaxis=x, yaxis=y, shapes=lines, annotations=marks, meta=meta)
    drawn["margin"] = {"l": 10, "r": 10, "t": 30, "b": 10}
    return {"data": [shown], "layout": drawn}
