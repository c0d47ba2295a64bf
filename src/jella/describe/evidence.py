"""The evidence for the clusters: what a model has gathered, or why there is none."""

from __future__ import annotations

from typing import Any

from jella.describe.subject import Absent, Fit
from jella.estimators.interrupted import was_interrupted
from jella.evidence.gather import FEWEST_SAMPLES, ClusterEvidence


def find_evidence(fit: Fit, most_samples: int | None = None) -> ClusterEvidence | Absent:
    """The evidence of the model; it is gathered now if it was not before.

    With more than `most_samples` samples it is gathered from a random part of this size, which the model does not keep.
    """
    model = fit.model
    if not hasattr(model, "gather_evidence"):
        return Absent(f"{fit.method} does not compare its clusters with data without clusters.")
    part = None if most_samples is None or fit.kept.sum() <= most_samples else most_samples
    found = model.gather_evidence(most_samples=part)
    return Absent(_reason(model)) if found is None else found


def _reason(model: Any) -> str:
    """Why a model has no evidence, in a sentence."""
    if not model.evidence:
        path = getattr(model, "cluster_path_", None)
        alone = "" if path is None else f" ({path.words()})"
        return f"The model has evidence=False, so it was not fitted again on parts of the samples{alone}."
    if model.n_clusters_ == 1:
        return "There is one cluster only, so there is nothing to compare."
    if was_interrupted(model):
        return "The fit was interrupted, so it was not repeated on parts of the samples."
    return f"There are fewer than {FEWEST_SAMPLES} samples: too few to say anything about clusters."
