"""Views in chunks of samples: what is known of all of them, and functions over every chunk."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import dask
import numpy as np
from dask.graph_manipulation import clone

from jella.distributed.by_chunk import ByChunk
from jella.distributed.scheduler import added, compute, fits, keep, keep_and_compute
from jella.distributed.store import Folder, Stored, opened, stored
from jella.views.frames import label
from jella.views.model import View, Views


@dataclass(frozen=True)
class Facts:
    """What one pass over a chunk tells; of all chunks, what it tells of all samples."""

    counts: tuple[np.ndarray, ...]  # observed entries of every feature, (d,) a view
    presence: np.ndarray  # (n, V)
    rowwise: np.ndarray  # (V,)
    complete: np.ndarray  # (V,)
    smallest: np.ndarray | None  # (V,), where values are still those that were looked at

    @classmethod
    def of(cls, views: Views) -> Facts:
        """Look at a chunk."""
        return cls(
            tuple(np.asarray(view.count_by_feature()) for view in views),
            views.presence(),
            np.array([view.is_rowwise for view in views]),
            np.array([view.is_complete for view in views]),
            np.array([view.smallest() for view in views]),
        )

    @classmethod
    def together(cls, parts: Sequence[Facts]) -> Facts:
        """Chunks that follow each other."""
        return cls(
            tuple(np.sum([part.counts[v] for part in parts], axis=0) for v in range(len(parts[0].counts))),
            np.concatenate([part.presence for part in parts]),
            np.all([part.rowwise for part in parts], axis=0),
            np.all([part.complete for part in parts], axis=0),
            np.min([part.smallest for part in parts if part.smallest is not None], axis=0),
        )


@dataclass(frozen=True)
class ChunkedView:
    """One view of samples in chunks, through what a fit asks of it beside the values."""

    owner: ChunkedViews
    position: int
    steps: tuple[Callable[[View], View], ...] = ()
    is_sparse = False

    @property
    def name(self) -> str:
        """Name of the view."""
        return self.owner.names[self.position]

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features, where they have some."""
        return self.owner.columns[self.position]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.owner.widths[self.position]

    @property
    def n_samples(self) -> int:
        """Number of samples, present or not."""
        return self.owner.n_samples

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""
        return bool(self.owner.facts.complete[self.position])

    @property
    def is_rowwise(self) -> bool:
        """Whether a sample has this view wholly or not at all."""
        return bool(self.owner.facts.rowwise[self.position])

    def count_by_feature(self) -> np.ndarray:
        """Observed entries of every feature, (d,)."""
        return self.owner.facts.counts[self.position]

    def count_by_sample(self) -> np.ndarray:
        """Observed entries of every sample, (n,)."""
        return self.owner.gathered(partial(_counts, self.position))

    def n_observed(self) -> int:
        """Number of observed entries."""
        return int(self.count_by_feature().sum())

    def presence(self) -> np.ndarray:
        """Samples with at least one observed entry, (n,)."""
        return self.owner.facts.presence[:, self.position]

    def smallest(self) -> float:
        """The smallest value, zero among them where something is missing."""
        known = self.owner.facts.smallest
        if known is None or self.owner.then or self.steps:
            return float(self.reduce(View.smallest, combine=min))
        return float(known[self.position])

    def eps(self) -> float:
        """Distance from one to the next number of the floating type."""
        return float(np.finfo(self.owner.dtype).eps)

    def through(self, step: Callable[[View], View]) -> ChunkedView:
        """The view after a step that every chunk takes by itself."""
        return replace(self, steps=(*self.steps, step))

    def reduce(self, function: Callable[[View], Any], combine: Callable[[Any, Any], Any] = operator.add) -> Any:
        """What a function makes of every chunk of the view, combined."""
        return self.owner.reduce(partial(_of_view, self.position, self.steps, function), combine=combine)


def _of_view(position: int, steps: Sequence[Callable[[View], View]], function: Any, views: Views) -> Any:
    return function(reduce(lambda view, step: step(view), steps, views[position]))


def _counts(position: int, views: Views) -> np.ndarray:
    return np.asarray(views[position].count_by_sample())


