"""The sections of the page: text and tables, and places for the plots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jella.describe.colouring import MOST_COLUMNS
from jella.describe.missing import Pattern
from jella.describe.picture import Picture
from jella.describe.subject import Absent
from jella.numerics.words import counted, listed, percent
from jella.report.cluster_sections import affinity_section, association_section, cluster_section, marker_section
from jella.report.data import ReportData
from jella.report.evidence_sections import number_section, probability_section
from jella.report.markup import Markup, joined, plot, table, tag
from jella.report.metadata_sections import metadata_section
from jella.report.model_sections import convergence_section, prediction_section, provenance_section, variance_section

#: patterns of missing views that a table lists
MOST_PATTERNS = 12


class Section(NamedTuple):
    """A section of the page."""

    anchor: str
    short: str
    heading: str
    body: Markup


def all_sections(data: ReportData) -> list[Section]:
    """All sections, in order."""
    return [
        Section("summary", "Summary", "Summary", _summary(data)),
        Section("missing", "Missing", "What is missing", _missing(data)),
        Section(
            "association",
            "Bias",
            "Do clusters follow what is missing?",
            _or_reason(data.associations, association_section, data),
        ),
        *([Section("metadata", "Metadata", "Clusters and metadata", part)] if (part := metadata_section(data)) else []),
        Section("embedding", "Embedding", "Samples in two dimensions", _or_reason(data.picture, _picture, data)),
        Section(
            "evidence",
            "Evidence",
            "Evidence for the number of clusters",
            _or_reason(data.evidence, number_section, data),
        ),
        Section("clusters", "Clusters", "Clusters and their stability", cluster_section(data)),
        Section(
            "probabilities",
            "Certainty",
            "How sure the labels are",
            _or_reason(data.probabilities, probability_section, data),
        ),
        Section(
            "markers", "Features", "Features that distinguish clusters", _or_reason(data.markers, marker_section, data)
        ),
        Section(
            "completion",
            "Completion",
            "How well hidden values are predicted",
            _or_reason(data.predictions, prediction_section, data),
        ),
        Section(
            "variance", "Components", "What the components explain", _or_reason(data.variance, variance_section, data)
        ),
        Section("affinity", "Affinity", "Which samples belong together", affinity_section(data)),
        Section("convergence", "Fit", "The course of the fit", convergence_section(data)),
        Section("provenance", "Reproduce", "How to repeat it", provenance_section(data)),
    ]


def _or_reason(found: Any, write: Callable[[Any, ReportData], Markup], data: ReportData) -> Markup:
    return tag("p", found.reason, class_="absent") if isinstance(found, Absent) else write(found, data)


def _summary(data: ReportData) -> Markup:
    sentences = tag("ul", *(tag("li", words) for words in data.summary), class_="sentences")
    if not data.warnings:
        return joined([sentences, tag("p", "Nothing was found that speaks against these results.", class_="fine")])
    items = [tag("li", warned.words, " ", tag("a", "See more.", href=f"#{warned.section}")) for warned in data.warnings]
    title = tag("h3", "Before you rely on it")
    return joined([sentences, tag("div", title, tag("ul", *items), class_="warnings", role="note")])


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
    binned = f" The {n:,} samples share {found.share.shape[1]} columns, each a mean." if found.is_binned else ""
    entries = " In between: a part of the entries is observed." if found.has_entries else ""
    caption = f"Samples in columns, sorted by the views that they have; grey is what is missing.{binned}{entries}"
    described = f"Map of {n} samples by {len(found.views)} views; {percent(found.missing)} of all values are missing."
    return joined([views, plot("plot-missing", described, caption), _patterns(data)])


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


def _picture(found: Picture, data: ReportData) -> Markup:
    options = [tag("option", c.name, value=str(i)) for i, c in enumerate(found.colourings)]
    chooser = tag(
        "p", tag("label", "Colour by ", for_="colour-by"), tag("select", *options, id="colour-by"), class_="chooser"
    )
    cut = (
        f" {len(found.rows):,} of {found.n_samples:,} samples, drawn at random."
        if len(found.rows) < found.n_samples
        else ""
    )
    more = ""
    if data.n_columns > MOST_COLUMNS:
        more = f" Of {data.n_columns} columns of metadata, the first {MOST_COLUMNS} are offered."
    caption = (
        f"Each point is a sample: the two leading principal components of {found.source}. They hold "
        f"{percent(sum(found.explained))} of the variance. Points far apart are different samples; points that "
        f"are close may differ in other components.{cut}{more}"
    )
    described = f"Scatter plot of {len(found.rows)} samples in two dimensions."
    return joined([chooser if options else Markup(), plot("plot-embedding", described, caption)])
