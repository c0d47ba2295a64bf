"""The sections on clusters: sizes, stability and silhouettes, and which samples belong together."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.describe.cluster_table import strongest_words
from jella.describe.markers import Markers
from jella.describe.palette import palette
from jella.describe.subject import Absent
from jella.evidence.confidence import UNCERTAIN
from jella.numerics.words import counted, number, percent
from jella.report.data import ReportData
from jella.report.markup import ClusterRow, Markup, joined, plot, swatch, table, tag
from jella.report.sampling import drawn_words
from jella.report.summary import UNSTABLE

#: with more clusters, plots by cluster take the whole width
MOST_BESIDE = 20


def cluster_colours(k: int) -> list[tuple[str, str]]:
    """A colour of each cluster for light pages, and one for dark pages."""
    return list(zip(palette(k), palette(k, dark=True), strict=True))


def cluster_section(data: ReportData) -> Markup:
    """The section on sizes, stability and silhouettes."""
    sizes = ", ".join(f"cluster {c}: {s:,}" for c, s in zip(data.clusters[:20], data.sizes, strict=False))
    words, parts = [], []
    parts.append(
        plot("plot-sizes", f"Bar chart of the sizes of {data.clusters.size} clusters. {sizes}.", "Samples per cluster.")
    )
    if not isinstance(data.stability, Absent):
        found = data.stability
        words.append(
            f"{found.what} Adjusted Rand index of two runs: {found.between:.2f} on average; {found.compared}. 1 is the "
            "same partition, 0 is expected by chance."
        )
        least, most = np.nanmin(found.by_cluster), np.nanmax(found.by_cluster)
        described = f"Bar chart of stability, from {least:.2f} to {most:.2f}."
        parts.append(
            plot("plot-stability", described, f"{found.measure}. Below the line ({UNSTABLE}) a cluster is unstable.")
        )
    if not isinstance(data.silhouettes, Absent):
        shown = data.silhouettes
        caption = (
            "Silhouette: above 0 a sample lies closer to its own cluster than to any other, in the embedding with rows "
            f"at unit length. Middle half of the samples of each cluster, and their median; mean {shown.mean:.2f}."
            f"{drawn_words(shown.n_drawn, shown.n_samples)}"
        )
        described = f"Ranges of silhouettes by cluster; their mean is {shown.mean:.2f}."
        parts.append(plot("plot-silhouettes", described, caption))
    note = "Names that you enter stay in this window; “Save page” at the top writes them into a copy of the page."
    return joined(
        [
            _cluster_table(data),
            tag("p", note, class_="note screen"),
            *(tag("p", text) for text in words),
            tag("div", *parts, class_="trio" if data.clusters.size <= MOST_BESIDE else None),
        ]
    )


def _cluster_table(data: ReportData) -> Markup:
    """One row per cluster, with a field for its name; columns that are not known are left out."""
    colours, total = cluster_colours(data.clusters.size), int(data.sizes.sum())
    columns: dict[str, list[str]] = {
        "samples": [f"{size:,}" for size in data.sizes],
        "share": [percent(size / total) for size in data.sizes],
    }
    if not isinstance(data.stability, Absent):
        columns[data.stability.axis] = [number(value, ".2f") for value in data.stability.by_cluster]
    if not isinstance(data.silhouettes, Absent):
        columns["silhouette"] = [number(value, ".2f") for value in data.silhouettes.middle]
    if not isinstance(data.probabilities, Absent):
        parts = [data.probabilities.own[data.probabilities.labels == cluster] for cluster in data.clusters]
        columns["probability"] = [number(float(part.mean()) if part.size else None, ".2f") for part in parts]
        columns["uncertain"] = [percent(np.mean(part < UNCERTAIN)) if part.size else number(None) for part in parts]
    rows = []
    for i, cluster in enumerate(data.clusters):
        field = tag(
            "input", class_="rename", data_place=str(i), placeholder=f"Cluster {cluster}", maxlength="60",
            aria_label=f"Name of cluster {cluster}",
        )  # fmt: skip
        pick = tag("button", swatch(colours[i]), type="button", class_="pick", data_pick=str(i), aria_pressed="false",
                   aria_label=f"Highlight cluster {cluster}")  # fmt: skip
        cells = [tag("span", pick, field, class_="named"), _best(data.markers, i), *(c[i] for c in columns.values())]
        rows.append(ClusterRow(cells, i))
    return table("Clusters", ["cluster", "features", *columns], rows, numbers=len(columns))


def _best(found: Markers | Absent, i: int) -> Markup | str:
    """The features of a cluster that differ most, of all views."""
    if isinstance(found, Absent):
        return ""
    words = strongest_words(found, i)
    return tag("span", words, class_="features", title=words)


def affinity_section(data: ReportData) -> Markup:
    """The section on the affinity, ordered by cluster."""
    found: Any = data.affinity
    n, m = int(found.edges[-1]), found.values.shape[0]
    binned = f" The {n:,} samples share {m} rows and columns, each cell a mean." if found.is_binned else ""
    drawn = drawn_words(n, int(data.sizes.sum())) if data.clusters.size else ""
    inside = ""
    if found.inside is not None and found.modularity is not None and data.clusters.size > 1:
        inside = (
            f" {percent(found.inside)} of it lies within clusters, where {percent(found.inside - found.modularity)} "
            "would by chance."
        )
    order = "ordered by cluster" if data.clusters.size else "similar samples next to each other"
    unit = "as a share of the 99th percentile of its positive values"
    caption = f"Shown is {found.source}, samples {order}, {unit}.{inside}{binned}{drawn}"
    described = f"Heat map of the affinity of {counted(n, 'sample')}, {order}.{inside}"
    return tag("div", plot("plot-affinity", described, caption), class_="square")
