"""Data in which nothing goes together: the values of each feature, dealt out anew to the samples that have it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from jella.numerics.arrays import to_numpy
from jella.views import View, Views


def permuted(views: Views, rng: np.random.Generator) -> Views:
    """Views with the same holes, in which each feature has its observed values in another order."""
    return Views(tuple(replace(view, X=_dealt(view, rng)) for view in views), views.sample_names)


def _dealt(view: View, rng: np.random.Generator) -> np.ndarray | sparse.csr_array:
    mask = np.broadcast_to(to_numpy(view.mask), (view.n_samples, view.mask.shape[1]))
    rows = np.flatnonzero(mask.any(axis=1))
    if view.is_sparse:
        columns = sparse.csc_array(view.X[rows])
        places = [rng.permutation(rows.size)[:count] for count in np.diff(columns.indptr)]
        columns = sparse.csc_array((columns.data, np.concatenate(places), columns.indptr), shape=columns.shape)
        spread = sparse.csr_array((np.ones(rows.size), (rows, np.arange(rows.size))), shape=(view.n_samples, rows.size))
        return sparse.csr_array(spread @ columns)
    X = np.array(to_numpy(view.X))
    if mask.shape[1] == 1:
        X[rows] = rng.permuted(X[rows], axis=0)
        return X
    for j in range(view.n_features):
        seen = np.flatnonzero(mask[:, j])
        X[seen, j] = X[rng.permutation(seen), j]
    return X
