"""The plots of what is missing, of predictions and components, and of the course of the fit."""

from __future__ import annotations

import numpy as np

from jella.describe.convergence import Convergence
from jella.describe.missing import MissingMap
from jella.describe.variance import Variance
from jella.report.figure_parts import Figure, axis, bars, below, few_digits, heat, layout
from jella.report.markup import for_plot
from jella.report.predictions import Prediction, is_drawn_as_points, true_groups, true_range

#: of at most this many sweeps, each has a tick
FEW_SWEEPS = 12


def missing_figure(found: MissingMap, names: tuple[str, ...]) -> Figure:
    """Views in rows, samples in columns."""

    def label(j: int) -> str:
        first, end = int(found.edges[j]), int(found.edges[j + 1])
        return (
            for_plot(names[found.order[first]]) if end == first + 1 else f"samples {first + 1} to {end} of this order"
        )

    labels = [label(j) for j in range(found.share.shape[1])]
    views = [for_plot(view.name, 24) for view in found.views]
    shown = heat(found.share.round(3), "present", zmin=0, zmax=1, colorbar_format=".0%")
    shown |= {
        "y": list(range(len(views))),
        "x": ((found.edges[:-1] + found.edges[1:] - 1) / 2).tolist(),
        "customdata": [[[view, label] for label in labels] for view in views],
        "hovertemplate": "%{customdata[1]}<br>%{customdata[0]}: %{z:.1%} present<extra></extra>",
        "ygap": 2,
        "showscale": found.has_entries or found.is_binned,
    }
    rows = {"tickvals": list(range(len(views))), "ticktext": views, "autorange": "reversed", "showgrid": False}
    return {
        "data": [shown],
        "layout": layout(90 + 34 * len(views), xaxis=axis("samples"), yaxis=rows),
    }


def convergence_figure(found: Convergence) -> Figure:
    """The objective and its terms, or the residuals, one line each."""
    lines = found.lines
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": for_plot(name),
            "x": list(range(1, values.size + 1)),
            "y": few_digits(values, 6),
            "line": {"width": 3 if name == "objective" else 1.5, "dash": "solid" if k == 0 else "dot"},
            "marker": {"symbol": k, "size": 6},
        }
        for k, (name, values) in enumerate(lines.items())
    ]
    few = sum(values.size for values in lines.values()) <= FEW_SWEEPS * len(lines)
    x = axis("accepted sweep") | ({"dtick": 1} if few else {})
    y = axis("value (logarithmic)") | {"type": "log", "dtick": 1} if found.is_wide else axis("value")
    return {
        "data": data,
        "layout": layout(
            360,
            xaxis=x,
            yaxis=y,
            legend=below(),
        ),
    }


def errors_figure(found: tuple[Prediction, ...]) -> Figure:
    """Error of the model beside the error of the mean, by view."""
    views = [for_plot(p.view, 24) for p in found]
    hover = "%{x}, %{fullData.name}: %{y:.3f}<extra></extra>"
    own = [p.standard_error for p in found]
    own_bars: Figure = {}
    if None not in own:
        own_bars = {"error_y": {"type": "data", "array": few_digits(np.array(own)), "thickness": 1.5}}
        own_bars["meta"] = "ink bars"
    data = [
        bars(views, few_digits(np.array([p.error for p in found])), hover) | {"name": "model", **own_bars},
        bars(views, few_digits(np.array([p.mean_error for p in found])), hover)
        | {"name": "mean of the feature", "marker": {"pattern": {"shape": "/"}}},
    ]
    y = axis("error on hidden values") | {"rangemode": "tozero"}
    drawn = layout(320, xaxis={"type": "category", "showgrid": False}, yaxis=y, legend=below(), barmode="group")
    return {"data": data, "layout": drawn | {"bargap": max(0.3, 1.0 - 0.2 * len(found))}}


def prediction_figure(found: Prediction, kind: str) -> Figure:
    """Predicted and true values of one view: points, or groups of values where many are the same, as counts are."""
    groups = None if is_drawn_as_points(kind) else true_groups(found.true, found.predicted)
    data = _points(found) if groups is None else _groups(*groups)
    titles = ("true", "predicted") if groups is None else ("predicted", "true, mean and nine tenths")
    drawn = layout(300, xaxis=axis(titles[0]), yaxis=axis(titles[1]), showlegend=False)
    drawn["title"] = {"text": for_plot(found.view, 32), "font": {"size": 14}}
    drawn["margin"]["t"] = 40
    return {"data": data, "layout": drawn}


def _points(found: Prediction) -> list[Figure]:
    """A point per hidden value, and the band of true values."""
    both = np.concatenate([found.true, found.predicted])
    ends = [float(both.min()), float(both.max())] if both.size else [0.0, 1.0]
    points: Figure = {
        "type": "scatter",
        "mode": "markers",
        "x": few_digits(found.true),
        "y": few_digits(found.predicted),
    }
    points |= {"marker": {"size": 5, "opacity": 0.5}}
    points["hovertemplate"] = "true %{x:.2f}<br>predicted %{y:.2f}<extra></extra>"
    band = true_range(found.true, found.predicted)
    if band is None:
        return [points, _equal(*ends)]
    sizes, low, high = band
    shade: Figure = {"type": "scatter", "mode": "lines", "x": few_digits(np.concatenate([low, high[::-1], low[:1]]))}
    shade |= {"y": few_digits(np.concatenate([sizes, sizes[::-1], sizes[:1]])), "fill": "toself", "meta": "ink"}
    shade |= {"fillcolor": "rgba(128, 128, 128, 0.15)", "line": {"width": 1.5}, "hoverinfo": "skip"}
    return [points, _equal(*ends), shade]


def _groups(sizes: np.ndarray, mean: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[Figure]:
    """A point per group of predictions of the same size, with the range of its true values."""
    shown: Figure = {"type": "scatter", "mode": "markers", "x": few_digits(sizes), "y": few_digits(mean)}
    ends = {"array": few_digits(high - mean), "arrayminus": few_digits(mean - low)}
    shown |= {"marker": {"size": 9}, "error_y": {"type": "data", "symmetric": False, "thickness": 1.5, **ends}}
    shown["hovertemplate"] = "predicted %{x:.2f}<br>true, on average %{y:.2f}<extra></extra>"
    return [shown, _equal(float(sizes.min()), float(sizes.max()))]


def _equal(low: float, high: float) -> Figure:
    """The line on which two values are equal."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [low, high],
        "y": [low, high],
        "hoverinfo": "skip",
        "meta": "ink",
    } | {"line": {"dash": "dash", "width": 1.5}}


def variance_figure(found: Variance, views: tuple[str, ...]) -> Figure:
    """Views in rows, components in columns."""
    shares = np.maximum(found.by_component, 0.0)
    shown = heat(shares.round(4), "explained", zmin=0, zmax=max(float(shares.max()), 1e-6), colorbar_format=".0%")
    shown |= {
        "x": [f"{j}" for j in found.components],
        "y": [for_plot(view, 24) for view in views],
        "customdata": found.by_component.round(4).tolist(),
        "hovertemplate": "%{y}, component %{x}: %{customdata:.1%}<extra></extra>",
        "xgap": 2,
        "ygap": 2,
    }
    x = axis("component") | {"type": "category", "showgrid": False}
    y = {"type": "category", "autorange": "reversed", "showgrid": False}
    return {"data": [shown], "layout": layout(110 + 40 * len(views), xaxis=x, yaxis=y)}
