"""Views in chunks of samples: what the client knows about all chunks, and functions that workers apply to each."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any

import dask
import numpy as np

from jella.distributed.by_chunk import ByChunk
from jella.distributed.scheduler import added, compute, fits, keep, keep_and_compute
from jella.distributed.store import Folder, Stored, opened, stored
from jella.views.frames import label
from jella.views.model import View, Views


@dataclass(frozen=True)
class Facts:
    """What one pass over the values finds: about one chunk, or about all of them together."""

    counts: tuple[np.ndarray, ...]  # observed entries of each feature, (d,) per view
    presence: np.ndarray  # (n, V)
    rowwise: np.ndarray  # (V,)
    complete: np.ndarray  # (V,)
    smallest: np.ndarray | None  # (V,); None after the values have changed

    @classmethod
    def of(cls, views: Views) -> Facts:
        """The facts about one chunk."""
        return cls(
            tuple(np.asarray(view.count_by_feature()) for view in views),
            views.presence(),
            np.array([view.is_rowwise for view in views]),
            np.array([view.is_complete for view in views]),
            np.array([view.smallest() for view in views]),
        )

    @classmethod
    def together(cls, parts: Sequence[Facts]) -> Facts:
        """The facts about all chunks, from those about each, in order."""
        return cls(
            tuple(np.sum([part.counts[v] for part in parts], axis=0) for v in range(len(parts[0].counts))),
            np.concatenate([part.presence for part in parts]),
            np.all([part.rowwise for part in parts], axis=0),
            np.all([part.complete for part in parts], axis=0),
            np.min([part.smallest for part in parts if part.smallest is not None], axis=0),
        )


@dataclass(frozen=True)
class ChunkedView:
    """One view of samples in chunks: what a fit needs to know about it besides the values."""

    owner: ChunkedViews
    position: int
    steps: tuple[Callable[[View], View], ...] = ()
    is_sparse = False
    categories = ()

    @property
    def name(self) -> str:
        """Name of the view."""
        return self.owner.names[self.position]

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features, if they have names."""
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
        """Whether each sample has the whole view or nothing of it."""
        return bool(self.owner.facts.rowwise[self.position])

    def count_by_feature(self) -> np.ndarray:
        """Number of observed entries of each feature, (d,)."""
        return self.owner.facts.counts[self.position]

    def count_by_sample(self) -> np.ndarray:
        """Number of observed entries of each sample, (n,)."""
        return self.owner.gather(partial(_counts, self.position))

    def n_observed(self) -> int:
        """Number of observed entries."""
        return int(self.count_by_feature().sum())

    def presence(self) -> np.ndarray:
        """Samples with at least one observed entry, (n,)."""
        return self.owner.presence()[:, self.position]

    def smallest(self) -> float:
        """The smallest value; missing values count as zero."""
        known = self.owner.facts.smallest
        if known is None or self.owner.then or self.steps:
            return float(self.reduce(View.smallest, combine=min))
        return float(known[self.position])

    def eps(self) -> float:
        """The distance from one to the next number of the floating type."""
        return float(np.finfo(self.owner.dtype).eps)

    def through(self, step: Callable[[View], View]) -> ChunkedView:
        """The view after a step that is applied to each chunk by itself."""
        return replace(self, steps=(*self.steps, step))

    def reduce(self, function: Callable[[View], Any], combine: Callable[[Any, Any], Any] = operator.add) -> Any:
        """What a function returns for each chunk of the view, combined."""
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
        A chunk holds the same samples in all views; chunks are in order.
    lengths : tuple of int
        Number of samples of each chunk.
    layout : tuple of int
        Lengths of the chunks in which results are returned.
    names, widths, columns : tuples, one entry per view
    dtype : NumPy type
    known : Facts or None
        What an earlier pass found; samples are in the order of the chunks.
    sample_names : pandas Index or None
    then : tuple of functions of Views
        Functions that the task that needs a chunk applies to it, so that only one form of the chunk is in memory.
    folder : Folder or None
        The folder of the files.
    source : Source or None
        The raw data, before anything was computed.
    """

    chunks: tuple[Any, ...]
    lengths: tuple[int, ...]
    layout: tuple[int, ...]
    names: tuple[str, ...]
    widths: tuple[int, ...]
    columns: tuple[tuple[str, ...] | None, ...]
    dtype: Any
    known: Facts | None = None
    sample_names: Any = None
    then: tuple[Callable[[Views], Views], ...] = ()
    folder: Any = None
    source: Any = None

    @cached_property
    def facts(self) -> Facts:
        """What a pass over the values finds; it is made once, when it is first needed."""
        if self.known is not None:
            return self.known
        return Facts.together(compute(list(self._steps(Facts.of, ()))))

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
        """Whether a sample has something observed in a view, (n, V)."""
        return self.facts.presence

    def label(self, row: int) -> str:
        """The name of a sample in messages."""
        return repr(int(row)) if self.sample_names is None else label(self.sample_names, int(row))

    def take(self, kept: np.ndarray) -> ChunkedViews:
        """The samples where `kept`, (n,) booleans, is True; call it before any other function is added."""
        cuts = np.split(kept, np.cumsum(self.lengths)[:-1])
        parts = [(chunk, np.flatnonzero(rows)) for chunk, rows in zip(self.chunks, cuts, strict=True) if rows.any()]
        in_files = isinstance(self.chunks[0], Stored)
        chunks = tuple(chunk.take(rows) if in_files else _TAKE(chunk, rows) for chunk, rows in parts)
        lengths = tuple(int(rows.sum()) for rows in cuts if rows.any())
        known = replace(self.facts, presence=self.facts.presence[kept])
        names = None if self.sample_names is None else self.sample_names[kept]
        changed = replace(self, chunks=chunks, lengths=lengths, layout=lengths)
        return replace(changed, known=known, sample_names=names, source=None)

    # over chunks

    def map_samples(self, function: Callable[[Views], Views]) -> ChunkedViews:
        """The views after a function that treats each sample by itself and does not change the masks."""
        return replace(self, then=(*self.then, function), known=self.__dict__.get("facts", self.known))

    def reduce(
        self, function: Callable[..., Any], *rows: ByChunk, combine: Callable[[Any, Any], Any] = operator.add
    ) -> Any:
        """What a function returns for each chunk, and for the rows of its samples, combined."""
        return compute([self._reduction(function, rows, combine)])[0]

    def reduce_and_keep(self, function: Callable[..., Any], W: ByChunk) -> tuple[Any, ByChunk]:
        """The same sum as `reduce`, and the rows, kept on their workers: both from one pass over the data."""
        both = list(self._steps(partial(_step_and_sum, W.step, function), W.made_from if W.step else (W,)))
        parts = [two[0] for two in both] if W.step else list(W.parts)
        sums = [two[1] for two in both]
        kept, total = keep_and_compute(parts, added(sums, partial(reduce, operator.add)))
        return total, ByChunk(tuple(kept), W.lengths, W.width, W.dtype)

    def map_rows(
        self, function: Callable[..., np.ndarray], width: int | None, *rows: ByChunk, dtype: Any = None
    ) -> ByChunk:
        """The rows that a function returns for each chunk, and for other rows of its samples; lazy, in chunks."""
        parts = tuple(self._steps(function, rows))
        kind = self.dtype if dtype is None else dtype
        return ByChunk(parts, self.lengths, width, kind, step=function, made_from=rows)

    def gather(self, function: Callable[..., np.ndarray], *rows: ByChunk, at_most: int | None = None) -> np.ndarray:
        """The rows that a function returns for each chunk, on the client; at most about `at_most`, evenly spread."""
        every = 1 if at_most is None else -(-self.n_samples // at_most)
        return np.concatenate(compute(list(self._steps(partial(_some, function, every), rows))))

    def lowest(self, function: Callable[[Views], np.ndarray], count: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The lowest numbers that a function gives to samples, each once, and the first sample of each.

        A chunk returns at most `count` of them.
        """
        starts = np.cumsum([0, *self.lengths[:-1]])
        found = compute(list(self._steps(partial(Views.lowest, function=function, count=count), ())))
        numbers = np.concatenate([one[0] for one in found])
        rows = np.concatenate([one[1] + start for one, start in zip(found, starts, strict=True)])
        each, first = np.unique(numbers, return_index=True)
        return each[:count], rows[first[:count]]

    def fetch(self, rows: np.ndarray) -> Views:
        """The views of some of the samples, in the client's memory; only these samples leave the workers."""
        order = np.argsort(rows, kind="stable")
        places, ends = rows[order], np.cumsum(self.lengths)
        cuts = np.split(places, np.searchsorted(places, ends[:-1]))
        parts = zip(self.chunks, cuts, ends, self.lengths, strict=True)
        wanted = [(chunk, cut - (end - length)) for chunk, cut, end, length in parts if cut.size]
        then = as_is(self.then)
        pieces = compute([_PIECE(chunk, local, then) for chunk, local in wanted])
        names = None if self.sample_names is None else self.sample_names[rows]
        joined = Views.joined(pieces).take(np.argsort(order))
        items = zip(joined, self.names, self.columns, strict=True)
        return Views(tuple(replace(view, name=name, feature_names=own) for view, name, own in items), names)

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
        return replace(one, known=facts).map_samples(partial(_only, v))

    def cut(self, rows: Any) -> ByChunk:
        """An array (n, r) with one row per sample, in the chunks of the samples."""
        if isinstance(rows, ByChunk):
            return rows
        return ByChunk.cut(rows, self.lengths)

    def whole(self, rows: Any) -> np.ndarray:
        """The opposite of `cut`: the array in memory, in the order of the samples."""
        if not isinstance(rows, ByChunk):
            return rows
        return rows.whole()

    def as_given(self, rows: Any) -> Any:
        """Rows as a Dask array, in the chunks that the user passed."""
        if isinstance(rows, ByChunk):
            return rows.lazy(self.layout)
        import dask.array as da

        return da.from_array(np.asarray(rows), chunks=(self.layout, *(-1,) * (rows.ndim - 1)), name=False)

    def place(self, rows: Any, positions: np.ndarray) -> Any:
        """A Dask array with one row per sample: these rows at these positions, NaN or -1 elsewhere."""
        nothing = np.nan if np.dtype(rows.dtype).kind == "f" else -1
        if isinstance(rows, ByChunk):
            return self._place_chunks(rows, positions, nothing)
        full = np.full((self.n_samples, *rows.shape[1:]), nothing, dtype=rows.dtype)
        full[positions] = rows
        return self.as_given(full)

    def _place_chunks(self, rows: ByChunk, positions: np.ndarray, nothing: float) -> Any:
        """The same for rows in chunks, which lack the samples that were dropped."""
        if positions.size == self.n_samples:
            return rows.lazy(self.layout)
        kept = np.zeros(self.n_samples, dtype=bool)
        kept[positions] = True
        cuts, parts = np.split(kept, np.cumsum(self.lengths)[:-1]), iter(rows.parts)
        place = dask.delayed(_placed, pure=False)
        shape = rows.shape[1:]
        placed = tuple(place(next(parts) if own.any() else None, own, shape, rows.dtype, nothing) for own in cuts)
        return ByChunk(placed, self.lengths, rows.width, rows.dtype).lazy(self.layout)

    def fresh(self) -> ChunkedViews:
        """The views as they were read, before anything was computed."""
        return self.source.views()

    def persist(self, copies: int = 1) -> ChunkedViews:
        """The views with their chunks computed once for all passes: in memory if `copies` of them fit, else in files.

        If the temporary directory has too little room, or workers do not see it, each pass computes the chunks again.
        """
        n_bytes = self.n_samples * self.n_features * (np.dtype(self.dtype).itemsize + 1)
        chunks, folder = list(self._steps(_same, ())), self.folder
        if fits(copies * n_bytes):
            chunks = keep(chunks)  # if a worker is lost, they are computed again from the folder
        else:
            folder = Folder()
            if not folder.has_room(n_bytes):
                return self
            chunks = stored(chunks, folder)
        known = None if self.known is None else replace(self.known, smallest=None)
        return replace(self, chunks=tuple(chunks), then=(), known=known, folder=folder)

    def _reduction(self, function: Any, rows: Sequence[ByChunk], combine: Callable[[Any, Any], Any]) -> Any:
        return added(list(self._steps(function, rows)), partial(reduce, combine))

    def _steps(self, function: Callable[..., Any], rows: Sequence[ByChunk]) -> Iterator[Any]:
        shared = dask.delayed(
            (function, self.then), pure=False, traverse=False
        )  # one node in the graph, not one per chunk
        for number, chunk in enumerate(self.chunks):
            yield _CALL(shared, chunk, *[one.parts[number] for one in rows])


def _call(functions: tuple[Callable[..., Any], tuple[Callable[[Views], Views], ...]], views: Views, *rows: Any) -> Any:
    function, then = functions
    return function(reduce(lambda done, step: step(done), then, opened(views)), *rows)


_CALL = dask.delayed(_call, pure=False)


def _step_and_sum(step: Any, function: Callable[..., Any], views: Views, *rows: np.ndarray) -> tuple[Any, Any]:
    """The rows after a step, and what a function returns for them: both while the chunk is in memory."""
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


def _piece(views: Any, rows: np.ndarray, then: tuple[Callable[[Views], Views], ...]) -> Views:
    """Some samples of a chunk, after some functions."""
    return reduce(lambda done, step: step(done), then, opened(views.take(rows)))


_PIECE = dask.delayed(_piece, pure=False)


def as_is(value: Any) -> Any:
    """A value as one node of a graph; Dask does not search it for other tasks."""
    return dask.delayed(value, pure=False, traverse=False)


def _placed(rows: np.ndarray | None, own: np.ndarray, shape: tuple[int, ...], dtype: Any, nothing: float) -> np.ndarray:
    full = np.full((own.size, *shape), nothing, dtype=dtype)
    if rows is not None:
        full[own] = rows
    return full
