"""Folds of samples with the same patterns of availability."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from jella.estimators.base import generator
from jella.views import read_views


class AvailabilityKFold(BaseCrossValidator):
    """Folds of samples that lack the same views equally often, for `cross_validate` and `GridSearchCV`.

    If few samples have a view, folds drawn at random may leave a training part without it. The pattern of availability
    of a sample is the set of views that it has. These folds share out the samples of each pattern: the numbers in two
    folds differ by at most one.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    random_state : int, Generator or RandomState, default=0
        Decides which samples of a pattern go to which fold.

    Examples
    --------
    >>> import numpy as np, jella
    >>> left, right = np.ones((12, 2)), np.ones((12, 3))
    >>> right[:6] = np.nan  # six samples lack the right view
    >>> folds = AvailabilityKFold(3).split(jella.MultiView([left, right]))
    >>> [int((test < 6).sum()) for _, test in folds]
    [2, 2, 2]
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = 0) -> None:
        if not isinstance(n_splits, int | np.integer) or n_splits < 2:
            raise ValueError(f"expected n_splits to be an integer from 2, got {n_splits!r}; pass for example 5")
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return int(self.n_splits)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the positions of the samples to train and to test with, once per fold.

        Parameters
        ----------
        X : MultiView, or anything that an estimator accepts
        y : array (n,), optional
            Classes, which are shared out as well among the samples of a pattern.
        groups : ignored
        """
        presence = read_views(X).presence()
        n = presence.shape[0]
        if n < self.n_splits:
            raise ValueError(f"expected at least {self.n_splits} samples, got {n}; choose fewer splits")
        pattern = np.unique(presence, axis=0, return_inverse=True)[1].ravel()
        known = np.zeros(n, dtype=int) if y is None else np.unique(np.asarray(y).astype(str), return_inverse=True)[1]
        order = np.lexsort((np.asarray(generator(self.random_state).random(n)), known, pattern))
        fold = np.empty(n, dtype=int)
        fold[order] = np.arange(n) % self.n_splits
        for number in range(self.n_splits):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)
