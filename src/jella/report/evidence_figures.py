"""The plots of the evidence for the number of clusters, and of the probabilities of labels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from jella.evidence.confidence import UNCERTAIN
from jella.graphs.cluster_path import ABOVE, LEAST_SPREAD, ClusterPath
from jella.report.evidence_sections import has_stability
from jella.report.figure_parts import Figure, axis, bars, below, few_digits, layout
from jella.report.probabilities import Probabilities

#: up to this many numbers of clusters, each has a tick
FEW_NUMBERS = 12
#: what clusters are compared with
WITHOUT = "expected without groups"


def number_figures(path: ClusterPath) -> dict[str, Figure]:
    """Modularity and stability by number of clusters, beside those expected without groups; none for one number."""
    compared = np.isfinite(path.expected)
    if compared.sum() < 2:
        return {}
    most = 2 * int(path.numbers[compared].max())
    shown, around = path.numbers <= most, ABOVE * np.maximum(path.spread, LEAST_SPREAD)[compared]
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
    across = axis("number of clusters") | {"range": [float(x[0] - room), float(x[-1] + room)]}
    across |= {"tick0": 0, "dtick": 1} if x[-1] - x[0] <= FEW_NUMBERS else {}  # else there are ticks at 4.5 clusters
    drawn = layout(360, xaxis=across, yaxis=axis(title) | {"rangemode": "tozero"}, legend=below(), showlegend=True)
    return {"data": data, "layout": drawn | {"shapes": [line | {"line": {"dash": "dash"}}], "annotations": [mark]}}


def _curve(x: np.ndarray, y: np.ndarray) -> Figure:
    hover = "%{x} clusters: %{y:.2f}<extra></extra>"
    return {"type": "scatter", "mode": "lines", "x": x.tolist(), "y": few_digits(y), "hovertemplate": hover}


def probability_figure(found: Probabilities) -> Figure:
    """How many samples have which probability of their own cluster."""
    low = min(float(np.floor(10 * found.own.min()) / 10), 0.5)
    counts, edges = np.histogram(found.own, bins=round(20 * (1.0 - low)), range=(low, 1.0))
    shown = bars(
        few_digits((edges[:-1] + edges[1:]) / 2), counts.tolist(), "%{customdata}: %{y} samples<extra></extra>"
    )
    shown["customdata"] = [f"{start:.2f} to {end:.2f}" for start, end in pairwise(edges)]
    limit = {
        "type": "line",
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "x0": UNCERTAIN,
        "x1": UNCERTAIN,
        "line": {"dash": "dash"},
    }
    x = axis("probability of the own cluster") | {"range": [low, 1]}
    return {"data": [shown], "layout": layout(300, xaxis=x, yaxis=axis("samples"), shapes=[limit], bargap=0.05)}
