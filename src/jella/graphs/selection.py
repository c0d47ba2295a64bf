"""The smallest entries of each row of a matrix of distances, with ties in the order of the columns.

Entries are given by row and column, rows ascending and columns ascending within a row. So a sort per row of a padded
matrix is enough, which is several times as fast as one sort of all entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, along_rows, beside, namespace, smallest_of_rows, taken, to_numpy

#: of the entries of a row, this many beyond twice those wanted are compared once more
SPARE = 16
#: entries are equal if they differ by at most this many times the rounding of the largest number in them
SLACK = 32


def named_places(D: np.ndarray, q: int, norms: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Rows, columns and values of the q smallest finite entries of each row of D, and of others equal up to rounding.

    Of many entries that are equal the first are taken; the last result is whether these are all.

    The q-th smallest minimum of groups of columns bounds the q-th smallest entry from above, in a tenth of the time
    of a partition. Entries that differ from the last one by rounding only are ties.

    Parameters
    ----------
    D : array (b, c)
        Not negative; inf where two samples have nothing in common.
    norms : array (b,)
        Of the size of the numbers whose rounding is in D.
    """
    slack, most = SLACK * np.finfo(D.dtype).eps, 2 * q + SPARE
    bound = bounds(D, q)
    reach = slack * np.maximum(bound, norms)
    found = np.flatnonzero((bound + reach)[:, None] >= D)
    values = D.ravel().take(found)
    rows, columns = np.divmod(found, D.shape[1])
    tied = values >= (bound - reach)[rows]
    seen, (start, length) = np.cumsum(tied), _runs(rows)
    keep = ~tied | (seen - np.repeat((seen - tied)[start], length) <= most)  # the first ties of each row
    all_named = bool(keep.all())
    rows, columns, values = rows[keep], columns[keep], values[keep]
    rows, columns, values, last, reach = up_to_the_last(rows, columns, values, norms, q)
    if _runs(rows)[1].max(initial=0) > most:
        all_named = False
        values = np.where(values >= (last - reach)[rows], last[rows], values)
        rows, _, columns = first_of_rows(rows, values, columns, most)
        order = np.lexsort((columns, rows))
        rows, columns = rows[order], columns[order]
        values = D[rows, columns]
    return rows, columns, values, all_named


