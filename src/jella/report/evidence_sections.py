"""The sections on evidence: the number of clusters, and how sure the labels are."""

from __future__ import annotations

import numpy as np

from jella.describe.subject import Absent
from jella.evidence.confidence import CLASSES, UNCERTAIN
from jella.evidence.gather import ClusterEvidence
from jella.graphs.cluster_path import (
    ABOVE,
    CLEAR,
    STABILITY_UNIT,
    VALLEY,
    VALLEY_OF_CLOUDS,
    ClusterPath,
)
from jella.numerics.words import counted, number, percent
from jella.report.data import ReportData
from jella.report.markup import Markup, joined, plot, table, tag
from jella.report.probabilities import Probabilities
from jella.report.sampling import drawn_words
from jella.report.summary import UNSTABLE_PARTITION

#: uncertain samples that a table lists
MOST_DOUBTS = 20
#: finer clusters divide the coarser ones if this share of the samples nests
NESTED = 0.95


def number_section(found: ClusterEvidence, data: ReportData) -> Markup:
    """The section on the number of clusters: a sentence, and curves where several numbers were compared."""
    path = found.path
    words = path.words()
    sentence = " ".join(part for part in (f"{words[0].upper()}{words[1:]}.", _nesting(path), _borders(path)) if part)
    drawn = f" It is about {found.n_samples:,} samples, drawn at random." if found.n_samples < data.sizes.sum() else ""
    note = (
        "Modularity says how much more often neighbours are in the same cluster than by chance. It is compared with "
        "that of data of the same shape without groups. Stability is the adjusted Rand index of two refits of the "
        "whole model on parts of the samples: 1 is the same partition, 0 is chance. Data without groups "
        f"are not fitted again, so the stability expected of them is rather too high.{drawn}"
    )
    below = tag("p", note, class_="note")
    several = int(np.isfinite(path.expected).sum()) > 1
    return joined([tag("p", sentence), _curves(path) if several else tag("p", _figures(path)), below])


def _nesting(path: ClusterPath) -> str:
    """How the clusters of the supported numbers nest, in a sentence."""
    steps = path.hierarchy()
    if not steps:
        return ""
    few, more, least = min(steps, key=lambda step: step[2])
    if least >= NESTED:
        whom = "all samples" if least == 1 else f"at least {percent(least)} of the samples"
        return f"The supported numbers nest: finer clusters divide coarser ones, for {whom} at each step."
    return (
        f"The supported numbers do not all nest: from {few} to {more} clusters, only {percent(least)} of the samples "
        "stay with the rest of their finer cluster."
    )


def _borders(path: ClusterPath) -> str:
    """What clear clusters are that refits do not find again, in a sentence."""
    stable = float(path.stability[path.numbers == path.best][0])
    if not path.is_clear or not stable < UNSTABLE_PARTITION:
        return ""
    return (
        "Clear means clearer than in data without groups. Which samples belong together is less sure: refits divide "
        "them differently."
    )


def _figures(path: ClusterPath) -> str:
    """The figures of the only number that was compared, in words."""
    at = int(np.flatnonzero(path.numbers == path.best)[0])
    only = "This number was given" if path.numbers.size == 1 else "No other number was in question"
    way = "above" if path.excess[at] >= 0 else "below"
    stable, chance = path.stability[at], path.expected_stability[at]
    again = (
        f" Stability is {stable:.2f}; {chance:.2f} is expected without groups."
        if np.isfinite([stable, chance]).all()
        else ""
    )
    return (
        f"{only}, so no others were compared. Its modularity is {abs(path.excess[at]):.1f} standard deviations {way} "
        f"that expected without groups.{again} {_rule(path)}"
    )


def _rule(path: ClusterPath) -> str:
    """When clusters are clear, and how clear these are."""
    return (
        f"Clusters are clear from a clarity of {CLEAR:g} on; here it is {number(path.clarity, '.1f')}. It is the "
        "mean number of standard deviations above what is expected without groups, plus one per "
        f"{STABILITY_UNIT:g} of additional stability, plus one per third by which samples are rarer between "
        f"clusters than beside them.{_cloud(path)}"
    )


