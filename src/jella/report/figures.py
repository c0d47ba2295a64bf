"""The plots, as Plotly describes them, without colours, which come from the theme of the page."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from jella.describe.affinity import AffinityMap
from jella.describe.convergence import Convergence
from jella.describe.missing import MissingMap
from jella.describe.picture import Picture
from jella.describe.subject import Absent
from jella.describe.variance import Variance
from jella.graphs.cluster_path import CLEAR, LEAST_SPREAD, ClusterPath
from jella.numerics.optional import need
from jella.report.data import ReportData
from jella.report.evidence_sections import has_stability
from jella.report.markup import for_plot
from jella.report.metadata_sections import survival_figure
from jella.report.predictions import Prediction, true_range
from jella.report.probabilities import UNCERTAIN, Probabilities
from jella.report.stability import Stability
from jella.report.summary import UNSTABLE

Figure: TypeAlias = dict[str, Any]

#: terms that differ by a larger factor are drawn on a logarithmic axis
WIDE = 30.0
#: what clusters are compared with
WITHOUT = "expected without groups"


def all_figures(data: ReportData) -> dict[str, Figure]:
    """All plots of the report, by their place in the page, except the picture of the embedding."""
    found = {"plot-missing": missing_figure(data.missing, data.sample_names)}
    if not isinstance(data.convergence, Absent):
        found["plot-convergence"] = convergence_figure(data.convergence)
    if not isinstance(data.affinity, Absent):
        found["plot-affinity"] = affinity_figure(data.affinity, data.clusters)
    if data.clusters.size > 1:
        found["plot-sizes"] = sizes_figure(data.clusters, data.sizes)
    if not isinstance(data.evidence, Absent):
        found |= number_figures(data.evidence.path)
    if not isinstance(data.probabilities, Absent):
        found["plot-probability"] = probability_figure(data.probabilities)
    if not isinstance(data.stability, Absent):
        found["plot-stability"] = stability_figure(data.stability, data.clusters)
    if not isinstance(data.predictions, Absent):
        shown = data.predictions.by_view
        found["plot-errors"] = errors_figure(shown)
        found |= {f"plot-prediction-{v}": prediction_figure(p) for v, p in enumerate(shown)}
    if not isinstance(data.variance, Absent):
        found["plot-variance"] = variance_figure(data.variance, data.view_names)
    if data.metadata is not None and data.metadata.survival is not None:
        found["plot-survival"] = survival_figure(data.metadata.survival)
    return found


def checked_figure(figure: Figure) -> Figure:
    """A figure in Plotly's JSON; Plotly checks it and names a wrong attribute."""
    go = need("plotly.graph_objects", "report")
    # an empty template: the theme of the page has all colours, and Plotly's own would be written with each plot
    return dict(json.loads(go.Figure(figure).update_layout(template=go.layout.Template()).to_json()))


def library() -> str:
    """The source of plotly.js."""
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def points_of(picture: Picture, names: tuple[str, ...]) -> dict[str, Any]:
    """The points of the embedding with all colourings; the page draws them."""
    return {
        "x": _rounded(picture.points[:, 0]),
        "y": _rounded(picture.points[:, 1]),
        "names": [for_plot(names[row]) for row in picture.rows],
        "axes": list(picture.axis_names),
        "colourings": [
            {
                "name": for_plot(colouring.name),
                "levels": None if colouring.levels is None else [for_plot(level) for level in colouring.levels],
                "values": colouring.values.tolist() if colouring.levels else _rounded(colouring.values),
            }
            for colouring in picture.colourings
        ],
    }


def missing_figure(found: MissingMap, names: tuple[str, ...]) -> Figure:
    """Views in rows, samples in columns."""

    def label(j: int) -> str:
        first, end = int(found.edges[j]), int(found.edges[j + 1])
        return (
            for_plot(names[found.order[first]]) if end == first + 1 else f"samples {first + 1} to {end} of this order"
        )

    labels = [label(j) for j in range(found.share.shape[1])]
    views = [for_plot(view.name, 24) for view in found.views]
    shown = _heat(found.share.round(3), "present", zmin=0, zmax=1, colorbar_format=".0%")
    shown |= {
        "y": list(range(len(views))),
        "x": ((found.edges[:-1] + found.edges[1:] - 1) / 2).tolist(),
        "customdata": [[[view, label] for label in labels] for view in views],
        "hovertemplate": "%{customdata[1]}<br>%{customdata[0]}: %{z:.0%} present<extra></extra>",
        "ygap": 2,
        "showscale": found.has_entries or found.is_binned,
    }
    rows = {"tickvals": list(range(len(views))), "ticktext": views, "autorange": "reversed", "showgrid": False}
    return {
        "data": [shown],
        "layout": _layout(90 + 34 * len(views), xaxis=_axis("samples"), yaxis=rows),
    }


