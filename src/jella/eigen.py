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
    X, values = _ritz(xp, times, xp.linalg.qr(start)[0], start.shape[1])
    P: Array | None = None
    scale = float(xp.max(diagonal))
    floor = max(1e-3 * scale, 1e-300)
    precondition = 1.0 / xp.where(diagonal > floor, diagonal, xp.zeros_like(diagonal) + floor)
    R = times(X) - X * values
    size = _largest_length(xp, R)
    for _ in range(max_iter):
        if size <= tol * scale:
            break
        S = xp.concat([R * precondition[:, None]] + ([] if P is None else [P]), axis=1)
        S = S - X @ (X.T @ S)
        S = S / _lengths(xp, S)
        basis = xp.linalg.qr(xp.concat([X, S], axis=1))[0]
        new, new_values = _ritz(xp, times, basis, start.shape[1])
        new_R = times(new) - new * new_values
        new_size = _largest_length(xp, new_R)
        if float(xp.sum(new_values)) >= float(xp.sum(values)) and new_size >= size:
            break  # rounding level: neither the values nor the residuals improve
        P = new - X @ (X.T @ new)
        X, values, R, size = new, new_values, new_R, new_size
    return X, values


def _largest_length(xp: Any, R: Array) -> float:
    return float(xp.max(xp.sqrt(xp.sum(R * R, axis=0))))


def _ritz(xp: Any, times: Callable[[Array], Array], basis: Array, k: int) -> tuple[Array, Array]:
    small = basis.T @ times(basis)
    values, vectors = xp.linalg.eigh(0.5 * (small + small.T))
    return basis @ vectors[:, :k], values[:k]


def _lengths(xp: Any, S: Array) -> Array:
    lengths = xp.sqrt(xp.sum(S * S, axis=0))
    return xp.where(lengths > 0, lengths, xp.ones_like(lengths))
