"""Landmarks: the samples of a large fit that are related to each other; all others are tied to the nearest of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from numbers import Integral
from typing import Any

import numpy as np

from jella.graphs.neighbours import by_tiles, search_recall
from jella.readout.landmarks import Landmarks
from jella.views import AnyViews, Views
from jella.views.fingerprints import fingerprints, order_of
from jella.views.scaling import Scaling

#: up to this many samples all are landmarks; of more samples, this many are
LANDMARKS = 20_000
#: landmarks hold at most this many numbers together, and there are at least this many landmarks
MOST_NUMBERS, FEWEST_LANDMARKS = 2**27, 2000
#: up to this many samples all are landmarks too, if a search finds this share of their nearest neighbours
MOST_RELATED, ENOUGH = 100_000, 0.75


@dataclass(frozen=True)
class Chosen:
    """The samples that a fit uses.

    Attributes
    ----------
    rows : int array (m,)
        Their positions, in the order of the fit.
    used : Views
    prints : uint64 array (m,)
        Their fingerprints.
    landmarks : Landmarks
    """

    rows: np.ndarray
    used: Views
    prints: np.ndarray
    landmarks: Landmarks


def check_landmarks(landmarks: Any) -> None:
    """Refuse what says nothing about landmarks."""
    if landmarks is None or (isinstance(landmarks, str) and landmarks == "auto"):
        return
    if not isinstance(landmarks, Integral) or str(landmarks) in ("True", "False") or int(landmarks) < 1:
        raise ValueError(f"landmarks must be 'auto', None or a number from 1, got {landmarks!r}")


def most_landmarks(n_features: int) -> int:
    """The number of landmarks of many samples with this many features."""
    return max(min(LANDMARKS, MOST_NUMBERS // max(n_features, 1)), FEWEST_LANDMARKS)


def wanted_landmarks(landmarks: Any, n_samples: int, n_features: int) -> int:
    """The number of landmarks that a user asks for, of this many samples; None asks for all."""
    if landmarks is None:
        return n_samples
    return most_landmarks(n_features) if isinstance(landmarks, str) else int(landmarks)


def choose_landmarks(
    views: AnyViews, kept: np.ndarray, groups: np.ndarray | None, landmarks: Any, n_neighbors: int
) -> Chosen:
    """The samples that a fit uses, in the order of their fingerprints: all, or landmarks.

    Landmarks are the different samples with the lowest fingerprints: a random choice that does not depend on the order
    of the samples.

    Parameters
    ----------
    kept : bool array (n,)
        Samples with something observed.
    groups : int array (n,), optional
        Negative for samples about whose cluster nothing is known; up to half of the landmarks are others.
    landmarks : 'auto', int or None
        None makes all samples landmarks.
    """
    n, most = int(kept.sum()), most_landmarks(views.n_features)
    wanted = wanted_landmarks(landmarks, n, views.n_features)
    if n <= wanted:
        reason = "landmarks=None" if landmarks is None and n > most else "there are no more than landmarks"
        return _all(views, kept, Landmarks(n, n, reason, recall=1.0 if n <= LANDMARKS else None))
    lowest = cache(lambda: _lowest(views, kept, groups, wanted))
    reason, recall = f"there are more than {MOST_RELATED:,} samples", None
    if landmarks != "auto":
        reason = f"landmarks={wanted}"
    elif n <= MOST_RELATED:
        reason = f"all samples hold more than {MOST_NUMBERS:,} numbers"
        if n * views.n_features <= MOST_NUMBERS:
            everything = views if isinstance(views, Views) and kept.all() else views.fetch(np.flatnonzero(kept))
            if by_tiles(everything):
                recall = 1.0
            else:
                some = views.fetch(lowest()[0])
                recall = search_recall(Scaling.learn(some, "auto").apply(everything), n_neighbors)
            reason = f"a search among all would find {recall:.0%} of the nearest neighbours"
            if recall >= ENOUGH:
                return _all(views, kept, Landmarks(n, n, reason.replace("would find", "finds"), recall))
    rows, prints = lowest()
    return Chosen(rows, views.fetch(rows), prints, Landmarks(n, rows.size, reason, recall))


def _all(views: AnyViews, kept: np.ndarray, landmarks: Landmarks) -> Chosen:
    rows = np.flatnonzero(kept)
    prints = views.gather(fingerprints)[rows]
    order = order_of(prints)
    return Chosen(rows[order], views.fetch(rows[order]), prints[order], landmarks)


def _lowest(views: AnyViews, kept: np.ndarray, groups: np.ndarray | None, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions and fingerprints of different samples with the lowest fingerprints, ascending."""
    prints, rows = views.lowest(fingerprints, None if groups is not None else count)
    rows, prints = rows[kept[rows]], prints[kept[rows]]
    if groups is None:
        return rows[:count], prints[:count]
    known = groups[rows] >= 0
    first = np.flatnonzero(known)[: count // 2]
    rest = np.setdiff1d(np.arange(rows.size), first)[: count - first.size]
    both = np.union1d(first, rest)
    return rows[both], prints[both]