def convergence_figure(found: Convergence) -> Figure:
    """The objective and its terms, or the residuals, one line each."""
    lines = {} if found.objective is None else {"objective": found.objective}
    lines |= {name: values for name, values in found.terms.items() if np.any(values != 0)}
    if not lines and found.residuals is not None:
        lines = {"residual": found.residuals}
    every = np.concatenate(list(lines.values()))
    several_scales = bool(np.all(every > 0)) and every.max() > WIDE * every.min()
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": for_plot(name),
            "x": list(range(1, values.size + 1)),
            "y": _rounded(values, 6),
            "line": {"width": 3 if name == "objective" else 1.5, "dash": "solid" if k == 0 else "dot"},
            "marker": {"symbol": k, "size": 6},
        }
        for k, (name, values) in enumerate(lines.items())
    ]
    y = _axis("value (logarithmic)" if several_scales else "value") | (
        {"type": "log", "dtick": 1} if several_scales else {}
    )
    return {"data": data, "layout": _layout(360, xaxis=_axis("accepted sweep"), yaxis=y, legend=_below())}


def affinity_figure(found: AffinityMap, clusters: np.ndarray) -> Figure:
    """The affinity, with lines between the clusters."""
    m = found.values.shape[0]
    positive = found.values[found.values > 0]
    top = float(np.quantile(positive, 0.99)) if positive.size else 1.0
    heat = _heat(found.values / top, "affinity", zmin=0, zmax=1) | {"hovertemplate": "%{z:.2f}<extra></extra>"}
    starts = np.concatenate([[0], found.ends[:-1]])
    named = np.flatnonzero(found.ends - starts >= m / 40) if clusters.size else np.empty(0, dtype=np.intp)
    ticks = {
        "tickvals": ((starts + found.ends - 1) / 2)[named].tolist(),
        "ticktext": [str(clusters[i]) for i in named],
        "showgrid": False,
        "range": [-0.5, m - 0.5],
        "constrain": "domain",
    }
    title = "cluster" if clusters.size else "samples"
    y = ticks | {"range": [m - 0.5, -0.5], "scaleanchor": "x", "title": {"text": title}}
    lines = [_line(axis, float(end) - 0.5, m) for end in found.ends[:-1] for axis in "xy"]
    return {
        "data": [heat],
        "layout": _layout(520, xaxis=ticks | {"title": {"text": title}}, yaxis=y, shapes=lines),
    }


def sizes_figure(clusters: np.ndarray, sizes: np.ndarray) -> Figure:
    """Number of samples of each cluster."""
    bars = _bars([f"cluster {c}" for c in clusters], sizes.tolist(), "%{x}: %{y} samples<extra></extra>")
    return {"data": [bars], "layout": _layout(300, xaxis=_names(clusters), yaxis=_axis("samples"))}


def stability_figure(found: Stability, clusters: np.ndarray) -> Figure:
    """Stability of each cluster."""
    bars = _bars([f"cluster {c}" for c in clusters], _rounded(found.by_cluster), "%{x}: %{y:.2f}<extra></extra>")
    y = _axis(found.axis) | {"range": [0, 1.02]}
    limit = {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": UNSTABLE,
        "y1": UNSTABLE,
        "line": {"dash": "dash"},
    }
    return {"data": [bars], "layout": _layout(300, xaxis=_names(clusters), yaxis=y, shapes=[limit])}


