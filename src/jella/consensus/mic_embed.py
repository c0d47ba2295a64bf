"""The embedding of MIC when the bases are fixed: each sample by itself, exactly."""

from __future__ import annotations

from collections.abc import Sequence

from jella.arrays import Array, namespace
from jella.consensus.filled import Filled


def embed_views(
    views: Sequence[Filled],
    bases: Sequence[Array],
    alpha: float,
    beta: float,
    *,
    tol: float = 1e-9,
    max_iter: int = 10_000,
) -> Array:
    """The U_v ≥ 0 that minimise MIC's objective with V_v fixed and U* at its best, (V, n, r).

    The objective is then convex and a sum over samples. Accelerated proximal gradient steps, with a step size for every
    view and a restart for every sample, so that a sample ends where it would end alone.

    Parameters
    ----------
    tol : float
        Ends when no sample moves by more than this share of its length.
    """
    xp = namespace(bases[0])
    weights = xp.stack([view.weights for view in views])[:, :, None]  # (V, n, 1)
    grams = xp.stack([V.T @ V for V in bases])
    cross = xp.stack([view.times(V) for view, V in zip(views, bases, strict=True)])
    # the coupling with U* takes curvature away: the blocks of one view bound it
    step = 1.0 / (xp.max(xp.linalg.eigvalsh(grams), axis=1) + alpha)[:, None, None]
    shrink = 0.5 * beta * step / weights
    U = xp.zeros_like(cross)
    ahead, momentum = U, xp.ones_like(cross[0, :, :1])  # (n, 1)
    for _ in range(max_iter):
        center = xp.sum(weights * ahead, axis=0) / xp.sum(weights, axis=0)
        gradient = ahead @ grams - cross + alpha * (ahead - center)
        new = _prox(ahead - step * gradient, shrink)
        moved = new - U
        back = xp.sum((ahead - new) * moved * (weights / step), axis=(0, 2)) > 0
        momentum = xp.where(back[:, None], xp.ones_like(momentum), momentum)
        following = 0.5 * (1.0 + xp.sqrt(1.0 + 4.0 * momentum * momentum))
        ahead = xp.where(back[:, None], new, new + ((momentum - 1.0) / following) * moved)
        U, momentum = new, following
        if _settled(moved, new, tol):
            break
    return U


def _prox(U: Array, shrink: Array) -> Array:
    """Entries at least 0, then every row of every view shortened by its amount."""
    xp = namespace(U)
    U = xp.clip(U, min=0.0)
    lengths = xp.sqrt(xp.sum(U * U, axis=2, keepdims=True))
    return U * xp.clip(1.0 - shrink / xp.clip(lengths, min=1e-30), min=0.0)


def _settled(moved: Array, U: Array, tol: float) -> bool:
    xp = namespace(U)
    distance, length = (xp.sqrt(xp.sum(A * A, axis=(0, 2))) for A in (moved, U))
    return bool(xp.all(distance <= tol * length))
