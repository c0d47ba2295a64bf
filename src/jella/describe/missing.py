"""Where values are missing: a map of samples by views, and the patterns of missing views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jella.describe.subject import Subject
from jella.numerics.arrays import to_numpy
from jella.views import View, Views
from jella.views.scaling import ViewScale

#: columns of the map; if there are more samples, several share a column
MOST_COLUMNS = 400


@dataclass(frozen=True)
class ViewHoles:
    """How much of one view is observed."""

    name: str
    n_features: int
    n_present: int  # samples with at least one value
    missing: float  # share of all its entries, including those of absent samples
    scaling: str
    weight: float


@dataclass(frozen=True)
class Pattern:
    """The samples that have the same views."""

    present: tuple[bool, ...]
    count: int


@dataclass(frozen=True, eq=False)
class MissingMap:
    """The map of samples by views, sorted by pattern.

    Attributes
    ----------
    share : array (V, c)
        Share of observed entries by view, samples in columns; the mean over the samples of a column.
    order : int array (n,)
        Samples in the order of the columns.
    edges : int array (c + 1,)
        Column j holds the samples order[edges[j]:edges[j + 1]].
    patterns : tuple of Pattern, the most frequent first
    views : tuple of ViewHoles
    missing : float
        Share of missing entries of all views.
    has_entries : bool
        Whether single entries are missing, besides whole views.
    """

    share: np.ndarray
    order: np.ndarray
    edges: np.ndarray
    patterns: tuple[Pattern, ...]
    views: tuple[ViewHoles, ...]
    missing: float
    has_entries: bool

    @property
    def is_binned(self) -> bool:
        """Whether columns are means over several samples."""
        return self.order.size > self.share.shape[1]


def find_missing(subject: Subject) -> MissingMap:
    """Compute the map of the data of a fit."""
    return map_missing(subject.views, subject.model.scaling_.scales)


def map_missing(views: Views, scales: Sequence[ViewScale] | None = None) -> MissingMap:
    """Compute the map; without scales, no scaling and no weights are named."""
    share = np.stack([to_numpy(view.count_by_sample()) / view.n_features for view in views])  # (V, n)
    patterns, which = _patterns(views.presence())
    order = np.lexsort((-share.sum(axis=0), which))
    edges = np.linspace(0, order.size, min(order.size, MOST_COLUMNS) + 1).astype(np.intp)
    total = sum(view.n_samples * view.n_features for view in views)
    chosen: Sequence[ViewScale | None] = [None] * len(views) if scales is None else scales
    return MissingMap(
        share=np.add.reduceat(share[:, order], edges[:-1], axis=1) / np.diff(edges),
        order=order,
        edges=edges,
        patterns=patterns,
        views=tuple(_holes(view, scale) for view, scale in zip(views, chosen, strict=True)),
        missing=1.0 - sum(view.n_observed() for view in views) / total,
        has_entries=not views.is_rowwise,
    )


def _patterns(presence: np.ndarray) -> tuple[tuple[Pattern, ...], np.ndarray]:
    """The patterns, the most frequent first, and the pattern of each sample, (n,)."""
    found, which, counts = np.unique(presence, axis=0, return_inverse=True, return_counts=True)
    # of equally frequent patterns, those with more views and with earlier views first
    first = np.lexsort((*(~found.T[::-1]), -found.sum(axis=1), -counts))
    place = np.argsort(first)
    patterns = tuple(Pattern(tuple(bool(there) for there in found[p]), int(counts[p])) for p in first)
    return patterns, place[which.ravel()]


def _holes(view: View, scale: ViewScale | None) -> ViewHoles:
    return ViewHoles(
        name=view.name,
        n_features=view.n_features,
        n_present=int(view.presence().sum()),
        missing=1.0 - view.n_observed() / (view.n_samples * view.n_features),
        scaling="" if scale is None else scale.kind,
        weight=1.0 if scale is None else scale.root_weight**2,
    )
