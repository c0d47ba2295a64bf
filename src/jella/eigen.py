"""Lowest eigenvectors of a symmetric operator, from a warm start, never worse than it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jella.arrays import Array, namespace


def lowest_eigenvectors(
    times: Callable[[Array], Array], start: Array, *, diagonal: Array, tol: float = 1e-5, max_iter: int = 100
) -> tuple[Array, Array]:
    """Eigenvectors of the k lowest eigenvalues, (n, k) orthonormal, and the eigenvalues (k,).

    Locally optimal block preconditioned conjugate gradients: Rayleigh-Ritz on the span of the current vectors, their
    preconditioned residuals and the last directions. The span holds the current vectors, so the sum of the Ritz values
    never rises above that of the start.

    Parameters
    ----------
    times : callable
        (n, q) -> operator times it.
    start : array (n, k)
        Full column rank.
    diagonal : array (n,)
        Positive diagonal of the operator, for the preconditioner.
    tol : float
        Ends when the residual of every vector is at most tol times the largest entry of the diagonal.
    """
    xp = namespace(start)
    X = xp.linalg.qr(start)[0]
    LX = times(X)
    X, LX, values = _ritz(xp, X, LX, start.shape[1])
    P: Array | None = None
    scale = float(xp.max(diagonal))
    floor = max(1e-3 * scale, 1e-300)
    precondition = 1.0 / xp.where(diagonal > floor, diagonal, xp.zeros_like(diagonal) + floor)
    R = LX - X * values
    size = _largest_length(xp, R)
    for _ in range(max_iter):
        if size <= tol * scale:
            break
        S = _complement(xp, X, xp.concat([R * precondition[:, None]] + ([] if P is None else [P]), axis=1))
        if S.shape[1] == 0:
            break
        basis, products = xp.concat([X, S], axis=1), xp.concat([LX, times(S)], axis=1)
        new, new_LX, new_values = _ritz(xp, basis, products, start.shape[1])
        new_R = new_LX - new * new_values
        new_size = _largest_length(xp, new_R)
        if float(xp.sum(new_values)) >= float(xp.sum(values)) and new_size >= size:
            break  # rounding level: neither the values nor the residuals improve
        P = new - X @ (X.T @ new)
        X, LX, values, R, size = new, new_LX, new_values, new_R, new_size
    return X, values


def _largest_length(xp: Any, R: Array) -> float:
    return float(xp.max(xp.sqrt(xp.sum(R * R, axis=0))))


def _ritz(xp: Any, basis: Array, products: Array, k: int) -> tuple[Array, Array, Array]:
    """The k lowest Ritz pairs of an orthonormal basis, and the operator times their vectors."""
    small = basis.T @ products
    values, vectors = xp.linalg.eigh(0.5 * (small + small.T))
    return basis @ vectors[:, :k], products @ vectors[:, :k], values[:k]


def _complement(xp: Any, X: Array, S: Array) -> Array:
    """Orthonormal columns that span what S adds to the orthonormal X; by small Gram matrices, twice for accuracy."""
    for _ in range(2):
        S = S - X @ (X.T @ S)
        lengths = xp.sqrt(xp.sum(S * S, axis=0))
        S = S / xp.where(lengths > 0, lengths, xp.ones_like(lengths))
        values, vectors = xp.linalg.eigh(S.T @ S)
        kept = int(xp.sum(xp.astype(values > 1e3 * float(xp.finfo(S.dtype).eps), xp.int64)))
        first = values.shape[0] - kept
        S = S @ (vectors[:, first:] / xp.sqrt(values[first:]))
    return S
