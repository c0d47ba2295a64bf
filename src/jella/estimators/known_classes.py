"""Classes of samples that users know, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.estimators.base import Prepared
from jella.views import AnyViews


def checked_classes(y: Any, views: AnyViews, n_clusters: int | None) -> np.ndarray | None:
    """Known classes of the samples as they were read, checked before the fit; None if y is None or has no unknown ones.

    Tools of scikit-learn pass y to all estimators, for their scores: a y in which nothing is unknown is ignored.

    Parameters
    ----------
    y : array (n,) or Series
        A Series whose index has the names of the samples is aligned with them, as DataFrames are.
    """
    if y is None or not _has_unknown(np.asarray(y)):
        return None
    names = views.sample_names
    if names is not None and hasattr(y, "reindex") and len(y) == len(names) and set(y.index) == set(names):
        y = y.reindex(names)
    classes = labels_of(y, np.arange(views.n_samples), views.n_samples)
    refuse_large(classes, views.n_samples if n_clusters is None else n_clusters)
    if n_clusters is None:
        _refuse_gaps(classes)
    return classes


def labels_of(y: Any, rows: np.ndarray, n_given: int) -> np.ndarray:
    """Known classes of the samples at these positions, negative where unknown.

    Parameters
    ----------
    y : array (n,)
        A whole number for each of the samples that were given.
    """
    labels = np.asarray(y)
    if labels.shape != (n_given,) or labels.dtype.kind not in "biuf" or not _are_whole(labels):
        raise ValueError(
            f"Unknown label type: y must hold one whole number for each of the {n_given} samples, -1 where the "
            f"class is unknown, got shape {labels.shape} of {labels.dtype}"
        )
    if (labels < -1).any():
        raise ValueError(f"expected classes from 0 in y, or -1 where unknown, got {labels.min():g}; correct it")
    return labels[rows].astype(int)


def known_classes(prepared: Prepared, n_clusters: int | None) -> np.ndarray | None:
    """Known classes (m,) of the samples of a fit, from 0, negative where unknown; None if no class is known."""
    if prepared.y is None:
        return None
    classes = labels_of(prepared.y, prepared.rows, prepared.views.n_samples)
    if (classes < 0).all():
        return None
    refuse_large(classes, prepared.used.n_samples if n_clusters is None else n_clusters)
    return classes


def refuse_large(classes: np.ndarray, most: int) -> None:
    """Refuse classes that are not below a number of clusters."""
    if classes.max(initial=-1) >= most:
        raise ValueError(
            f"expected known classes from 0 to {most - 1}, got class {classes.max()}; number the classes from 0, or "
            "increase n_clusters"
        )


def _refuse_gaps(classes: np.ndarray) -> None:
    """Refuse classes from which the number of clusters would be wrong."""
    known = np.unique(classes[classes >= 0])
    if known.size <= known.max(initial=-1):
        lacking = int(np.setdiff1d(np.arange(known.max()), known)[0])
        raise ValueError(
            f"expected known classes from 0 to {known.size - 1}, one after the other, got class {known.max()} and none "
            f"of class {lacking}; number the classes from 0, or pass n_clusters"
        )


def _has_unknown(labels: np.ndarray) -> bool:
    """Whether something is negative, or marked as missing in another way."""
    if labels.dtype.kind == "O":
        return any(str(x) in ("None", "nan", "<NA>") and not isinstance(x, str) for x in labels.ravel())
    return labels.dtype.kind in "if" and bool(np.any((labels < 0) | (labels != labels)))


def _are_whole(labels: np.ndarray) -> bool:
    return bool(np.isfinite(labels).all() and np.all(labels == np.round(labels)))
