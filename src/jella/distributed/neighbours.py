"""Nearest neighbours of samples in chunks: workers fetch the samples of a search and run the search for memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from jella.distributed.fetch import Request, most_rows, worked_on
from jella.distributed.scheduler import n_threads
from jella.distributed.views import ChunkedViews
from jella.graphs.cells import CELL_BLOCK_BYTES, Cells, Projection, chain, groups
from jella.graphs.neighbours import EXACT, PROBES, Search, nearest
from jella.views.model import Views

#: copies that a search has of its samples: the samples, the pieces they are joined from, and factors of some
COPIES = 3
#: bytes of the factors of candidates
TILE_BYTES = 2**26
#: rows of the queries whose neighbours are wanted, and rows of the samples that are searched
Job = tuple[np.ndarray, np.ndarray]


@nearest.register
def _(
    base: ChunkedViews, n_neighbors: int, *, queries: Any = None, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """As in memory; queries are in chunks, in memory, or None for the samples themselves."""
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors must be at least 1, got {n_neighbors}")
    asked = base if queries is None else queries
    search = _Jobs(base, queries, min(n_neighbors, base.n_samples - (queries is None)))
    anything = np.flatnonzero(asked.presence().any(axis=1))
    if base.n_samples <= EXACT:
        everything = np.arange(base.n_samples)
        search.run([(rows, everything) for rows in np.array_split(anything, n_threads()) if rows.size])
        return search.distances, search.indices
    project = Projection.of(base, random_state)
    cells = Cells.of(base.gather(project), random_state)
    labels = cells.labels if queries is None else cells.assign(queries.gather(project))
    place = np.argsort(chain(cells.centres))
    todo = sorted((anything[rows] for rows in groups(labels[anything])), key=lambda rows: place[labels[rows[0]]])
    probes, fewest = PROBES, min(4 * search.q + 1, base.n_samples)
    while todo:
        jobs = [(rows, cells.around(int(labels[rows[0]]), fewest, probes)) for rows in todo]
        search.run(jobs)
        left = [rows[search.indices[rows, -1] < 0] for rows, where in jobs if len(where) < base.n_samples]
        todo, probes = [rows for rows in left if rows.size], 4 * probes
    return search.distances, search.indices


class _Jobs:
    """Searches, packed into tasks that hold a limited number of samples, and what they have found."""

    def __init__(self, base: ChunkedViews, queries: Any, q: int) -> None:
        self.base, self.queries, self.q = base, queries, q
        n = (base if queries is None else queries).n_samples
        self.distances = np.full((n, q), np.inf, base.dtype)
        self.indices = np.full((n, q), -1, dtype=np.intp)

    def run(self, jobs: Sequence[Job]) -> None:
        """Search, and replace what was found for the same rows before."""
        for rows, _ in jobs:
            self.distances[rows], self.indices[rows] = np.inf, -1
        if self.q == 0:
            return
        packs = list(_packed(jobs, most_rows(self.base, COPIES), n_threads()))
        in_chunks = isinstance(self.queries, ChunkedViews)
        sources = [self.base, self.queries] if in_chunks else [self.base]
        requests = [self._request(pack, in_chunks) for pack in packs]
        found = worked_on(partial(_search, self.q, self.queries is None), sources, requests)
        for pack, request, results in zip(packs, requests, found, strict=True):
            for (rows, _), (distances, places) in zip(pack, results, strict=True):
                self._add(rows, distances, np.where(places >= 0, request.rows[0][places], -1))

    def _request(self, pack: list[Job], in_chunks: bool) -> Request:
        asked = _union(rows for rows, _ in pack)
        wanted = _union([*(where for _, where in pack), *([asked] if self.queries is None else [])])
        places = wanted if self.queries is None else asked
        local = [(np.searchsorted(places, rows), np.searchsorted(wanted, where)) for rows, where in pack]
        if self.queries is None:
            return Request((wanted,), (None, local))
        if in_chunks:
            return Request((wanted, asked), (local,))
        return Request((wanted,), (self.queries.take(asked), local))

    def _add(self, rows: np.ndarray, distances: np.ndarray, indices: np.ndarray) -> None:
        """Merge new neighbours with known ones and keep the nearest; ties are in the order of the samples."""
        D = np.concatenate([self.distances[rows], distances], axis=1)
        found = np.concatenate([self.indices[rows], indices], axis=1)
        order = np.lexsort((found, D), axis=1)[:, : self.q]
        self.distances[rows] = np.take_along_axis(D, order, axis=1)
        self.indices[rows] = np.take_along_axis(found, order, axis=1)


def _search(
    q: int, exclude_self: bool, base: Views, asked: Views | None, jobs: Sequence[Job]
) -> list[tuple[np.ndarray, np.ndarray]]:
    search = Search(base, base if asked is None else asked, q, exclude_self, TILE_BYTES)
    return [search(rows, where, CELL_BLOCK_BYTES) for rows, where in jobs]


def _packed(jobs: Sequence[Job], most: int, n_parts: int) -> Iterator[list[Job]]:
    """Groups of consecutive jobs that need at most `most` samples together; larger jobs are cut into pieces."""
    pack: list[Job] = []
    held, asked = np.empty(0, dtype=np.intp), 0
    total = sum(rows.size for rows, _ in jobs)
    for rows, where in (piece for job in jobs for piece in _pieces(job, most)):
        both = np.union1d(held, np.union1d(rows, where))
        if pack and (both.size > most or asked * n_parts >= total):
            yield pack
            pack, both, asked = [], np.union1d(rows, where), 0
        pack.append((rows, where))
        held, asked = both, asked + rows.size
    if pack:
        yield pack


def _pieces(job: Job, most: int) -> Iterator[Job]:
    """A job in pieces of at most most // 2 rows and most // 2 samples to search."""
    rows, where = job
    half = max(most // 2, 1)
    if rows.size + where.size <= most:
        yield job
        return
    for part in np.array_split(rows, -(-rows.size // half)):
        for among in np.array_split(where, -(-where.size // half)):
            yield part, among


def _union(arrays: Any) -> np.ndarray:
    return np.unique(np.concatenate(list(arrays)))
