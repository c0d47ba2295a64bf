"""The start of MIC: factors of one view after another, each from the embedding of the view before; or given ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jella.estimators.consensus.filled import Filled
from jella.estimators.consensus.mic_steps import loss, refine, unit_columns
from jella.numerics.arrays import Array, inner, like, namespace
from jella.solve.start import in_view_order
from jella.views import Views

#: passes over the views, as in the paper
N_PASSES = 3
#: steps of each random start before the best one is chosen
SHORT = 10


def chained_start(
    views: Sequence[Filled], rank: int, rng: np.random.Generator, *, n_init: int, n_steps: int
) -> tuple[list[Array], list[Array]]:
    """Embeddings (n, r) and bases (d_v, r) from three chained passes of plain NMF over the views imputed with means.

    The first view starts at random: of n_init short runs, the one with the lowest loss is continued.
    """
    plain = [replace(view, weights=namespace(view.weights).ones_like(view.weights)) for view in views]
    tries = [_short_run(plain[0], rank, rng) for _ in range(n_init)]
    U, first = min(tries, key=lambda pair: loss(plain[0], *pair))
    bases = [first] + [_random(view.mean, rank, rng) for view in plain[1:]]
    embeddings = [U] * len(plain)
    for _ in range(N_PASSES):
        for v, view in enumerate(plain):
            # without the terms of weight alpha and beta, refine is plain NMF
            U, bases[v] = refine(view, U, bases[v], U, alpha=0.0, beta=0.0, n_steps=n_steps)
            embeddings[v] = U
    return embeddings, bases


def given_start(views: Views, init: Any, rank: int) -> tuple[list[Array], list[Array]]:
    """The embeddings and bases that the user gave, checked."""
    if not isinstance(init, Mapping) or set(init) != {"embeddings", "bases"}:
        raise ValueError(
            f"init must be 'nmf' or a dict with 'embeddings' and 'bases', one array per view each, got {init!r:.80}"
        )
    reference = views[0].X
    embeddings, bases = (
        [like(block, reference) for block in in_view_order(init[key], views)] for key in ("embeddings", "bases")
    )
    shapes = [tuple(block.shape) for block in (*embeddings, *bases)]
    wanted = [(views.n_samples, rank)] * len(views) + [(view.n_features, rank) for view in views]
    if shapes != wanted:
        raise ValueError(f"init's embeddings and bases must have shapes {wanted}, got {shapes}")
    if any(float(namespace(block).min(block)) < 0 for block in (*embeddings, *bases)):
        raise ValueError("init's embeddings and bases must not be negative; clip them at 0")
    return embeddings, bases


def _short_run(view: Filled, rank: int, rng: np.random.Generator) -> tuple[Array, Array]:
    V = _random(view.mean, rank, rng)
    U = like(rng.uniform(size=(int(view.X.shape[0]), rank)), view.mean)
    U, V = unit_columns(U, V)
    size = inner(U.T @ U, V.T @ V)
    U = U * (inner(U, view.times(V)) / size if size > 0 else 1.0)  # start at the scale of the data
    return refine(view, U, V, U, alpha=0.0, beta=0.0, n_steps=SHORT)


def _random(mean: Array, rank: int, rng: np.random.Generator) -> Array:
    """A basis with random entries, (d, r)."""
    return like(rng.uniform(size=(int(mean.shape[0]), rank)), mean)
