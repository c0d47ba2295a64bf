"""The rows of an embedding as they are compared: by direction, and by length where there are few components."""

from __future__ import annotations

from array_api_compat import device

from jella.numerics.arrays import Array, namespace
from jella.numerics.kmeans import unit_rows

#: the constant component, in units of the root mean square entry of the embedding
LEVEL = 2.0


def compared_rows(W: Array, fit: Array | None = None) -> Array:
    """Rows (n, r + 1) at unit norm, after one more component: twice the root mean square entry of the embedding (n, r).

    The fewer values of a sample were observed, the shorter is its row. So rows are compared by direction. With few
    components a direction says too little: one component has two of them, and a group in the middle lies in all. The
    constant component has a share of 4 / (r + 4) in the squared norm of an average row. So length counts where there
    are few components, and hardly where there are many. Rows may be of any array library.

    Parameters
    ----------
    fit : array (m, r), optional
        The embedding that the constant is taken from, for rows of new samples; by default W.

    >>> import numpy as np
    >>> compared_rows(np.array([[1.0], [2.0], [-3.0]])).round(2).tolist()
    [[0.23, 0.97], [0.42, 0.91], [-0.57, 0.82]]
    """
    xp, reference = namespace(W), W if fit is None else fit
    level = LEVEL * float(xp.sqrt(xp.mean(reference * reference)))
    return unit_rows(xp.concat([W, xp.full((W.shape[0], 1), level, dtype=W.dtype, device=device(W))], axis=1))
