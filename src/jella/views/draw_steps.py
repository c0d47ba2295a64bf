"""The steps of a random choice of observed values to hide: samples lose a view, views lose entries.

Entries are spared where a sample, or a feature (`spare_features`), would keep none. That a sample with one view keeps
it is up to the rules in `draw`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jella.numerics.arrays import to_numpy
from jella.views.hide import Hidden
from jella.views.missingness import CERTAIN, Floats, Mask
from jella.views.model import View, Views

# whole views


def one_view_each(views: Views, rows: np.ndarray, rng: np.random.Generator) -> Hidden:
    """For each of some samples, one of the views that it has."""
    lost = np.full(views.n_samples, -1)
    lost[rows] = random_view(views.presence()[rows], rng)
    return without_views(views, lost)


def random_view(presence: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Position of one random view per sample, among those that it has, (n,)."""
    return np.where(presence, rng.random(presence.shape), -1.0).argmax(axis=1)


def without_views(views: Views, lost: np.ndarray) -> Hidden:
    """The observed values of the view that each sample loses; `lost` is its position, -1 for none."""
    return Hidden(tuple((lost == v)[:, None] & to_numpy(view.mask) for v, view in enumerate(views)))


# entries


def and_entries(
    views: Views,
    hidden: Hidden,
    share: float,
    rng: np.random.Generator,
    chosen: Sequence[int] | None = None,
    leanings: Sequence[Floats | None] | None = None,
    some: np.ndarray | None = None,
) -> Hidden:
    """The hidden values, and an exact share of the other entries of each view, or of each chosen view.

    Where `some` (n,) is given, entries come from these samples only.
    """
    chosen = range(len(views)) if chosen is None else chosen
    left = hidden.left(views)
    observed = [np.broadcast_to(left[v], views[v].X.shape) for v in chosen]
    leans = [None if leanings is None else leanings[v] for v in chosen]
    able = observed if some is None or some.all() else [mask & some[:, None] for mask in observed]
    taken = [_share(mask, share, rng, lean) for mask, lean in zip(able, leans, strict=True)]
    drawn = _spare_samples(observed, taken, [share] * len(observed), rng)
    masks = list(hidden)
    for v, mask in zip(chosen, drawn, strict=True):
        masks[v] = masks[v] | mask
    return Hidden(tuple(masks))


def _share(observed: Mask, share: float, rng: np.random.Generator, leaning: Floats | None = None) -> Mask:
    """An exact share of the observed entries; all alike, or by their log-odds (the largest of Gumbel variables)."""
    entries = np.flatnonzero(observed)
    hidden, count = np.zeros(observed.size, dtype=bool), round(share * entries.size)
    if leaning is None:
        hidden[rng.choice(entries, count, replace=False, shuffle=False)] = True
    elif count:
        keys = leaning.ravel()[entries] + rng.gumbel(size=entries.size)
        hidden[entries[np.argpartition(-keys, count - 1)[:count]]] = True
    return hidden.reshape(observed.shape)


def by_chance(observed: Sequence[Mask], chances: Sequence[Floats], rng: np.random.Generator) -> Hidden:
    """Each observed entry with its own probability."""
    drawn = [mask & (rng.random(mask.shape) < p) for mask, p in zip(observed, chances, strict=True)]
    return Hidden(tuple(_spare_samples(observed, drawn, chances, rng)))


# what must stay


def _spare_samples(
    observed: Sequence[Mask], hidden: Sequence[Mask], chances: Sequence[Floats | float], rng: np.random.Generator
) -> list[Mask]:
    """The masks, where samples that would keep nothing are drawn again, under the condition that something stays.

    The distribution is that of repeated draws until something stays. Rates close to 1 would need many repetitions, so
    it is drawn directly: first the position of the first entry that stays, then the entries after it.
    """
    had = np.logical_or.reduce([mask.any(axis=1) for mask in observed])
    has = np.logical_or.reduce([(mask & ~gone).any(axis=1) for mask, gone in zip(observed, hidden, strict=True)])
    rows = np.flatnonzero(had & ~has)
    if not rows.size:
        return list(hidden)
    present = np.hstack([mask[rows] for mask in observed])
    p = np.hstack([np.broadcast_to(chance, mask.shape)[rows] for mask, chance in zip(observed, chances, strict=True)])
    p = np.where(present, np.minimum(p, CERTAIN), 1.0)
    stays_by_now = 1 - np.cumprod(p, axis=1)
    # Drawn from (0, 1]: with 0, the first entry would stay even where it is not observed.
    target = (1 - rng.random((rows.size, 1))) * stays_by_now[:, -1:]
    first = (stays_by_now >= target).argmax(axis=1)[:, None]
    position = np.arange(p.shape[1])
    gone = present & (position != first) & ((position < first) | (rng.random(p.shape) < p))
    parts = np.split(gone, np.cumsum([mask.shape[1] for mask in observed])[:-1], axis=1)
    result = [mask.copy() for mask in hidden]
    for mask, part in zip(result, parts, strict=True):
        mask[rows] = part
    return result


def spare_features(view: View, where: Mask, rng: np.random.Generator) -> Mask:
    """The mask with fewer hidden values, so that each feature keeps an observed one, which a fit needs."""
    where = where.copy()
    if where.shape[1] == 1:
        if where.any() and where[view.presence()].all():
            where[rng.choice(np.flatnonzero(where))] = False
        return where
    observed = np.broadcast_to(to_numpy(view.mask), where.shape)
    for j in np.flatnonzero(observed.any(axis=0) & ~(observed & ~where).any(axis=0)):
        if not (observed[:, j] & ~where[:, j]).any():  # a row kept for an earlier feature may keep this one too
            row = rng.choice(np.flatnonzero(where[:, j]))
            lost_all = bool((where[row] == observed[row]).all())
            where[row, slice(None) if lost_all else j] = False
    return where
