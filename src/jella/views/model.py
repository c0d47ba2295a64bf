"""Views: the same samples in several blocks of features, each with its mask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array, namespace, sqnorm, to_numpy
from jella.views.frames import label


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
        mask = self.mask if self.is_complete else _rows(self.mask, rows)
        return replace(self, X=_rows(self.X, rows), mask=mask)

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

    # what views in chunks do chunk by chunk

    def mapped(self, function: Callable[[Views], Views]) -> Views:
        """The views after a function that works sample by sample."""
        return function(self)

    def held(self) -> Views:
        """The views with their values computed."""
        return self

    def reduce(self, function: Callable[..., Any], *rows: Array) -> Any:
        """What a function that adds up over samples makes of the views, and of arrays with a row a sample."""
        return function(self, *rows)

    def spread(self, function: Callable[..., Array], width: int, *rows: Array) -> Array:
        """The rows (n, width) that a function makes, sample by sample."""
        return function(self, *rows)

    def gathered(self, function: Callable[..., Array], *rows: Array, at_most: int | None = None) -> Array:
        """The rows that a function makes of the views, here; views in chunks give every so many-th only."""
        return function(self, *rows)

    def remade(self, function: Callable[..., Views], *rows: Array) -> Views:
        """The views that a function makes, sample by sample, of these and of arrays with a row a sample."""
        return function(self, *rows)

    def brought(self, rows: np.ndarray) -> Views:
        """The views of some of the samples, in memory."""
        return self.take(rows)

    def in_order(self, order: np.ndarray) -> Views:
        """The views with their samples in another order for a solve."""
        return self.take(order)

    def only(self, v: int) -> Views:
        """One of the views."""
        return replace(self, items=(self.items[v],))

    def cut(self, rows: Array) -> Array:
        """An array with a row a sample, as the views have their samples: in one piece."""
        return rows

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


def _rows(array: Array, rows: np.ndarray) -> Array:
    if sparse.issparse(array) or isinstance(array, np.ndarray):
        return array[rows]
    xp = namespace(array)
    positions = np.flatnonzero(rows) if rows.dtype == bool else rows
    return xp.take(array, xp.asarray(positions, device=array_api_compat.device(array)), axis=0)
