"""An array with one row per sample, in chunks that stay on the workers that computed them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import dask
import numpy as np

from jella.distributed.scheduler import added, compute


@dataclass(frozen=True)
class ByChunk:
    """Rows of all samples, (n, width) or (n,) for width None, each chunk a delayed NumPy array.

    Attributes
    ----------
    parts : tuple of delayed arrays
    lengths : tuple of int
        Rows of each chunk.
    width : int or None
    dtype : NumPy type
    step, made_from : function and tuple of ByChunk, optional
        How the parts are computed: a function of the chunk of the views and of other rows. A task that needs the chunk
        for something else can then compute both at once.
    """

    parts: tuple[Any, ...]
    lengths: tuple[int, ...]
    width: int | None
    dtype: Any
    step: Callable[..., np.ndarray] | None = None
    made_from: tuple[ByChunk, ...] = ()

    @classmethod
    def cut(cls, rows: Any, lengths: tuple[int, ...]) -> ByChunk:
        """A NumPy or Dask array (n, width), in chunks of these lengths."""
        import dask.array as da

        whole = rows if isinstance(rows, da.Array) else da.from_array(rows, chunks=(lengths, -1), name=False)
        parts = whole.rechunk((lengths, -1)).to_delayed()[:, 0]
        return cls(tuple(parts), lengths, int(rows.shape[1]), rows.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, width), or (n,)."""
        return (sum(self.lengths),) if self.width is None else (sum(self.lengths), self.width)

    def map(self, function: Callable[..., np.ndarray], *shared: Any) -> ByChunk:
        """The rows that a function of rows and shared values returns for each chunk; their width does not change."""
        step = dask.delayed(function, pure=False)
        parts = tuple(step(part, *shared) for part in self.parts)
        return ByChunk(parts, self.lengths, self.width, self.dtype)

    def sum(self, function: Callable[[np.ndarray], Any]) -> Any:
        """The sum over chunks of what a function returns for each."""
        step = dask.delayed(function, pure=False)
        return compute([added([step(part) for part in self.parts], partial(reduce, operator.add))])[0]

    def some(self, at_most: int) -> np.ndarray:
        """The rows of at most about `at_most` samples, evenly spread, in the client's memory."""
        every = -(-self.shape[0] // at_most)
        return self.map(_every, every).whole()

    def __truediv__(self, divisors: np.ndarray) -> ByChunk:
        return self.map(np.divide, divisors)

    def whole(self) -> np.ndarray:
        """All rows, in the client's memory."""
        return np.concatenate(compute(self.parts))

    def lazy(self, layout: tuple[int, ...]) -> Any:
        """A Dask array in chunks of the layout."""
        import dask.array as da

        beyond = self.shape[1:]
        pieces = zip(self.parts, self.lengths, strict=True)
        arrays = [da.from_delayed(part, shape=(n, *beyond), dtype=self.dtype) for part, n in pieces]
        return da.concatenate(arrays, axis=0).rechunk((layout, *(-1,) * len(beyond)))


def _every(rows: np.ndarray, step: int) -> np.ndarray:
    return rows[::step]
