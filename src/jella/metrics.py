"""Scores of a clustering against known classes, and of completed values against the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from jella.numerics.arrays import to_numpy
from jella.numerics.scores import brier_score, log_loss, relative_error, scores_of_kind, total_bias
from jella.views.categories import Category, cell_names, on_features
from jella.views.containers import is_single
from jella.views.frames import Frame, column_order
from jella.views.read import read_raw, split

__all__ = [
    "accuracy",
    "adjusted_rand",
    "brier_score",
    "log_loss",
    "nmi",
    "relative_error",
    "rmse",
    "scores_of_kind",
    "total_bias",
]

_AVERAGES = ("geometric", "arithmetic", "max", "min")


def nmi(labels_true: ArrayLike, labels_pred: ArrayLike, *, average: str = "geometric") -> float:
    """Normalised mutual information of two labelings.

    The mutual information is divided by a mean of the two entropies. Published programs do not agree on which mean,
    and the values differ: report `average` along with the score, and compare only scores that share it.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Known classes.
    labels_pred : array-like of shape (n,)
        Clusters; the names of the labels do not matter.
    average : {'geometric', 'arithmetic', 'max', 'min'}, default 'geometric'
        The mean of the two entropies in the denominator. scikit-learn's own default is 'arithmetic'.

    Returns
    -------
    float
        Between 0 (independent) and 1 (the same partition).

    Examples
    --------
    >>> from jella.metrics import nmi
    >>> nmi([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    >>> round(nmi([0, 0, 1, 1], [0, 1, 2, 3], average="max"), 3)
    0.5
    """
    from sklearn.metrics import normalized_mutual_info_score

    if average not in _AVERAGES:
        raise ValueError(f"expected average to be one of {_AVERAGES}, got {average!r}; pass one of these names")
    true, pred = _label_pair(labels_true, labels_pred)
    return float(normalized_mutual_info_score(true, pred, average_method=average))


def adjusted_rand(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Rand index of two labelings, adjusted for chance.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Known classes.
    labels_pred : array-like of shape (n,)
        Clusters; the names of the labels do not matter.

    Returns
    -------
    float
        1 for the same partition, near 0 for a random one; it can be negative, down to -0.5.

    Examples
    --------
    >>> from jella.metrics import adjusted_rand
    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(*_label_pair(labels_true, labels_pred)))


def accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of samples whose cluster matches their class, under the best one-to-one matching of clusters to classes.

    If there are more clusters than classes, the samples of unmatched clusters count as wrong, and the
    other way round.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Known classes.
    labels_pred : array-like of shape (n,)
        Clusters; the names of the labels do not matter.

    Returns
    -------
    float
        Between 0 (excluded) and 1.

    Examples
    --------
    >>> from jella.metrics import accuracy
    >>> accuracy([0, 0, 1, 1], [1, 1, 0, 2])
    0.75
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    true, pred = _label_pair(labels_true, labels_pred)
    counts = contingency_matrix(true, pred)
    classes, clusters = linear_sum_assignment(counts, maximize=True)
    return float(counts[classes, clusters].sum() / true.size)


def rmse(true: Any, completed: Any, *, missing: Any = None) -> float:
    """Root mean squared error of completed values, over all entries of all views together.

    All entries have the same weight, so a view with many features, or with large values, counts more than the others.
    A category counts as its indicators, one entry per level.

    Parameters
    ----------
    true : views, as estimators take them
        The values to recover: a 2-D array, or a list, tuple or dict of arrays, DataFrames or SciPy sparse arrays.
    completed : views, in the same container as `true`
        The values to score. Where a view has names on both sides (DataFrames, AnnData), `completed` is put in the
        order of the rows and columns of `true`; otherwise entries are compared by position.
    missing : views of booleans, in the same container as `true`, broadcastable to (n, d) each, default None
        True where the entry was missing, e.g. (n, d), or (n, 1) for missing views. Only these entries are scored.
        None scores all entries.

    Returns
    -------
    float
        The square root of the mean of the squared differences, in the unit of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from jella.metrics import rmse
    >>> true, completed = np.zeros((2, 2)), np.array([[3.0, 0.0], [0.0, 4.0]])
    >>> rmse(true, completed), rmse(true, completed, missing=completed > 3)
    (2.5, 4.0)
    """
    names, trues = split(true)
    others = _same_views(completed, true, "completed")
    masks = [None] * len(names) if missing is None else _same_views(missing, true, "missing")
    squares, count = 0.0, 0
    for name, truth, other, mask in zip(names, trues, others, masks, strict=True):
        where = "" if is_single(true) else f" of view {name!r}"
        difference = _scored_difference(truth, other, mask, name, where)
        squares += float(difference @ difference)
        count += difference.size
    if count == 0:
        raise ValueError(
            f"expected at least one entry to score, got none among {len(names)} view(s); "
            "pass views with entries and a missing that is True somewhere"
        )
    return float(np.sqrt(squares / count))


def _label_pair(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    true, pred = _label_codes(labels_true, "labels_true"), _label_codes(labels_pred, "labels_pred")
    if true.size != pred.size:
        raise ValueError(
            f"expected as many labels_pred as labels_true, got {pred.size} and {true.size}; pass one label per sample"
        )
    return true, pred


def _label_codes(labels: ArrayLike, argument: str) -> NDArray[np.intp]:
    """Labels as integer codes, since scikit-learn warns about float labels and treats objects differently."""
    array = np.asarray(labels)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"expected {argument} of shape (n,) with n > 0, got shape {array.shape}; pass one per sample")
    try:
        unlabelled = int((array != array).sum())
        codes = np.unique(array, return_inverse=True)[1]
    except TypeError as error:  # None, pd.NA, or numbers among strings
        raise ValueError(f"expected {argument} of one type, got mixed types ({error}); convert them to str") from error
    if unlabelled:
        raise ValueError(f"expected {argument} without NaN, got {unlabelled}; drop the unlabelled samples")
    return codes


def _same_views(views: Any, true: Any, argument: str) -> list[Any]:
    """The views, in the order of the views of true."""
    names, raws = split(views)
    wanted, _ = split(true)
    if is_single(views) != is_single(true) or set(names) != set(wanted):
        got, expected = ("one array" if is_single(X) else list(split(X)[0]) for X in (views, true))
        raise ValueError(
            f"expected {argument} to hold the same views as true, {expected}, got {got}; "
            "pass the same container with the same views"
        )
    by_name = dict(zip(names, raws, strict=True))
    return [by_name[name] for name in wanted]


def _scored_difference(true: Any, completed: Any, missing: Any, name: str, where: str) -> NDArray[np.float64]:
    """The differences at the scored entries of one view, 1-D."""
    expected = _read(true, name, f"true{where}")
    shape = expected.values.shape
    read = _read(completed, name, f"completed{where}", expected.categories if expected.columns else None)
    given = _in_order_of(expected, read, f"completed{where}")
    if given.shape != shape:
        raise ValueError(
            f"expected completed{where} to have the shape {shape} of true, got {given.shape}; "
            "pass views of the same samples and features"
        )
    difference = (given - expected.values).ravel()
    if missing is not None:
        difference = difference[_mask(missing, expected, name, where).ravel()]
    if not np.isfinite(difference).all():
        raise ValueError(
            f"expected finite values at the scored entries{where}, got {(~np.isfinite(difference)).sum()} that are not"
            " in true or completed; complete them, or leave them out through missing"
        )
    return difference


def _mask(missing: Any, true: Frame, name: str, where: str) -> NDArray[np.bool_]:
    cells = true if true.columns is None else replace(true, columns=cell_names(true.columns, true.categories))
    mask = _in_order_of(cells, _read(missing, name, f"missing{where}", ()), f"missing{where}", broadcasts=True)
    if not np.isin(mask, (0.0, 1.0)).all():
        got = getattr(missing, "dtype", type(missing).__name__)
        raise ValueError(f"expected missing{where} to be boolean, got {got}; pass True where it was missing")
    shape = true.values.shape
    mask = on_features(mask == 1.0, shape[1], true.categories)
    if any(size not in (1, full) for size, full in zip(mask.shape, shape, strict=True)):
        raise ValueError(
            f"expected missing{where} to broadcast to {shape}, got {mask.shape}; pass one boolean per entry or (n, 1)"
        )
    return np.broadcast_to(mask, shape)


def _read(raw: Any, name: str, argument: str, known: Sequence[Category] | None = None) -> Frame:
    """A view with its names, dense and in double precision; by default the columns that are categories are found."""
    frame = read_raw(raw, name, known)
    values = frame.values.toarray() if sparse.issparse(frame.values) else to_numpy(frame.values)
    if values.ndim != 2:
        raise ValueError(
            f"expected {argument} to be 2-D, got shape {values.shape}; "
            "pass (n, d) arrays, in a list, tuple or dict where there are several"
        )
    return replace(frame, values=values.astype(np.float64, copy=False))


def _in_order_of(true: Frame, frame: Frame, argument: str, *, broadcasts: bool = False) -> NDArray[np.float64]:
    """Values of a view in the order of the rows and columns of true, if both have names."""
    values: NDArray[np.float64] = frame.values
    if frame.index is None or true.index is None:
        return values
    if not frame.index.equals(true.index):
        values = values[_order(frame.index, true.index, argument, "rows")]
    # a mask of one column is valid for the whole row, and its column has another name than those of true
    if broadcasts and values.shape[1] == 1:
        return values
    return values[:, _order(frame.columns or (), true.columns or (), argument, "columns")]


def _order(labels: Sequence[Any], wanted: Sequence[Any], argument: str, axis: str) -> list[int]:
    order = column_order(tuple(labels), tuple(wanted))
    if order is None:
        own, others = set(labels), set(wanted)
        more, fewer = ([one for one in labels if one not in others], [one for one in wanted if one not in own])
        raise ValueError(
            f"expected the {axis} of {argument} to carry the labels of true, each once, got {len(labels)} for "
            f"{len(wanted)} (not in true: {more[:3]}, only in true: {fewer[:3]}); reindex it like true"
        )
    return order
