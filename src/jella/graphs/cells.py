"""Cells of near samples, for searches and for the order of sweeps over millions of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import MiniBatchKMeans

from jella.numerics.arrays import row_blocks, row_sqnorms, to_numpy
from jella.views.model import View, Views

#: Bytes of a block within a cell: products of this size stay near the processor.
CELL_BLOCK_BYTES = 2**23
#: Samples a cell, on average; larger than four times this a cell is split.
CELL_SIZE = 250
MAX_CELLS = 4096
#: Samples a cell where cells order the samples.
ORDER_SIZE = 1000
#: Samples that k-means sees.
SUBSAMPLE = 100_000
PROJECTED = 32


def locality_order(coordinates: np.ndarray, random_state: int = 0) -> np.ndarray:
    """A permutation (n,) that puts near samples next to each other.

    Cells of k-means follow each other in a greedy chain of nearest centres; within a cell, samples are in the order of
    their first principal coordinate.

    >>> locality_order(np.array([[0.0], [2.0], [1.0], [3.0]])).tolist()
    [0, 2, 1, 3]
    """
    coordinates = to_numpy(coordinates)
    if len(coordinates) == 0:
        return np.empty(0, dtype=np.intp)
    cells = Cells.of(coordinates, random_state, ORDER_SIZE)
    members = [cells.members(cell) for cell in chain(cells.centres)]
    return np.concatenate([rows[_principal_order(coordinates[rows])] for rows in members])


@dataclass(frozen=True)
class Cells:
    """A partition of the samples into cells near centres."""

    labels: np.ndarray
    centres: np.ndarray
    order: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, coordinates: np.ndarray, random_state: int, size: int | None = None) -> Cells:
        """Cells of about so many samples with these coordinates (n, p), by k-means."""
        coordinates = np.asarray(coordinates, dtype=np.float32)
        n, size = len(coordinates), size or CELL_SIZE
        n_cells = min(max(1, round(n / size)), MAX_CELLS)
        labels = np.zeros(n, dtype=np.intp)
        if n_cells > 1:
            rng = np.random.default_rng(random_state)
            seen = coordinates
            if n > SUBSAMPLE:
                seen = coordinates[np.sort(rng.choice(n, SUBSAMPLE, replace=False))]
            model = MiniBatchKMeans(n_cells, batch_size=4096, n_init=1, random_state=int(rng.integers(2**31)))
            labels = model.fit(seen).predict(coordinates).astype(np.intp)
        parts = [part for rows in groups(labels) for part in _split(rows, coordinates, size)]
        for cell, rows in enumerate(parts):
            labels[rows] = cell
        centres = np.stack([coordinates[rows].mean(axis=0) for rows in parts])
        sizes = np.array([len(rows) for rows in parts])
        return cls(labels, centres, np.concatenate(parts), np.concatenate([[0], np.cumsum(sizes)]))

    def members(self, cell: int) -> np.ndarray:
        """Samples of a cell."""
        return self.order[self.starts[cell] : self.starts[cell + 1]]

    def around(self, cell: int, n_samples: int, n_cells: int) -> np.ndarray:
        """Members, ascending, of the nearest cells: at least so many samples and so many cells."""
        near = np.argsort(row_sqnorms(self.centres - self.centres[cell]), kind="stable")
        near = np.concatenate([[cell], near[near != cell]])
        sizes = np.diff(self.starts)[near]
        count = max(n_cells, int(np.searchsorted(np.cumsum(sizes), n_samples)) + 1)
        return np.sort(np.concatenate([self.members(one) for one in near[:count]]))

    def assign(self, coordinates: np.ndarray) -> np.ndarray:
        """The cell of the nearest centre, (m,)."""
        coordinates = np.asarray(coordinates, dtype=np.float32)
        labels = np.empty(len(coordinates), dtype=np.intp)
        half = 0.5 * row_sqnorms(self.centres)
        for block in row_blocks(len(coordinates), 4 * len(half), CELL_BLOCK_BYTES):
            labels[block] = np.argmin(half - coordinates[block] @ self.centres.T, axis=1)
        return labels


def groups(labels: np.ndarray) -> list[np.ndarray]:
    """Positions of every label that occurs, ascending within each."""
    order = np.argsort(labels, kind="stable")
    ends = np.flatnonzero(np.asarray(labels[order][1:] != labels[order][:-1])) + 1
    return np.split(order, ends) if len(labels) else []


def _split(rows: np.ndarray, coordinates: np.ndarray, size: int) -> list[np.ndarray]:
    """A cell that is far too large in halves along its first principal coordinate, and so on."""
    if len(rows) <= 4 * size:
        return [rows]
    order = _principal_order(coordinates[rows])
    halves = np.sort(rows[order[: len(rows) // 2]]), np.sort(rows[order[len(rows) // 2 :]])
    return [part for half in halves for part in _split(half, coordinates, size)]


def _principal(points: np.ndarray) -> np.ndarray:
    """First principal coordinate (n,), of a sign that does not depend on the order of the points."""
    centred = points - points.mean(axis=0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    return np.asarray(centred @ (axis * np.sign(axis[np.argmax(np.abs(axis))])))


def _principal_order(points: np.ndarray) -> np.ndarray:
    return np.argsort(_principal(points), kind="stable")


def chain(centres: np.ndarray) -> list[int]:
    """All cells, each followed by the nearest of those left, from one end of the first principal coordinate."""
    left = np.arange(len(centres))
    at = int(np.argmin(_principal(centres)))
    chain = []
    while True:
        chain.append(int(left[at]))
        left = np.delete(left, at)
        if not left.size:
            return chain
        at = int(np.argmin(row_sqnorms(centres[left] - centres[chain[-1]])))


@dataclass(frozen=True)
class Projection:
    """A Gaussian projection of the centred, zero-filled values over the share observed."""

    matrices: list[np.ndarray]
    means: list[np.ndarray]

    @classmethod
    def of(cls, views: Any, random_state: int) -> Projection:
        """A random projection that knows the means of these views."""
        rng = np.random.default_rng(random_state)
        matrices = [rng.standard_normal((view.n_features, PROJECTED), dtype=np.float32) for view in views]
        return cls(matrices, [observed_means(view) for view in views])

    def __call__(self, views: Views) -> np.ndarray:
        """Coordinates (n, PROJECTED) of samples."""
        total = np.zeros((views.n_samples, PROJECTED), dtype=np.float32)
        share = np.zeros(views.n_samples)
        for view, matrix, means in zip(views, self.matrices, self.means, strict=True):
            G, offset = matrix.astype(view.X.dtype), (means[:, None] * matrix).astype(view.X.dtype)
            for block in row_blocks(views.n_samples, 8 * view.n_features, CELL_BLOCK_BYTES):
                part = view.take(np.arange(block.start, block.stop))
                if view.is_rowwise:
                    total[block] += part.X @ G - part.mask * offset.sum(axis=0)
                else:
                    total[block] += part.X @ G - part.mask.astype(view.X.dtype) @ offset
            share += count_observed(view, 1) / view.n_features
        return total / np.where(share > 0, share / len(views), 1.0)[:, None].astype(np.float32)


def observed_means(view: Any) -> np.ndarray:
    """Means of the observed values of every feature, (d,); zero where there are none."""
    total, count = view.reduce(_sums_and_counts)
    return total / np.maximum(count, 1)


def _sums_and_counts(view: View) -> np.ndarray:
    total = np.asarray(view.X.sum(axis=0, dtype=np.float64)).ravel()
    return np.stack([total, count_observed(view, 0)])


def count_observed(view: View, axis: int) -> np.ndarray:
    """Observed entries of every feature (axis 0) or sample (axis 1), without a mask of integers."""
    counts = np.count_nonzero(view.mask, axis=axis)
    repeated = view.X.shape[axis] if view.mask.shape[axis] == 1 else 1
    return np.broadcast_to(counts * repeated, (view.X.shape[1 - axis],))
