"""The sections of the page: text and tables, and places for the plots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jella.describe.missing import Pattern
from jella.describe.subject import Absent
from jella.numerics.words import counted, listed, percent
from jella.report.bias_section import association_section
from jella.report.cluster_sections import affinity_section, cluster_section
from jella.report.data import ReportData
from jella.report.evidence_sections import number_section, probability_section
from jella.report.feature_sections import marker_section
from jella.report.map_section import map_section
from jella.report.markup import Markup, joined, plot, table, tag
from jella.report.metadata_sections import metadata_section
from jella.report.model_sections import convergence_section, prediction_section, provenance_section, variance_section
from jella.report.summary import key_figures

#: patterns of missing views that a table lists
MOST_PATTERNS = 12


class Section(NamedTuple):
    """A section of the page."""

    anchor: str
    short: str
    heading: str
    body: Markup


def all_sections(data: ReportData) -> list[Section]:
    """All sections that the model and the data have, in order; the last one says what they do not have."""
    few = "There is one cluster only." if data.clusters.size else "This model has no clusters."
    one = Absent(few) if data.clusters.size < 2 else None
    nothing = Absent("No metadata and no known classes were given.")
    known = one or (nothing if data.metadata is None and data.confusion is None else None)
    compared = (
        ("Labels", "Clusters and given labels") if data.metadata is None else ("Metadata", "Clusters and metadata")
    )
    parts: list[tuple[str, str, str, Any, Callable[[Any, ReportData], Markup]]] = [
        ("summary", "Summary", "Summary", data, lambda found, data: _summary(data)),
        ("embedding", "Map", "Samples in two dimensions", data.maps, map_section),
        ("clusters", "Clusters", "Clusters and their stability", one, lambda found, data: cluster_section(data)),
        ("markers", "Features", "Features that distinguish clusters", data.markers, marker_section),
        ("metadata", *compared, known, lambda _, data: metadata_section(data)),
        ("evidence", "Evidence", "Evidence for the number of clusters", data.evidence, number_section),
        ("probabilities", "Certainty", "How sure the labels are", data.probabilities, probability_section),
        ("missing", "Missing", "What is missing", data, lambda found, data: _missing(data)),
        ("association", "Bias", "Do clusters follow what is missing?", data.associations, association_section),
        ("completion", "Completion", "How well hidden values are predicted", data.predictions, prediction_section),
        ("variance", "Components", "What the components explain", data.variance, variance_section),
        (
            "affinity",
            "Affinity",
            "Which samples belong together",
            data.affinity,
            lambda _, data: affinity_section(data),
        ),
        ("convergence", "Fit", "The course of the fit", data.convergence, lambda _, data: convergence_section(data)),
    ]
    there = [part for part in parts if not isinstance(part[3], Absent)]
    absent = {heading: found.reason for _, _, heading, found, _ in parts if isinstance(found, Absent)}
    for name, found in {"Stability of the clusters": data.stability, "Silhouettes": data.silhouettes}.items():
        if one is None and isinstance(found, Absent):
            absent[name] = found.reason
    last = Section("provenance", "Reproduce", "How to repeat it", provenance_section(data, absent))
    return [
        *(Section(anchor, short, heading, write(found, data)) for anchor, short, heading, found, write in there),
        last,
    ]


def _summary(data: ReportData) -> Markup:
    facts = tag("ul", *(tag("li", tag("b", value), name) for name, value in key_figures(data)), class_="facts")
    sentences = tag("ul", *(tag("li", words) for words in data.summary), class_="sentences")
    if not data.warnings:
        return joined([facts, sentences, _nothing_found(data)])
    items = [tag("li", warned.words, " ", tag("a", "See more.", href=f"#{warned.section}")) for warned in data.warnings]
    title = tag("h3", "Before you rely on it")
    return joined([facts, sentences, tag("div", title, tag("ul", *items), class_="warnings", role="note")])


def _nothing_found(data: ReportData) -> Markup:
    """A sentence where there are no warnings; it does not praise what was not looked at."""
    found = "Nothing was found that speaks against these results"
    if data.clusters.size > 1 and isinstance(data.stability, Absent):
        reason = f"{data.stability.reason[0].lower()}{data.stability.reason[1:]}"
        return tag("p", f"{found}, but nothing says whether the clusters would be found again: {reason}", class_="note")
    return tag("p", f"{found}.", class_="fine")


def _missing(data: ReportData) -> Markup:
    found, n = data.missing, len(data.sample_names)
    views = table(
        "Views",
        ["view", "scaling", "features", "samples with it", "values missing", "weight"],
        [
            (v.name, v.scaling, f"{v.n_features:,}", f"{v.n_present:,}", percent(v.missing), f"{v.weight:.2f}")
            for v in found.views
        ],
        numbers=4,
    )
    note = tag("p", _about_views(found.missing), class_="note")
    if found.missing == 0:
        return joined([views, note, tag("p", "Nothing is missing.", class_="fine")])
    binned = f" The {n:,} samples share {found.share.shape[1]} columns, each a mean." if found.is_binned else ""
    entries = " In between: a part of the entries is observed." if found.has_entries else ""
    caption = f"Samples in columns, sorted by the views that they have; grey is what is missing.{binned}{entries}"
    described = f"Map of {n} samples by {len(found.views)} views; {percent(found.missing)} of all values are missing."
    return joined([views, note, plot("plot-missing", described, caption), _patterns(data)])


def _about_views(missing: float) -> str:
    weight = "Weight is how much a view counts in the fit."
    shares = "Shares of values count all entries of a view, those of samples without it too. "
    return f"{shares if missing else ''}{weight}"


def _patterns(data: ReportData) -> Markup:
    found = data.missing.patterns
    if len(data.view_names) == 1 or len(found) == 1:
        return Markup()
    n = len(data.sample_names)

    def words(pattern: Pattern) -> str:
        names = [name for name, there in zip(data.view_names, pattern.present, strict=True) if there]
        return "all views" if all(pattern.present) else listed(names, 12) if names else "nothing at all"

    rows = [(words(p), f"{p.count:,}", percent(p.count / n)) for p in found[:MOST_PATTERNS]]
    rest = found[MOST_PATTERNS:]
    if rest:
        left = sum(p.count for p in rest)
        rows.append((counted(len(rest), "other combination"), f"{left:,}", percent(left / n)))
    return table("Which views samples have", ["views", "samples", "share"], rows, numbers=2)
