"""How much of each view each component explains, and its features with the largest weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.describe.subject import Absent, Subject, feature_name
from jella.numerics.arrays import row_blocks, sqnorm, to_numpy
from jella.views import View

#: components shown; if there are more, those that explain most
MOST_COMPONENTS = 30
#: features named for a component and view
N_FEATURES = 5


@dataclass(frozen=True)
class Loading:
    """A feature of a component and its weight."""

    feature: str
    weight: float


@dataclass(frozen=True, eq=False)
class Variance:
    """Share of the sum of squares of the scaled, observed values.

    Attributes
    ----------
    components : int array (c,)
        The components shown, from 0.
    n_components : int
        All of them.
    by_component : array (V, c)
        1 − ‖Γ ⊙ (X − w_j u_jᵀ)‖² / ‖Γ ⊙ X‖²: what a component explains by itself. It can be below 0.
    total : array (V,)
        The same for all components together.
    loadings : tuple of tuples of tuples of Loading
        By component shown and by view, largest weight first.
    centred : tuple of bool
        Views whose mean the scaling removed: for these it is the share of the variance.
    """

    components: np.ndarray
    n_components: int
    by_component: np.ndarray
    total: np.ndarray
    loadings: tuple[tuple[tuple[Loading, ...], ...], ...]
    centred: tuple[bool, ...]


def find_variance(subject: Subject) -> Variance | Absent:
    """Compute the explained shares of each view, over the samples that the model was fitted to."""
    subject = subject.related()
    if not hasattr(subject.model, "readout_"):
        return Absent(f"{subject.method} has no components: it learns a graph, not bases.")
    bases = [to_numpy(U).astype(np.float64) for U in subject.model.readout_.bases]
    scaled = subject.model.scaling_.apply(subject.used())
    parts = [_explained(*part) for part in zip(scaled, _embeddings(subject, len(bases)), bases, strict=True)]
    shares, total = np.stack([part[0] for part in parts]), np.array([part[1] for part in parts])
    strongest = np.argsort(-np.maximum(shares, 0.0).sum(axis=0), kind="stable")[:MOST_COMPONENTS]
    components = np.sort(strongest)
    return Variance(
        components=components,
        n_components=shares.shape[1],
        by_component=shares[:, components],
        total=total,
        loadings=tuple(
            tuple(_loadings(view, U[:, j]) for view, U in zip(subject.views, bases, strict=True)) for j in components
        ),
        centred=tuple(scale.center is not None for scale in subject.model.scaling_.scales),
    )


def _embeddings(subject: Subject, n_views: int) -> list[np.ndarray]:
    """The embedding that belongs to the basis of each view, for the kept samples."""
    model: Any = subject.model
    if hasattr(model, "result_"):  # the embedding that users see may differ from it
        return [to_numpy(model.result_.blocks.embedding).astype(np.float64)] * n_views
    if hasattr(model, "view_embeddings_"):
        own = model.view_embeddings_
        return [to_numpy(W)[subject.kept] for W in (own.values() if isinstance(own, dict) else own)]
    assert subject.embedding is not None
    return [subject.embedding[subject.kept].astype(np.float64)] * n_views


def _explained(view: View, W: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, float]:
    """The share of each component by itself, (r,), and of all together."""
    whole = max(sqnorm(view.X), np.finfo(np.float64).tiny)
    along = np.einsum("ij,ij->j", W, to_numpy(view.X @ U))  # wᵀ X u
    if view.is_rowwise:
        there = np.broadcast_to(view.mask, (view.n_samples, 1))
        squares = np.sum(there * W**2, axis=0) * np.sum(U**2, axis=0)
        together = float(np.sum((there * W) @ (U.T @ U) * W))
    else:
        squares, together = np.zeros(U.shape[1]), 0.0
        for rows in row_blocks(view.n_samples, 16 * view.n_features, 2**24):
            mask = view.mask[rows].astype(np.float64)
            squares += np.einsum("ij,ij->j", W[rows] ** 2, mask @ U**2)
            together += float(np.sum(mask * (W[rows] @ U.T) ** 2))
    return (2.0 * along - squares) / whole, (2.0 * float(along.sum()) - together) / whole


def _loadings(view: View, weights: np.ndarray) -> tuple[Loading, ...]:
    largest = np.argsort(-np.abs(weights), kind="stable")[:N_FEATURES]
    return tuple(Loading(feature_name(view, int(j)), float(weights[j])) for j in largest if weights[j] != 0)
