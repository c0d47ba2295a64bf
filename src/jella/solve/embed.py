"""The embedding of samples when the bases are fixed: new samples, and the last step of every fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, like, namespace
from jella.problem.model import Problem
from jella.problem.residuals import ViewData
from jella.solve.plan import choose_update
from jella.solve.quadratic import embedding_on_observed
from jella.solve.updates import Update


def embed(
    data: Sequence[ViewData],
    bases: Sequence[Array],
    problem: Problem,
    loss_state: Any = None,
    start: Array | None = None,
    *,
    towards: Array | None = None,
) -> Array:
    """Each sample's exact embedding (n, r) from what was observed of it.

    Terms that couple samples are left out: they speak of the samples of the fit. `towards` (n, r), where given, adds
    −2 tr(towardsᵀW): with a ridge it pulls every sample to a place of its own.
    """
    alone = replace(problem, embedding=tuple(term for term in problem.embedding if term.separable))
    chosen = problem.loss.choose(data, bases, alone.embedding, loss_state)
    if chosen is not None:
        return chosen
    update = choose_update(alone.embedding, "embedding")
    if start is None:
        start = like(np.zeros((data[0].X.shape[0], bases[0].shape[1])), bases[0])
    return update_by_parts(update, data, bases, alone, start, towards=towards)


def update_by_parts(
    update: Update,
    data: Sequence[ViewData],
    bases: Sequence[Array],
    problem: Problem,
    W: Array,
    row_weights: Sequence[Array] | None = None,
    *,
    towards: Array | None = None,
) -> Array:
    """The W-step of Algorithm 2: an update on each group of samples that share their quadratic."""
    xp = namespace(W)
    rows, pieces = [], []
    for part in embedding_on_observed(data, bases, row_weights):
        quadratic = part.quadratic.scaled(problem.loss.weight)
        if towards is not None:
            quadratic = replace(quadratic, cross=quadratic.cross + _rows(towards, part.rows))
        pieces.append(update.apply(quadratic, problem.embedding, _rows(W, part.rows)))
        rows.append(part.rows)
    if len(pieces) == 1:
        return pieces[0]
    together = xp.concat(pieces, axis=0)
    return together if isinstance(rows[0], slice) else xp.take(together, xp.argsort(xp.concat(rows)), axis=0)


def _rows(W: Array, rows: Array | slice) -> Array:
    return W[rows, :] if isinstance(rows, slice) else namespace(W).take(W, rows, axis=0)
