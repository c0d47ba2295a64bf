"""Hiding observed values from a fit, and the error on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from jella.datasets.patterns import draw_hidden
from jella.estimators.base import generator
from jella.numerics.arrays import Array, to_numpy
from jella.numerics.rows import row_blocks
from jella.views import Schema, View, Views, collect, is_single, read_views
from jella.views.hide import hide_values

#: of all hidden values together, and by view
Errors = tuple[float, dict[str, float]]
KINDS = ("auto", "views", "entries")
SCALES = ("standardize", "none")
#: errors are taken in blocks of about this size, so that a wide sparse view is never dense as a whole
BLOCK_BYTES = 2**26


@dataclass(frozen=True)
class HeldOut:
    """Splits of the observed values: some are hidden from the fit, and scored.

    Rows are not split: every sample stays, with less observed. A sample never loses all that it has, nor a feature its
    last observed value.

    Parameters
    ----------
    n_splits : int, default=1
        How often to hide, each time anew.
    share : float in (0, 1), default=0.1
        How much to hide: of the observed entries of every view, of the samples with two views or more, or of both.
    what : {'auto', 'views', 'entries'}, default='auto'
        - 'views': one whole view of some of the samples that have two or more.
        - 'entries': some entries of every view. A sparse view becomes dense in the fit.
        - 'auto': as the data lack values themselves. Whole views where only those are missing, or nothing is; where
          single entries are missing, whole views and then entries; entries where no sample has two views. A sparse view
          that lacks whole samples only loses no entries beside others, and stays sparse.
    random_state : int, Generator or RandomState, optional
        An int hides the same in every call of `split`.

    Examples
    --------
    >>> import numpy as np
    >>> X = [np.ones((10, 2)), np.ones((10, 3))]
    >>> ((holed, hidden),) = HeldOut(share=0.4, random_state=0).split(X)
    >>> int(np.isnan(holed[0]).all(axis=1).sum() + np.isnan(holed[1]).all(axis=1).sum())
    4
    >>> [where.shape for where in hidden]
    [(10, 1), (10, 1)]
    """

    n_splits: int = 1
    _: KW_ONLY
    share: float = 0.1
    what: str = "auto"
    random_state: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.n_splits, int | np.integer) or self.n_splits < 1:
            raise ValueError(f"expected n_splits to be an integer from 1, got {self.n_splits!r}; pass for example 3")
        if not isinstance(self.share, int | float | np.floating) or not 0 < self.share < 1:
            raise ValueError(f"expected 0 < share < 1, got {self.share!r}; pass it as a share, not in percent")
        if self.what not in KINDS:
            raise ValueError(f"expected what to be one of {KINDS}, got {self.what!r}; pass one of these names")

    def split(self, X: Any, observed: Any = None) -> Iterator[tuple[Any, Any]]:
        """Hide, n_splits times.

        Parameters
        ----------
        X : 2-D array, list, tuple or dict of arrays, DataFrames or SciPy sparse arrays
            May have holes. Not modified.
        observed : as X, of booleans, optional
            True where a value was observed, instead of NaN.

        Yields
        ------
        holed : as X
            With NaN for what was hidden, and for what `observed` says is missing.
        hidden : as X, of boolean arrays (n, d), or (n, 1) where whole samples were hidden
            True where an observed value was hidden. Rows of DataFrames are in the order of the union of their indexes.
        """
        trials = Trials.draw(self, X, observed)
        for number, hidden in enumerate(trials.hidden):
            yield trials.holed(number), hidden[0] if is_single(X) else collect(hidden, X, trials.views.names)

    def score(
        self,
        X: Any,
        completed: Any,
        hidden: Any,
        scale: str = "standardize",
        *,
        observed: Any = None,
        by_view: bool = False,
    ) -> Any:
        """Root mean square error of completed views on the hidden values; lower is better.

        Parameters
        ----------
        X : the views before anything was hidden
        completed : as X, with an estimate wherever something was hidden
        hidden : as `split` gives it
        scale : {'standardize', 'none'}, default='standardize'
            The unit of the errors. 'standardize': the standard deviation of a feature over its observed values, so
            that 1 is the error of the mean; constant features do not count. In sparse views it is one unit a view, the
            root mean square of its observed values. 'none': your own units.
        observed : as in `split`
        by_view : bool, default=False
            The error of every view by itself, NaN where nothing was hidden in it.

        Returns
        -------
        error : float, or dict of name -> float
        """
        views = read_views(X, observed)
        wheres = _one_a_view(hidden, views)
        units = _units(views, scale)
        parts = squared_errors(views, _conforming(completed, views, Schema.of(views, X)), wheres, units)
        if by_view:
            return {name: _root_mean(*part) for name, part in zip(views.names, parts, strict=True)}
        return _pooled(parts)


def held_out_error(
    estimator: Any,
    X: Any,
    held_out: HeldOut | None = None,
    *,
    y: Any = None,
    observed: Any = None,
    scale: str = "standardize",
) -> float:
    """Error of an estimator on values that its fit does not see: fit, complete, compare; the mean over the splits.

    Parameters
    ----------
    estimator : object with fit and complete
        A clone of it is fitted.
    X : as in the estimator's fit
    held_out : HeldOut, optional
        What to hide; ``HeldOut(random_state=0)`` unless given.
    y : optional
        For methods that use labels.
    observed : as in the estimator's fit
    scale : {'standardize', 'none'}, default='standardize'
        As in `HeldOut.score`.

    Examples
    --------
    >>> import numpy as np, jella
    >>> W = np.arange(1.0, 21.0)[:, None]
    >>> held_out_error(jella.MVLIV(n_components=1), [W @ np.ones((1, 4)), W @ np.ones((1, 3))]) < 0.01
    True
    """
    check_completes(estimator)
    trials = Trials.draw(HeldOut(random_state=0) if held_out is None else held_out, X, observed, scale, y)
    return float(np.mean([trials.error(estimator, number) for number in range(len(trials))]))


@dataclass(frozen=True)
class Trials:
    """Data and what is hidden of it, drawn once for all estimators that are to be compared."""

    X: Any
    y: Any
    views: Views
    masked: bool  # X holds values that are not observed
    hidden: tuple[list[np.ndarray], ...]  # (n, 1) or (n, d) a view, one list a split
    units: list[np.ndarray]

    @classmethod
    def draw(cls, held_out: HeldOut, X: Any, observed: Any = None, scale: str = "standardize", y: Any = None) -> Trials:
        """Hide, as often as there are splits."""
        views, rng = read_views(X, observed), generator(held_out.random_state)
        hidden = tuple(_draw(views, held_out, rng) for _ in range(held_out.n_splits))
        return cls(X, y, views, observed is not None, hidden, _units(views, scale))

    def __len__(self) -> int:
        return len(self.hidden)

    def holed(self, number: int) -> Any:
        """X without what one of the splits hides."""
        gone = self.hidden[number]
        if self.masked:
            gone = [where | ~to_numpy(view.mask) for where, view in zip(gone, self.views, strict=True)]
        return hide_values(self.X, self.views, gone)

    def errors(self, completed: Any, number: int) -> Errors:
        """Errors of completed data on what one of the splits hides: of all hidden values, and by view."""
        return self.errors_of(_conforming(completed, self.views, Schema.of(self.views, self.X)), number)

    def errors_of(self, estimates: Views, number: int) -> Errors:
        """As `errors`, of estimates that are views already."""
        parts = squared_errors(self.views, estimates, self.hidden[number], self.units)
        return _pooled(parts), {name: _root_mean(*part) for name, part in zip(self.views.names, parts, strict=True)}

    def error(self, estimator: Any, number: int) -> float:
        """Error of a clone of the estimator, fitted without what one of the splits hides, on just that."""
        holed, model = self.holed(number), clone(estimator)
        model = model.fit(holed) if self.y is None else model.fit(holed, self.y)
        if getattr(getattr(model, "result_", None), "stop_reason", None) == "interrupted":
            raise KeyboardInterrupt  # the fit kept what it had, but its error would not be that of the candidate
        return self.errors(model.complete(holed), number)[0]


# what to hide


def _draw(views: Views, held_out: HeldOut, rng: np.random.Generator) -> list[np.ndarray]:
    several = views.presence().sum(axis=1) >= 2
    takes_views, takes_entries = _kinds(views, held_out.what, bool(several.any()))
    hidden = [np.zeros((views.n_samples, 1), dtype=bool) for _ in views]
    if takes_views:
        hidden = _whole_views(views, several, held_out.share, rng)
    if takes_entries:
        loses = [held_out.what == "entries" or not (takes_views and v.is_sparse and v.is_rowwise) for v in views]
        hidden = _and_entries(views, hidden, loses, held_out.share, rng)
    hidden = [_spare_features(view, where, rng) for view, where in zip(views, hidden, strict=True)]
    if not any(where.any() for where in hidden):
        raise ValueError(
            f"expected observed values that can be hidden, got none with share={held_out.share}: samples and features "
            "keep their last one; raise the share or pass more data"
        )
    return hidden


def _kinds(views: Views, what: str, has_several: bool) -> tuple[bool, bool]:
    """Whether to hide whole views, and entries."""
    if what == "views" and not has_several:
        raise ValueError("expected samples with two or more views for what='views', got none; use what='entries'")
    if what != "auto":
        return what == "views", what == "entries"
    return has_several, not (has_several and views.is_rowwise)


def _whole_views(views: Views, several: np.ndarray, share: float, rng: np.random.Generator) -> list[np.ndarray]:
    """One of their views from some of the samples that have several."""
    eligible = np.flatnonzero(several)
    rows = rng.choice(eligible, max(1, round(share * eligible.size)), replace=False)
    lost = np.full(views.n_samples, -1)
    lost[rows] = np.where(views.presence()[rows], rng.random((rows.size, len(views))), -1.0).argmax(axis=1)
    return [(lost == v)[:, None] & (True if view.is_rowwise else to_numpy(view.mask)) for v, view in enumerate(views)]


def _and_entries(
    views: Views, hidden: list[np.ndarray], loses: list[bool], share: float, rng: np.random.Generator
) -> list[np.ndarray]:
    """What is hidden, and a share of the other entries of the views that lose some."""
    chosen = [v for v, loses_some in enumerate(loses) if loses_some]
    left = [_full_mask(views[v]) & ~hidden[v] for v in chosen]
    out = list(hidden)
    for v, where in zip(chosen, draw_hidden(left, share, "mcar", rng), strict=True):
        out[v] = hidden[v] | where
    return out


def _spare_features(view: View, where: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Less hidden, so that every feature keeps an observed value: no fit takes one that it never sees."""
    if where.shape[1] == 1:
        if where.any() and where[view.presence()].all():
            where = where.copy()
            where[rng.choice(np.flatnonzero(where))] = False
        return where
    observed = _full_mask(view)
    for j in np.flatnonzero(observed.any(axis=0) & ~(observed & ~where).any(axis=0)):
        if not (observed[:, j] & ~where[:, j]).any():  # an earlier feature may have saved this one
            row = rng.choice(np.flatnonzero(where[:, j]))
            lost_all = bool((where[row] == observed[row]).all())
            where[row, slice(None) if lost_all else j] = False
    return where


