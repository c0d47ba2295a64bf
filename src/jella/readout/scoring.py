"""The score of a model: the error of its predictions of values that are hidden from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from jella.numerics.arrays import Array, dense_rows, row_blocks
from jella.views import Views
from jella.views.draw import draw_for_score
from jella.views.scaling import Scaling

#: samples are scored in blocks of about this many bytes, so that a wide sparse view is never dense as a whole
BLOCK_BYTES = 2**26

Predict = Callable[[Views], Sequence[Array]]


def held_out_rmse(views: Views, predict: Predict, scaling: Scaling, rng: np.random.Generator) -> float:
    """The RMSE on hidden values, in the scale of the model; norms of samples come from all their observed values.

    Parameters
    ----------
    predict : callable
        Takes views with hidden values; returns an estimate of each view, (n, d), in the user's units.
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
    """The errors on the hidden entries of each view."""
    hidden = draw_for_score(views, rng)
    estimates, norms = predict(hidden.apply(views)), scaling.scale_of(views)
    for v, view in enumerate(views):
        rows = hidden.rows(v)
        by_row = None if norms is None else norms[rows]
        found, wanted = (scaling.forward(dense_rows(X, rows), v, by_row) for X in (estimates[v], view.X))
        yield (found - wanted)[np.broadcast_to(hidden[v][rows], wanted.shape)]
