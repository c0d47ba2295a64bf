"""The rows of an embedding as they are compared: by direction, and by length where there are few components."""

from __future__ import annotations

import numpy as np

from jella.numerics.kmeans import unit_rows


def compared_rows(W: np.ndarray, fit: np.ndarray | None = None) -> np.ndarray:
    """Rows (n, r + 1) at unit norm, after one more component: the root mean square entry of the embedding (n, r).

    The fewer values of a sample were observed, the shorter is its row. So rows are compared by direction. With few
    components a direction says too little: one component has two of them, and a group in the middle lies in all. The
    constant component has a share of 1 / (r + 1) in the squared norm of an average row. So length counts where there
    are few components, and hardly where there are many.

    Parameters
    ----------
    fit : array (m, r), optional
        The embedding that the constant is taken from, for rows of new samples; by default W.

    >>> compared_rows(np.array([[1.0], [2.0], [-3.0]])).round(2).tolist()
    [[0.42, 0.91], [0.68, 0.73], [-0.81, 0.58]]
    """
    level = np.sqrt(np.mean(np.square(W if fit is None else fit)))
    return unit_rows(np.concatenate([W, np.full((len(W), 1), level, dtype=W.dtype)], axis=1))