def _full_mask(view: View) -> np.ndarray:
    return np.broadcast_to(to_numpy(view.mask), (view.n_samples, view.n_features))


# the error on it


def squared_errors(
    views: Views, completed: Views, hidden: Sequence[np.ndarray], units: Sequence[np.ndarray]
) -> list[tuple[float, int]]:
    """Sum of the squared errors on the hidden values, and their number, of every view."""
    order = None
    if views.sample_names is not None:
        order = completed.sample_names.get_indexer(views.sample_names)
    return [
        _squared_error(view, estimate, where, unit, order)
        for view, estimate, where, unit in zip(views, completed, hidden, units, strict=True)
    ]


def _squared_error(
    view: View, estimate: View, where: np.ndarray, unit: np.ndarray, order: np.ndarray | None
) -> tuple[float, int]:
    counts, total, number = unit > 0, 0.0, 0  # a constant feature has no unit
    rows = np.flatnonzero(where.any(axis=1))
    for block in row_blocks(rows.size, 8 * view.n_features, BLOCK_BYTES):
        mine = rows[block]
        theirs = mine if order is None else order[mine]
        known = np.broadcast_to(to_numpy(estimate.mask), estimate.X.shape)[theirs]
        chosen = np.broadcast_to(where[mine], known.shape)
        if (chosen & ~known).any() or (theirs < 0).any():
            raise ValueError(
                f"expected a number wherever something was hidden, but the completed view {view.name!r} has NaN there; "
                "complete it wholly"
            )
        error = (_dense(estimate.X, theirs) - _dense(view.X, mine)) / np.where(counts, unit, 1.0)
        error = error[chosen & counts]
        total, number = total + float(error @ error), number + error.size
    return total, number


