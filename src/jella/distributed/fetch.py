"""Functions of samples out of several chunks, which are fetched to the worker that needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import dask
import numpy as np

from jella.distributed.scheduler import added, bytes_a_task, compute, n_threads
from jella.distributed.store import Stored, opened
from jella.distributed.views import ChunkedViews, as_is

#: requests that every thread has in one pass: of chunks in files, where no more than one is in memory, of chunks in
#: memory, and of those that are read again in every pass
IN_FILES, IN_MEMORY, READ_AGAIN = 16, 2, 1


@dataclass(frozen=True)
class Request:
    """Samples that a function works on together.

    Attributes
    ----------
    rows : tuple of int arrays
        Positions of samples, ascending; one array for each of the sources that they come from.
    values : tuple
        What the function is given after them.
    """

    rows: tuple[np.ndarray, ...]
    values: tuple[Any, ...] = ()


def worked_on(
    function: Callable[..., Any],
    sources: Sequence[ChunkedViews],
    requests: Sequence[Request],
    combine: Callable[[Any, Any], Any] | None = None,
) -> Iterator[Any]:
    """What a function makes of the samples of every request, in order; with `combine` one value for several of them.

    A few requests at a time, so that memory holds no more than their samples. Where chunks are not kept every such pass
    reads them again.
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
    """Samples that a task may hold that has so many copies of them at the same time."""
    bytes_a_row = views.n_features * (np.dtype(views.dtype).itemsize + 1)
    return max(int(bytes_a_task() / (copies * bytes_a_row)), 2)


def stretches(order: np.ndarray, needed: np.ndarray, most: int, n_parts: int = 1) -> Iterator[np.ndarray]:
    """Pieces of an order of samples, each ascending, that with the samples they need are at most so many.

    Parameters
    ----------
    needed : int array (n, q)
        Samples that each needs, -1 for none.
    n_parts : int
        Pieces at least.
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
    """The samples that indices name, ascending, -1 for none; at least one, so that there is something to fetch."""
    found = np.unique(indices[indices >= 0])
    return found if found.size else np.zeros(1, dtype=np.intp)
