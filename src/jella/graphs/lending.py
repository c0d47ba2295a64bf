"""What a sample takes from its neighbours, its donors: values that it lacks, and residuals of the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, beside, namespace, row_blocks, take_rows, taken, target_bytes, to_numpy
from jella.views import View, Views

#: a mean of residuals is shrunk as if this many more neighbours had a residual of zero
SHRINKAGE = 3.0


def lent_embedding(
    lenders: Views, views: Views, W: Array, donors: np.ndarray, bases: Sequence[Array], *, in_turn: bool = False
) -> Array:
    """The embedding (n, r) of samples whose missing values come from donors, instead of from the model.

    A value that the model expects varies less than an observed one. Samples that lack a view would lie closer together
    than the others, and their embedding would show which views they lack. A donor's value varies as observed values do.

    Parameters
    ----------
    lenders : Views
        The samples that donors are among, scaled.
    views : Views
        The samples, scaled; n of them.
    W : array (n, r)
        Their embedding by the model, for values that none of their donors has.
    donors : int array (n, q)
        Positions among the lenders. A missing value comes from the first donor that has it; -1 means no donor.
    bases : sequence of arrays (d_v, r)
    in_turn : bool
        Take a view from the donor that has lent it least often so far, and from the first of several. Otherwise a
        donor that is near many samples would lend to all of them, and these would then lie together.
    """
    donors = donors if donors.shape[1] else np.full((len(donors), 1), -1)
    total = namespace(W).zeros_like(W)
    for view, other, U in zip(views, lenders, bases, strict=True):
        if view.is_rowwise and other.is_rowwise:
            total += lent_rows(view, W, donors, other, U, in_turn=in_turn)
        else:
            total += lent_entries(view, W, donors, other, U)
    return total


def lent_rows(view: View, W: Array, donors: np.ndarray, other: View, U: Array, *, in_turn: bool) -> Array:
    """A view's part of the embedding, (n, r), where each sample has the whole view or nothing of it."""
    has, lends = view.presence(), other.presence()
    own, lent = view.X @ U, other.X @ U
    able = (donors >= 0) & lends[donors]
    place = able.argmax(axis=1)
    if in_turn:
        # samples take turns in the order of their embedding, so that their positions do not matter
        order = np.lexsort(to_numpy(W).T)
        asking = order[(~has & able.any(axis=1))[order]]
        place[asking] = _in_turn(donors[asking], able[asking], lends.size)
    donor = np.take_along_axis(donors, place[:, None], axis=1)[:, 0]
    expected, where = W @ (U.T @ U), namespace(W).where
    given = where(beside(able.any(axis=1)[:, None], W), take_rows(lent, np.maximum(donor, 0)), expected)
    return where(beside(has[:, None], W), own, given)


def _in_turn(donors: np.ndarray, able: np.ndarray, n_lenders: int) -> np.ndarray:
    """The place of each sample's donor in its row of donors, (m,): of those able, the first with the fewest loans."""
    loans, places = np.zeros(n_lenders, dtype=np.intp), np.empty(len(donors), dtype=np.intp)
    for number, (row, can) in enumerate(zip(donors, able, strict=True)):
        choice = int(np.where(can, loans[row], n_lenders).argmin())
        loans[row[choice]] += 1
        places[number] = choice
    return places


def lent_entries(view: View, W: Array, donors: np.ndarray, other: View, U: Array) -> Array:
    """A view's part of the embedding, (n, r), where single entries are missing; in blocks of samples."""
    xp = namespace(W)
    part = xp.empty_like(W)
    X, mask = _dense(view)
    lent, lends = _dense(other)
    there = beside(donors, W)
    known, first = there >= 0, xp.where(there >= 0, there, xp.zeros_like(there))
    for rows in row_blocks(X.shape[0], X.shape[1] * 8, target_bytes(W, 2**24)):
        Z, missing = X[rows, :], ~mask[rows, :]
        for turn in range(donors.shape[1]):
            if not xp.any(missing):
                break
            able = taken(lends, first[rows, turn]) & known[rows, turn][:, None]
            Z = xp.where(missing & able, taken(lent, first[rows, turn]), Z)
            missing = missing & ~able
        part[rows, :] = xp.where(missing, W[rows, :] @ U.T, Z) @ U
    return part


def lent_residual(view: View, W: Array, neighbours: sparse.csr_array, U: Array) -> np.ndarray:
    """The mean residual of the model at the neighbours of m samples, (m, d); over the neighbours that have the value.

    Parameters
    ----------
    view, W : View and array (n, r)
        The samples of the fit, scaled, and their embedding.
    neighbours : sparse array (m, n)
        Ones at the neighbours of each sample.
    """
    W, U = to_numpy(W), to_numpy(U)
    if view.is_rowwise:
        present = view.presence().astype(W.dtype)
        observed = neighbours @ (view.X if view.is_sparse else to_numpy(view.X))
        expected = (neighbours @ (W * present[:, None])) @ U.T
        total = (observed.toarray() if sparse.issparse(observed) else observed) - expected
        return total / (SHRINKAGE + neighbours @ present)[:, None]
    X, mask = (to_numpy(one) for one in _dense(view))
    return (neighbours @ np.where(mask, X - W @ U.T, 0.0)) / (SHRINKAGE + neighbours @ mask.astype(W.dtype))


def _dense(view: View) -> tuple[Array, Array]:
    X = view.X.toarray() if view.is_sparse else view.X
    return X, namespace(X).broadcast_to(view.mask, tuple(X.shape))
