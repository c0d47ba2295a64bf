"""The steps of MIC on plain arrays: square-root multiplicative updates, consensus, objective.

Functions of one view take a `Filled` (products with the imputed data, squared weights c²), its embedding U (n, r) and
its basis V (d, r).
"""

from __future__ import annotations

from collections.abc import Sequence

from jella.estimators.consensus.filled import Filled
from jella.numerics.arrays import Array, at_least, inner, namespace, row_sqnorms

#: below this a denominator or a norm counts as zero, as in the authors' program
TINY = 1e-30


def consensus(views: Sequence[Filled], embeddings: Sequence[Array]) -> Array:
    """U* = (Σ C_v²)⁻¹ Σ C_v² U_v, (n, r): what minimises Σ ‖C_v(U_v − U*)‖²."""
    top = sum(view.weights[:, None] * U for view, U in zip(views, embeddings, strict=True))
    return top / sum(view.weights for view in views)[:, None]


def row_norms(U: Array) -> Array:
    """The norm of each row, (n,)."""
    return namespace(U).sqrt(row_sqnorms(U))


def embedding_step(view: Filled, U: Array, V: Array, target: Array, alpha: float, beta: float) -> Array:
    """U ⊙ sqrt((C²XV + αC²U*) / (C²UVᵀV + αC²U + ½βDU)), D the inverse row norms of U."""
    xp, weights = namespace(U), view.weights[:, None]
    up = weights * (view.times(V) + alpha * target)
    down = weights * (U @ (V.T @ V) + alpha * U)
    # a zero row has no direction to shrink along, and stays zero under a product
    down = down + 0.5 * beta * U / at_least(row_norms(U), TINY)[:, None]
    return U * xp.sqrt(up / at_least(down, TINY))


def basis_step(view: Filled, U: Array, V: Array) -> Array:
    """V ⊙ sqrt(XᵀC²U / (V UᵀC²U))."""
    xp, weighted = namespace(U), view.weights[:, None] * U
    return V * xp.sqrt(view.times_transposed(weighted) / at_least(V @ (U.T @ weighted), TINY))


def unit_columns(U: Array, V: Array) -> tuple[Array, Array]:
    """The same product U Vᵀ with the columns of V at ℓ1 norm one; zero columns stay zero."""
    xp = namespace(V)
    sums = xp.sum(xp.abs(V), axis=0)
    sums = xp.where(sums > 0, sums, xp.ones_like(sums))
    return U * sums, V / sums


def refine(
    view: Filled, U: Array, V: Array, target: Array, *, alpha: float, beta: float, n_steps: int
) -> tuple[Array, Array]:
    """Embedding and basis of one view after n_steps of both updates, with the consensus fixed."""
    U, V = unit_columns(U, V)
    for _ in range(n_steps):
        U = embedding_step(view, U, V, target, alpha, beta)
        V = basis_step(view, U, V)
        U, V = unit_columns(U, V)
    return U, V


def loss(view: Filled, U: Array, V: Array) -> float:
    """‖C(X − UVᵀ)‖², from products of X only."""
    weighted = view.weights[:, None] * U
    value = view.sqnorm() - 2.0 * inner(weighted, view.times(V)) + inner(U.T @ weighted, V.T @ V)
    return max(value, 0.0)


def mic_objective(
    views: Sequence[Filled],
    embeddings: Sequence[Array],
    bases: Sequence[Array],
    target: Array,
    alpha: float,
    beta: float,
) -> float:
    """Σ_v ‖C_v(X_v − U_v V_vᵀ)‖² + alpha ‖C_v(U_v − U*)‖² + beta ‖U_v‖_{2,1}, the last a sum of row norms."""
    value = 0.0
    for view, U, V in zip(views, embeddings, bases, strict=True):
        away = namespace(U).sum((U - target) ** 2, axis=1)
        value += loss(view, U, V) + alpha * float(view.weights @ away) + beta * float(namespace(U).sum(row_norms(U)))
    return value
