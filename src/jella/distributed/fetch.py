"""Functions of samples from several chunks, which are fetched to the worker that needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import dask
import numpy as np

from jella.distributed.scheduler import added, bytes_per_task, compute, n_threads
from jella.distributed.store import Stored, opened
from jella.distributed.views import ChunkedViews, as_is

#: requests per thread in one pass: for chunks in files, of which at most one is in memory, for chunks in memory, and
#: for chunks that each pass reads again
IN_FILES, IN_MEMORY, READ_AGAIN = 16, 2, 1


@dataclass(frozen=True)
class Request:
    """Samples that a function needs together.

    Attributes
    ----------
    rows : tuple of int arrays
        Positions of samples, ascending; one array per source that they come from.
    values : tuple
        Further arguments of the function.
    """

    rows: tuple[np.ndarray, ...]
    values: tuple[Any, ...] = ()


def worked_on(
    function: Callable[..., Any],
    sources: Sequence[ChunkedViews],
    requests: Sequence[Request],
    combine: Callable[[Any, Any], Any] | None = None,
) -> Iterator[Any]:
    """What a function returns for the samples of each request, in order; with `combine`, one value for several.

    A few requests are worked on at a time, so that memory holds only their samples. If chunks are not kept, each such
    pass reads them again.
    """
    at_once = n_threads() * min(_at_once(source) for source in sources)
    for first in range(0, len(requests), at_once):
        work = dask.delayed(partial(_work, function), pure=False, traverse=False)
        tasks = [
            work(
                *[source.delayed_rows(rows) for source, rows in zip(sources, request.rows, strict=True)],
                values=as_is(request.values),
            )
            for request in requests[first : first + at_once]
        ]
        yield from compute(tasks if combine is None else [added(tasks, partial(reduce, combine))])


def _at_once(views: ChunkedViews) -> int:
    if isinstance(views.chunks[0], Stored):
        return IN_FILES
    return IN_MEMORY if views.is_kept else READ_AGAIN


def _work(function: Callable[..., Any], *fetched: Any, values: tuple[Any, ...]) -> Any:
    return function(*[opened(rows) for rows in fetched], *values)


def most_rows(views: ChunkedViews, copies: int) -> int:
    """The number of samples that a task may hold if it has this many copies of them at the same time."""
    bytes_per_row = views.n_features * (np.dtype(views.dtype).itemsize + 1)
    return max(int(bytes_per_task() / (copies * bytes_per_row)), 2)


def stretches(order: np.ndarray, needed: np.ndarray, most: int, n_parts: int = 1) -> Iterator[np.ndarray]:
    """Pieces of an order of samples, each ascending; a piece and the samples it needs are at most `most` samples.

    Parameters
    ----------
    needed : int array (n, q)
        The samples that each sample needs, -1 for none.
    n_parts : int
        The smallest number of pieces.
    """
    for part in np.array_split(order, max(-(-4 * order.size // most), n_parts)):
        left = [part]
        while left:
            own = left.pop()
            if own.size > 1 and np.unique(needed[own]).size + own.size > most:
                left += [own[own.size // 2 :], own[: own.size // 2]]
            elif own.size:
                yield np.sort(own)


def named(indices: np.ndarray) -> np.ndarray:
    """The samples among indices, ascending, without -1; at least one, so that there is something to fetch."""
    found = np.unique(indices[indices >= 0])
    return found if found.size else np.zeros(1, dtype=np.intp)
