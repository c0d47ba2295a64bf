"""Views: the same samples in several blocks of features, each with its mask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, like, namespace, sqnorm, take_rows, to_numpy
from jella.views.frames import label


class AnyView(Protocol):
    """One view of samples that are in memory or in chunks: what is known of it beside the values."""

    @property
    def name(self) -> str:
        """Name of the view."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features, where they have some."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def n_samples(self) -> int:
        """Number of samples, present or not."""

    @property
    def is_sparse(self) -> bool:
        """Whether the values are sparse."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""

    @property
    def is_rowwise(self) -> bool:
        """Whether a sample has this view wholly or not at all."""

    def count_by_feature(self) -> Array:
        """Observed entries of each feature, (d,)."""

    def count_by_sample(self) -> Array:
        """Observed entries of each sample, (n,)."""

    def n_observed(self) -> int:
        """Number of observed entries."""

    def presence(self) -> np.ndarray:
        """Samples with at least one observed entry, (n,) booleans in NumPy."""

    def smallest(self) -> float:
        """The smallest value, zero among them where something is missing."""

    def eps(self) -> float:
        """Distance from one to the next number of the floating type."""

    def through(self, step: Callable[[View], View]) -> AnyView:
        """The view after a step that works sample by sample."""

    def reduce(self, function: Callable[[View], Any], combine: Callable[[Any, Any], Any] = ...) -> Any:
        """What a function returns for the view, or for each chunk of it, combined."""


class AnyViews(Protocol):
    """All views of samples that are in memory (`Views`) or in chunks: what everything after reading asks of them."""

    @property
    def sample_names(self) -> Any:
        """A pandas Index where the input had one, else None."""

    def __iter__(self) -> Iterator[Any]: ...

    def __len__(self) -> int: ...

    def __getitem__(self, position: int) -> Any: ...

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""

    @property
    def n_features(self) -> int:
        """Number of features of all views together."""

    @property
    def dtype(self) -> Any:
        """Floating type of all values."""

    @property
    def is_rowwise(self) -> bool:
        """Whether only whole views are missing."""

    def presence(self) -> np.ndarray:
        """Which sample has something observed in which view, (n, V) booleans in NumPy."""

    def label(self, row: int) -> str:
        """How a message calls a sample."""

    def take(self, rows: np.ndarray) -> AnyViews:
        """The views of some of the samples; in chunks, of those where `rows` is True."""

    def in_order(self, order: np.ndarray) -> AnyViews:
        """The views with their samples in another order."""

    def only(self, v: int) -> AnyViews:
        """One of the views."""

    def map_samples(self, function: Callable[[Views], Views]) -> AnyViews:
        """The views after a function that works sample by sample."""

    def map_rows(self, function: Callable[..., Array], width: int | None, *rows: Any, dtype: Any = None) -> Any:
        """The rows (n, width), or (n,) for width None, that a function returns sample by sample; lazy in chunks."""

    def gather(self, function: Callable[..., Array], *rows: Any, at_most: int | None = None) -> Array:
        """The rows that a function returns, in memory; where samples are in chunks, evenly spread `at_most` of them."""

    def reduce(self, function: Callable[..., Any], *rows: Any) -> Any:
        """What a function that adds up over samples returns for the views, and for arrays with a row per sample."""

    def rebuild(self, function: Callable[..., Views], *rows: Any) -> AnyViews:
        """The views that a function makes, sample by sample, of these and of arrays with a row per sample."""

    def fetch(self, rows: np.ndarray) -> Views:
        """The views of some of the samples, in memory."""

    def cut(self, rows: Any) -> Any:
        """An array with a row per sample, divided as the samples are."""

    def whole(self, rows: Any) -> Array:
        """The opposite of `cut`."""

    def place(self, rows: Any, positions: np.ndarray) -> Any:
        """Rows that belong to the samples at these positions, for all samples as users receive them.

        A sample without a row gets NaN, or -1 where the rows are whole numbers.
        """

    def persist(self) -> AnyViews:
        """The views with their values computed, for several passes."""

    def fresh(self) -> AnyViews:
        """The views as they were read, before anything was computed."""

    @property
    def folder(self) -> Any:
        """Where values are kept in files, or None."""

    def as_given(self, rows: Any) -> Any:
        """Rows as users receive them: an array, or a Dask array in the chunks that came."""


@dataclass(frozen=True)
class View:
    """One view: values, zero where nothing was observed, and the mask that says where.

    Attributes
    ----------
    name : str
    X : array (n, d) or CSR array
        Zero at every missing entry, so whatever stood there cannot matter.
    mask : bool array (1, 1), (n, 1) or (n, d)
        True where observed. The smallest shape that tells all: complete, samples missing, entries missing.
    feature_names : tuple of str, optional
    """

    name: str
    X: Array
    mask: Array
    feature_names: tuple[str, ...] | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples, present or not."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the values are a SciPy sparse array."""
        return bool(sparse.issparse(self.X))

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing. The mask of a lone sample without this view has the shape (1, 1) too."""
        return tuple(self.mask.shape) == (1, 1) and bool(self.mask[0, 0])

    @property
    def is_rowwise(self) -> bool:
        """Whether a sample has this view wholly or not at all."""
        return int(self.mask.shape[1]) == 1

    def count_by_sample(self) -> Array:
        """Observed entries of every sample, (n,) in the library's default integers."""
        xp = namespace(self.mask)
        counts = xp.sum(xp.astype(self.mask, xp.int64), axis=1)
        if self.is_rowwise:
            counts = xp.broadcast_to(counts * self.n_features, (self.n_samples,))
        return counts

    def count_by_feature(self) -> Array:
        """Observed entries of every feature, (d,)."""
        xp = namespace(self.mask)
        counts = xp.sum(xp.astype(self.mask, xp.int64), axis=0)
        if self.is_complete:
            counts = counts * self.n_samples
        return xp.broadcast_to(counts, (self.n_features,))

    def smallest(self) -> float:
        """The smallest value, zero among them where something is missing."""
        return float(self.X.min()) if self.is_sparse else float(namespace(self.X).min(self.X))

    def eps(self) -> float:
        """Distance from one to the next number of the floating type."""
        return float(namespace(self.X).finfo(self.X.dtype).eps)

    def through(self, step: Callable[[View], View]) -> View:
        """The view after a step."""
        return step(self)

    def reduce(self, function: Callable[[View], Any], combine: Callable[[Any, Any], Any] | None = None) -> Any:
        """What a function makes of the view; views in chunks combine what it makes of each."""
        return function(self)

    def n_observed(self) -> int:
        """Number of observed entries."""
        return int(namespace(self.mask).sum(self.count_by_sample()))

    def presence(self) -> np.ndarray:
        """Samples with at least one observed entry, (n,) booleans in NumPy."""
        return to_numpy(self.count_by_sample()) > 0

    def map(self, values: Callable[[Array], Array]) -> View:
        """The same view with its values transformed and zero again where missing."""
        X = values(self.X)
        if not self.is_sparse and not self.is_complete:
            X = namespace(X).where(self.mask, X, 0.0)
        return replace(self, X=X)

    def take(self, rows: np.ndarray) -> View:
        """The view of some of the samples."""
        mask = self.mask if self.is_complete else take_rows(self.mask, rows)
        return replace(self, X=take_rows(self.X, rows), mask=mask)

    @classmethod
    def joined(cls, parts: Sequence[View]) -> View:
        """Samples of the same view after each other, dense ones in NumPy."""
        X, masks = np.concatenate([part.X for part in parts]), [part.mask for part in parts]
        return replace(parts[0], X=X, mask=joined_masks(masks, [part.n_samples for part in parts]))


