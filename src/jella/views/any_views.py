"""What views in memory and in chunks have in common: all that the other rooms may use of either."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from jella.numerics.arrays import Array
from jella.views.categories import Category
from jella.views.model import View, Views


class AnyView(Protocol):
    """One view of samples in memory or in chunks: all that is known of it except the values."""

    @property
    def name(self) -> str:
        """Name of the view."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features, where they have some."""

    @property
    def categories(self) -> tuple[Category, ...]:
        """The columns of categories, whose features are indicators."""

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
        """Whether each sample has either all entries of this view or none."""

    def count_by_feature(self) -> Array:
        """Observed entries of each feature, (d,)."""

    def count_by_sample(self) -> Array:
        """Observed entries of each sample, (n,)."""

    def n_observed(self) -> int:
        """Number of observed entries."""

    def presence(self) -> np.ndarray:
        """Samples with at least one observed entry, (n,) booleans in NumPy."""

    def smallest(self) -> float:
        """The smallest value, where missing entries count as zero."""

    def eps(self) -> float:
        """Distance from one to the next number of the floating type."""

    def through(self, step: Callable[[View], View]) -> AnyView:
        """The view after a step that works sample by sample."""

    def reduce(self, function: Callable[[View], Any], combine: Callable[[Any, Any], Any] = ...) -> Any:
        """The result of a function of the view; in chunks, the combined results of the chunks."""


class AnyViews(Protocol):
    """All views of samples in memory (`Views`) or in chunks: what the other rooms may use of them."""

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
        """Which sample has an observed entry in which view, (n, V) booleans in NumPy."""

    def label(self, row: int) -> str:
        """The name of a sample in messages."""

    def take(self, rows: np.ndarray) -> AnyViews:
        """The views of some of the samples; in chunks, of those where `rows` is True."""

    def only(self, v: int) -> AnyViews:
        """One of the views."""

    def map_samples(self, function: Callable[[Views], Views]) -> AnyViews:
        """The views after a function that works sample by sample."""

    def map_rows(self, function: Callable[..., Array], width: int | None, *rows: Any, dtype: Any = None) -> Any:
        """The rows (n, width), or (n,) for width None, that a function returns sample by sample; lazy in chunks."""

    def gather(self, function: Callable[..., Array], *rows: Any, at_most: int | None = None) -> Array:
        """The rows that a function returns, in memory; in chunks, at most `at_most` of them, evenly spread."""

    def reduce(self, function: Callable[..., Any], *rows: Any) -> Any:
        """The result of a function, a sum over samples, of the views and of arrays with one row per sample."""

    def lowest(self, function: Callable[[Views], np.ndarray], count: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The lowest numbers (m,) that a function gives to samples, each once, ascending, and where they first occur.

        At most `count`; None means all.
        """

    def fetch(self, rows: np.ndarray) -> Views:
        """The views of some of the samples, in memory."""

    def cut(self, rows: Any) -> Any:
        """An array with one row per sample, in the chunks of the samples."""

    def whole(self, rows: Any) -> Array:
        """The opposite of `cut`."""

    def place(self, rows: Any, positions: np.ndarray) -> Any:
        """Rows that belong to the samples at these positions, for all samples as users receive them.

        A sample without a row gets NaN, or -1 where the rows are integers.
        """

    def persist(self) -> AnyViews:
        """The views with their values computed, for several passes."""

    def fresh(self) -> AnyViews:
        """The views as they were read, before anything was computed."""

    @property
    def folder(self) -> Any:
        """The folder of files with the values, or None."""

    def as_given(self, rows: Any) -> Any:
        """Rows as users receive them: an array, or a Dask array in the chunks of the input."""
