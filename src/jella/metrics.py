"""Scores of a clustering against known classes, and of completed values against the true ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jella.views.frames import is_frame

__all__ = ["accuracy", "adjusted_rand", "nmi", "rmse"]

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
    """Share of samples that agree under the best one-to-one matching of clusters to classes.

    Where there are more clusters than classes, the samples of the clusters left unmatched count as wrong, and the
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
    """Root mean squared error of completed values, over all the entries of all the views together.

    Every entry weighs the same, so a view with many features, or with large values, weighs more than the others.

    Parameters
    ----------
    true : array-like of shape (n, d), or list, tuple or dict of V such views
        The values to recover. A view is an array, a DataFrame or a scipy sparse matrix.
    completed : the same container as `true`
        The values to score. Where a view is a DataFrame on both sides, `completed` is put in the order of the rows
        and columns of `true` by label; otherwise entries are compared by position.
    missing : the same container as `true`, of booleans broadcastable to (n, d), default None
        True where the entry was missing, e.g. (n, d), or (n, 1) for missing views. Only these entries are scored.
        None scores every entry.

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
    trues = _as_views(true)
    others = _matching_views(completed, trues, "completed")
    masks = dict.fromkeys(trues) if missing is None else _matching_views(missing, trues, "missing")
    squares, count = 0.0, 0
    for name, view in trues.items():
        difference = _scored_difference(view, others[name], masks[name], f" of view {name!r}" if name != "" else "")
        squares += float(difference @ difference)
        count += difference.size
    if count == 0:
        raise ValueError(
            f"expected at least one entry to score, got none among {len(trues)} view(s); "
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
    """Integer codes: scikit-learn warns about float labels and treats objects apart; codes avoid both."""
    array = np.asarray(labels)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"expected {argument} of shape (n,) with n > 0, got shape {array.shape}; pass one per sample")
    try:
        unlabelled = int((array != array).sum())
        codes = np.unique(array, return_inverse=True)[1]
    except TypeError as error:  # None, pd.NA, or numbers among strings
        raise ValueError(f"expected {argument} of one type, got mixed ones ({error}); convert them to str") from error
    if unlabelled:
        raise ValueError(f"expected {argument} without NaN, got {unlabelled}; drop the unlabelled samples")
    return codes


def _as_views(views: Any) -> dict[Any, Any]:
    """Views by name; the position names the views of a list, and the empty string a view that stands alone."""
    if isinstance(views, Mapping):
        return dict(views)
    if isinstance(views, list | tuple):
        return dict(enumerate(views))
    return {"": views}


def _matching_views(views: Any, like: dict[Any, Any], argument: str) -> dict[Any, Any]:
    found = _as_views(views)
    if found.keys() != like.keys():
        raise ValueError(
            f"expected {argument} to hold the same views as true, {_keys(like)}, got {_keys(found)}; "
            "pass the same container with the same views"
        )
    return found


def _keys(views: dict[Any, Any]) -> str:
    return "one array" if list(views) == [""] else str(list(views))


def _scored_difference(true: Any, completed: Any, missing: Any, where: str) -> NDArray[np.float64]:
    """Differences of the entries to score of one view, 1-D."""
    expected = _dense(true, float, f"true{where}")
    given = _dense(_aligned(completed, true, f"completed{where}"), float, f"completed{where}")
    if given.shape != expected.shape:
        raise ValueError(
            f"expected completed{where} to have the shape {expected.shape} of true, got {given.shape}; "
            "pass views of the same samples and features"
        )
    difference = (given - expected).ravel()
    if missing is not None:
        difference = difference[_dense_mask(missing, true, expected.shape, where).ravel()]
    if not np.isfinite(difference).all():
        raise ValueError(
            f"expected finite values at the scored entries{where}, got {(~np.isfinite(difference)).sum()} that are not"
            " in true or completed; complete them, or leave them out through missing"
        )
    return difference


def _dense_mask(missing: Any, true: Any, shape: tuple[int, ...], where: str) -> NDArray[np.bool_]:
    mask = _dense(_aligned(missing, true, f"missing{where}"), None, f"missing{where}")
    if mask.dtype != np.bool_:
        raise ValueError(f"expected missing{where} to be boolean, got {mask.dtype}; pass True where it was missing")
    if any(size not in (1, full) for size, full in zip(mask.shape, shape, strict=True)):
        raise ValueError(
            f"expected missing{where} to broadcast to {shape}, got {mask.shape}; pass one boolean per entry or (n, 1)"
        )
    return np.broadcast_to(mask, shape)


def _aligned(view: Any, like: Any, argument: str) -> Any:
    """`view` in the order of the labels of `like`, where both are DataFrames."""
    if not (is_frame(view) and is_frame(like)):
        return view
    view = view.loc[_order(view.index, like.index, argument, "rows")]
    # A mask of one column stands for the whole row, and then its column has no counterpart in `like`.
    if argument.startswith("missing") and view.shape[1] == 1:
        return view
    return view.loc[:, _order(view.columns, like.columns, argument, "columns")]


def _order(labels: Any, like: Any, argument: str, axis: str) -> Any:
    if labels.equals(like):
        return slice(None)
    if not (labels.is_unique and like.is_unique and len(labels) == len(like) and labels.isin(like).all()):
        extra, absent = list(labels[~labels.isin(like)][:3]), list(like[~like.isin(labels)][:3])
        raise ValueError(
            f"expected the {axis} of {argument} to carry the labels of true, each once, got {len(labels)} for "
            f"{len(like)} (only there: {extra}, not there: {absent}); reindex it like true"
        )
    return like


def _dense(view: Any, dtype: type | None, argument: str) -> NDArray[Any]:
    if is_frame(view) and dtype is float:
        view = view.to_numpy(dtype=float, na_value=np.nan)  # numpy alone cannot read pd.NA as a float
    array = np.asarray(view.toarray() if hasattr(view, "toarray") else view, dtype=dtype)
    if array.ndim != 2:
        raise ValueError(
            f"expected {argument} to be 2-D, got shape {array.shape}; "
            "pass (n, d) arrays, in a list, tuple or dict where there are several"
        )
    return array
