"""The start of a solve over chunks: as in memory, but from sums over chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from jella.distributed.by_chunk import ByChunk
from jella.distributed.views import ChunkedViews
from jella.numerics.arrays import solve_psd
from jella.problem.model import Blocks, Problem
from jella.problem.terms import Indicator
from jella.readout.base import CLUSTERED
from jella.solve.solver import largest_signs, split_rows
from jella.solve.start import (
    MeanFilled,
    check_embedding,
    feasible_bases,
    feasible_embedding,
    first_clusters,
    given_bases,
    half,
    half_squares,
    leading,
    make_start,
    stronger_halves,
)
from jella.views import Views
from jella.views.containers import is_dask
from jella.views.scaling import feature_sums

#: the largest number of features for which Gram matrices are summed over chunks
MOST_FEATURES = 20_000


@make_start.register
def _(views: ChunkedViews, problem: Problem, init: Any, rank: int, rng: np.random.Generator) -> Blocks:
    """As in memory. The embedding is in chunks too, or on the client if all samples are solved together."""
    if isinstance(init, str) and init not in ("svd", "random"):
        raise ValueError(f"init must be 'svd', 'random', an array or a dict of blocks, got {init!r}")
    if isinstance(init, str) and any(isinstance(term, Indicator) for term in problem.embedding):
        blocks = _from_clusters(views, init, rank, rng)
    elif isinstance(init, str) and init == "svd":
        blocks = _from_svd(views, problem, rank)
    elif isinstance(init, str):
        W = rng.standard_normal((views.n_samples, rank)).astype(views.dtype)
        blocks = _from_embedding(views, views.cut(abs(W) if problem.has_nonnegative_embedding else W))
    else:
        blocks = _given(views, init, rank)
    bases, W = feasible_bases(problem, blocks.bases), blocks.embedding
    if not problem.is_separable:
        return Blocks(bases, feasible_embedding(problem, views.whole(W)))
    return Blocks(bases, W.map(partial(feasible_embedding, problem)))


def _means(views: ChunkedViews) -> list[np.ndarray]:
    totals = [view.reduce(feature_sums) for view in views]
    return [total / np.maximum(view.count_by_feature(), 1) for total, view in zip(totals, views, strict=True)]


def _scores(views: ChunkedViews, rank: int) -> tuple[ByChunk, np.ndarray, np.ndarray]:
    """The leading singular triplets of the imputed views: Q (n, r) in chunks, s (r,), V (Σ d_v, r)."""
    if views.n_features > MOST_FEATURES:
        raise ValueError(
            f"expected at most {MOST_FEATURES} features of samples in chunks for init='svd', got {views.n_features}; "
            "pass init='random', or blocks to start from"
        )
    means = [mean.astype(views.dtype) for mean in _means(views)]
    s, inverse, near = leading(views.reduce(partial(_gram, means)), rank)
    signs = largest_signs(near)
    return views.map_rows(partial(_times, means, near * inverse * signs), rank), s, near * signs


def _from_svd(views: ChunkedViews, problem: Problem, rank: int) -> Blocks:
    Q, s, V = _scores(views, rank)
    if problem.has_nonnegative_embedding:
        up, of_Q, of_V = stronger_halves(Q.sum(half_squares), half_squares(V), s)
        Q, V = Q.map(partial(_half_times, up, of_Q)), half(V, up) * of_V
    else:
        Q = Q.map(np.multiply, s)
    if problem.has_nonnegative_embedding and not problem.needs_nonnegative_data:
        return _from_embedding(views, Q)
    return Blocks(split_rows(V, views.widths), Q)


def _from_clusters(views: ChunkedViews, init: str, rank: int, rng: np.random.Generator) -> Blocks:
    """Start for an indicator: k-means on leading SVD scores of some samples, then the nearest centre of each sample."""
    Q, s, _ = _scores(views, rank)
    scores = Q.map(np.multiply, s)
    found = first_clusters(scores.some(CLUSTERED), init, rank, rng)
    return _from_embedding(views, scores.map(partial(_nearest, found.cluster_centers_)))


def _from_embedding(views: ChunkedViews, W: ByChunk) -> Blocks:
    """Blocks with this embedding, and least-squares bases for the views imputed with means."""
    means = [mean.astype(views.dtype) for mean in _means(views)]
    total = views.reduce(partial(_with_rows, means), W)
    gram, crosses = total[: W.width], split_rows(total[W.width :], views.widths)
    return Blocks(tuple(solve_psd(gram, cross) for cross in crosses), W)


def _given(views: ChunkedViews, init: Any, rank: int) -> Blocks:
    given = init if isinstance(init, Mapping) else {"embedding": init}
    if "embedding" not in given:
        raise ValueError("init as a dict must have the key 'embedding', and may have 'bases'")
    W = given["embedding"]
    W = W.astype(views.dtype) if is_dask(W) else np.asarray(W, dtype=views.dtype)
    check_embedding(W, views, rank)  # type: ignore[arg-type]
    if given.get("bases") is None:
        return _from_embedding(views, views.cut(W))
    reference = np.empty(0, dtype=views.dtype)
    return Blocks(given_bases(given["bases"], views, rank, reference), views.cut(W))  # type: ignore[arg-type]


# what a worker computes for a chunk


def _filled(means: Sequence[np.ndarray], views: Views) -> np.ndarray:
    pairs = zip(views, means, strict=True)
    return np.concatenate([MeanFilled.of(view, mean).dense() for view, mean in pairs], axis=1)


def _gram(means: Sequence[np.ndarray], views: Views) -> np.ndarray:
    F = _filled(means, views)
    return np.asarray(F.T @ F)


def _times(means: Sequence[np.ndarray], V: np.ndarray, views: Views) -> np.ndarray:
    return _filled(means, views) @ V


def _with_rows(means: Sequence[np.ndarray], views: Views, W: np.ndarray) -> np.ndarray:
    """WᵀW above the products of the imputed views with W, (r + Σ d_v, r)."""
    pairs = zip(views, means, strict=True)
    return np.concatenate([W.T @ W, *(MeanFilled.of(view, mean).times_transposed(W) for view, mean in pairs)])


def _half_times(up: np.ndarray, factors: np.ndarray, Q: np.ndarray) -> np.ndarray:
    return np.asarray(half(Q, up) * factors)


def _nearest(centres: np.ndarray, scores: np.ndarray) -> np.ndarray:
    distance = np.sum(centres**2, axis=1) - 2.0 * scores @ centres.T
    return np.eye(len(centres), dtype=scores.dtype)[distance.argmin(axis=1)]