def up_to_the_last(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray, norms: np.ndarray, q: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of entries, rows ascending, those up to the q-th smallest of their row and what rounding makes equal to it.

    Returns
    -------
    rows, columns, values : arrays (p,)
    last, reach : arrays (b,)
        The q-th smallest entry of each row, inf if it has fewer, and how far equal ones are from it.
    """
    padded, start, _ = _by_row(rows, values)
    last = np.full(norms.shape, np.inf, values.dtype)
    if padded.shape[1] >= q:
        last[rows[start]] = np.partition(padded, q - 1, axis=1)[:, q - 1]
    slack = SLACK * np.finfo(values.dtype).eps
    reach = np.where(np.isfinite(last), slack * np.maximum(last, norms), 0.0).astype(values.dtype)
    keep = values <= (last + reach)[rows]
    return rows[keep], columns[keep], values[keep], last, reach


def bounds(D: np.ndarray, q: int) -> np.ndarray:
    """Finite upper bounds (b,) of the q-th smallest entry of each row, if at least q entries are finite.

    >>> bounds(np.array([[3.0, 1.0, 2.0]]), 2).tolist()
    [2.0]
    """
    (b, c), highest = D.shape, np.finfo(D.dtype).max / 2
    depth = max(1, min(32, c // (4 * q)))
    minima = _group_minima(D, depth) if depth > 1 else D
    if q >= minima.shape[1]:
        return np.full(b, highest, D.dtype)
    return np.minimum(np.partition(minima, q - 1, axis=1)[:, q - 1], highest)


def first_named(
    rows: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    norms: np.ndarray,
    q: int,
    exact: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Of named entries, rows ascending, the q smallest of each row: rows and columns, the smallest entry first.

    Neighbouring entries whose order rounding may hide are compared by `exact`; of equal ones the first comes first.

    Parameters
    ----------
    norms : array (b,)
        As in `named_places`.
    exact : callable
        Takes rows and columns, and returns these entries without that rounding.

    >>> exact = np.array([2.1, 1.0, 2.0])
    >>> first_named(np.zeros(3, int), np.arange(3), np.round(exact), np.ones(1), 2, lambda i, j: exact[j])
    (array([0, 0]), array([1, 2]))
    """
    padded, start, length = _by_row(rows, values)
    inside = np.arange(padded.shape[1]) < length[:, None]
    order = (np.argsort(padded, axis=1) + start[:, None])[inside]
    given, columns, values = columns, columns[order], values[order]
    reach = SLACK * np.finfo(values.dtype).eps * np.maximum(values[1:], norms[rows[1:]])
    linked = (values[1:] - values[:-1] <= reach) & (rows[1:] == rows[:-1])
    doubtful = np.flatnonzero(np.concatenate([linked, [False]]) | np.concatenate([[False], linked]))
    if doubtful.size > rows.size // 4:
        rows, _, columns = first_of_rows(rows, exact(rows, given), given, q)
        return rows, columns
    if doubtful.size:
        chain = np.concatenate([[0], np.cumsum(~linked)])[doubtful]
        some = columns[doubtful]
        columns[doubtful] = some[np.lexsort((some, exact(rows[doubtful], some), chain))]
    first = rank_in_row(rows) < q
    return rows[first], columns[first]


def first_places(D: np.ndarray, q: int, norms: np.ndarray) -> np.ndarray:
    """Places (b, q) of the q smallest entries of each row of D, the smallest first; of equal ones, the first.

    Parameters
    ----------
    D : array (b, c)
        Squared distances, without the squared norms of the rows; overwritten.
    norms : array (b,)
        These norms, which do not change the order in a row.

    >>> first_places(np.array([[3.0, 1.0, 3.0, 2.0]]), 3, np.ones(1))
    array([[1, 3, 0]])
    """
    D += norms[:, None]
    np.maximum(D, np.finfo(D.dtype).tiny, out=D)
    lines, places, values, _ = named_places(D, q, norms)
    _, _, places = first_of_rows(lines, values, places, q)
    return places.reshape(len(D), q)


def nearest_first(D: Array, places: Array, q: int) -> Array:
    """Of places (b, c) in the rows of D, ascending, those (b, q) of the smallest entries; of equal ones, the first."""
    return along_rows(places, namespace(D).argsort(along_rows(D, places), axis=1, stable=True)[:, :q])


def candidates(D: Array, q: int, norms: Array, late: bool = False) -> tuple[Array, Array]:
    """Places (b, c) of the smallest entries of each row of D, more than q of them, ascending, in any array library.

    Entries that differ from the q-th smallest by rounding only are ties. Where these are too many, the first are taken.

    Parameters
    ----------
    D, norms : as in named_places
    late : bool
        Leave any of too many ties.

    Returns
    -------
    places : array (b, c)
    some : array of one boolean
        Whether any ties were left; it need not be waited for.
    """
    places, (last, reach, tied) = _smallest(D, q, norms)
    xp, width = namespace(D), D.shape[1]
    some = xp.any(tied)
    if not late and some:
        where = xp.nonzero(tied)[0]
        low, high = (taken(last + sign * reach, where)[:, None] for sign in (-1, 1))
        rows, order = taken(D, where), beside(np.arange(width), D)
        keys = xp.where(rows < low, order - width, xp.where(rows <= high, order, width))
        again = smallest_of_rows(keys, places.shape[1])
        line = xp.cumulative_sum(xp.astype(tied, xp.int64)) - 1
        again = taken(again, xp.where(tied, line, xp.zeros_like(line)))
        places = xp.where(tied[:, None], again, places)
    return xp.sort(places, axis=1), some if late else xp.zeros_like(some)


def by_block(blocks: list[slice], distances: Callable[[slice], tuple[Array, Array]], q: int, then: Any) -> Array:
    """What `then` makes of the candidates of the rows of each block, in one array.

    The host looks for ties after all blocks, so that it is ahead of a device. Where the first block has ties, as in
    data in steps, they are usual, and it looks after each.

    Parameters
    ----------
    distances : callable
        From a block to its rows of D, and their norms as in `named_places`.
    then : callable
        From a block, its rows of D and places (b, c) in them to an array.
    """

    def made(rows: slice, late: bool) -> tuple[Array, Array]:
        D, norms = distances(rows)
        places, some = candidates(D, q, norms, late)
        return then(rows, D, places), some

    parts = [made(blocks[0], late=True)]
    late = not parts[0][1]
    parts += [made(rows, late) for rows in blocks[1:]]
    xp = namespace(parts[0][0])
    for number in np.flatnonzero(to_numpy(xp.stack([some for _, some in parts]))):
        parts[number] = made(blocks[number], late=False)
    return xp.concat([found for found, _ in parts], axis=0)


def _smallest(D: Array, q: int, norms: Array) -> tuple[Array, tuple[Array, Array, Array]]:
    """Places (b, c) of the smallest entries, in any order; and per row the q-th smallest, how far ties are from it, and
    whether more ties may be left.
    """
    xp, width = namespace(D), D.shape[1]
    places = smallest_of_rows(D, min(width, 2 * q + SPARE))
    values = xp.sort(along_rows(D, places), axis=1)
    last, most = values[:, q - 1], values[:, -1]
    reach = SLACK * float(xp.finfo(D.dtype).eps) * xp.where(last > norms, last, norms)
    tied = xp.isfinite(last) & (most <= last + reach)
    return places, (last, reach, tied if places.shape[1] < width else xp.zeros_like(tied))


def first_of_rows(
    rows: np.ndarray, keys: np.ndarray, ids: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The triples sorted by row, key and id, at most `count` per row; rows, and ids within a row, come ascending.

    >>> first_of_rows(np.array([0, 0, 0, 1]), np.array([3.0, 1.0, 3.0, 2.0]), np.array([4, 7, 9, 5]), 2)
    (array([0, 0, 1]), array([1., 3., 2.]), array([7, 4, 5]))
    """
    padded, start, length = _by_row(rows, keys)
    order = np.argsort(padded, axis=1, kind="stable")[:, :count]
    chosen = (order + start[:, None])[np.arange(order.shape[1]) < length[:, None]]
    return rows[chosen], keys[chosen], ids[chosen]


def rank_in_row(rows: np.ndarray) -> np.ndarray:
    """The position of each element within its run of equal rows, which are in ascending order.

    >>> rank_in_row(np.array([0, 0, 2, 2, 2])).tolist()
    [0, 1, 0, 1, 2]
    """
    start, length = _runs(rows)
    return np.arange(rows.size) - np.repeat(start, length)


def _group_minima(D: np.ndarray, depth: int) -> np.ndarray:
    """The minima of groups of `depth` columns, and the columns that are left over.

    One group is a column of each of `depth` bands, so that whole bands are compared: several times as fast as `min`.
    """
    width, rest = divmod(D.shape[1], depth)
    minima = np.concatenate([D[:, :width], D[:, D.shape[1] - rest :]], axis=1)
    for band in range(1, depth):
        np.minimum(minima[:, :width], D[:, band * width : (band + 1) * width], out=minima[:, :width])
    return minima


def _runs(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where runs of equal rows start, and how long they are."""
    start = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]])) if rows.size else np.zeros(0, dtype=np.intp)
    return start, np.diff(np.append(start, rows.size))


def _by_row(rows: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keys in a matrix with one line per run of equal rows, padded by inf; start and length of the runs."""
    start, length = _runs(rows)
    padded = np.full((start.size, int(length.max(initial=0))), np.inf, keys.dtype)
    padded[np.arange(padded.shape[1]) < length[:, None]] = keys
    return padded, start, length
