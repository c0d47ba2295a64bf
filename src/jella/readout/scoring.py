"""Hiding what is known, to see how well it is predicted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from jella.numerics.arrays import Array, to_numpy
from jella.numerics.rows import row_blocks
from jella.views import View, Views
from jella.views.frames import Frame
from jella.views.masks import blank_rows, dense_mask
from jella.views.scaling import Scaling

SHARE = 0.1
#: samples are scored in blocks of about this size, so that a wide sparse view is never dense as a whole
BLOCK_BYTES = 2**26

Predict = Callable[[Views], Sequence[Array]]


def held_out_rmse(views: Views, predict: Predict, scaling: Scaling, rng: np.random.Generator) -> float:
    """RMSE on hidden values, in the scale that all observed values of a sample or feature give.

    Parameters
    ----------
    predict : callable
        Views with less observed -> an estimate of every view, (n, d) each, in the user's units.
    """
    total, count = 0.0, 0
    for rows in row_blocks(views.n_samples, 8 * views.n_features, BLOCK_BYTES):
        block = views.take(np.arange(rows.start, rows.stop))
        for errors in _errors(block, predict, scaling, rng):
            total += float(np.sum(errors**2))
            count += errors.size
    if count == 0:
        raise ValueError("nothing can be hidden to score on: no sample has two observed values")
    return float(np.sqrt(total / count))


def _errors(views: Views, predict: Predict, scaling: Scaling, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Errors on the hidden entries of every view."""
    hidden = choose_hidden(views, rng)
    estimates, norms = predict(hide(views, hidden)), scaling.scale_of(views)
    for v, (view, where) in enumerate(zip(views, hidden, strict=True)):
        rows = np.flatnonzero(where.any(axis=1))
        true = view.X[rows].toarray() if view.is_sparse else to_numpy(view.X)[rows]
        by_row = None if norms is None else norms[rows]
        both = [values.astype(np.float64, copy=False) for values in (to_numpy(estimates[v])[rows], true)]
        found, wanted = (scaling.forward(values, v, by_row) for values in both)
        yield (found - wanted)[np.broadcast_to(where[rows], wanted.shape)]


def choose_hidden(views: Views, rng: np.random.Generator) -> list[np.ndarray]:
    """What to hide of the observed, (n, 1) or (n, d) booleans a view.

    A whole view of samples with two or more; of the others a tenth of what they have, at least one entry and never
    the last.
    """
    presence = views.presence()
    several = presence.sum(axis=1) >= 2
    drawn = np.where(presence, rng.random(presence.shape), -1.0).argmax(axis=1)
    hidden = []
    for v, view in enumerate(views):
        whole = (several & (drawn == v))[:, None] & to_numpy(view.mask)
        alone = np.flatnonzero(~several & presence[:, v])
        hidden.append(whole | _some_entries(view, alone, rng) if alone.size else whole)
    return hidden


def _some_entries(view: View, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    chosen = np.zeros((view.n_samples, view.n_features), dtype=bool)
    observed = np.broadcast_to(to_numpy(view.mask), chosen.shape)[rows]
    count = observed.sum(axis=1, keepdims=True)
    wanted = np.where(count > 1, np.maximum(1, np.round(SHARE * count)), 0)
    order = np.where(observed, rng.random(observed.shape), 2.0).argsort(axis=1).argsort(axis=1)
    chosen[rows] = order < wanted
    return chosen


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
    X, mask = dense_mask(Frame(values, observed=to_numpy(view.mask) & ~where), view.name)
    return replace(view, X=X, mask=mask)
