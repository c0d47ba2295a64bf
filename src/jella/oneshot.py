"""One call from incomplete views to clusters, or to completed views, with figures that help to judge them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from jella.estimators.methods.sparse_bdr import SparseBDR
from jella.graphs.spectral import modularity
from jella.model_selection.against_mean import errors_against_mean
from jella.model_selection.held_out import Errors
from jella.numerics.arrays import Array, to_numpy
from jella.numerics.optional import need
from jella.numerics.words import aligned, closest_name, counted, number, percent, shortened
from jella.views import is_chunked, read_views
from jella.views.align import align, turned
from jella.views.read import split
from jella.views.write import put_back

#: cluster sizes that a repr lists
SHOWN_SIZES = 10
#: views that a repr lists
SHOWN_VIEWS = 5
#: longer names of views are shortened in a repr
NAME_WIDTH = 24


@dataclass(frozen=True, repr=False, eq=False)
class Clustering:
    """The result of `jella.cluster`.

    Attributes
    ----------
    labels : int array (n,)
        Cluster of each sample, from 0, the largest first; -1 for a sample without any value, if on_empty='drop'.
    embedding : array (n, r)
        In the array library of the views.
    n_clusters : int
    sizes : int array (n_clusters,)
        Number of samples of each cluster.
    sample_names : pandas Index or None
        In the order of the labels, if the views were DataFrames.
    modularity : float
        How clear the clusters are: the share of neighbours that lie in the same cluster, minus the share expected at
        random. Neighbours are those in the data, over the entries that both samples have.
    model : SparseBDR
        Fitted: for predict, transform and complete on new samples.
    n_missing : dict of name -> int
        Missing entries of each view.
    seconds : float
    """

    labels: np.ndarray
    embedding: Array
    n_clusters: int
    sizes: np.ndarray
    sample_names: Any
    modularity: float
    model: SparseBDR
    n_missing: dict[str, int]
    seconds: float
    _views: Any
    _observed: Any
    _turned: bool

    def complete(self) -> Any:
        """The clustered views with their missing values imputed, as `SparseBDR.complete` does.

        Same container and units, observed values unchanged bit for bit. The views are not copied when clustering: if
        they were changed since, the changed values are completed.
        """
        return _as_given(self.model.complete(self._views, observed=self._observed), self._turned)

    def as_frame(self) -> Any:
        """A pandas DataFrame with one row per sample: its cluster and its embedding."""
        pd = need("pandas", "pandas")
        columns = self.model.get_feature_names_out()
        frame = pd.DataFrame(to_numpy(self.embedding), index=self.sample_names, columns=columns)
        frame.insert(0, "cluster", self.labels)
        return frame

    def __repr__(self) -> str:
        model, n, names = self.model, self.labels.size, self.model.view_names_in_
        how = "chosen" if model.n_clusters is None else "given"
        left_out = f", {len(model.dropped_):,} without any value left out" if model.dropped_ else ""
        widths = model.schema_.n_features
        rows = [("view", "features", "missing", "scaling", "weight")]
        for name, d, scale in zip(names, widths, model.scaling_.scales, strict=True):
            share = percent(self.n_missing[name], n * d)
            rows.append((shortened(name, NAME_WIDTH), f"{d:,}", share, scale.kind, f"{scale.root_weight**2:.2f}"))
        return "\n".join(
            [
                f"Clustering of {counted(n, 'sample')}{left_out}: {counted(self.n_clusters, 'cluster')} ({how})",
                f"  sizes       {_largest_first(self.sizes)}",
                f"  modularity  {self.modularity:.2f} (0: neighbours share a cluster no more often than at random)",
                *_table(rows, "<>><>"),
                f"  {counted(model.n_iter_, 'sweep')}, {self.seconds:.1f} s",
            ]
        )


@dataclass(frozen=True, repr=False, eq=False)
class Completion:
    """The result of `jella.complete`, and how far to trust it.

    Errors are root mean squares over observed values that were hidden from another fit, in units of a feature's
    standard deviation; in sparse views the unit is the root mean square of the view. None if they were not
    estimated, NaN for a view in which nothing could be hidden.

    Attributes
    ----------
    views : as given
        Completed: same container and units, observed values unchanged bit for bit.
    n_filled : dict of name -> int
        Number of imputed entries of each view.
    error, mean_error : float or None
        Of the model, and of imputing the mean of each feature, on the same hidden values.
    error_by_view, mean_error_by_view : dict of name -> float, or None
    model : SparseBDR
        Fitted on all observed values.
    seconds : float
    """

    views: Any
    n_filled: dict[str, int]
    error: float | None
    mean_error: float | None
    error_by_view: dict[str, float] | None
    mean_error_by_view: dict[str, float] | None
    model: SparseBDR
    seconds: float

    def __repr__(self) -> str:
        model = self.model
        n, widths = int(model.embedding_.shape[0]), model.schema_.n_features
        left_out = f", {len(model.dropped_):,} without any value left as they are" if model.dropped_ else ""
        rows: list[tuple[str, ...]] = [("view", "filled", "share", "error", "of the mean")]
        for name, d in zip(model.view_names_in_, widths, strict=True):
            filled = self.n_filled[name]
            errors = [None if kind is None else kind[name] for kind in (self.error_by_view, self.mean_error_by_view)]
            rows.append((shortened(name, NAME_WIDTH), f"{filled:,}", percent(filled, n * d), *map(number, errors)))
        total = sum(self.n_filled.values())
        last = ("all", f"{total:,}", percent(total, n * sum(widths)), number(self.error), number(self.mean_error))
        return "\n".join(
            [
                f"Completion of {counted(n, 'sample')}{left_out}: {counted(total, 'entry', 'entries')} filled",
                *_table(rows, "<>>>>", [last] if len(widths) > 1 else []),
                f"  {self._verdict()}",
                f"  {counted(model.n_iter_, 'sweep')}, {self.seconds:.1f} s",
            ]
        )

    def _verdict(self) -> str:
        if self.error is None or self.mean_error is None:
            return "error not estimated"
        unit = "error on hidden values, in standard deviations of a feature"
        return unit if self.error < self.mean_error else f"{unit}: no better than the mean, do not rely on it"


def cluster(
    views: Any,
    n_clusters: int | None = None,
    *,
    observed: Any = None,
    ids: Any = "exact",
    samples: str = "rows",
    zero_rows: str = "observed",
    random_state: Any = 0,
    **settings: Any,
) -> Clustering:
    """The clusters of samples that are described by several incomplete views, by one fit of `jella.SparseBDR`.

    Parameters
    ----------
    views : 2-D array, list, tuple or dict of arrays, DataFrames, SciPy sparse arrays or Dask collections
        Samples in rows. NaN marks a missing entry, a row of NaN a missing view. DataFrames are aligned by their index.
        Not modified.
    n_clusters : int, optional
        By default chosen from the data.
    observed : as views, of booleans, optional
        True where a value was observed, instead of NaN.
    ids, samples, zero_rows : optional
        How sample ids are made equal, where the samples are, and whether rows of zeros are missing; as in
        `jella.align`.
    random_state : int, Generator or RandomState, default=0
    **settings
        Other parameters of `jella.SparseBDR`, such as n_neighbors or scale.

    Returns
    -------
    Clustering

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> some = {name: view[:300] for name, view in digits.data.items()}
    >>> found = jella.cluster(jella.datasets.make_incomplete(some, 0.3, random_state=0), 10)
    >>> found.labels.shape, found.n_clusters, int(found.sizes.sum())
    ((300,), 10, 300)
    >>> found  # doctest: +ELLIPSIS
    Clustering of 300 samples: 10 clusters (given)
      sizes       ...
      modularity  0...
      view       features  missing  scaling      weight
      pixels           61     9.7%  ...
      fourier          34    10.7%  ...
      gradients        77     9.7%  ...
      ... sweeps, ... s
    """
    begin = perf_counter()
    _check_settings(settings)
    views = _aligned(views, observed, ids, samples, zero_rows)
    model = SparseBDR(n_clusters, random_state=random_state, **settings).fit(views, observed=observed)
    labels = np.asarray(model.labels_)
    known = labels[labels >= 0]
    return Clustering(
        labels=model.labels_,
        embedding=model.embedding_,
        n_clusters=model.n_clusters_,
        sizes=np.bincount(known, minlength=model.n_clusters_),
        sample_names=model.sample_names_in_,
        modularity=modularity(model.graph_ + model.graph_.T, known),
        model=model,
        n_missing=_n_missing(views, observed),
        seconds=perf_counter() - begin,
        _views=views,
        _observed=observed,
        _turned=samples == "columns",
    )


def complete(
    views: Any,
    *,
    observed: Any = None,
    ids: Any = "exact",
    samples: str = "rows",
    zero_rows: str = "observed",
    random_state: Any = 0,
    estimate_error: bool = True,
    **settings: Any,
) -> Completion:
    """The views with imputed missing values, and an estimate of the error, by two fits of `jella.SparseBDR`.

    For the estimate, a tenth of the observed values is hidden from a second fit, in the way in which the data lack
    values (`HeldOut`).

    Parameters
    ----------
    views : 2-D array, list, tuple or dict of arrays, DataFrames, SciPy sparse arrays or Dask collections
        Samples in rows. NaN marks a missing entry, a row of NaN a missing view. DataFrames are aligned by their index.
        Not modified.
    observed : as views, of booleans, optional
        True where a value was observed, instead of NaN.
    ids, samples, zero_rows : optional
        How sample ids are made equal, where the samples are, and whether rows of zeros are missing; as in
        `jella.align`.
    random_state : int, Generator or RandomState, default=0
        Seed of the fits, and of the hidden values.
    estimate_error : bool, default=True
        False avoids the second fit.
    **settings
        Other parameters of `jella.SparseBDR`, such as n_components, the rank of the completion.

    Returns
    -------
    Completion

    Examples
    --------
    >>> import jella, numpy as np
    >>> digits = jella.datasets.load_digits_views()
    >>> some = {name: view[:200] for name, view in digits.data.items()}
    >>> done = jella.complete(jella.datasets.make_incomplete(some, 0.3, random_state=0))
    >>> bool(np.isnan(done.views["pixels"]).any()), done.error < 0.8 * done.mean_error
    (False, True)
    >>> done  # doctest: +ELLIPSIS
    Completion of 200 samples: ... entries filled
      view       filled  share  error  of the mean
      pixels      ...
      fourier     ...
      gradients   ...
      all         ...
      error on hidden values, in standard deviations of a feature
      ... sweeps, ... s
    """
    begin = perf_counter()
    if estimate_error and is_chunked(views):
        raise ValueError(
            "expected samples in memory to estimate the error of a completion, got a Dask collection; pass "
            "estimate_error=False"
        )
    _check_settings(settings)
    views = _aligned(views, observed, ids, samples, zero_rows)
    model = SparseBDR(random_state=random_state, **settings).fit(views, observed=observed)
    completed = model.complete(views, observed=observed)
    lacking, left = _n_missing(views, observed), len(model.dropped_)
    widths = dict(zip(model.view_names_in_, model.schema_.n_features, strict=True))
    ours, means = _errors(model, views, observed) if estimate_error else (None, None)
    return Completion(
        views=_as_given(completed, samples == "columns"),
        n_filled={name: count - left * widths[name] for name, count in lacking.items()},
        error=None if ours is None else ours[0],
        mean_error=None if means is None else means[0],
        error_by_view=None if ours is None else ours[1],
        mean_error_by_view=None if means is None else means[1],
        model=model,
        seconds=perf_counter() - begin,
    )


def _aligned(views: Any, observed: Any, ids: Any, samples: str, zero_rows: str) -> Any:
    """The views that `jella.align` makes of these; as given where nothing is asked of it."""
    if (ids, samples, zero_rows) == ("exact", "rows", "observed"):
        return views  # whose fit checks the ids
    if observed is not None:
        raise ValueError(
            "expected NaN as the mark of missing values with ids, samples or zero_rows, got observed; call jella.align "
            "first, and pass observed for its result"
        )
    return align(views, ids=ids, samples=samples, zero_rows=zero_rows)


def _as_given(completed: Any, was_turned: bool) -> Any:
    """Completed views with samples as columns again, if they were."""
    if not was_turned:
        return completed
    names, raws = split(completed)
    return put_back([turned(raw, name) for raw, name in zip(raws, names, strict=True)], completed, names)


def _check_settings(settings: Iterable[str]) -> None:
    known = SparseBDR().get_params()
    for name in settings:
        if name not in known:
            raise TypeError(f"expected parameters of SparseBDR, got {name!r}; {closest_name(name, known)}")


def _errors(model: SparseBDR, X: Any, observed: Any) -> tuple[Errors, Errors] | tuple[None, None]:
    try:
        return errors_against_mean(model, X, observed)
    except ValueError as error:
        raise ValueError(f"the error cannot be estimated: {error}; or pass estimate_error=False") from error


def _n_missing(X: Any, observed: Any) -> dict[str, int]:
    views: Any
    if is_chunked(X):
        from jella.distributed.read import read_chunked

        views = read_chunked(X, observed)
    else:
        views = read_views(X, observed)
    return {view.name: view.n_samples * view.n_features - view.n_observed() for view in views}


# lines of a repr


def _table(rows: Sequence[Sequence[str]], sides: str, last: Iterable[Sequence[str]] = ()) -> list[str]:
    """Aligned lines: a head, rows of which some may be left out, and last rows that are always shown."""
    lines = aligned([*rows[: SHOWN_VIEWS + 1], *last], sides, indent="  ")
    left_out = len(rows) - 1 - SHOWN_VIEWS
    if left_out > 0:
        lines.insert(SHOWN_VIEWS + 1, f"  … and {counted(left_out, 'more view')}")
    return lines


def _largest_first(sizes: np.ndarray) -> str:
    ordered = np.sort(sizes)[::-1]
    more = f" … and {ordered.size - SHOWN_SIZES:,} more" if ordered.size > SHOWN_SIZES else ""
    return ", ".join(map(str, ordered[:SHOWN_SIZES])) + more