def _cloud(path: ClusterPath) -> str:
    """What valleys say, where they decide: clusters with valleys all around, or a cloud of few dimensions without."""
    if path.is_apart:
        return (
            " These clusters are clear because they are found again surely and samples are rare between any two "
            f"neighbouring ones: at least {np.nanmax(path.apart):.1f} times as many lie beside as between them, where "
            f"{VALLEY:g} times as many are asked for."
        )
    if not path.is_one_cloud or path.dimension == 0:
        return ""
    asked = max(VALLEY, VALLEY_OF_CLOUDS * path.cloud_valley)
    return (
        f" But nine tenths of the variance lie in {path.dimension} dimensions, which can be cut into many parts, and "
        f"samples are not rare between the clusters: {path.own_valley:.1f} times as many lie beside as between "
        f"neighbouring clusters, where {asked:.1f} times as many are asked for."
    )


def _curves(path: ClusterPath) -> Markup:
    mark = "the number chosen" if path.is_clear else "the best number, which is not clear"
    parts = [
        plot(
            "plot-modularity",
            f"Line of the modularity by number of clusters: {_beside(path, path.modularity, path.expected)}.",
            f"How clear the clusters are. The dashed line is {mark}. The band is {ABOVE:.0f} standard deviations "
            f"around what is expected without groups. {_rule(path)}",
        )
    ]
    if has_stability(path):
        parts.append(
            plot(
                "plot-number-stability",
                "Line of the stability by number of clusters: "
                f"{_beside(path, path.stability, path.expected_stability)}.",
                "How surely the clusters are found again. It is computed up to the largest number with nearly the best "
                "modularity.",
            )
        )
    return tag("div", *parts, class_="pair")


def _beside(path: ClusterPath, values: np.ndarray, expected: np.ndarray) -> str:
    """The value at the best number beside the expected one."""
    own, chance = (number(part[path.numbers == path.best][0], ".2f") for part in (values, expected))
    return f"{own} at {path.best}, where {chance} is expected without groups"


def has_stability(path: ClusterPath) -> bool:
    """Whether there is more than one number to draw a curve of stability."""
    return int(np.isfinite(path.stability).sum()) > 1


def probability_section(found: Probabilities, data: ReportData) -> Markup:
    """The section on the probabilities of labels."""
    n, doubts = found.own.size, len(found.doubts)
    verb = "is" if doubts == 1 else "are"
    count = f"{doubts:,} of {n:,} labels {verb} uncertain, with a probability below {UNCERTAIN}."
    count += drawn_words(n, found.n_samples)
    meaning = (
        "The probability of a label is the share of refits on halves of the samples that would give it again, judged "
        "by the neighbours of the sample."
        if len(found.table)
        else "Refits did not check these probabilities: they are the votes of the neighbours of each sample."
    )
    if not isinstance(data.stability, Absent) and data.stability.drawn:
        meaning += " Refits to more samples may make labels surer."
    described = f"Histogram of the probabilities of {counted(n, 'label')}; {doubts:,} are below {UNCERTAIN}."
    histogram = plot("plot-probability", described, "Probability of each sample's own cluster.")
    parts = [tag("p", f"{count} {meaning}"), tag("div", histogram, _calibration(found), class_="pair")]
    return joined([*parts, _doubts(found)])


def _calibration(found: Probabilities) -> Markup:
    if not len(found.table):
        return Markup()
    rows = [(_class_of(mean), f"{mean:.2f}", f"{agree:.2f}", f"{cases:,.0f}") for mean, agree, cases in found.table]
    head = ["probability", "mean", "refits agree", "cases"]
    note = "Good probabilities are close to how often refits agree. A case is a sample in a refit."
    return tag("div", table("Are the probabilities right?", head, rows, numbers=3), tag("p", note, class_="note"))


def _class_of(probability: float) -> str:
    place = int(np.digitize(probability, CLASSES[1:-1]))
    return f"{CLASSES[place]:g} to {CLASSES[place + 1]:g}"


def _down(probability: float) -> str:
    """Two digits, rounded down: one that is below a limit is not written as the limit.

    >>> _down(0.5998), _down(0.29)
    ('0.59', '0.29')
    """
    return f"{np.floor(100 * probability + 1e-9) / 100:.2f}"


def _doubts(found: Probabilities) -> Markup:
    if not found.doubts:
        return Markup()
    rows = [
        (d.sample, str(d.cluster), _down(d.probability), str(d.next_cluster), _down(d.next_probability))
        for d in found.doubts[:MOST_DOUBTS]
    ]
    total = len(found.doubts)
    caption = "Uncertain samples" if total <= MOST_DOUBTS else f"The {MOST_DOUBTS} most uncertain of {total:,} samples"
    head = ["sample", "cluster", "probability", "next cluster", "its probability"]
    return table(caption, head, rows, numbers=4)
