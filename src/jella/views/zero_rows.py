"""Rows that are zero, or one other value throughout: samples that may lack the view rather than have these values."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from jella.numerics.arrays import cache_blocks, namespace, to_numpy
from jella.numerics.words import percent
from jella.views.model import View, Views

#: fewer rows than this part of the samples are no reason to doubt
HANDFUL = 0.01
#: with more rows than this part of the samples, there is always reason to doubt
LARGE = 0.2
#: in views of fewer features, rows of zeros are common
NARROW = 10
#: rows with fewer non-zero values than this do not show what is usual
FEW = 4


class ZeroRowsWarning(UserWarning):
    """A view has rows of zeros, or of one other value, that look like samples without the view."""


@dataclass(frozen=True)
class ConstantRows:
    """Completely observed rows of a view that have one value throughout.

    Attributes
    ----------
    name : str
    value : float
        Zero, or a value that the view has nowhere else.
    rows : bool array (n,)
    n_present : int
        Samples that have the view.
    doubtful : bool
        Whether these rows stand apart from the others, so that a value that means missing is likely.
    """

    name: str
    value: float
    rows: np.ndarray
    n_present: int
    doubtful: bool

    def __str__(self) -> str:
        what = "zeros" if self.value == 0 else f"the value {self.value:g}"
        count = int(self.rows.sum())
        share = percent(count, self.n_present)
        return f"view {self.name!r} has only {what} in {count:,} of {self.n_present:,} rows ({share})"


def constant_rows(view: View) -> ConstantRows | None:
    """The rows of zeros of a view; without such rows, those of another value that looks like a mark; or None.

    Rows with a missing entry do not count, and neither do views in which all rows are zero. Sparse views stay sparse.
    """
    present = view.presence()
    whole = to_numpy(view.count_by_sample()) == view.n_features
    counts = _nonzeros(view)
    zero, others = whole & (counts == 0), counts[present & (counts > 0)]
    if not others.size:
        return None
    n = int(present.sum())
    if zero.any():
        return ConstantRows(view.name, 0.0, zero, n, _stand_apart(int(zero.sum()), others, n, view.n_features))
    return None if view.is_sparse or view.n_features < 2 else _mark(view, whole, present)


def warn_of_constant_rows(views: Views) -> None:
    """Warn, once for all views, of rows that look like samples without the view."""
    if len(views) < 2:  # a sample needs another view to be placed by
        return
    found = [str(one) for view in views if (one := constant_rows(view)) is not None and one.doubtful]
    if found:
        warnings.warn(
            f"{'; '.join(found)}; if these samples lack the view, pass zero_rows='missing' (to jella.align, "
            "jella.cluster or jella.complete, or --zero-rows missing), otherwise ignore this warning",
            ZeroRowsWarning,
            stacklevel=4,
        )


def constant_row_notes(views: Views) -> list[str]:
    """One sentence per view with rows of zeros or of another mark, for people who read data."""
    if len(views) < 2:
        return []
    found = [one for view in views if (one := constant_rows(view)) is not None]
    advice = "; pass zero_rows='missing' (--zero-rows missing) if these samples lack the view"
    return [f"{str(one)[0].upper()}{str(one)[1:]}{advice if one.doubtful else ''}." for one in found]


def _stand_apart(n_zero: int, others: np.ndarray, n: int, d: int) -> bool:
    """Whether rows of zeros are too many for what the other rows look like.

    Where rows hold few of many features, some hold none, and more rows hold very few. Zeros stand apart if they are
    more than the rows with at most half of the usual number of non-zero values, or if no other row has a zero.
    """
    if n_zero < max(HANDFUL * n, 2):
        return False
    usual = float(np.median(others))
    apart = usual >= FEW and n_zero > np.sum(others <= usual / 2)
    return bool(apart or (d > 1 and others.min() == d) or (d >= NARROW and n_zero >= LARGE * n))


def _nonzeros(view: View) -> np.ndarray:
    """Number of values of each sample that are not zero, (n,)."""
    X = view.X
    if sparse.issparse(X):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        return np.bincount(rows[X.data != 0], minlength=X.shape[0])
    return _by_block(X, lambda xp, block: xp.sum(xp.astype(block != 0, xp.int64), axis=1))


def _mark(view: View, whole: np.ndarray, present: np.ndarray) -> ConstantRows | None:
    """Rows of one value that no other row has, such as -1 or -999."""
    X = view.X
    equal = _by_block(X, lambda xp, block: xp.all(block == block[:, :1], axis=1)) & whole
    if equal.sum() < 2 or not np.any(present & ~equal):
        return None
    values = to_numpy(X[:, 0])[equal]
    if np.any(values != values[0]):
        return None
    value = float(values[0])
    elsewhere = _by_block(X, lambda xp, block: xp.any(block == value, axis=1)) & ~equal
    if elsewhere.any():
        return None
    n = int(present.sum())
    return ConstantRows(view.name, value, equal, n, bool(equal.sum() >= HANDFUL * n))


def _by_block(X: Any, function: Any) -> np.ndarray:
    """One value per row, by blocks of rows that fit into the cache."""
    xp = namespace(X)
    return np.concatenate([to_numpy(function(xp, X[rows, :])) for rows in cache_blocks(X)] or [np.empty(0)])
