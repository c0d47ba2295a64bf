"""The largest eigenvalues of a large symmetric operator, in any array library, on its device."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh_tridiagonal

from jella.numerics.arrays import Array, beside, namespace, subtract_product, to_numpy

#: most vectors of the basis, and products between two looks at the accuracy
MOST, EACH = 600, 20


def largest_eigenpairs(
    times: Callable[[Array], Array], start: Array, k: int, tol: float
) -> tuple[np.ndarray, Array] | None:
    """The k largest eigenvalues, ascending, in NumPy, and their eigenvectors (n, k); None if the iteration ends early.

    Lanczos with full reorthogonalisation and without restarts: a device has memory for the whole basis, and needs fewer
    products so. SciPy's `eigsh` is for the host.

    Parameters
    ----------
    times : callable
        Array (n,) -> the operator times this array, in new memory.
    start : array (n,)
        Not orthogonal to an eigenvector that is looked for.
    tol : float
        Accuracy relative to each eigenvalue, as `eigsh` has it.

    Examples
    --------
    >>> values, vectors = largest_eigenpairs(lambda x: np.arange(1.0, 4.0) * x, np.ones(3), 2, 1e-9)
    >>> values.round(6).tolist(), np.abs(vectors).round(6).tolist()
    ([2.0, 3.0], [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    """
    xp, n = namespace(start), start.shape[0]
    most = min(n, max(MOST, 4 * k))
    basis = xp.zeros((most, n), dtype=start.dtype, device=start.device)
    vector, length = start, xp.linalg.vector_norm(start)
    diagonal: list[Array] = []
    beside_it: list[Array] = []
    for j in range(most):
        with np.errstate(invalid="ignore"):  # not a number after a length of zero, which the next look finds
            basis[j, :] = vector / length
        known, last = basis[: j + 1, :], basis[max(j - 1, 0) : j + 1, :]
        vector = times(basis[j, :])
        along = last @ vector
        subtract_product(vector, last.T, along)  # without rounding, this would be all
        subtract_product(vector, known.T, known @ vector)
        length = xp.linalg.vector_norm(vector)
        diagonal.append(along[-1])
        beside_it.append(length)
        if j + 1 < k or ((j + 1) % EACH and j + 1 < most):
            continue
        a, b = (to_numpy(xp.stack(one)).astype(np.float64) for one in (diagonal, beside_it))
        if not b[: n - 1].min(initial=np.inf) > 1e-12 * np.abs(a).max():
            return None  # the operator leaves the space of the basis as it is: other eigenvectors cannot be found
        if j + 1 == n:
            b[-1] = 0.0
        values, vectors = eigh_tridiagonal(a, b[:-1], select="i", select_range=(j + 1 - k, j))
        if (b[-1] * np.abs(vectors[-1]) <= tol * np.abs(values)).all():
            return values, known.T @ beside(vectors, known)
    return None
