"""The exact embedding of MIC with fixed bases, each sample by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jella.estimators.consensus.filled import Filled
from jella.estimators.consensus.mic_steps import TINY, consensus
from jella.numerics.arrays import Array, at_least, namespace, row_blocks
from jella.readout.base import Readout
from jella.saving.kinds import register
from jella.saving.rules import check_readout, check_record, need_array, require
from jella.views import AnyViews
from jella.views.checks import refuse_missing_entries

#: a sample has settled when a step moves it by no more than this share of its length
SETTLED = 1e-9
#: maximum number of steps; some hundreds are usual
MOST_STEPS = 10_000


@register
@dataclass(frozen=True, eq=False)
class MICReadout(Readout):
    """The answers of MIC: the consensus of a new sample's embeddings in its views.

    Attributes
    ----------
    means : tuple of arrays (d_v,)
        Means of the views of the fit, for samples that lack a view.
    shares : tuple of float
        Share of the samples of the fit that have each view: the weight of a mean.
    alpha, beta : float
        Parameters of the fit.
    """

    means: tuple[Array, ...] = ()
    shares: tuple[float, ...] = ()
    alpha: float = 0.0
    beta: float = 0.0

    def solve(self, views: AnyViews) -> Array:
        """The embedding (n, r) of new samples, each by itself."""
        refuse_missing_entries(views, self.method)
        filled = [Filled.weighted(*known) for known in zip(views, self.means, self.shares, strict=True)]
        stacked = embed_views(filled, self.bases, self.alpha, self.beta)
        return consensus(filled, [stacked[v, :, :] for v in range(len(filled))])


@check_record.register
def _(readout: MICReadout) -> None:
    check_readout(readout)
    require(len(readout.means) == len(readout.shares) == len(readout.bases), "a mean and a share per view")
    for mean, share, U in zip(readout.means, readout.shares, readout.bases, strict=True):
        need_array(mean, (U.shape[0],), "the mean of a view")
        require(0 <= share <= 1, "a share of samples")
    require(0 <= readout.alpha < np.inf and 0 <= readout.beta < np.inf, "weights of at least zero")


def embed_views(views: Sequence[Filled], bases: Sequence[Array], alpha: float, beta: float) -> Array:
    """The U_v ≥ 0 that minimise MIC's objective with V_v fixed and U* optimal, (V, n, r).

    The objective is then convex and a sum over samples, solved in blocks of samples that fit the cache.
    """
    xp = namespace(bases[0])
    weights = xp.stack([view.weights for view in views])[:, :, None]  # (V, n, 1)
    grams = xp.stack([V.T @ V for V in bases])
    cross = xp.stack([view.times(V) for view, V in zip(views, bases, strict=True)])
    blocks = row_blocks(cross.shape[1], 8 * cross.shape[0] * cross.shape[2])
    pieces = [_solve(grams, cross[:, rows, :], weights[:, rows, :], alpha, beta) for rows in blocks]
    return xp.concat(pieces, axis=1)


def _solve(grams: Array, cross: Array, weights: Array, alpha: float, beta: float) -> Array:
    """Accelerated proximal gradient steps, with one step size per view and restarts per sample."""
    xp = namespace(cross)
    # the coupling with U* only lowers the curvature, so that the blocks of single views bound it
    step = 1.0 / at_least(xp.max(xp.linalg.eigvalsh(grams), axis=1) + alpha, TINY)[:, None, None]
    shrink = 0.5 * beta * step / weights
    total = xp.sum(weights, axis=0)
    tol = max(SETTLED, 4.0 * float(xp.finfo(cross.dtype).eps))
    U = xp.zeros_like(cross)
    ahead, momentum = U, xp.ones_like(total)  # (n, 1)
    for _ in range(MOST_STEPS):
        center = xp.sum(weights * ahead, axis=0) / total
        gradient = ahead @ grams - cross + alpha * (ahead - center)
        new = _prox(ahead - step * gradient, shrink)
        moved = new - U
        # where the last step points against the gradient, momentum overshoots: restart it for this sample
        back = xp.sum((ahead - new) * moved * (weights / step), axis=(0, 2))[:, None] > 0
        following = xp.where(back, xp.ones_like(momentum), 0.5 * (1.0 + xp.sqrt(1.0 + 4.0 * momentum * momentum)))
        ahead = new + xp.where(back, xp.zeros_like(momentum), (momentum - 1.0) / following) * moved
        U, momentum = new, following
        if _settled(moved, new, tol):
            break
    return U


def _prox(U: Array, shrink: Array) -> Array:
    """U with negative entries at 0, and with each row of each view shortened by its amount."""
    xp = namespace(U)
    U = at_least(U, 0.0)
    lengths = xp.sqrt(xp.sum(U * U, axis=2, keepdims=True))
    return U * at_least(1.0 - shrink / at_least(lengths, TINY), 0.0)


def _settled(moved: Array, U: Array, tol: float) -> bool:
    xp = namespace(U)
    distance, length = (xp.sqrt(xp.sum(A * A, axis=(0, 2))) for A in (moved, U))
    return bool(xp.all(distance <= tol * length))
