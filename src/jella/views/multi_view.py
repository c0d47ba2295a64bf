"""`jella.MultiView`: views in a container that is sliced by sample."""

from __future__ import annotations

import warnings
from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import Any

import numpy as np
from scipy import sparse

from jella.numerics.arrays import take_rows
from jella.numerics.optional import need
from jella.numerics.words import closest_name, counted, listed
from jella.views.containers import is_annotated, is_chunked, is_data_array, is_frame, is_other_frame
from jella.views.frames import check_unique, with_others
from jella.views.ids import told_apart
from jella.views.model import Views
from jella.views.named import names_of, renamed_samples
from jella.views.overlap import Overlap
from jella.views.read import Schema, read_views, split
from jella.views.row_changes import extended


class MultiView(Mapping[str, Any]):
    """Views by name that are sliced by sample, for what scikit-learn does with samples.

    It is used like a DataFrame whose columns are the views: ``len`` is the number of samples, ``X["rna"]`` is a view,
    ``X[rows]`` has some of the samples, iteration goes over the names of the views. All estimators, `jella.cluster`
    and `jella.complete` accept it, and completed views are a MultiView again. `train_test_split`, `cross_validate`,
    `GridSearchCV` and `Pipeline` of scikit-learn accept it too.

    Parameters
    ----------
    views : dict, list or tuple of arrays, DataFrames, SciPy sparse arrays or AnnData; or a MuData
        Samples in rows; any mix. Views with ids are aligned by them: each gets all samples, with rows of NaN for those
        that it lacks. Views without ids must have all samples, in the order of `ids`.
    ids : sequence, optional
        Ids of all samples, in the order that the MultiView shall have; by default those of the views, in their order.

    Attributes
    ----------
    ids : pandas Index or None
    shape : tuple of int
        Number of samples, and of columns of all views together.

    Examples
    --------
    >>> import numpy as np, jella
    >>> from sklearn.model_selection import cross_val_score, train_test_split
    >>> digits = jella.datasets.load_digits_views()
    >>> X = jella.MultiView(digits.data)[:200]
    >>> X
    MultiView of 200 samples, without ids
      pixels     (200, 61)  ndarray
      fourier    (200, 34)  ndarray
      gradients  (200, 77)  ndarray
    >>> X[np.arange(200) < 50].shape, X[[3, 1, 2]]["pixels"].shape
    ((50, 172), (3, 61))
    >>> train, test = train_test_split(X, test_size=0.25, random_state=0)
    >>> len(train), len(test)
    (150, 50)
    >>> cross_val_score(jella.MVLIV(5, random_state=0), X, cv=3).shape
    (3,)
    """

    ids: Any

    def __init__(self, views: Any, *, ids: Sequence[Any] | None = None) -> None:
        if is_chunked(views):
            raise ValueError("expected samples in memory, got a Dask collection; pass it to an estimator as it is")
        names, raws = split(views)
        given = views.ids if ids is None and isinstance(views, MultiView) else ids
        raws = [_sliceable(raw, name) for raw, name in zip(raws, names, strict=True)]
        self._views, self.ids = _on_same_samples(names, raws, given)

    def __getitem__(self, key: Any) -> Any:
        """A view, by its name; or a MultiView of some samples, by a slice, positions or booleans.

        A sample that is taken twice, as in a bootstrap, counts as two: its second id ends in " (2)".
        """
        if isinstance(key, str):
            if key not in self._views:
                raise KeyError(f"expected the name of a view, got {key!r}; {closest_name(key, list(self._views))}")
            return self._views[key]
        rows = _positions(key, len(self))
        part = object.__new__(MultiView)
        part.ids = None if self.ids is None else told_apart(self.ids[rows])
        part._views = {name: _taken(raw, rows, part.ids) for name, raw in self._views.items()}
        return part

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the views."""
        return iter(self._views)

    def __len__(self) -> int:
        """The number of samples."""
        return int(next(iter(self._views.values())).shape[0])

    def __contains__(self, name: object) -> bool:
        return name in self._views

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        """Refuse to be one array, which would be one of names."""
        raise TypeError(
            f"expected one table, got a MultiView of {len(self._views)} views; take one of them, such as "
            f"X[{next(iter(self))!r}], or put jella.MVLIV or jella.Completer before this step of a Pipeline"
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    # those of Mapping would count samples

    def keys(self) -> KeysView[str]:
        """The names of the views."""
        return self._views.keys()

    def values(self) -> ValuesView[Any]:
        """The views."""
        return self._views.values()

    def items(self) -> ItemsView[str, Any]:
        """The views with their names."""
        return self._views.items()

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, and of columns of all views together."""
        return len(self), sum(int(raw.shape[1]) for raw in self.values())

    def __repr__(self) -> str:
        width, shapes = max(map(len, self)), {name: str(tuple(map(int, raw.shape))) for name, raw in self.items()}
        wide = max(map(len, shapes.values()))
        some = "without ids" if self.ids is None else listed([str(one) for one in self.ids], 3)
        lines = [f"  {name:<{width}}  {shapes[name]:<{wide}}  {type(raw).__name__}" for name, raw in self.items()]
        return "\n".join([f"MultiView of {counted(len(self), 'sample')}, {some}", *lines])


