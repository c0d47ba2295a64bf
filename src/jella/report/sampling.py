"""How many samples the costly parts of a report are computed from; the page says where these are not all."""

from __future__ import annotations

import numpy as np

#: samples that evidence is gathered from, if the model has none yet
EVIDENCE_SAMPLES = 1000
#: samples that completion is learned from, if the model has not done so yet, and whose missing values are imputed
COMPLETION_SAMPLES = 700
#: points of a map of principal components, and of one by neighbours, which takes longer
MAP_POINTS, NEIGHBOUR_MAP_POINTS = 3000, 1200
#: samples whose silhouettes and probabilities are computed
SILHOUETTE_SAMPLES, PROBABILITY_SAMPLES = 3000, 20_000


def some_rows(n: int, most: int, seed: int) -> np.ndarray:
    """At most this many of n rows, drawn at random, in ascending order.

    >>> some_rows(3, 5, 0).tolist(), some_rows(1000, 5, 0).size
    ([0, 1, 2], 5)
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False, shuffle=False))


def drawn_words(some: int, every: int) -> str:
    """A sentence where a part was drawn, to be put after another one; empty otherwise.

    >>> drawn_words(10, 2000), drawn_words(10, 10)
    (' From 10 of 2,000 samples, drawn at random.', '')
    """
    return f" From {some:,} of {every:,} samples, drawn at random." if some < every else ""
