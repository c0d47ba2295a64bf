"""Hiding what is known, to see how well it is predicted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from jella.arrays import Array, namespace, to_numpy
from jella.scaling import Scaling
from jella.views import View, Views
from jella.views.masks import blank_rows, dense_mask

SHARE = 0.1


def held_out_rmse(
    views: Views, predict: Callable[[Views], Sequence[Array]], scaling: Scaling, rng: np.random.Generator
) -> float:
    """RMSE on hidden values, in units of the scale that all observed values of a sample or feature give.

    Parameters
    ----------
    predict : callable
        Views with less observed -> an estimate of every view, (n, d) each, in the user's units.
    """
    hidden = choose_hidden(views, rng)
    estimates = predict(hide(views, hidden))
    norms = scaling.scale_of(views)
    total, count = 0.0, 0
    for v, (view, where) in enumerate(zip(views, hidden, strict=True)):
        rows = np.flatnonzero(where.any(axis=1))
        true = view.X[rows].toarray() if view.is_sparse else to_numpy(view.X)[rows]
        unit = np.broadcast_to(scaling.unit(v, norms), (view.n_samples, view.n_features))[rows]
        error = (to_numpy(estimates[v])[rows] - true) / unit
        chosen = np.broadcast_to(where[rows], error.shape)
        total += float(np.sum(error[chosen] ** 2))
        count += int(chosen.sum())
    if count == 0:
        raise ValueError("nothing can be hidden to score on: every sample has a single observed value")
    return float(np.sqrt(total / count))


def choose_hidden(views: Views, rng: np.random.Generator) -> list[np.ndarray]:
    """What to hide, (n, 1) or (n, d) booleans a view: a whole view of samples with two or more, else a tenth of what
    a sample has (at least one entry, and never its last).
    """
    presence = views.presence()
    several = presence.sum(axis=1) >= 2
    drawn = np.where(presence, rng.random(presence.shape), -1.0).argmax(axis=1)
    hidden = []
    for v, view in enumerate(views):
        whole = several & (drawn == v)
        alone = ~several & presence[:, v]
        hidden.append(_whole_and_entries(view, whole, alone, rng) if alone.any() else whole[:, None])
    return hidden


def _whole_and_entries(view: View, whole: np.ndarray, alone: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    shape = (view.n_samples, view.n_features)
    observed = np.broadcast_to(to_numpy(view.mask), shape) & alone[:, None]
    count = observed.sum(axis=1)
    wanted = np.where(count > 1, np.maximum(1, np.round(SHARE * count)), 0)
    order = np.where(observed, rng.random(shape), 2.0).argsort(axis=1).argsort(axis=1)
    return (order < wanted[:, None]) & observed | (whole[:, None] & np.broadcast_to(to_numpy(view.mask), shape))


def hide(views: Views, hidden: Sequence[np.ndarray]) -> Views:
    """The views with some observed values taken away."""
    return replace(views, items=tuple(_hide_one(view, where) for view, where in zip(views, hidden, strict=True)))


def _hide_one(view: View, where: np.ndarray) -> View:
    if not where.any():
        return view
    if view.is_sparse and where.shape[1] == 1:
        present = view.presence() & ~where[:, 0]
        return replace(view, X=blank_rows(view.X, present), mask=present[:, None])
    values = view.X.toarray() if view.is_sparse else view.X
    observed = np.broadcast_to(to_numpy(view.mask) & ~where, (view.n_samples, view.n_features))
    xp = namespace(values)
    X, mask = dense_mask(values, xp.asarray(observed), None, view.name)
    return replace(view, X=X, mask=mask)
