"""A step to the minimum over the entries of a row that no kink of the terms holds, for many rows at once.

Coordinate descent finds soon which entries are zero or at a bound, and then needs many cycles for the others where
their Gram matrix is nearly singular, as for a sample with fewer values than components. These others solve a linear
system.
"""

from __future__ import annotations

import math

import numpy as np

from jella.numerics.arrays import Array, like, namespace, row_blocks, target_bytes
from jella.problem.terms.base import Piece
from jella.solve.quadratic import Quadratic

#: added to the diagonal, as a share of its largest entry, so that the system has a solution; at least this many
#: roundings
RIDGE, ROUNDINGS = 1e-10, 1e3
#: steps in a row: the second starts where the first has met the end of a piece
STEPS = 2
#: bytes of the systems that are solved in one batch
BATCH_BYTES = 2**23


def move_free_entries(quadratic: Quadratic, piece: Piece, B: Array) -> Array:
    """B (m, r) with the free entries of each row moved towards their minimum; the value of no row rises.

    Parameters
    ----------
    quadratic : Quadratic
        Without coupling.
    piece : Piece
        Around each entry, where the terms are linear. Entries stay in their pieces.
    B : array (m, r)
    """
    parts = []
    for rows in row_blocks(B.shape[0], 8 * B.shape[1] ** 2, target_bytes(B, BATCH_BYTES)):
        gram = quadratic.gram if quadratic.gram.ndim == 2 else quadratic.gram[rows, :, :]
        own = Piece(piece.slope[rows, :], piece.low[rows, :], piece.high[rows, :])
        some, alone = B[rows, :], Quadratic(gram, quadratic.cross[rows, :])
        for _ in range(STEPS):
            some = _moved(alone, own, some)
        parts.append(some)
    return namespace(B).concat(parts, axis=0)


def _moved(quadratic: Quadratic, piece: Piece, B: Array) -> Array:
    """All of the step, where its entries end at the ends of their pieces; else the part that meets no end."""
    xp = namespace(B)
    half_gradient = quadratic.times(B) - quadratic.cross + 0.5 * piece.slope
    step = _newton_step(quadratic.gram, half_gradient, (piece.low < B) & (piece.high > B))
    end = xp.where(step > 0, piece.high, piece.low)
    still = step == 0
    room = xp.where(still, math.inf, (end - B) / xp.where(still, 1.0, step))  # share of the step up to the end
    share = xp.min(room, axis=1, keepdims=True)
    share = xp.where(share < 1, share, 1.0)
    whole = xp.where(room <= 1, end, B + step)
    part = xp.where(room <= share, end, B + share * step)

    def rise(new: Array) -> Array:
        change = new - B
        return xp.sum(change * (quadratic.times(change) + 2.0 * half_gradient), axis=1, keepdims=True)

    return xp.where(rise(whole) < 0, whole, xp.where(rise(part) < 0, part, B))


def _newton_step(gram: Array, half_gradient: Array, free: Array) -> Array:
    """−(A + ridge)⁻¹ times half the gradient, over the free entries of each row; zero for the others."""
    xp, r = namespace(gram), gram.shape[-1]
    diagonal = xp.linalg.diagonal(gram)
    free = free & (diagonal > 0)
    share = max(RIDGE, ROUNDINGS * float(xp.finfo(gram.dtype).eps))
    ridge = share * xp.max(diagonal, axis=-1, keepdims=True)[..., None]
    system = xp.where(free[:, :, None] & free[:, None, :], gram, 0.0)
    system = system + like(np.eye(r), gram) * xp.where(free[:, None, :], ridge, 1.0)
    right = xp.where(free, -half_gradient, 0.0)
    return xp.linalg.solve(system, right[:, :, None])[:, :, 0]