@dataclass(frozen=True)
class ChunkedViews:
    """All views of samples in chunks.

    Attributes
    ----------
    chunks : tuple of delayed Views, or of Stored
        The same samples in every view, in order.
    then : tuple of functions of Views
        What becomes of a chunk in the task that needs it: so that no more than one form of it is in memory.
    lengths : tuple of int
        Samples of every chunk.
    layout : tuple of int
        Chunks in which results are given back.
    names, widths, columns : tuples, one a view
    dtype : NumPy type
    facts : Facts
    sample_names : pandas Index or None
    is_kept : bool
        Whether the chunks are computed already, and lie in memory or in files.
    folder : Folder or None
        Where the files are.
    order : int array (n,) or None
        Where samples stand in the embedding of a solve that takes all of them together, if not in their own order.
    """

    chunks: tuple[Any, ...]
    lengths: tuple[int, ...]
    layout: tuple[int, ...]
    names: tuple[str, ...]
    widths: tuple[int, ...]
    columns: tuple[tuple[str, ...] | None, ...]
    dtype: Any
    facts: Any  # Facts; None before anything was looked at
    sample_names: Any = None
    then: tuple[Callable[[Views], Views], ...] = ()
    is_kept: bool = False
    folder: Any = None
    order: np.ndarray | None = None

    def __iter__(self) -> Iterator[ChunkedView]:
        return (ChunkedView(self, position) for position in range(len(self.names)))

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, position: int) -> ChunkedView:
        return ChunkedView(self, position)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return sum(self.lengths)

    @property
    def n_features(self) -> int:
        """Number of features of all views together."""
        return sum(self.widths)

    @property
    def is_rowwise(self) -> bool:
        """Whether only whole views are missing."""
        return bool(self.facts.rowwise.all())

    def presence(self) -> np.ndarray:
        """Which sample has something observed in which view, (n, V)."""
        return self.facts.presence

    def label(self, row: int) -> str:
        """How a message calls a sample."""
        return repr(int(row)) if self.sample_names is None else label(self.sample_names, int(row))

    def take(self, kept: np.ndarray) -> ChunkedViews:
        """The samples that are kept, (n,) booleans; before anything else is done to the chunks."""
        cuts = np.split(kept, np.cumsum(self.lengths)[:-1])
        parts = [(chunk, np.flatnonzero(rows)) for chunk, rows in zip(self.chunks, cuts, strict=True) if rows.any()]
        in_files = isinstance(self.chunks[0], Stored)
        chunks = tuple(chunk.take(rows) if in_files else _TAKE(chunk, rows) for chunk, rows in parts)
        lengths = tuple(int(rows.sum()) for rows in cuts if rows.any())
        facts = replace(self.facts, presence=self.facts.presence[kept])
        names = None if self.sample_names is None else self.sample_names[kept]
        changed = replace(self, chunks=chunks, lengths=lengths, layout=lengths, is_kept=in_files)
        return replace(changed, facts=facts, sample_names=names)

    # over chunks

    def mapped(self, function: Callable[[Views], Views]) -> ChunkedViews:
        """The views after a function that every chunk takes by itself, with the same mask."""
        return replace(self, then=(*self.then, function))

    def reduce(
        self, function: Callable[..., Any], *rows: ByChunk, combine: Callable[[Any, Any], Any] = operator.add
    ) -> Any:
        """What a function makes of every chunk, and of the rows of its samples, combined."""
        return compute([self._reduction(function, rows, combine)])[0]

    def settle(self, function: Callable[..., Any], W: ByChunk) -> tuple[Any, ByChunk]:
        """As `reduce` with addition, and the rows, kept where they were computed: one pass over the data for both."""
        both = list(self._steps(partial(_step_and_sum, W.step, function), W.made_from if W.step else (W,)))
        parts = [two[0] for two in both] if W.step else list(W.parts)
        sums = [two[1] for two in both]
        kept, total = keep_and_compute(parts, added(sums, partial(reduce, operator.add)))
        return total, ByChunk(tuple(kept), W.lengths, W.width, W.dtype)

    def spread(self, function: Callable[..., np.ndarray], width: int, *rows: ByChunk) -> ByChunk:
        """The rows (n, width) that a function makes of every chunk, and of other rows of its samples; lazy."""
        parts = tuple(self._steps(function, rows))
        return ByChunk(parts, self.lengths, width, self.dtype, step=function, made_from=rows)

    def gathered(self, function: Callable[..., np.ndarray], *rows: ByChunk, at_most: int | None = None) -> np.ndarray:
        """The rows that a function makes of every chunk, here, in order; every so many-th where there are more."""
        every = 1 if at_most is None else -(-self.n_samples // at_most)
        return np.concatenate(compute(list(self._steps(partial(_some, function, every), rows))))

    def remade(self, function: Callable[..., Views], *rows: ByChunk) -> ChunkedViews:
        """The complete views of as many features that a function makes of every chunk, and of rows of its samples."""
        n = self.n_samples
        facts = Facts(
            tuple(np.full(width, n) for width in self.widths),
            np.ones((n, len(self)), dtype=bool),
            np.ones(len(self), dtype=bool),
            np.ones(len(self), dtype=bool),
            None,
        )
        return replace(self, chunks=tuple(self._steps(function, rows)), then=(), facts=facts, is_kept=False)

    def brought(self, rows: np.ndarray) -> Views:
        """The views of some of the samples, in memory."""
        from jella.distributed.fetch import brought

        return brought(self, rows)

    def read_again(self) -> ChunkedViews:
        """The same views, computed apart from these, so that no task of theirs keeps chunks for both."""
        return self if self.is_kept else replace(self, chunks=clone(*self.chunks))

    def in_order(self, order: np.ndarray) -> ChunkedViews:
        """The views for a solve whose embedding has the samples in another order; the chunks stay as they are."""
        return replace(self, order=order)

    def only(self, v: int) -> ChunkedViews:
        """One of the views."""
        facts = Facts(
            self.facts.counts[v : v + 1],
            self.facts.presence[:, v : v + 1],
            self.facts.rowwise[v : v + 1],
            self.facts.complete[v : v + 1],
            None,
        )
        one = replace(self, names=self.names[v : v + 1], widths=self.widths[v : v + 1], columns=self.columns[v : v + 1])
        return replace(one, facts=facts).mapped(partial(_only, v))

    def cut(self, rows: Any) -> ByChunk:
        """An array (n, r) of these samples in their chunks."""
        return rows if isinstance(rows, ByChunk) else ByChunk.cut(rows, self.lengths)

    def held(self, copies: int = 1) -> ChunkedViews:
        """The views with their chunks computed once for all passes: in memory where so many copies fit, else in files.

        Without room in the temporary directory, or where workers do not see it, they are computed in every pass.
        """
        n_bytes = self.n_samples * self.n_features * (np.dtype(self.dtype).itemsize + 1)
        chunks, folder = list(self._steps(_same, ())), self.folder
        if fits(copies * n_bytes):
            chunks = keep(chunks)  # computed again from the folder, should a worker be lost
        else:
            folder = Folder()
            if not folder.has_room(n_bytes):
                return self
            chunks = stored(chunks, folder)
        facts = None if self.facts is None else replace(self.facts, smallest=None)
        return replace(self, chunks=tuple(chunks), then=(), facts=facts, is_kept=True, folder=folder)

    def looked_at(self) -> Facts:
        """What the values tell, in one pass over them."""
        return Facts.together(compute(list(self._steps(Facts.of, ()))))

    def _reduction(self, function: Any, rows: Sequence[ByChunk], combine: Callable[[Any, Any], Any]) -> Any:
        return added(list(self._steps(function, rows)), partial(reduce, combine))

    def _steps(self, function: Callable[..., Any], rows: Sequence[ByChunk]) -> Iterator[Any]:
        shared = dask.delayed((function, self.then), pure=False, traverse=False)  # once in the graph, not once a chunk
        for number, chunk in enumerate(self.chunks):
            yield _CALL(shared, chunk, *[one.parts[number] for one in rows])


def _call(functions: tuple[Callable[..., Any], tuple[Callable[[Views], Views], ...]], views: Views, *rows: Any) -> Any:
    function, then = functions
    return function(reduce(lambda done, step: step(done), then, opened(views)), *rows)


_CALL = dask.delayed(_call, pure=False)


def _step_and_sum(step: Any, function: Callable[..., Any], views: Views, *rows: np.ndarray) -> tuple[Any, Any]:
    """The rows after a step, and what a function makes of them: both while the chunk is there."""
    (W,) = rows if step is None else (step(views, *rows),)
    return W, function(views, W)


def _same(views: Views) -> Views:
    return views


def _only(v: int, views: Views) -> Views:
    return views.only(v)


def _some(function: Callable[..., np.ndarray], every: int, views: Views, *rows: np.ndarray) -> np.ndarray:
    return function(views, *rows)[::every]


def _take(views: Views, rows: np.ndarray) -> Views:
    return views if rows.size == views.n_samples else views.take(rows)


_TAKE = dask.delayed(_take, pure=False)
