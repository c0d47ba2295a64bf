"""The sections on clusters: sizes, stability and features, and whether clusters follow missing values."""

from __future__ import annotations

import numpy as np

from jella.describe.markers import Marker, Markers
from jella.describe.subject import Absent
from jella.numerics.words import counted, listed, percent, signed
from jella.report.association import LEVEL, STRONG, Association
from jella.report.data import ReportData
from jella.report.markup import Markup, joined, plot, table, tag
from jella.report.stability import Stability
from jella.report.summary import UNSTABLE, association_words

#: clusters whose features are listed
MOST_CARDS = 24
#: number of them that are open at first
N_OPEN = 6


def association_section(found: tuple[Association, ...], data: ReportData) -> Markup:
    """The section on the association of clusters with missing values, and what it may mean."""
    strong = [a for a in found if a.is_strong]
    if strong:
        words = tag("div", *(tag("p", association_words(a)) for a in strong), class_="warnings", role="note")
    elif weak := list(dict.fromkeys(a.view for a in found if a.p_value < LEVEL)):
        words = tag("p", f"Weakly, in {listed(weak)}: too little for a warning.")
    else:
        words = tag("p", "No: missing values have little to do with the clusters.", class_="fine")
    kinds = {"view": "has the view", "entries": "share of entries"}
    rows = [
        (a.view, kinds[a.kind], f"{a.strength:.2f}", _p_value(a.p_value), *_extremes(a.by_cluster, data.clusters))
        for a in found
    ]
    head = ["view", "what", "strength", "p-value", "least", "most"]
    note = (
        "Strength is Cramér's V of cluster and presence of the view (corrected for bias), or its counterpart for ranks "
        "of the share of entries: 0 is none, 1 is complete. p-values are from a chi-square or Kruskal-Wallis test, "
        f"times the number of tests. A warning is given from a strength of {STRONG} on if p is below {LEVEL}. Least "
        "and most: the clusters with the smallest and the largest share of observed values."
    )
    return joined([words, table("Clusters and observed values", head, rows, numbers=4), tag("p", note, class_="note")])


def _p_value(p: float) -> str:
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _extremes(by_cluster: np.ndarray, clusters: np.ndarray) -> list[str]:
    ends = [int(np.nanargmin(by_cluster)), int(np.nanargmax(by_cluster))]
    return [f"{percent(by_cluster[i])} (cluster {clusters[i]})" for i in ends]


def cluster_section(data: ReportData) -> Markup:
    """The section on sizes and stability."""
    if not data.clusters.size:
        return tag("p", "This model has no clusters.", class_="absent")
    if data.clusters.size == 1:
        return tag("p", f"{counted(int(data.sizes[0]), 'sample')} in one cluster.", class_="absent")
    sizes = ", ".join(f"cluster {c}: {s}" for c, s in zip(data.clusters[:20], data.sizes, strict=False))
    parts = [
        plot("plot-sizes", f"Bar chart of the sizes of {data.clusters.size} clusters. {sizes}.", "Samples per cluster.")
    ]
    if isinstance(data.stability, Absent):
        return joined([tag("div", *parts, class_="pair"), tag("p", data.stability.reason, class_="absent")])
    found: Stability = data.stability
    least, most = np.nanmin(found.by_cluster), np.nanmax(found.by_cluster)
    parts.append(
        plot(
            "plot-stability",
            f"Bar chart of stability, from {least:.2f} to {most:.2f}.",
            f"{found.measure}. Below {UNSTABLE} a cluster is unstable.",
        )
    )
    agreement = (
        f"{found.what} Adjusted Rand index of two runs: {found.between:.2f} on average; {found.compared}. 1 is the "
        "same partition, 0 is expected by chance."
    )
    return joined([tag("p", agreement), tag("div", *parts, class_="pair")])


def marker_section(found: Markers, data: ReportData) -> Markup:
    """The section on features, one card per cluster."""
    largest = np.argsort(-data.sizes, kind="stable")[:MOST_CARDS]
    top = max((abs(m.difference) for views in found.found for ms in views for m in ms), default=1.0)
    shown = sorted(largest.tolist())
    cards = [_card(found, i, int(data.sizes[i]), top, i in shown[:N_OPEN]) for i in shown]
    cut = f" The {MOST_CARDS} largest of {len(found.clusters)} clusters." if len(found.clusters) > MOST_CARDS else ""
    words = (
        "Difference between the mean in the cluster and the mean of all other samples, in pooled standard deviations, "
        f"over observed values only; the largest of each view.{cut} The clusters were found in the same data, so this "
        "describes them and proves nothing."
    )
    return joined([tag("p", words), tag("div", *cards, class_="cards")])


def _card(found: Markers, i: int, size: int, top: float, is_open: bool) -> Markup:
    views = []
    for name, markers in zip(found.views, found.found[i], strict=True):
        rows = [_marker(marker, top) for marker in markers]
        body = tag("ol", *rows) if rows else tag("p", "too few values", class_="absent")
        views.append(joined([tag("h4", name), body]))
    title = tag("h3", f"Cluster {found.clusters[i]} ", tag("small", counted(size, "sample")))
    return tag("details", tag("summary", title), *views, class_="card", open="" if is_open else None)


def _marker(marker: Marker, top: float) -> Markup:
    way = "higher" if marker.difference > 0 else "lower"
    width = f"width:{100 * abs(marker.difference) / top:.0f}%"
    bar = tag("span", tag("span", style=width), class_=f"bar {way}", aria_hidden="true")
    value = tag("span", signed(marker.difference), class_="value")
    return tag("li", tag("span", marker.feature, class_="name"), bar, value)


def affinity_section(data: ReportData) -> Markup:
    """The section on the affinity, ordered by cluster."""
    found = data.affinity
    if isinstance(found, Absent):
        return tag("p", found.reason, class_="absent")
    n, m = int(found.edges[-1]), found.values.shape[0]
    binned = f" The {n:,} samples share {m} rows and columns, each cell a mean." if found.is_binned else ""
    inside = ""
    if found.inside is not None and found.modularity is not None and data.clusters.size > 1:
        inside = (
            f" {percent(found.inside)} of it lies within clusters; modularity {found.modularity:.2f} (0: no more than "
            "at random)."
        )
    order = "ordered by cluster" if data.clusters.size else "similar samples next to each other"
    unit = "as a share of the 99th percentile of its positive values"
    caption = f"Shown is {found.source}, samples {order}, {unit}.{inside}{binned}"
    return tag(
        "div",
        plot("plot-affinity", f"Heat map of the affinity of {n} samples, {order}.{inside}", caption),
        class_="square",
    )
