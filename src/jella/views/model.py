"""Views: several tables of features of the same samples, each with its mask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, beside, is_numpy, like, namespace, sqnorm, take_rows, to_numpy
from jella.views.categories import Category
from jella.views.frames import label

T = TypeVar("T")


@dataclass(frozen=True)
class View:
    """One view: values, zero where nothing was observed, and a mask that is True where something was.

    Attributes
    ----------
    name : str
    X : array (n, d) or CSR array
        Zero at each missing entry: the value that the data had in its place has no effect.
    mask : bool array (1, 1), (n, 1) or (n, d)
        True where observed. The smallest possible shape: complete, whole samples missing, entries missing.
    feature_names : tuple of str, optional
    categories : tuple of Category
        The columns of categories, whose features are indicators; in a cell, all of them are observed or none.
    n_samples : int
        Number of samples, present or not.
    n_features : int
    is_sparse : bool
        Whether the values are a SciPy sparse array.
    is_complete : bool
        Whether nothing is missing. The mask of a single sample without this view has the shape (1, 1) too.
    is_rowwise : bool
        Whether each sample has either all entries of this view or none.
    """

    name: str
    X: Array
    mask: Array
    feature_names: tuple[str, ...] | None = None
    categories: tuple[Category, ...] = ()
    n_samples: int = field(init=False, repr=False, compare=False)
    n_features: int = field(init=False, repr=False, compare=False)
    is_sparse: bool = field(init=False, repr=False, compare=False)
    is_complete: bool = field(init=False, repr=False, compare=False)
    is_rowwise: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        shape = tuple(self.mask.shape)
        vars(self).update(
            n_samples=int(self.X.shape[0]),
            n_features=int(self.X.shape[1]),
            is_sparse=bool(sparse.issparse(self.X)),
            is_complete=shape == (1, 1) and bool(self.mask[0, 0]),
            is_rowwise=shape[1] == 1,
        )

    def count_by_sample(self) -> Array:
        """Observed entries of each sample, (n,), in the default integers of the array library."""
        xp = namespace(self.mask)
        counts = xp.sum(xp.astype(self.mask, xp.int64), axis=1)
        if self.is_rowwise:
            counts = xp.broadcast_to(counts * self.n_features, (self.n_samples,))
        return counts

    def count_by_feature(self) -> Array:
        """Observed entries of each feature, (d,)."""
        xp = namespace(self.mask)
        counts = xp.sum(xp.astype(self.mask, xp.int64), axis=0)
        if self.is_complete:
            counts = counts * self.n_samples
        return xp.broadcast_to(counts, (self.n_features,))

    def smallest(self) -> float:
        """The smallest value, where missing entries count as zero."""
        return float(self.X.min()) if self.is_sparse else float(namespace(self.X).min(self.X))

    def eps(self) -> float:
        """Distance from one to the next number of the floating type."""
        return float(namespace(self.X).finfo(self.X.dtype).eps)

    def through(self, step: Callable[[View], View]) -> View:
        """The view after a step."""
        return step(self)

    def reduce(self, function: Callable[[View], Any], combine: Callable[[Any, Any], Any] | None = None) -> Any:
        """The result of a function of the view; views in chunks combine the results of their chunks."""
        return function(self)

    def n_observed(self) -> int:
        """Number of observed entries."""
        return int(namespace(self.mask).sum(self.count_by_sample()))

    def presence(self) -> np.ndarray:
        """Samples with at least one observed entry, (n,) booleans in NumPy."""
        return to_numpy(self.count_by_sample()) > 0

    def map(self, values: Callable[[Array], Array]) -> View:
        """The view with a function applied to its values, and zero again where something is missing."""
        X = values(self.X)
        if not self.is_sparse and not self.is_complete:
            X = namespace(X).where(self.mask, X, 0.0)
        return replace(self, X=X)

    def take(self, rows: np.ndarray) -> View:
        """The view of some of the samples."""
        mask = self.mask if self.is_complete else take_rows(self.mask, rows)
        return replace(self, X=take_rows(self.X, rows), mask=mask)

    def on_host(self) -> View:
        """The view in NumPy or SciPy."""
        return self if is_numpy(self.X) else replace(self, X=to_numpy(self.X), mask=to_numpy(self.mask))

    def beside(self, reference: Array) -> View:
        """The view in the library and on the device of an array; elsewhere than in NumPy also in its floating type."""
        if is_numpy(reference):
            return self.on_host()
        if type(self.X) is type(reference) and self.X.dtype == reference.dtype and self.X.device == reference.device:
            return self
        X = self.X.toarray() if self.is_sparse else self.X
        return replace(self, X=like(X, reference), mask=beside(to_numpy(self.mask), reference))

    @classmethod
    def joined(cls, parts: Sequence[View]) -> View:
        """The same view of several groups of samples, one group after the other; dense, in NumPy."""
        X, masks = np.concatenate([part.X for part in parts]), [part.mask for part in parts]
        return replace(parts[0], X=X, mask=joined_masks(masks, [part.n_samples for part in parts]))


@dataclass(frozen=True)
class Views:
    """All views of one data set, aligned: row i is the same sample in each of them.

    Attributes
    ----------
    items : tuple of View
    sample_names : pandas Index or None
        Where the input had one.
    names : tuple of str
        Names of the views.
    n_samples : int
    n_features : int
        Number of features of all views together.
    is_rowwise : bool
        Whether only whole views are missing.
    folder : None
        Views in chunks may have their values in files; these have them in memory.
    """

    items: tuple[View, ...]
    sample_names: Any = None
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    n_samples: int = field(init=False, repr=False, compare=False)
    n_features: int = field(init=False, repr=False, compare=False)
    is_rowwise: bool = field(init=False, repr=False, compare=False)
    folder: ClassVar[None] = None

    def __post_init__(self) -> None:
        vars(self).update(
            names=tuple(view.name for view in self.items),
            n_samples=self.items[0].n_samples if self.items else 0,
            n_features=sum(view.n_features for view in self.items),
            is_rowwise=all(view.is_rowwise for view in self.items),
        )

    def __iter__(self) -> Iterator[View]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, position: int) -> View:
        return self.items[position]

    @property
    def xp(self) -> Any:
        """The array library of the dense values."""
        return namespace(*[view.X for view in self.items])

    @property
    def dtype(self) -> Any:
        """Floating type of all values."""
        return self.items[0].X.dtype

    def presence(self) -> np.ndarray:
        """Which sample has an observed entry in which view, (n, V) booleans in NumPy."""
        return np.stack([view.presence() for view in self.items], axis=1)

    def sqnorm(self) -> float:
        """Sum of the squares of all observed entries."""
        return sum(sqnorm(view.X) for view in self.items)

    def label(self, row: int) -> str:
        """The name of a sample in messages: its own where it has one, else its position."""
        return repr(int(row)) if self.sample_names is None else label(self.sample_names, int(row))

    def only(self, v: int) -> Views:
        """One of the views."""
        return replace(self, items=(self.items[v],))

    def take(self, rows: np.ndarray) -> Views:
        """The views of some of the samples, or of all of them in another order."""
        names = None if self.sample_names is None else self.sample_names[rows]
        return Views(tuple(view.take(rows) for view in self.items), names)

    def on_host(self) -> Views:
        """The views in NumPy and SciPy."""
        return replace(self, items=tuple(view.on_host() for view in self.items))

    def beside(self, reference: Array) -> Views:
        """The views in the library and on the device of an array."""
        return replace(self, items=tuple(view.beside(reference) for view in self.items))

    @classmethod
    def joined(cls, parts: Sequence[Views]) -> Views:
        """The same views of several groups of samples, one group after the other."""
        return cls(tuple(View.joined([part[v] for part in parts]) for v in range(len(parts[0]))))

    def place(self, rows: Array, positions: np.ndarray) -> Array:
        """Rows that belong to the samples at these positions, for all samples; NaN, or -1, for the others."""
        if np.array_equal(positions, np.arange(self.n_samples)):
            return rows
        if positions.size == self.n_samples:
            return take_rows(rows, np.argsort(positions))
        host = to_numpy(rows)
        full = np.full((self.n_samples, *host.shape[1:]), np.nan if host.dtype.kind == "f" else -1, dtype=host.dtype)
        full[positions] = host
        return full if isinstance(rows, np.ndarray) else like(full, rows)

    # several methods of `AnyViews` are the same for samples in memory: they differ for views in chunks only

    fetch = take

    def gather(self, function: Callable[..., T], *rows: Array, at_most: int | None = None) -> T:
        """The result of a function of the views, and of arrays with one row per sample."""
        return function(self, *rows)

    map_samples = reduce = gather

    def lowest(self, function: Callable[[Views], np.ndarray], count: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The lowest numbers that a function gives to samples, each once, and the first sample of each."""
        numbers = function(self)
        if count is not None and numbers.size > 4 * count:  # sorting all of them takes long
            few = np.flatnonzero(numbers <= np.partition(numbers, 2 * count)[2 * count])
            found, rows = np.unique(numbers[few], return_index=True)
            if found.size >= count:  # else many samples are equal
                return found[:count], few[rows[:count]]
        found, rows = np.unique(numbers, return_index=True)
        return found[:count], rows[:count]

    def map_rows(self, function: Callable[..., Array], width: int | None, *rows: Array, dtype: Any = None) -> Array:
        """The rows that a function returns, sample by sample."""
        return function(self, *rows)

    def cut(self, rows: Array) -> Array:
        """The array itself."""
        return rows

    whole = as_given = cut

    def persist(self) -> Views:
        """The views themselves."""
        return self

    fresh = persist


def joined_masks(masks: Sequence[np.ndarray], lengths: Sequence[int]) -> np.ndarray:
    """The mask of groups of samples, one group after the other, in the smallest possible shape.

    Parameters
    ----------
    masks : arrays (1, 1), (n, 1) or (n, d), one per group
    lengths : number of samples of each group
    """
    if all(mask.shape == (1, 1) and mask[0, 0] for mask in masks):
        return masks[0]
    width = max(mask.shape[1] for mask in masks)
    return np.concatenate([np.broadcast_to(mask, (n, width)) for mask, n in zip(masks, lengths, strict=True)])