def number_figures(path: ClusterPath) -> dict[str, Figure]:
    """Modularity and stability by number of clusters, beside those expected without groups; none for one number."""
    compared = np.isfinite(path.expected)
    if compared.sum() < 2:
        return {}
    most = 2 * int(path.numbers[compared].max())
    shown, around = path.numbers <= most, CLEAR * np.maximum(path.spread, LEAST_SPREAD)[compared]
    middle, numbers = path.expected[compared], path.numbers[compared]
    band = _curve(np.concatenate([numbers, numbers[::-1]]), np.concatenate([middle - around, (middle + around)[::-1]]))
    band |= {"fill": "toself", "line": {"width": 0}, "hoverinfo": "skip", "name": WITHOUT}
    own = _curve(path.numbers[shown], path.modularity[shown]) | {"name": "these data"}
    found = {"plot-modularity": _by_number(path, path.modularity, own, band, "modularity")}
    if has_stability(path):
        known, chance = np.isfinite(path.stability), np.isfinite(path.expected_stability)
        own = _curve(path.numbers[known], path.stability[known]) | {"name": "these data"}
        line = _curve(path.numbers[chance], path.expected_stability[chance]) | {
            "line": {"dash": "dot"},
            "name": WITHOUT,
        }
        found["plot-number-stability"] = _by_number(path, path.stability, own, line, "stability")
    return found


def _by_number(path: ClusterPath, values: np.ndarray, own: Figure, expected: Figure, title: str) -> Figure:
    """A curve beside the expected one, with supported numbers as points and a line at the best number."""
    points = np.isin(path.numbers, path.supported)
    data = [own, expected]
    if points.any():
        supported = _curve(path.numbers[points], values[points])
        data.append(supported | {"mode": "markers", "marker": {"size": 9}, "name": "supported numbers"})
    line = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": path.best, "x1": path.best}
    words = f"{path.best} chosen" if path.is_clear else f"{path.best}, not clear"
    x = np.array(own["x"])
    late = path.best > (x[0] + x[-1]) / 2  # there is more room on the other side
    mark = {"x": path.best, "xanchor": "right" if late else "left", "xshift": -4 if late else 4, "text": words}
    mark |= {"y": 0, "yref": "paper", "yanchor": "bottom", "yshift": 4, "showarrow": False}
    room = 0.03 * (x[-1] - x[0])
    across = _axis("number of clusters") | {"range": [float(x[0] - room), float(x[-1] + room)]}
    layout = _layout(360, xaxis=across, yaxis=_axis(title) | {"rangemode": "tozero"}, legend=_below(), showlegend=True)
    return {"data": data, "layout": layout | {"shapes": [line | {"line": {"dash": "dash"}}], "annotations": [mark]}}


def _curve(x: np.ndarray, y: np.ndarray) -> Figure:
    hover = "%{x} clusters: %{y:.2f}<extra></extra>"
    return {"type": "scatter", "mode": "lines", "x": x.tolist(), "y": _rounded(y), "hovertemplate": hover}


def probability_figure(found: Probabilities) -> Figure:
    """How many samples have which probability of their own cluster."""
    low = min(float(np.floor(10 * found.own.min()) / 10), 0.5)
    counts, edges = np.histogram(found.own, bins=round(20 * (1.0 - low)), range=(low, 1.0))
    bars = _bars(_rounded((edges[:-1] + edges[1:]) / 2), counts.tolist(), "%{customdata}: %{y} samples<extra></extra>")
    bars["customdata"] = [f"{start:.2f} to {end:.2f}" for start, end in pairwise(edges)]
    limit = {
        "type": "line",
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "x0": UNCERTAIN,
        "x1": UNCERTAIN,
        "line": {"dash": "dash"},
    }
    x = _axis("probability of the own cluster") | {"range": [low, 1]}
    return {"data": [bars], "layout": _layout(300, xaxis=x, yaxis=_axis("samples"), shapes=[limit], bargap=0.05)}


def errors_figure(found: tuple[Prediction, ...]) -> Figure:
    """Error of the model beside the error of the mean, by view."""
    views = [for_plot(p.view, 24) for p in found]
    hover = "%{x}, %{fullData.name}: %{y:.3f}<extra></extra>"
    own = [p.standard_error for p in found]
    bars = {} if None in own else {"error_y": {"type": "data", "array": _rounded(np.array(own)), "thickness": 1.5}}
    data = [
        _bars(views, _rounded(np.array([p.error for p in found])), hover) | {"name": "model", **bars},
        _bars(views, _rounded(np.array([p.mean_error for p in found])), hover)
        | {"name": "mean of the feature", "marker": {"pattern": {"shape": "/"}}},
    ]
    y = _axis("error on hidden values") | {"rangemode": "tozero"}
    return {"data": data, "layout": _layout(320, xaxis={"type": "category"}, yaxis=y, legend=_below(), barmode="group")}


