"""The plots, as Plotly describes them, without colours, which come from the theme of the page."""

from __future__ import annotations

import json
from collections.abc import Iterator

from jella.describe.subject import Absent
from jella.numerics.optional import need
from jella.report.cluster_figures import (
    affinity_figure,
    heat_figure,
    silhouettes_figure,
    sizes_figure,
    stability_figure,
)
from jella.report.data import ReportData
from jella.report.evidence_figures import number_figures, probability_figure
from jella.report.figure_parts import Figure
from jella.report.metadata_sections import survival_figure
from jella.report.model_figures import (
    convergence_figure,
    errors_figure,
    missing_figure,
    prediction_figure,
    variance_figure,
)


def all_figures(data: ReportData) -> dict[str, Figure]:
    """All plots of the report, by their place in the page, except the maps of the samples."""
    return dict([*_of_clusters(data), *_of_model(data)])


def _of_clusters(data: ReportData) -> Iterator[tuple[str, Figure]]:
    if not isinstance(data.affinity, Absent):
        yield "plot-affinity", affinity_figure(data.affinity, data.clusters)
    if not isinstance(data.evidence, Absent):
        yield from number_figures(data.evidence.path).items()
    if data.clusters.size < 2:
        return
    yield "plot-sizes", sizes_figure(data.sizes)
    if not isinstance(data.stability, Absent):
        yield "plot-stability", stability_figure(data.stability)
    if not isinstance(data.silhouettes, Absent):
        yield "plot-silhouettes", silhouettes_figure(data.silhouettes)
    if not isinstance(data.heat, Absent):
        yield "plot-heat", heat_figure(data.heat)
    if not isinstance(data.probabilities, Absent):
        yield "plot-probability", probability_figure(data.probabilities)
    if data.metadata is not None and data.metadata.survival is not None:
        yield "plot-survival", survival_figure(data.metadata.survival, data.clusters)


def _of_model(data: ReportData) -> Iterator[tuple[str, Figure]]:
    if data.missing.missing > 0:
        yield "plot-missing", missing_figure(data.missing, data.sample_names)
    if not isinstance(data.predictions, Absent) and data.predictions.by_view:
        kinds = data.predictions.kinds
        yield "plot-errors", errors_figure(data.predictions.by_view)
        for v, found in enumerate(data.predictions.by_view):
            yield f"plot-prediction-{v}", prediction_figure(found, kinds.get(found.view, ""))
    if not isinstance(data.variance, Absent):
        yield "plot-variance", variance_figure(data.variance, data.view_names)
    if not isinstance(data.convergence, Absent):
        yield "plot-convergence", convergence_figure(data.convergence)


def checked_figure(figure: Figure) -> Figure:
    """A figure in Plotly's JSON; Plotly checks it and names a wrong attribute."""
    go = need("plotly.graph_objects", "report")
    # an empty template: the theme of the page has all colours, and Plotly's own would be written with each plot
    return dict(json.loads(go.Figure(figure).update_layout(template=go.layout.Template()).to_json()))


def library() -> str:
    """The source of plotly.js."""
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())
