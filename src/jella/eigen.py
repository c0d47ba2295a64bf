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
    precondition = 1.0 / xp.where(
        diagonal > 1e-3 * scale, diagonal, xp.zeros_like(diagonal) + max(1e-3 * scale, 1e-300)
    )
    for _ in range(max_iter):
        R = times(X) - X * values
        if float(xp.max(xp.sqrt(xp.sum(R * R, axis=0)))) <= tol * scale:
            break
        directions = [R * precondition[:, None]] + ([] if P is None else [P])
        S = xp.concat(directions, axis=1)
        S = S - X @ (X.T @ S)
        S = S / _lengths(xp, S)
        basis = xp.linalg.qr(xp.concat([X, S], axis=1))[0]
        new, new_values = _ritz(xp, times, basis, start.shape[1])
        if not float(xp.sum(new_values)) < float(xp.sum(values)):
            break  # rounding level
        P = new - X @ (X.T @ new)
        X, values = new, new_values
    return X, values


def _ritz(xp: Any, times: Callable[[Array], Array], basis: Array, k: int) -> tuple[Array, Array]:
    small = basis.T @ times(basis)
    values, vectors = xp.linalg.eigh(0.5 * (small + small.T))
    return basis @ vectors[:, :k], values[:k]


def _lengths(xp: Any, S: Array) -> Array:
    lengths = xp.sqrt(xp.sum(S * S, axis=0))
    return xp.where(lengths > 0, lengths, xp.ones_like(lengths))