def _dense(X: Array, rows: np.ndarray) -> np.ndarray:
    chosen = X[rows].toarray() if sparse.issparse(X) else to_numpy(X)[rows]
    return chosen.astype(np.float64)


def _pooled(parts: Sequence[tuple[float, int]]) -> float:
    total, number = sum(part[0] for part in parts), sum(part[1] for part in parts)
    if number == 0:
        raise ValueError(
            "expected hidden values of features that vary, got none; hide a larger share, or score with scale='none'"
        )
    return _root_mean(total, number)


def _root_mean(total: float, number: int) -> float:
    return float(np.sqrt(total / number)) if number else float("nan")


def _units(views: Views, scale: str) -> list[np.ndarray]:
    """The unit of every feature, (d,) or (1,) a view; 0 for a feature that does not vary."""
    if scale not in SCALES:
        raise ValueError(f"expected scale to be one of {SCALES}, got {scale!r}; pass one of these names")
    return [np.ones(1) if scale == "none" else _spread(view) for view in views]


def _spread(view: View) -> np.ndarray:
    if view.is_sparse:
        return np.sqrt(np.atleast_1d(view.X.multiply(view.X).sum()) / max(view.n_observed(), 1))
    X, mask = to_numpy(view.X).astype(np.float64), to_numpy(view.mask)
    count = np.maximum(to_numpy(view.count_by_feature()), 1)
    mean = X.sum(axis=0) / count
    centred = np.where(mask, X - mean, 0.0)
    spread = np.sqrt(np.einsum("ij,ij->j", centred, centred) / count)
    noise = 10.0 * float(np.finfo(to_numpy(view.X).dtype).eps) * np.abs(mean)  # the rounding of a constant
    return np.where(spread > noise, spread, 0.0)


