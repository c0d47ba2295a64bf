"""What users know about the clusters of some samples, checked: classes, and pairs that go together or apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from jella.graphs.seeded import KnownGroups, too_few
from jella.views import AnyViews
from jella.views.ids import as_id


@dataclass(frozen=True, eq=False)
class Told:
    """What a user tells a fit: known classes y, and pairs of samples that share a cluster or do not."""

    y: Any = None
    must_link: Any = None
    cannot_link: Any = None


def checked_known(told: Told, views: AnyViews, n_clusters: int | None) -> KnownGroups | None:
    """What is known about the clusters of the samples as they were read, checked before the fit; None if nothing is."""
    classes = checked_classes(told.y, views, n_clusters)
    if classes is None and told.must_link is None and told.cannot_link is None:
        return None
    names = range(views.n_samples) if views.sample_names is None else views.sample_names
    joined, apart = (_pairs(told, what, names) for what in ("must_link", "cannot_link"))
    classes = np.full(len(names), -1) if classes is None else np.maximum(classes, -1)
    if (classes < 0).all() and not len(joined) + len(apart):
        return None
    known = _known(classes, joined, apart, names)
    k = n_clusters if (classes < 0).all() or n_clusters is not None else int(classes.max()) + 1
    if k is not None and known.fewest > k:
        raise too_few(k)
    return known


def _pairs(told: Told, what: str, names: Any) -> np.ndarray:
    """The positions (p, 2) of pairs of samples, which are given by their names."""
    given = getattr(told, what)
    pairs = np.empty((0, 2), dtype=object) if given is None else np.asarray(given, dtype=object)
    if not pairs.size:
        return np.empty((0, 2), dtype=np.intp)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(
            f"expected {what} to be pairs of samples, got shape {pairs.shape}; pass for example "
            f"[({names[0]!r}, {names[1 % len(names)]!r})]"
        )
    place: dict[Any, int] = {as_id(name): row for row, name in enumerate(names)}
    place |= {name: row for row, name in enumerate(names)}
    rows = [place.get(one, place.get(as_id(one), -1)) for one in pairs.ravel()]
    if min(rows) < 0:
        wrong = pairs.ravel()[rows.index(-1)]
        raise ValueError(
            f"expected pairs of samples in {what}, got {wrong!r}, which is none of the {len(names)} samples; these are "
            f"{names[0]!r} to {names[-1]!r}"
        )
    return np.array(rows, dtype=np.intp).reshape(-1, 2)


def _known(classes: np.ndarray, joined: np.ndarray, apart: np.ndarray, names: Any) -> KnownGroups:
    """Groups of samples that go together: those of a class, and those that pairs join."""
    n = classes.size
    edges = sparse.coo_array((np.ones(len(joined)), (joined[:, 0], joined[:, 1])), shape=(n, n))
    count, part = connected_components(edges, directed=False)
    of_part = np.full(count, -1)
    np.maximum.at(of_part, part, classes)
    wrong = np.flatnonzero((classes >= 0) & (classes != of_part[part]))
    if wrong.size:
        a = wrong[0]
        b = np.flatnonzero((part == part[a]) & (classes == of_part[part[a]]))[0]
        raise ValueError(
            f"expected must_link to join samples of one class, got {names[a]!r} of class {classes[a]} joined with "
            f"{names[b]!r} of class {classes[b]}; correct one of these"
        )
    _, groups = np.unique(np.where(of_part >= 0, of_part, n + np.arange(count))[part], return_inverse=True)
    for a, b in apart:
        if groups[a] == groups[b]:
            raise ValueError(
                f"expected cannot_link not to contradict what joins samples, got {names[a]!r} and {names[b]!r}, which "
                "are the same sample, joined by must_link, or of one class; correct one of these"
            )
    of_group = np.full(int(groups.max()) + 1, -1)
    np.maximum.at(of_group, groups, classes)
    is_said = np.zeros(of_group.size, dtype=bool)
    is_said[groups[np.concatenate([joined, apart]).ravel()]] = True
    is_said |= of_group >= 0
    return KnownGroups(np.where(is_said[groups], groups, -1), of_group, groups[apart]).take(np.arange(n))


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
