"""The section on metadata: which columns clusters go along with, survival, and known classes."""

from __future__ import annotations

import numpy as np

from jella.describe.association import ASSOCIATED, LEVEL, THROUGH_MISSING, ColumnAssociation
from jella.describe.confusion import Confusion
from jella.describe.metadata import MetadataFindings
from jella.describe.survival import Curve, Survival
from jella.numerics.words import NOTHING, counted, percent
from jella.report.data import ReportData
from jella.report.figure_parts import Figure, axis, below, layout
from jella.report.markup import ClusterRow, Markup, cluster_name, for_plot, joined, plot, table, tag

#: rows and columns that a table shows
MOST_ROWS, MOST_CLASSES = 60, 30
#: lines that differ without colours
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
#: the most times for which the samples at risk are listed
TIMES = 5


def metadata_section(data: ReportData) -> Markup:
    """Association with each column, survival, and known classes, as far as they are known."""
    parts = []
    if data.metadata is not None:
        parts.append(_associations(data.metadata))
        parts += [] if data.metadata.survival is None else [_survival(data.metadata.survival, data.clusters)]
    if data.confusion is not None:
        parts += [tag("h3", "Clusters and given labels")] if parts else []
        parts.append(_confusion(data.confusion, data.clusters))
    return joined(parts)


def _associations(found: MetadataFindings) -> Markup:
    shown = sorted(found.columns, key=lambda one: -np.nan_to_num(one.strength, nan=-1.0))
    head = ["column", "kind", "result", "samples", "strength", "expected", "q-value", "p within"]
    rows = [_row(one) for one in shown[:MOST_ROWS]]
    more = f" The {MOST_ROWS} strongest of {len(shown)} columns." if len(shown) > MOST_ROWS else ""
    note = (
        "Strength is Cramér's V (corrected for bias) for categories, its counterpart for ranks for numbers, and for "
        "log-rank scores for survival: 0 is none, 1 is complete. Expected is its mean if clusters are shuffled among "
        "samples for which the same is missing, and p within the p-value of that test. q-values are from a "
        "chi-square, Kruskal-Wallis or log-rank test (by permutation where samples are few), adjusted for the number "
        f"of columns. Associated: both are below {LEVEL}.{more}"
    )
    return joined(
        [
            tag("p", found.words()),
            table("Clusters and columns of metadata", head, rows, numbers=5),
            tag("p", note, class_="note"),
        ]
    )


def _row(one: ColumnAssociation) -> tuple[str, ...]:
    verdict = {ASSOCIATED: "associated", THROUGH_MISSING: "explained by what is missing"}.get(one.verdict, one.verdict)
    kind = one.kind if one.levels is None else f"{one.levels} {one.kind}"
    figures = (_number(one.strength), _number(one.expected), _p(one.q_value), _p(one.p_within))
    return (one.column, kind, verdict, f"{one.known:,}", *figures)


def _number(value: float) -> str:
    return NOTHING if np.isnan(value) else f"{value:.2f}"


def _p(value: float) -> str:
    return NOTHING if np.isnan(value) else "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _compared(value: float) -> str:
    words = _p(value)
    return words if words.startswith("<") else f"= {words}"


def _survival(found: Survival, clusters: np.ndarray) -> Markup:
    times = _round_times(max(float(curve.times.max()) for curve in found.curves))
    rows = [
        _row_of(
            curve.cluster,
            clusters,
            f"{curve.n_samples:,}",
            f"{curve.n_events:,}",
            f"{curve.median:.4g}" if np.isfinite(curve.median) else "not reached",
            *(str(_at_risk(curve, time)) for time in times),
        )
        for curve in found.curves
    ]
    head = ["cluster", "samples", "events", "median time", *(f"at risk at {time:,.6g}" for time in times)]
    test = "" if np.isnan(found.p_value) else f" Log-rank test of all clusters: p {_compared(found.p_value)}."
    caption = f"Kaplan-Meier estimates of the share without the event ({found.event}) by {found.time}.{test}"
    described = f"Survival curves of {len(found.curves)} clusters.{test}"
    return joined(
        [
            tag("h3", "Survival"),
            plot("plot-survival", described, caption),
            table("Survival of the clusters", head, rows, numbers=len(head) - 1),
        ]
    )


def _round_times(last: float) -> np.ndarray:
    """A few times from 0 with few digits.

    >>> _round_times(7.8).tolist()
    [0.0, 2.0, 4.0, 6.0]
    """
    if last <= 0:
        return np.zeros(1)
    power = 10.0 ** np.floor(np.log10(last))
    step = min(one * power for one in (0.1, 0.2, 0.5, 1, 2, 5) if last / (one * power) <= TIMES)
    return np.arange(0.0, last, step)


def _at_risk(curve: Curve, time: float) -> int:
    later = curve.times >= time
    return int(curve.at_risk[later].max()) if later.any() else 0


def _row_of(cluster: int, clusters: np.ndarray, *cells: str) -> ClusterRow:
    place = _place(cluster, clusters)
    return ClusterRow((cluster_name(place, cluster), *cells), place)


def _place(cluster: int, clusters: np.ndarray) -> int:
    """Where a cluster is among those of the model."""
    return int(np.searchsorted(clusters, cluster))


def survival_figure(found: Survival, clusters: np.ndarray) -> Figure:
    """Steps, one line per cluster; the page gives each its colour and its name."""
    lines = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"Cluster {curve.cluster}",
            "meta": {"cluster": _place(curve.cluster, clusters), "after": f" ({counted(curve.n_samples, 'sample')})"},
            "x": curve.times.tolist(),
            "y": np.round(curve.survival, 4).tolist(),
            "customdata": np.round(np.stack([curve.lower, curve.upper], axis=1), 3).tolist(),
            "line": {"shape": "hv", "width": 2, "dash": DASHES[k % len(DASHES)]},
            "hovertemplate": f"cluster {curve.cluster}, time %{{x:.4g}}: %{{y:.0%}} (95 % interval "
            "%{customdata[0]:.0%} to %{customdata[1]:.0%})<extra></extra>",
        }
        for k, curve in enumerate(found.curves)
    ]
    x = axis(for_plot(found.time)) | {"rangemode": "tozero"}
    y = axis("share without the event") | {"tickformat": ".0%", "range": [0, 1.02]}
    return {"data": lines, "layout": layout(380, xaxis=x, yaxis=y, legend=below())}


def _confusion(found: Confusion, clusters: np.ndarray) -> Markup:
    classes, own = found.classes[:MOST_CLASSES], set(zip(found.own, range(len(found.own)), strict=True))

    def cell(i: int, j: int) -> str:
        n = int(found.counts[i, j])
        return tag("b", f"{n:,}") if (i, j) in own and n else f"{n:,}" if n else "·"

    rows = [
        _row_of(cluster, clusters, *(cell(i, j) for j in range(len(classes))), f"{found.counts[i].sum():,}")
        for i, cluster in enumerate(found.clusters)
    ]
    more = f" The first {len(classes)} of {len(found.classes)} classes." if len(found.classes) > len(classes) else ""
    words = (
        "Samples by cluster (rows) and given label (columns). Labels and clusters belong together one to one, as well "
        f"as possible; the numbers of these pairs are bold, and hold {percent(found.agreement)} of the samples.{more}"
    )
    return joined(
        [
            tag("p", words),
            table("Clusters and given labels", ["cluster", *classes, "all"], rows, numbers=len(classes) + 1),
        ]
    )
