"""Hiding observed values from a fit, and measuring the error on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from jella.estimators.base import generator
from jella.estimators.interrupted import was_interrupted
from jella.estimators.transformer import without_clusters
from jella.model_selection.errors import conforming, pooled, root_mean, squared_errors, units_of
from jella.views import Hidden, Views, read_views
from jella.views.draw import draw_as_missing

#: error over all hidden values, and by view
Errors = tuple[float, dict[str, float]]
WHAT_TO_HIDE = ("auto", "views", "entries")


@dataclass(frozen=True)
class HeldOut:
    """Splits of the observed values: some are hidden from the fit and used to score it.

    Rows are not split: all samples stay, with fewer values. No sample and no feature loses its last observed value.

    Parameters
    ----------
    n_splits : int, default=1
        Number of draws.
    share : float in (0, 1), default=0.1
        How much to hide: of the observed entries of each view, of the samples with two views or more, or of both.
    what : {'auto', 'views', 'entries'}, default='auto'
        - 'views': one whole view of some of the samples that have two or more.
        - 'entries': some entries of each view. A sparse view becomes dense in the fit.
        - 'auto': in the way in which the data lack values. Whole views if only those are missing, or nothing is; whole
          views and then entries if single entries are missing; entries if no sample has two views. A sparse view that
          lacks whole samples only, among other views, loses no entries and stays sparse.
    random_state : int, Generator or RandomState, optional
        An int hides the same values in each call of `split`.

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
        if self.what not in WHAT_TO_HIDE:
            raise ValueError(f"expected what to be one of {WHAT_TO_HIDE}, got {self.what!r}; pass one of these names")

    def split(self, X: Any, observed: Any = None) -> Iterator[tuple[Any, Any]]:
        """Yield the data without the hidden values, and where they are, n_splits times.

        Parameters
        ----------
        X : 2-D array, list, tuple or dict of arrays, DataFrames or SciPy sparse arrays
            Values may be missing. Not modified.
        observed : as X, of booleans, optional
            True where a value was observed, instead of NaN.

        Yields
        ------
        holed : as X
            With NaN for hidden values, and for values that are missing according to `observed`.
        hidden : as X, of boolean arrays (n, d), or (n, 1) if whole samples were hidden
            True for hidden values. Rows of DataFrames are in the order of the union of their indexes.
        """
        trials = Trials.draw(self, X, observed)
        for number, hidden in enumerate(trials.hidden):
            yield trials.holed(number), hidden.masks_like(X, trials.views)

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
        completed : as X, with an estimate of each hidden value
        hidden : as `split` yields it
        scale : {'standardize', 'none'}, default='standardize'
            The unit of the errors. 'standardize': the standard deviation of a feature over its observed values, so
            that 1 is the error of the mean; constant features are left out. Sparse views have one unit per view, the
            root mean square of its observed values. 'none': your own units.
        observed : as in `split`
        by_view : bool, default=False
            Return the error of each view, NaN if nothing was hidden in it.

        Returns
        -------
        error : float, or dict of name -> float
        """
        views = read_views(X, observed)
        masks, units = Hidden.read(hidden, views), units_of(views, scale)
        parts = squared_errors(views, conforming(completed, X, views), masks, units)
        if by_view:
            return {name: root_mean(*part) for name, part in zip(views.names, parts, strict=True)}
        return pooled(parts)


def held_out_error(
    estimator: Any,
    X: Any,
    held_out: HeldOut | None = None,
    *,
    y: Any = None,
    observed: Any = None,
    scale: str = "standardize",
) -> float:
    """The error of an estimator on values that its fit does not see, averaged over the splits.

    Parameters
    ----------
    estimator : object with fit and complete
        A clone of it is fitted.
    X : as in the estimator's fit
    held_out : HeldOut, optional
        What to hide; by default ``HeldOut(random_state=0)``.
    y : optional
        For methods that use labels.
    observed : as in the estimator's fit
    scale : {'standardize', 'none'}, default='standardize'
        As in `HeldOut.score`.

    Examples
    --------
    >>> import numpy as np, jella
    >>> W = np.arange(1.0, 21.0)[:, None]
    >>> held_out_error(jella.MVLIV(n_components=1, scale="none"), [W @ np.ones((1, 4)), W @ np.ones((1, 3))]) < 0.01
    True
    """
    check_completes(estimator)
    trials = Trials.draw(HeldOut(random_state=0) if held_out is None else held_out, X, observed, scale, y)
    return float(np.mean([trials.error(estimator, number) for number in range(len(trials))]))


@dataclass(frozen=True)
class Trials:
    """Data and the values that are hidden, drawn once for all estimators that are compared."""

    X: Any
    y: Any
    views: Views
    masked: bool  # X holds values that are not observed
    hidden: tuple[Hidden, ...]  # one per split
    units: list[np.ndarray]

    @classmethod
    def draw(cls, held_out: HeldOut, X: Any, observed: Any = None, scale: str = "standardize", y: Any = None) -> Trials:
        """Read the data and draw the hidden values of each split."""
        views, rng = read_views(X, observed), generator(held_out.random_state)
        draws = range(held_out.n_splits)
        hidden = tuple(draw_as_missing(views, held_out.share, held_out.what, rng) for _ in draws)
        return cls(X, y, views, observed is not None, hidden, units_of(views, scale))

    def __len__(self) -> int:
        return len(self.hidden)

    def holed(self, number: int) -> Any:
        """X without the values that a split hides."""
        hidden = self.hidden[number]
        gone = hidden | Hidden.missing(self.views) if self.masked else hidden
        return gone.apply_to(self.X, self.views)

    def errors(self, completed: Any, number: int) -> Errors:
        """Errors of completed data on the values that a split hides: over all of them, and by view."""
        return self.errors_of(conforming(completed, self.X, self.views), number)

    def errors_of(self, estimates: Views, number: int) -> Errors:
        """As `errors`, for estimates that are already views."""
        parts = squared_errors(self.views, estimates, self.hidden[number], self.units)
        return pooled(parts), {name: root_mean(*part) for name, part in zip(self.views.names, parts, strict=True)}

    def error(self, estimator: Any, number: int) -> float:
        """Error of a clone of the estimator on the values that a split hides, fitted without them."""
        holed, model = self.holed(number), without_clusters(clone(estimator))
        model = model.fit(holed) if self.y is None else model.fit(holed, self.y)
        if was_interrupted(model):
            raise KeyboardInterrupt  # the fit kept its last sweep; its error is not that of the estimator
        return self.errors(model.complete(holed), number)[0]


def check_completes(estimator: Any) -> None:
    """Refuse objects without fit and complete."""
    if not hasattr(estimator, "fit") or not hasattr(estimator, "complete") or isinstance(estimator, type):
        got = f"the class {estimator.__name__}" if isinstance(estimator, type) else type(estimator).__name__
        raise ValueError(f"expected an estimator with fit and complete, got {got}; pass for example jella.MVLIV()")