@dataclass(frozen=True)
class Views:
    """All views of one data set, aligned: row i is the same sample in each."""

    items: tuple[View, ...]
    sample_names: Any = None  # pandas Index where the input had one

    def __iter__(self) -> Iterator[View]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, position: int) -> View:
        return self.items[position]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views."""
        return tuple(view.name for view in self.items)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.items[0].n_samples

    @property
    def n_features(self) -> int:
        """Number of features of all views together."""
        return sum(view.n_features for view in self.items)

    @property
    def is_rowwise(self) -> bool:
        """Whether only whole views are missing."""
        return all(view.is_rowwise for view in self.items)

    @property
    def xp(self) -> Any:
        """The array library of the dense values."""
        return namespace(*[view.X for view in self.items])

    @property
    def dtype(self) -> Any:
        """Floating type of all values."""
        return self.items[0].X.dtype

    def presence(self) -> np.ndarray:
        """Which sample has something observed in which view, (n, V) booleans in NumPy."""
        return np.stack([view.presence() for view in self.items], axis=1)

    def sqnorm(self) -> float:
        """Sum of the squares of all observed entries."""
        return sum(sqnorm(view.X) for view in self.items)

    # what views in chunks do chunk by chunk; in one piece it is one call

    def map_samples(self, function: Callable[[Views], Views]) -> Views:
        """The views after a function that works sample by sample."""
        return function(self)

    def map_rows(self, function: Callable[..., Array], width: int | None, *rows: Array, dtype: Any = None) -> Array:
        """The rows that a function returns sample by sample."""
        return function(self, *rows)

    def gather(self, function: Callable[..., Array], *rows: Array, at_most: int | None = None) -> Array:
        """The rows that a function returns."""
        return function(self, *rows)

    def reduce(self, function: Callable[..., Any], *rows: Array) -> Any:
        """What a function that adds up over samples returns."""
        return function(self, *rows)

    def rebuild(self, function: Callable[..., Views], *rows: Array) -> Views:
        """The views that a function makes, sample by sample."""
        return function(self, *rows)

    def fetch(self, rows: np.ndarray) -> Views:
        """The views of some of the samples."""
        return self.take(rows)

    def in_order(self, order: np.ndarray) -> Views:
        """The views with their samples in another order."""
        return self.take(order)

    def only(self, v: int) -> Views:
        """One of the views."""
        return replace(self, items=(self.items[v],))

    def cut(self, rows: Array) -> Array:
        """The array itself: the samples are in one piece."""
        return rows

    def whole(self, rows: Array) -> Array:
        """The array itself."""
        return rows

    def as_given(self, rows: Array) -> Array:
        """The array itself."""
        return rows

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

    def persist(self) -> Views:
        """The views themselves."""
        return self

    def fresh(self) -> Views:
        """The views themselves."""
        return self

    @property
    def folder(self) -> None:
        """None: the values are in memory."""
        return None

    @classmethod
    def joined(cls, parts: Sequence[Views]) -> Views:
        """Samples of the same views after each other."""
        return cls(tuple(View.joined([part[v] for part in parts]) for v in range(len(parts[0]))))

    def take(self, rows: np.ndarray) -> Views:
        """The views of some of the samples."""
        names = None if self.sample_names is None else self.sample_names[rows]
        return Views(tuple(view.take(rows) for view in self.items), names)

    def label(self, row: int) -> str:
        """How a message calls a sample: its name where it has one, else its position."""
        return repr(int(row)) if self.sample_names is None else label(self.sample_names, int(row))


def joined_masks(masks: Sequence[np.ndarray], lengths: Sequence[int]) -> np.ndarray:
    """Masks of samples after each other, so many each, in the smallest shape that tells all."""
    if all(mask.shape == (1, 1) and mask[0, 0] for mask in masks):
        return masks[0]
    width = max(mask.shape[1] for mask in masks)
    return np.concatenate([np.broadcast_to(mask, (n, width)) for mask, n in zip(masks, lengths, strict=True)])