def prediction_figure(found: Prediction) -> Figure:
    """Predicted against true values of one view."""
    both = np.concatenate([found.true, found.predicted])
    ends = [float(both.min()), float(both.max())] if both.size else [0.0, 1.0]
    data: list[Figure] = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": _rounded(found.true),
            "y": _rounded(found.predicted),
            "marker": {"size": 5, "opacity": 0.5},
            "hovertemplate": "true %{x:.2f}<br>predicted %{y:.2f}<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "x": ends,
            "y": ends,
            "line": {"dash": "dash", "width": 1.5},
            "hoverinfo": "skip",
        },
    ]
    band = true_range(found.true, found.predicted)
    if band is not None:
        edges, low, high = band
        across = np.concatenate([low, high[::-1]])
        shade: Figure = {"x": _rounded(across), "y": _rounded(np.concatenate([edges, edges[::-1]])), "fill": "toself"}
        shade |= {"type": "scatter", "mode": "lines", "line": {"width": 0}, "opacity": 0.35, "hoverinfo": "skip"}
        data.append(shade)
    layout = _layout(300, xaxis=_axis("true"), yaxis=_axis("predicted"), showlegend=False)
    layout["title"] = {"text": for_plot(found.view, 32), "font": {"size": 14}}
    layout["margin"]["t"] = 40
    return {"data": data, "layout": layout}


def variance_figure(found: Variance, views: tuple[str, ...]) -> Figure:
    """Views in rows, components in columns."""
    shares = np.maximum(found.by_component, 0.0)
    heat = _heat(shares.round(4), "explained", zmin=0, zmax=max(float(shares.max()), 1e-6), colorbar_format=".0%")
    heat |= {
        "x": [f"{j}" for j in found.components],
        "y": [for_plot(view, 24) for view in views],
        "customdata": found.by_component.round(4).tolist(),
        "hovertemplate": "%{y}, component %{x}: %{customdata:.1%}<extra></extra>",
        "xgap": 2,
        "ygap": 2,
    }
    x = _axis("component (column of the embedding, from 0)") | {"type": "category", "showgrid": False}
    y = {"type": "category", "autorange": "reversed", "showgrid": False}
    return {"data": [heat], "layout": _layout(110 + 40 * len(views), xaxis=x, yaxis=y)}


def _heat(values: np.ndarray, title: str, *, zmin: float, zmax: float, colorbar_format: str | None = None) -> Figure:
    bar = {"title": {"text": title, "side": "right"}, "thickness": 12, "outlinewidth": 0}
    bar |= {} if colorbar_format is None else {"tickformat": colorbar_format}
    # single precision is enough for colours, and halves the file
    z = np.ascontiguousarray(values, dtype=np.float32)
    return {"type": "heatmap", "z": z, "zmin": zmin, "zmax": zmax, "autocolorscale": True, "colorbar": bar}


def _bars(names: list[Any], values: list[Any], hover: str) -> Figure:
    return {"type": "bar", "x": names, "y": values, "hovertemplate": hover}


def _names(clusters: np.ndarray) -> Figure:
    """A category axis with the word 'cluster' only once."""
    names = [f"cluster {c}" for c in clusters]
    few = clusters.size <= 30
    ticks = {"tickmode": "array", "tickvals": names, "ticktext": [str(c) for c in clusters]} if few else {}
    return _axis("cluster") | {"type": "category", **ticks}


def _line(axis: str, at: float, m: int) -> Figure:
    across = {f"{axis}0": at, f"{axis}1": at}
    other = "y" if axis == "x" else "x"
    return {"type": "line", **across, f"{other}0": -0.5, f"{other}1": m - 0.5, "line": {"width": 1}}


def _axis(title: str) -> Figure:
    return {"title": {"text": title}, "automargin": True, "zeroline": False}


def _below() -> Figure:
    return {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0}


def _layout(height: int, **parts: Any) -> Figure:
    for name in ("xaxis", "yaxis"):
        parts[name] = {"automargin": True, **parts.get(name, {})}
    return {"height": height, "margin": {"l": 10, "r": 10, "t": 20, "b": 10}, **parts}


def _rounded(values: np.ndarray, digits: int = 4) -> list[float]:
    """Numbers rounded to the significant digits that a plot shows."""
    return [float(f"{value:.{digits}g}") for value in np.asarray(values, dtype=np.float64)]
