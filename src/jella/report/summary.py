"""The summary of a report in a few sentences, and its warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from jella.describe.subject import Absent, Subject
from jella.evidence.confidence import UNCERTAIN
from jella.numerics.words import counted, listed, percent
from jella.report.association import Association
from jella.report.findings import Findings

#: clusters with less overlap than this when found again are called unstable
UNSTABLE = 0.6
#: a partition is unstable if two runs agree less than this (adjusted Rand index)
UNSTABLE_PARTITION = 0.7
#: clusters of fewer samples are called small
SMALL = 5
#: a cluster with at least this share of the samples, beside others, is a sign of a bad cut
MOST_OF_ALL = 0.9


@dataclass(frozen=True)
class Warned:
    """A warning, and the part of the report that says more."""

    words: str
    section: str


def summarise(subject: Subject, data: Findings) -> tuple[str, ...]:
    """Sentences on the data, the method and the results."""
    parts = (_data(subject), _missing(subject, data), _fit(subject, data), _clusters(subject, data))
    return tuple(words for words in (*parts, _stability(data), _completion(data), _agreement(data)) if words)


def key_figures(data: Findings) -> list[tuple[str, str]]:
    """The figures at the top, as names and values."""
    found = [("samples", f"{len(data.sample_names):,}"), ("views", str(len(data.view_names)))]
    found.append(("of all values missing", percent(data.missing.missing)))
    if data.clusters.size:
        found.append(("cluster" if data.clusters.size == 1 else "clusters", f"{data.clusters.size:,}"))
    if not isinstance(data.stability, Absent):
        found.append(("agreement of refits", f"{data.stability.between:.2f}"))
    if not isinstance(data.probabilities, Absent):
        found.append(("of labels uncertain", percent(float(np.mean(data.probabilities.own < UNCERTAIN)))))
    return found


def warn_of(subject: Subject, data: Findings) -> tuple[Warned, ...]:
    """The warnings: reasons not to trust the results."""
    return tuple(Warned(words, section) for section, words in _warnings(subject, data))


def _data(subject: Subject) -> str:
    views = subject.views
    described = [f"{view.name} ({counted(view.n_features, 'feature')})" for view in views]
    kinds = "one table" if len(views) == 1 else f"{len(views)} views"
    return f"{counted(views.n_samples, 'sample')} described by {kinds}: {listed(described)}."


def _missing(subject: Subject, data: Findings) -> str:
    found = data.missing
    if found.missing == 0:
        return "Nothing is missing."
    lacking = int((~subject.views.presence().all(axis=1)).sum())
    n = subject.views.n_samples
    who = (
        f"{counted(lacking, 'sample')} ({percent(lacking / n)}) {'lacks' if lacking == 1 else 'lack'} at least one view"
    )
    worst = max(found.views, key=lambda view: view.missing)
    most = f"; view {worst.name} lacks most, {percent(worst.missing)} of its values" if len(found.views) > 1 else ""
    share = f"{percent(found.missing)} of all values are missing{most}"
    return f"{who}, and {share}." if lacking and len(found.views) > 1 else f"{share[0].upper()}{share[1:]}."


def _fit(subject: Subject, data: Findings) -> str:
    size = ""
    if subject.embedding is not None:
        size = f" It gives each sample {counted(subject.embedding.shape[1], 'coordinate')}."
    names = subject.model.adjusted_for_
    effects = f" This page is about values without the effects of {listed(names)}." if names else ""
    return f"The method is {subject.method}.{size}{effects}"


def _clusters(subject: Subject, data: Findings) -> str:
    if subject.labels is None:
        return "No clusters were asked for." if hasattr(subject.model, "n_init") else "The method has no clusters."
    sizes, k = np.sort(subject.sizes()), subject.clusters.size
    is_chosen = hasattr(subject.model, "cluster_path_")
    if k == 1:
        return f"All samples are in one cluster{'; the number was chosen from the data' if is_chosen else ''}."
    chosen = f"; their number was chosen from the data{_range(data)}" if is_chosen else ""
    extent = f"{sizes[0]:,} to {sizes[-1]:,} samples" if sizes[0] < sizes[-1] else f"{sizes[0]:,} samples each"
    return f"The samples fall into {k} clusters of {extent}{chosen}."


def _range(data: Findings) -> str:
    """The other numbers that the data support."""
    numbers = np.empty(0) if isinstance(data.evidence, Absent) else data.evidence.path.supported
    return f", which support numbers from {numbers.min()} to {numbers.max()}" if numbers.size > 1 else ""


def _stability(data: Findings) -> str:
    found = data.stability
    if isinstance(found, Absent):
        return ""
    alike = round(found.between, 2)
    grade = "nearly the same" if alike >= 0.9 else "similar" if alike >= UNSTABLE_PARTITION else "rather different"
    return (
        f"Found again from parts of the samples, the clusters are {grade} (adjusted Rand index of two runs: "
        f"{alike:.2f}; 1 is the same, 0 is chance).{found.drawn}"
    )


def _completion(data: Findings) -> str:
    found = data.predictions
    if isinstance(found, Absent):
        return ""
    better = [p for p in found.by_view if p.is_better]
    if not better:
        if any(p.is_unsure for p in found.by_view):
            return "It is not sure that hidden values are predicted better than by the mean of their feature."
        return "Values that were hidden on purpose are predicted no better than by the mean of their feature."
    gains = [f"{percent(p.gain)} in {p.view}" for p in better]
    return (
        "Values that were hidden on purpose are predicted better than by the mean of their feature: of its squared "
        f"error, the model avoids {listed(gains)}."
    )


def _agreement(data: Findings) -> str:
    if data.agreement is None:
        return ""
    a = data.agreement
    return (
        f"Against the labels that were given ({a.n_labels} kinds, for {counted(a.n_samples, 'sample')}), the clusters "
        f"have an adjusted Rand index of {a.adjusted_rand:.2f}, a normalised mutual information of {a.nmi:.2f} and an "
        f"accuracy of {a.accuracy:.2f}."
    )


def _warnings(subject: Subject, data: Findings) -> Iterator[tuple[str, str]]:
    path = None if isinstance(data.evidence, Absent) else data.evidence.path
    if path is not None and path.is_known and not path.is_clear:
        words = path.words()
        yield "evidence", f"{words[0].upper()}{words[1:]}."
    left_out = [name for name, kept in zip(subject.names, subject.kept, strict=True) if not kept]
    if left_out:
        several = "sample has" if len(left_out) == 1 else "samples have"
        yield (
            "missing",
            f"{len(left_out)} {several} no value in any view and no place in the results: {listed(left_out)}.",
        )
    if not isinstance(data.associations, Absent):
        for found in data.associations:
            if found.is_strong:
                yield "association", association_words(found)
    if not isinstance(data.convergence, Absent) and not data.convergence.as_meant:
        yield "convergence", "The fit did not converge: more sweeps may change the results. Raise max_iter."
    yield from _about_clusters(subject, data)
    if not isinstance(data.predictions, Absent):
        poor = [p.view for p in data.predictions.by_view if not p.by_mean and not p.error < p.mean_error]
        if poor:
            yield "completion", f"Do not rely on completed values of {listed(poor)}: they are no better than the mean."
        for note in data.predictions.notes:
            yield "completion", f"{note[0].upper()}{note[1:]}."


def association_words(found: Association) -> str:
    """A sentence on what a strong association may mean."""
    what = (
        f"which samples have view {found.view}" if found.kind == "view" else f"how much of view {found.view} is missing"
    )
    return (
        f"Clusters and {what} are associated (strength {found.strength:.2f} of 1). Either some kinds of samples lack "
        "it more often, so that values are not missing at random, or the clusters partly show which values were "
        "measured and not what the samples are. Before you interpret the clusters, look at samples that have the same "
        "views."
    )


def _about_clusters(subject: Subject, data: Findings) -> Iterator[tuple[str, str]]:
    names, sizes = [str(cluster) for cluster in subject.clusters], subject.sizes()
    if sizes.size > 1 and sizes.max() >= MOST_OF_ALL * sizes.sum():
        share = percent(sizes.max() / sizes.sum())
        yield (
            "clusters",
            f"One cluster holds {share} of the samples: a sign of a bad cut. Try another number of clusters.",
        )
    small = [name for name, size in zip(names, sizes, strict=True) if size < SMALL]
    if small:
        yield "clusters", f"{_cluster(small)} {listed(small)} {_has(small)} fewer than {SMALL} samples."
    if not isinstance(data.stability, Absent):
        if data.stability.between < UNSTABLE_PARTITION:
            yield (
                "clusters",
                "The clusters change much with the choice of samples: other samples of the same kind "
                "may give other clusters.",
            )
        more = " Evidence from more samples may show them more stable." if data.stability.drawn else ""
        weak = [name for name, s in zip(names, data.stability.by_cluster, strict=True) if s < UNSTABLE]
        if weak:
            yield (
                "clusters",
                f"{_cluster(weak)} {listed(weak)} {_is(weak)} unstable: not found again from parts of the samples."
                f"{more}",
            )


def _cluster(names: Sequence[str]) -> str:
    return "Cluster" if len(names) == 1 else "Clusters"


def _has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
