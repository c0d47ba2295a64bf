"""The section on features that distinguish clusters: a heat map of all clusters, and a card per cluster."""

from __future__ import annotations

import numpy as np

from jella.describe.markers import Marker, Markers
from jella.describe.subject import Absent
from jella.numerics.words import counted, signed
from jella.report.cluster_sections import cluster_colours
from jella.report.data import ReportData
from jella.report.markup import ClusterRow, Markup, cluster_name, joined, plot, swatch, table, tag

#: clusters whose features are listed
MOST_CARDS = 60
#: features per view on a card; the table has more
N_FEATURES = 5
#: this share of the bars is shorter than a full one
FULL_BAR = 0.95
#: number of cards that are open at first
N_OPEN = 6


def marker_section(found: Markers, data: ReportData) -> Markup:
    """The section on features."""
    largest = np.argsort(-data.sizes, kind="stable")[:MOST_CARDS]
    every = [abs(m.difference) for views in found.found for ms in views for m in ms[:N_FEATURES]]
    top = float(np.quantile(every, FULL_BAR)) if every else 1.0
    shown = sorted(largest.tolist())
    colours = cluster_colours(data.clusters.size)
    cards = [_card(found, i, int(data.sizes[i]), top, colours[i], i in shown[:N_OPEN]) for i in shown]
    cut = f" The {MOST_CARDS} largest of {len(found.clusters)} clusters." if len(found.clusters) > MOST_CARDS else ""
    words = (
        "Difference between the mean in the cluster and the mean of all other samples, in pooled standard deviations, "
        f"over observed values only; the largest of each view.{cut} The clusters were found in the same data, so this "
        "describes them and proves nothing."
    )
    scale = tag(
        "p",
        tag("span", "lower in the cluster", class_="lower"),
        " ← 0 → ",
        tag("span", "higher in the cluster", class_="higher"),
        f", on the same scale in all cards; a full bar is {top:.1f} standard deviations or more.",
        class_="note key",
    )
    return joined([tag("p", words), _heat(data), scale, tag("div", *cards, class_="cards"), _listing(found, shown)])


def _heat(data: ReportData) -> Markup:
    if isinstance(data.heat, Absent):
        return Markup()
    k, f = data.heat.differences.shape
    caption = (
        "Clusters in rows, features in columns: those that distinguish clusters most, by view. Blue is higher than in "
        "the other samples, orange is lower; grey has too few values."
    )
    return plot("plot-heat", f"Heat map of {f} features of {k} clusters.", caption, wide=True)


def _card(found: Markers, i: int, size: int, top: float, colours: tuple[str, str], is_open: bool) -> Markup:
    views = []
    for name, markers in zip(found.views, found.found[i], strict=True):
        rows = [_marker(marker, top) for marker in markers[:N_FEATURES]]
        body = tag("ol", *rows) if rows else tag("p", "too few values", class_="absent")
        views.append(joined([tag("h4", name), body]))
    title = tag("h3", swatch(colours), cluster_name(i, found.clusters[i]), " ", tag("small", counted(size, "sample")))
    opened = "" if is_open else None
    return tag("details", tag("summary", title), *views, class_="card", open=opened, data_cluster=str(i))


def _marker(marker: Marker, top: float) -> Markup:
    way = "higher" if marker.difference > 0 else "lower"
    share = abs(marker.difference) / top
    cut = " cut" if share > 1 else ""
    bar = tag("span", tag("span", style=f"width:{50 * min(share, 1.0):.1f}%"), class_=f"bar {way}{cut}")
    value = tag("span", signed(marker.difference), class_="value")
    return tag("li", tag("span", marker.feature, class_="name", title=marker.feature), bar, value)


def _listing(found: Markers, shown: list[int]) -> Markup:
    """The same as a table, to be saved."""
    rows = [
        ClusterRow((cluster_name(i, found.clusters[i]), name, m.feature, signed(m.difference)), i)
        for i in shown
        for name, markers in zip(found.views, found.found[i], strict=True)
        for m in markers
    ]
    head = ["cluster", "view", "feature", "difference"]
    return tag(
        "details",
        tag("summary", "All of them as a table"),
        table("Features that distinguish clusters", head, rows, numbers=1),
        class_="screen",
    )
