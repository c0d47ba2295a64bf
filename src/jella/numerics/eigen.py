"""Lowest eigenvectors of a symmetric operator, from a start, never worse than the start.

SciPy's `lobpcg` and `eigsh` offer the same for NumPy. This one works with any array library, and its result is never
worse than its start, which keeps the objective of a fit monotone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy.linalg import eigh

from jella.numerics.arrays import (
    Array,
    by_rows,
    cache_blocks,
    if_small_on_host,
    is_numpy,
    like,
    namespace,
    subtract_product,
)


def lowest_of_dense(A: Array, k: int) -> tuple[Array, Array]:
    """Eigenvectors (n, k) of the k lowest eigenvalues of a symmetric array, and the eigenvalues (k,); A may change.

    In NumPy only these are computed, which takes a third of the time.
    """
    if is_numpy(A):
        values, vectors = eigh(A, subset_by_index=[0, k - 1], overwrite_a=True, check_finite=False)
        return vectors, values
    values, vectors = namespace(A).linalg.eigh(A)
    return vectors[:, :k], values[:k]


def lowest_eigenvectors(
    times: Callable[[Array], Array], start: Array, *, diagonal: Array, tol: float = 1e-5, max_iter: int = 100
) -> tuple[Array, Array]:
    """Eigenvectors of the k lowest eigenvalues, (n, k) orthonormal, and the eigenvalues (k,), which may be in NumPy.

    Locally optimal block preconditioned conjugate gradients: Rayleigh-Ritz on the span of the current vectors, their
    preconditioned residuals and the last directions. The span contains the current vectors, so the sum of the Ritz
    values is never larger than at the start.

    Parameters
    ----------
    times : callable
        Array (n, q) -> the operator times this array.
    start : array (n, k)
        Full column rank.
    diagonal : array (n,)
        Positive diagonal of the operator: the preconditioner divides by it.
    tol : float
        The iteration ends when the residual of each vector is at most tol times the largest entry of the diagonal.
    """
    xp, k = namespace(start), start.shape[1]
    X = _orthonormal(start)
    LX = times(X)
    vectors, values = _ritz(X.T @ LX, k)
    X, LX = (A @ like(vectors, A) for A in (X, LX))
    P: Array | None = None
    scale = float(xp.max(diagonal))
    floor = max(1e-3 * scale, 1e-300)
    precondition = (1.0 / xp.where(diagonal > floor, diagonal, xp.zeros_like(diagonal) + floor))[:, None]
    R = _residuals(LX, X, values)
    size = _largest_length(xp, R)
    for _ in range(max_iter):
        if size <= tol * scale:
            break
        S = _complement(X, _directions(xp, R, precondition, P))
        if S.shape[1] == 0:
            break
        LS = times(S)
        cross = X.T @ LS
        small = xp.concat([xp.concat([X.T @ LX, cross], axis=1), xp.concat([cross.T, S.T @ LS], axis=1)])
        vectors, new_values = _ritz(small, k)
        vectors = like(vectors, X)
        new, new_LX = _combined(X, S, vectors), _combined(LX, LS, vectors)
        R = _residuals(new_LX, new, new_values)
        new_size = _largest_length(xp, R)
        if _total(new_values) >= _total(values) and new_size >= size:
            break  # neither the values nor the residuals improve: the rounding level
        P = _minus_product(new, X, X.T @ new)
        X, LX, values, size = new, new_LX, new_values, new_size
    return X, values


# arrays of n rows are computed block by block, without temporaries of their size


def _minus_product(A: Array, X: Array, small: Array) -> Array:
    """A − X @ small."""
    return by_rows(A, lambda rows: A[rows, :] - X[rows, :] @ small)


def _residuals(LX: Array, X: Array, values: Array) -> Array:
    """What the operator makes of vectors, minus the vectors times their values (k,)."""
    values = like(values, X)
    return by_rows(X, lambda rows: LX[rows, :] - X[rows, :] * values)


def _total(values: Array) -> float:
    return float(namespace(values).sum(values))


def _largest_length(xp: Any, R: Array) -> float:
    return float(xp.max(xp.sqrt(xp.sum(R * R, axis=0))))


def _ritz(small: Array, k: int) -> tuple[Array, Array]:
    """The k lowest eigenvectors and eigenvalues of the operator on an orthonormal basis; of a small one on the host."""
    small = if_small_on_host(small)
    values, vectors = namespace(small).linalg.eigh(0.5 * (small + small.T))
    return vectors[:, :k], values[:k]


def _combined(X: Array, S: Array, vectors: Array) -> Array:
    """[X S] times the vectors."""
    upper, lower = vectors[: X.shape[1], :], vectors[X.shape[1] :, :]
    return by_rows(X, lambda rows: X[rows, :] @ upper + S[rows, :] @ lower)


def _directions(xp: Any, R: Array, precondition: Array, P: Array | None) -> Array:
    """Preconditioned residuals and the last directions side by side."""
    if P is None:
        return R * precondition
    made = xp.empty((R.shape[0], R.shape[1] + P.shape[1]), dtype=R.dtype, device=R.device)
    for rows in cache_blocks(made):
        made[rows, : R.shape[1]] = R[rows, :] * precondition[rows, :]
        made[rows, R.shape[1] :] = P[rows, :]
    return made


def _complement(X: Array, S: Array) -> Array:
    """Orthonormal columns that span what S adds to the span of the orthonormal X; S is overwritten.

    Computed from small Gram matrices, twice for accuracy.
    """
    for _ in range(2):
        subtract_product(S, X, X.T @ S)
        small = _orthonormalising(S.T @ S)
        if small.shape[1] < S.shape[1] or not is_numpy(S):
            S = S @ like(small, S)
            continue
        for rows in cache_blocks(S):
            S[rows, :] = S[rows, :] @ small
    return S


def _orthonormal(start: Array) -> Array:
    """Orthonormal columns (n, k) with the span of the start; a device needs many steps for a QR decomposition."""
    S = start
    for _ in range(0 if is_numpy(start) else 2):
        S = S @ like(_orthonormalising(S.T @ S), S)
    return S if 0 < S.shape[1] == start.shape[1] and S is not start else namespace(start).linalg.qr(start)[0]


def _orthonormalising(gram: Array) -> Array:
    """The matrix that makes columns with this Gram matrix orthonormal, and leaves out what the others span."""
    gram = if_small_on_host(gram)
    xp = namespace(gram)
    lengths = xp.sqrt(xp.linalg.diagonal(gram))
    lengths = xp.where(lengths > 0, lengths, xp.ones_like(lengths))
    values, vectors = xp.linalg.eigh(gram / (lengths[:, None] * lengths[None, :]))
    kept = int(xp.sum(xp.astype(values > 1e3 * float(xp.finfo(gram.dtype).eps), xp.int64)))
    first = values.shape[0] - kept
    return vectors[:, first:] / xp.sqrt(values[first:]) / lengths[:, None]
