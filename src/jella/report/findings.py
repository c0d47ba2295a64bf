"""The findings about a fitted model: all parts of a report except its sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.describe.affinity import AffinityMap, find_affinity
from jella.describe.colouring import (
    MISSING,
    MOST_CLASSES,
    MOST_COLUMNS,
    Colouring,
    of_column,
    one_per_sample,
    own_colourings,
)
from jella.describe.confusion import Confusion
from jella.describe.convergence import Convergence, find_convergence
from jella.describe.evidence import find_evidence
from jella.describe.markers import Markers, find_markers
from jella.describe.metadata import MetadataFindings
from jella.describe.missing import MissingMap, find_missing
from jella.describe.subject import Absent, Subject
from jella.describe.survival import check_survival
from jella.describe.variance import Variance, find_variance
from jella.evidence.gather import ClusterEvidence
from jella.metrics import accuracy, adjusted_rand, nmi
from jella.numerics.progress import doing
from jella.report.association import Association, find_associations
from jella.report.cluster_heat import ClusterHeat, find_cluster_heat
from jella.report.maps import Maps, draw_maps
from jella.report.predictions import Predictions, predict_hidden
from jella.report.probabilities import Probabilities, find_probabilities
from jella.report.provenance import Provenance, find_provenance
from jella.report.sampling import evidence_samples
from jella.report.silhouettes import Silhouettes, find_silhouettes
from jella.report.stability import Stability, find_stability
from jella.views.sample_columns import read_columns


@dataclass(frozen=True)
class Agreement:
    """Agreement of the clusters with labels that were given."""

    n_samples: int  # samples with a cluster and a label
    n_labels: int
    adjusted_rand: float
    nmi: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class Findings:
    """The findings about a fitted model and its data.

    A part that the model or the data do not have is an `Absent`, which says why.

    Attributes
    ----------
    title, method : str
    sample_names, view_names : tuples of str
    missing : MissingMap
    convergence : Convergence or Absent
    maps : Maps or Absent
    affinity : AffinityMap or Absent
    clusters, sizes : int arrays (k,)
        Clusters that have samples, and their sizes; empty if there are none.
    evidence : ClusterEvidence or Absent
    stability : Stability or Absent
    probabilities : Probabilities or Absent
    silhouettes : Silhouettes or Absent
    predictions : Predictions or Absent
    variance : Variance or Absent
    markers : Markers or Absent
    heat : ClusterHeat or Absent
    associations : tuple of Association, or Absent
    agreement : Agreement or None
    provenance : Provenance
    n_columns : int
        Number of columns of the metadata; the picture offers the first 25.
    metadata : MetadataFindings or None
        How clusters go along with the metadata.
    confusion : Confusion or None
        How the given labels are spread over the clusters.
    """

    title: str
    method: str
    sample_names: tuple[str, ...]
    view_names: tuple[str, ...]
    missing: MissingMap
    convergence: Convergence | Absent
    maps: Maps | Absent
    affinity: AffinityMap | Absent
    clusters: np.ndarray
    sizes: np.ndarray
    evidence: ClusterEvidence | Absent
    stability: Stability | Absent
    probabilities: Probabilities | Absent
    silhouettes: Silhouettes | Absent
    predictions: Predictions | Absent
    variance: Variance | Absent
    markers: Markers | Absent
    heat: ClusterHeat | Absent
    associations: tuple[Association, ...] | Absent
    agreement: Agreement | None
    provenance: Provenance
    n_columns: int
    metadata: MetadataFindings | None
    confusion: Confusion | None

    @classmethod
    def about(
        cls,
        subject: Subject,
        *,
        metadata: Any = None,
        survival: tuple[str, str] | None = None,
        labels: Any = None,
        command: str | None = None,
        title: str | None = None,
        held_out: bool = True,
    ) -> Findings:
        """Compute all findings; the parameters are those of `write_report`."""
        columns = read_columns(metadata, subject.sample_names, len(subject.names))
        truth = None if labels is None else one_per_sample(labels, "labels", subject)
        evidence = find_evidence(subject, evidence_samples(subject.views.n_features, subject.clusters.size))
        doing("predicting hidden values")
        predictions = predict_hidden(subject, held_out)
        doing("finding the clusters again")
        stability, probabilities = find_stability(subject, evidence), find_probabilities(subject, evidence)
        doing("drawing maps of the samples")
        maps = draw_maps(subject, lambda rows: _colourings(subject, truth, columns, rows))
        doing("drawing the affinity and what is missing")
        return cls(
            title=f"{subject.method} on {', '.join(subject.views.names)}" if title is None else title,
            method=subject.method,
            sample_names=subject.names,
            view_names=subject.views.names,
            missing=find_missing(subject),
            convergence=find_convergence(subject),
            maps=maps,
            affinity=find_affinity(subject),
            clusters=subject.clusters,
            sizes=subject.sizes(),
            evidence=evidence,
            stability=stability,
            probabilities=probabilities,
            silhouettes=find_silhouettes(subject),
            predictions=predictions,
            variance=find_variance(subject),
            markers=find_markers(subject),
            heat=find_cluster_heat(subject),
            associations=find_associations(subject),
            agreement=_agreement(subject, truth),
            provenance=find_provenance(subject, command),
            n_columns=len(columns),
            metadata=_metadata(subject, columns, survival),
            confusion=None if truth is None or subject.clusters.size < 2 else Confusion.of(subject.labels, truth),
        )


def _metadata(subject: Subject, columns: Any, survival: Any) -> MetadataFindings | None:
    pair = check_survival(survival, columns)
    if not columns or subject.labels is None or subject.clusters.size < 2:
        return None
    return MetadataFindings.of(columns, subject.labels, subject.views, pair, subject.seed)


def _colourings(
    subject: Subject, truth: np.ndarray | None, columns: Mapping[str, np.ndarray], rows: np.ndarray
) -> list[Colouring]:
    """All colourings of some samples."""
    found = [one for one in own_colourings(subject, rows) if one.name != "cluster" or subject.clusters.size > 1]
    if truth is not None:
        found.append(of_column("given label", truth[rows], levels_at_most=MOST_CLASSES, few_numbers=np.inf))
    return found + [of_column(name, column[rows]) for name, column in list(columns.items())[:MOST_COLUMNS]]


def _agreement(subject: Subject, truth: np.ndarray | None) -> Agreement | None:
    if truth is None or subject.labels is None:
        return None
    words = of_column("label", truth, levels_at_most=None, few_numbers=np.inf)
    assert words.levels is not None
    known = np.array([words.levels[code] != MISSING for code in words.values]) & (subject.labels >= 0)
    if not known.any():
        raise ValueError("expected labels of some samples, got none that is known; pass labels=None instead")
    pair = words.values[known], subject.labels[known]
    return Agreement(
        n_samples=int(known.sum()),
        n_labels=len(set(pair[0].tolist())),
        adjusted_rand=adjusted_rand(*pair),
        nmi=nmi(*pair),
        accuracy=accuracy(*pair),
    )
