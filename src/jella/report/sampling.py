"""How many samples the costly parts of a report are computed from; the page says where these are not all."""

from __future__ import annotations

from math import sqrt

import numpy as np

from jella.evidence.gather import MOST_SAMPLES

#: samples of a thousand features or more that evidence is gathered from, if the model has none yet
EVIDENCE_SAMPLES = 1000
#: more of them if there are many clusters: refits to fewer samples per cluster miss some that are there
SAMPLES_PER_CLUSTER = 40
#: likewise, that completion is learned from, if the model has not done so yet, and whose missing values are imputed
COMPLETION_SAMPLES = 700
#: as many features make samples wide; of narrower samples, up to this many times more are taken
WIDE, MOST_TIMES = 1000, 3.0
#: points of a map of principal components, and of one by neighbours, which takes longer
MAP_POINTS, NEIGHBOUR_MAP_POINTS = 3000, 1200
#: samples whose silhouettes and probabilities are computed
SILHOUETTE_SAMPLES, PROBABILITY_SAMPLES = 3000, 20_000


def more_if_narrow(samples: int, n_features: int) -> int:
    """A number of samples that takes about the same time whatever their number of features.

    >>> more_if_narrow(700, 2000), more_if_narrow(700, 250), more_if_narrow(700, 5)
    (700, 1400, 2100)
    """
    return int(samples * min(max(1.0, sqrt(WIDE / n_features)), MOST_TIMES))


def evidence_samples(n_features: int, n_clusters: int) -> int:
    """A number of samples that evidence is gathered from: enough for refits to find each of the clusters again.

    >>> evidence_samples(2000, 5), evidence_samples(2000, 50), evidence_samples(250, 5), evidence_samples(2000, 500)
    (1000, 2000, 2000, 4000)
    """
    return max(more_if_narrow(EVIDENCE_SAMPLES, n_features), min(SAMPLES_PER_CLUSTER * n_clusters, MOST_SAMPLES))


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
