"""The section on whether clusters follow what is missing."""

from __future__ import annotations

import numpy as np

from jella.numerics.words import listed, percent
from jella.report.association import LEVEL, STRONG, Association
from jella.report.data import ReportData
from jella.report.markup import Markup, joined, table, tag


def association_section(found: tuple[Association, ...], data: ReportData) -> Markup:
    """The association of clusters with missing values; what a strong one may mean is said in the summary."""
    strong = list(dict.fromkeys(a.view for a in found if a.is_strong))
    if strong:
        words = tag("p", f"Yes, in {listed(strong)}: see the ", tag("a", "warning", href="#summary"), " at the top.")
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
