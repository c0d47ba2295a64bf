"""Classes of samples that users know, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.estimators.base import Prepared


def labels_of(y: Any, rows: np.ndarray, n_given: int) -> np.ndarray:
    """Known classes of the samples at these positions, negative where unknown.

    Parameters
    ----------
    y : array (n,)
        A whole number for each of the samples that were given.
    """
    labels = np.asarray(y)
    if labels.shape != (n_given,) or labels.dtype.kind not in "biuf" or np.any(labels != np.round(labels)):
        raise ValueError(
            f"Unknown label type: y must hold one whole number for each of the {n_given} samples, -1 where the "
            f"class is unknown, got shape {labels.shape} of {labels.dtype}"
        )
    return labels[rows].astype(int)


def known_classes(prepared: Prepared, n_clusters: int | None) -> np.ndarray | None:
    """Known classes (m,) of the samples of a fit, from 0, negative where unknown; None if no class is known."""
    if prepared.y is None:
        return None
    classes = labels_of(prepared.y, prepared.rows, prepared.views.n_samples)
    if (classes < 0).all():
        return None
    most = prepared.used.n_samples if n_clusters is None else n_clusters
    if classes.max() >= most:
        raise ValueError(
            f"expected known classes from 0 to {most - 1}, got class {classes.max()}; number the classes from 0, or "
            "increase n_clusters"
        )
    return classes