@read_views.register
def _(X: MultiView, observed: Any = None, schema: Schema | None = None, **how: Any) -> Views:
    return read_views(dict(X.items()), observed, schema, ids=X.ids, **how)


def _sliceable(raw: Any, name: str) -> Any:
    """A raw view that has rows: lists become arrays, sparse arrays are stored by row."""
    if raw is None:
        raise ValueError(f"expected the samples of view {name!r}, got None; leave the view out")
    if sparse.issparse(raw):
        return raw.tocsr()
    raw = raw if hasattr(raw, "shape") else np.asarray(raw)
    if len(raw.shape) != 2:
        raise ValueError(f"view {name!r} must be a 2-D array (samples x features), got {len(raw.shape)} dimension(s)")
    return raw


def _on_same_samples(names: Sequence[str], raws: list[Any], ids: Any) -> tuple[dict[str, Any], Any]:
    """The views by name, all with the same samples in the same order; and the ids of these."""
    overlap = Overlap.of(names, raws)
    refusal = None if overlap is None else overlap.refusal()
    if refusal is not None:
        raise ValueError(refusal)
    if ids is not None:
        ids = check_unique(need("pandas", "pandas").Index(ids), "ids")
    out, samples = {}, _samples(names, raws, ids)
    n = raws[0].shape[0] if samples is None else len(samples)
    for name, raw in zip(names, raws, strict=True):
        if names_of(raw) is not None:
            longer = extended(raw, samples)
            own = names_of(longer)
            out[name] = longer if own.equals(samples) else _take(longer, own.get_indexer(samples))
        elif raw.shape[0] == n:
            out[name] = raw
        else:
            raise ValueError(
                f"expected {counted(n, 'sample')} in each view without ids, got {raw.shape[0]} in {name!r}; pass those "
                "that it lacks as rows of NaN, or pass DataFrames with an index"
            )
    return out, samples


def _samples(names: Sequence[str], raws: Sequence[Any], ids: Any) -> Any:
    """The ids of all samples: the given ones, or those of the views, the first view first; None without any."""
    found = ids
    for name, raw in zip(names, raws, strict=True):
        own = names_of(raw)
        if own is None:
            continue
        found = check_unique(own, name) if found is None else found
        every = with_others(found, own)
        if ids is not None and len(every) > len(found):
            some = listed([repr(one) for one in every[len(found) :]], 3)
            raise ValueError(
                f"expected ids to hold all samples of view {name!r}, got none for {some}; add them, or leave ids out"
            )
        found = every
    return found


def _positions(key: Any, n: int) -> np.ndarray:
    """Positions of the samples that a key means."""
    if isinstance(key, tuple):  # as scikit-learn asks for rows: X[rows, ...]
        if len(key) != 2 or (key[1] is not Ellipsis and key[1] != slice(None)):
            raise TypeError("expected samples or the name of a view in brackets, got several keys; pass one of them")
        key = key[0]
    if isinstance(key, slice):
        return np.arange(n)[key]
    if isinstance(key, int | np.integer):
        return np.arange(n)[[int(key)]]
    rows = np.asarray(key)
    if rows.size == 0:
        return np.empty(0, dtype=np.intp)
    if rows.ndim != 1 or rows.dtype.kind not in "iub":
        raise TypeError(
            f"expected a slice, positions or booleans of samples, or the name of a view, got {key!r}; pass one of these"
        )
    if rows.dtype == bool and rows.size != n:
        raise IndexError(f"expected a boolean for each of the {n} samples, got {rows.size}; pass as many")
    return np.arange(n)[rows]


def _taken(raw: Any, rows: np.ndarray, ids: Any) -> Any:
    """Rows of a raw view with their ids, if the view has ids."""
    if np.unique(rows).size == rows.size or names_of(raw) is None:
        return _take(raw, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of AnnData, while samples that were drawn twice still have one name
        return renamed_samples(_take(raw, rows), ids)


def _take(raw: Any, rows: np.ndarray) -> Any:
    """Rows of a raw view, in its container."""
    if is_frame(raw):
        return raw.iloc[rows]
    if is_data_array(raw):
        return raw.isel({raw.dims[0]: rows})
    if is_other_frame(raw):
        return need("narwhals", "polars").from_native(raw, eager_only=True)[rows.tolist()].to_native()
    return raw[rows].copy() if is_annotated(raw) else take_rows(raw, rows)
