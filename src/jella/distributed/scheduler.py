"""Computing with the current scheduler of Dask, and noticing when no worker is left."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import dask
from dask.base import get_scheduler

from jella.solve.samples import SamplesLostError

#: seconds between two checks of the workers, and seconds without any until they count as lost: they may restart
POLL, GRACE = 2.0, 30.0
#: number of results that one task adds up
AT_ONCE = 8
#: prepared chunks are kept in memory if they take at most this share of it
SHARE = 0.4
#: the graph holds rows of the embedding, so that none is lost with a worker; Dask need not warn about its size
UNLIMITED = "1 PiB"


def active_client() -> Any:
    """The distributed client that computes, or None if a local scheduler does."""
    return getattr(get_scheduler(), "__self__", None)


def compute(collections: Sequence[Any]) -> list[Any]:
    """The values of some collections, on the client.

    Raises
    ------
    SamplesLostError
        If all workers of a cluster are gone, or if chunks stop them.
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
    """Wait for the futures while there are workers."""
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
    """The same collections, computed and kept on the workers, or in this process without a cluster."""
    if active_client() is not None:
        return list(dask.persist(*collections))
    return [dask.delayed(value, pure=False, traverse=False) for value in dask.compute(*collections)]


def keep_and_compute(kept: Sequence[Any], wanted: Any) -> tuple[list[Any], Any]:
    """As `keep`, and the value of one more collection from the same computation."""
    if active_client() is not None:
        *parts, asked = dask.persist(*kept, wanted)
        return parts, compute([asked])[0]
    *values, value = dask.compute(*kept, wanted)
    return [dask.delayed(one, pure=False, traverse=False) for one in values], value


def added(parts: Sequence[Any], combine: Callable[[Sequence[Any]], Any]) -> Any:
    """All parts combined, a few per task, so that little data is sent between workers."""
    parts, delayed = list(parts), dask.delayed(combine, pure=False)
    while len(parts) > 1:
        parts = [delayed(parts[first : first + AT_ONCE]) for first in range(0, len(parts), AT_ONCE)]
    return parts[0]


def fits(n_bytes: float) -> bool:
    """Whether this many bytes may be kept in the memory of the workers, or of this process."""
    return n_bytes <= SHARE * _memory()


def _memory() -> float:
    client = active_client()
    if client is not None:
        limits = client.run_on_scheduler(_limits)
        return float("inf") if any(limit == 0 for limit in limits) else float(sum(limits))
    if "multiprocessing" in getattr(get_scheduler(), "__module__", ""):
        return 0.0  # what is kept would be sent to the processes in each sweep
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # not on this system
        return float("inf")


def _limits(dask_scheduler: Any) -> list[int]:
    return [worker.memory_limit or 0 for worker in dask_scheduler.workers.values()]
