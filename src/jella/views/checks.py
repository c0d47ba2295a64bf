"""What a fit, or a method, refuses in views; each message says what to do."""

from __future__ import annotations

import numpy as np

from jella.numerics.arrays import to_numpy
from jella.numerics.words import listed
from jella.views.any_views import AnyViews


def check_features(views: AnyViews) -> None:
    """Refuse a feature that no sample has: nothing can be learned about it."""
    for view in views:
        counts = to_numpy(view.count_by_feature())
        never = np.flatnonzero(counts == 0)
        if never.size == view.n_features:
            raise ValueError(f"view {view.name!r} has no observed value at all; leave it out")
        if never.size:
            labels = [view.feature_names[j] if view.feature_names else int(j) for j in never[:5]]
            more = f" and {never.size - 5} more" if never.size > 5 else ""
            raise ValueError(
                f"view {view.name!r} has {never.size} feature(s) that are never observed: {labels}{more}; "
                "drop these columns"
            )


def check_on_empty(on_empty: str) -> None:
    """Refuse a word that says nothing about samples without any observed value."""
    if on_empty not in ("raise", "drop"):
        raise ValueError(f"on_empty must be 'raise' or 'drop', got {on_empty!r}")


def kept_samples(views: AnyViews, on_empty: str) -> np.ndarray:
    """Samples with an observed entry, (n,) booleans; `on_empty` says whether other samples are an error."""
    check_on_empty(on_empty)
    kept = np.asarray(views.presence().any(axis=1))
    if on_empty == "raise" and not kept.all():
        empty = np.flatnonzero(~kept)
        what, are, them = ("sample", "is", "it") if empty.size == 1 else ("samples", "are", "them")
        named = [views.label(row) for row in empty[:5]] + [f"{empty.size - 5} more"] * (empty.size > 5)
        raise ValueError(
            f"{what} {listed(named)} {are} missing in every view; remove {them} or set on_empty='drop' "
            "(--set on_empty=drop)"
        )
    return kept


def refuse_negative(views: AnyViews, method: str) -> None:
    """Refuse negative values, for methods whose factors are non-negative."""
    for view in views:
        smallest = view.smallest()
        if smallest < 0:
            raise ValueError(
                f"Negative values in data passed to {method}: it needs non-negative data, but view {view.name!r} goes "
                f"down to {smallest:.3g}; shift it, or use a method without sign constraints"
            )


def refuse_missing_entries(views: AnyViews, method: str) -> None:
    """Refuse single missing entries, for methods that give one weight to all entries of a sample in a view."""
    for view in views:
        if not view.is_rowwise:
            counts = to_numpy(view.count_by_sample())
            row = int(np.flatnonzero((counts > 0) & (counts < view.n_features))[0])
            raise ValueError(
                f"{method} takes samples that lack whole views, but sample {views.label(row)} lacks "
                f"{view.n_features - counts[row]} of the {view.n_features} entries of view {view.name!r} (NaN or not "
                "observed); use jella.MVLIV, or complete the data with it first"
            )


def refuse_few_samples(views: AnyViews, least: int, method: str) -> None:
    """Refuse a view that too few samples have, for methods whose answers there would be arbitrary."""
    for view, count in zip(views, views.presence().sum(axis=0).tolist(), strict=True):
        if count < least:
            raise ValueError(
                f"{method} with {least} components needs at least {least} samples of each view, but view {view.name!r} "
                f"has {count}; leave this view out, choose fewer components, or use jella.SparseBDR"
            )