def _conforming(completed: Any, views: Views, schema: Schema) -> Views:
    """Completed data as views, with the samples and features of the data."""
    read = read_views(completed, schema=schema)
    if read.n_samples != views.n_samples or (read.sample_names is None) != (views.sample_names is None):
        raise ValueError(
            f"expected completed views in the container of X with its {views.n_samples} samples, got {read.n_samples} "
            "samples or another container; pass what complete returns"
        )
    return read


def _one_a_view(hidden: Any, views: Views) -> list[np.ndarray]:
    """The masks of the hidden values in a list, checked against the views."""
    if isinstance(hidden, Mapping):
        by_name = {str(name): where for name, where in hidden.items()}
        found = [by_name.get(name) for name in views.names]
    else:
        found = list(hidden) if isinstance(hidden, list | tuple) else [hidden]
    wheres = [np.asarray(where) for where in found]
    fits = [
        where.dtype == bool and where.shape in ((v.n_samples, 1), (v.n_samples, v.n_features))
        for where, v in zip(wheres, views, strict=False)
    ]
    if len(wheres) != len(views) or not all(fits):
        raise ValueError(
            f"expected hidden to hold booleans (n, 1) or (n, d) for each of the {len(views)} views, got shapes "
            f"{[where.shape for where in wheres]}; pass what split gave"
        )
    for where, view in zip(wheres, views, strict=True):
        seen = view.presence()[:, None] if where.shape[1] == 1 else to_numpy(view.mask)
        if (where & ~seen).any():
            raise ValueError(
                f"expected X to have the hidden values of view {view.name!r}, but it has NaN there; pass X as it was "
                "before it was split"
            )
    return [
        where if view.is_rowwise else where & to_numpy(view.mask) for where, view in zip(wheres, views, strict=True)
    ]


def check_completes(estimator: Any) -> None:
    """Refuse what cannot fit and complete."""
    if not hasattr(estimator, "fit") or not hasattr(estimator, "complete") or isinstance(estimator, type):
        got = f"the class {estimator.__name__}" if isinstance(estimator, type) else type(estimator).__name__
        raise ValueError(f"expected an estimator with fit and complete, got {got}; pass for example jella.MVLIV()")
