"""Computing with whatever scheduler of Dask is in force, and noticing when nothing is left to compute on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import dask
from dask.base import get_scheduler
from dask.system import CPU_COUNT

from jella.solve.samples import SamplesLostError

#: seconds between two looks at the workers, and without any until they count as lost: they may be restarting
POLL, GRACE = 2.0, 30.0
#: results that are added up in one task
AT_ONCE = 8
#: prepared chunks are kept where they take no more than this share of the memory
SHARE = 0.4
#: a task that brings samples together takes at most this share of the memory that its thread has, and so many bytes
SHARE_OF_TASK, MOST_OF_TASK = 0.25, 2**29
#: rows of an embedding travel in the graph, so that the loss of a worker loses none; no warning of its size
UNLIMITED = "1 PiB"


def active_client() -> Any:
    """The distributed client that computations go to, or None where a local scheduler does them."""
    return getattr(get_scheduler(), "__self__", None)


def compute(collections: Sequence[Any]) -> list[Any]:
    """The values of some collections.

    Raises
    ------
    SamplesLostError
        Where all workers of a cluster are gone, or chunks kill them.
    """
    client = active_client()
    if client is None:
        return list(dask.compute(*collections))
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    try:
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": UNLIMITED}):
            futures = client.compute(list(collections))
        _watch(client, futures)
        return list(client.gather(futures))
    except KilledWorker as error:
        raise SamplesLostError(
            "a chunk stopped several workers, probably for lack of memory; make chunks smaller or workers larger"
        ) from error
    except (CancelledError, CommClosedError, ConnectionError, TimeoutError) as error:
        raise SamplesLostError("the cluster was closed; start one") from error


def _watch(client: Any, futures: Sequence[Any]) -> None:
    """Wait for the futures for as long as there are workers."""
    from distributed import wait

    seen = time.monotonic()
    while True:
        try:
            wait(list(futures), timeout=POLL)
            return
        except TimeoutError:
            now = time.monotonic()
            seen = now if client.nthreads() else seen
            if now - seen > GRACE:
                client.cancel(list(futures))
                raise SamplesLostError("all workers are gone; start some") from None


def keep(collections: Sequence[Any]) -> list[Any]:
    """The same collections, computed where the scheduler keeps them: on its workers, or in this process."""
    if active_client() is not None:
        return list(dask.persist(*collections))
    return [dask.delayed(value, pure=False, traverse=False) for value in dask.compute(*collections)]


def keep_and_compute(kept: Sequence[Any], wanted: Any) -> tuple[list[Any], Any]:
    """As `keep`, with the value of one more collection out of the same computation."""
    if active_client() is not None:
        *parts, asked = dask.persist(*kept, wanted)
        return parts, compute([asked])[0]
    *values, value = dask.compute(*kept, wanted)
    return [dask.delayed(one, pure=False, traverse=False) for one in values], value


def added(parts: Sequence[Any], combine: Callable[[Sequence[Any]], Any]) -> Any:
    """All parts combined, a few at once, so that little travels."""
    parts, delayed = list(parts), dask.delayed(combine, pure=False)
    while len(parts) > 1:
        parts = [delayed(parts[first : first + AT_ONCE]) for first in range(0, len(parts), AT_ONCE)]
    return parts[0]


def fits(n_bytes: float) -> bool:
    """Whether so much may be kept in the memory of the workers, or of this process."""
    return n_bytes <= SHARE * _memory()


def _memory() -> float:
    client = active_client()
    if client is not None:
        limits = client.run_on_scheduler(_limits)
        return float("inf") if any(limit == 0 for limit in limits) else float(sum(limits))
    if "multiprocessing" in getattr(get_scheduler(), "__module__", ""):
        return 0.0  # what is kept would travel to the processes in every sweep
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # not on this system
        return float("inf")


def bytes_a_task() -> float:
    """Bytes that one task may take."""
    client = active_client()
    shares = [_memory() / n_threads()] if client is None else client.run_on_scheduler(_by_thread)
    return min([MOST_OF_TASK, *(SHARE_OF_TASK * share for share in shares if share > 0)])


def n_threads() -> int:
    """Tasks that run at the same time."""
    client = active_client()
    if client is not None:
        return max(sum(client.nthreads().values()), 1)
    return int(dask.config.get("num_workers", None) or CPU_COUNT)


def _limits(dask_scheduler: Any) -> list[int]:
    return [worker.memory_limit or 0 for worker in dask_scheduler.workers.values()]


def _by_thread(dask_scheduler: Any) -> list[float]:
    limited = [worker for worker in dask_scheduler.workers.values() if worker.memory_limit]
    return [worker.memory_limit / max(worker.nthreads, 1) for worker in limited]
