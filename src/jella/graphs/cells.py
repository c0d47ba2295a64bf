"""Cells of near samples: where a search among millions of samples looks, and the order of sweeps over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import MiniBatchKMeans

from jella.numerics.arrays import row_blocks, row_sqnorms, to_numpy
from jella.views.model import View, Views

#: Bytes of a block within a cell: products of this size stay near the processor.
CELL_BLOCK_BYTES = 2**23
#: Samples per cell, on average; a cell with more than four times as many is split.
CELL_SIZE = 250
MAX_CELLS = 4096
#: Samples per cell where cells are used to order the samples.
ORDER_SIZE = 1000
#: Samples that k-means is fitted to.
SUBSAMPLE = 100_000
#: Principal coordinates, and further directions while they are searched for.
PROJECTED, SPARE = 32, 8
#: Samples that principal directions are learned from.
LEARNED = 5000
#: Steps towards the principal directions, and towards coordinates that agree with what they expect of missing values.
ITERATIONS = 4


def locality_order(coordinates: np.ndarray) -> np.ndarray:
    """A permutation (n,) that puts near samples next to each other.

    The cells of k-means form a chain: after each cell comes the one with the nearest centre of those left. Within a
    cell, samples are in the order of their first principal coordinate.

    >>> locality_order(np.array([[0.0], [2.0], [1.0], [3.0]])).tolist()
    [0, 2, 1, 3]
    """
    coordinates = to_numpy(coordinates)
    if len(coordinates) == 0:
        return np.empty(0, dtype=np.intp)
    cells = Cells.of(coordinates, ORDER_SIZE)
    members = [cells.members(cell) for cell in chain(cells.centres)]
    return np.concatenate([rows[_principal_order(coordinates[rows])] for rows in members])


@dataclass(frozen=True)
class Cells:
    """A partition of the samples into cells.

    Attributes
    ----------
    labels : int array (n,)
        The cell of each sample.
    centres : array (c, p)
    order, starts : int arrays (n,) and (c + 1,)
        The samples cell by cell, and where each cell starts among them.
    """

    labels: np.ndarray
    centres: np.ndarray
    order: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, coordinates: np.ndarray, size: int | None = None) -> Cells:
        """Cells of about `size` samples (`CELL_SIZE` by default) with these coordinates (n, p), by k-means."""
        coordinates = np.asarray(coordinates, dtype=np.float32)
        n, size = len(coordinates), size or CELL_SIZE
        n_cells = min(max(1, round(n / size)), MAX_CELLS)
        labels = np.zeros(n, dtype=np.intp)
        if n_cells > 1:
            rng = np.random.default_rng(0)
            seen = coordinates
            if n > SUBSAMPLE:
                seen = coordinates[np.sort(rng.choice(n, SUBSAMPLE, replace=False))]
            seed = int(rng.integers(2**31))
            model = MiniBatchKMeans(n_cells, batch_size=4096, n_init=1, random_state=seed, compute_labels=False)
            labels = model.fit(seen).predict(coordinates).astype(np.intp)
        parts = [part for rows in groups(labels) for part in _split(rows, coordinates, size)]
        for cell, rows in enumerate(parts):
            labels[rows] = cell
        centres = np.stack([coordinates[rows].mean(axis=0) for rows in parts])
        sizes = np.array([len(rows) for rows in parts])
        return cls(labels, centres, np.concatenate(parts), np.concatenate([[0], np.cumsum(sizes)]))

    def members(self, cell: int) -> np.ndarray:
        """The samples of a cell."""
        return self.order[self.starts[cell] : self.starts[cell + 1]]

    def near(self, cell: int) -> np.ndarray:
        """All cells, the nearest first; a cell is the nearest to itself."""
        near = np.argsort(row_sqnorms(self.centres - self.centres[cell]), kind="stable")
        return np.concatenate([[cell], near[near != cell]])

    def around(self, cell: int, n_samples: int, n_cells: int) -> np.ndarray:
        """The samples of the nearest cells, ascending: at least `n_samples` of them, from at least `n_cells` cells."""
        near = self.near(cell)
        sizes = np.diff(self.starts)[near]
        count = max(n_cells, int(np.searchsorted(np.cumsum(sizes), n_samples)) + 1)
        return np.sort(np.concatenate([self.members(one) for one in near[:count]]))

    def assign(self, coordinates: np.ndarray) -> np.ndarray:
        """The cell with the nearest centre, (m,), of samples with these coordinates."""
        coordinates = np.asarray(coordinates, dtype=np.float32)
        labels = np.empty(len(coordinates), dtype=np.intp)
        half = 0.5 * row_sqnorms(self.centres)
        for block in row_blocks(len(coordinates), 4 * len(half), CELL_BLOCK_BYTES):
            labels[block] = np.argmin(half - coordinates[block] @ self.centres.T, axis=1)
        return labels


def groups(labels: np.ndarray) -> list[np.ndarray]:
    """The positions of each label that occurs, in ascending order."""
    order = np.argsort(labels, kind="stable")
    ends = np.flatnonzero(np.asarray(labels[order][1:] != labels[order][:-1])) + 1
    return np.split(order, ends) if len(labels) else []


def _split(rows: np.ndarray, coordinates: np.ndarray, size: int) -> list[np.ndarray]:
    """A cell in one piece, or, where it is far too large, in halves along its first principal coordinate, and so on."""
    if len(rows) <= 4 * size:
        return [rows]
    order = _principal_order(coordinates[rows])
    halves = np.sort(rows[order[: len(rows) // 2]]), np.sort(rows[order[len(rows) // 2 :]])
    return [part for half in halves for part in _split(half, coordinates, size)]


def _principal(points: np.ndarray) -> np.ndarray:
    """The first principal coordinate (n,); its sign does not depend on the order of the points."""
    centred = points - points.mean(axis=0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    return np.asarray(centred @ (axis * np.sign(axis[np.argmax(np.abs(axis))])))


def _principal_order(points: np.ndarray) -> np.ndarray:
    return np.argsort(_principal(points), kind="stable")


def chain(centres: np.ndarray) -> list[int]:
    """All cells, each followed by the nearest one of those left; first comes one end of the first principal axis."""
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
    """Principal coordinates of samples: those of the observed values, completed by what the coordinates expect.

    Attributes
    ----------
    directions : list of arrays (d_v, p)
        Orthonormal together.
    means : list of arrays (d_v,)
        Of the observed values.
    """

    directions: list[np.ndarray]
    means: list[np.ndarray]

    @classmethod
    def of(cls, views: Views) -> Projection:
        """The principal directions of these samples; a missing value counts as the mean of its feature.

        They come from at most `LEARNED` of the samples, by subspace iteration, which needs products only.
        """
        rng = np.random.default_rng(0)
        sums = [view.reduce(_sums_and_counts) for view in views]
        means = [total / np.maximum(count, 1) for total, count in sums]
        n, d = views.n_samples, views.n_features
        some = views if n <= LEARNED else views.take(np.sort(rng.choice(n, LEARNED, replace=False)))
        ends = np.cumsum([view.n_features for view in views])[:-1]
        V = rng.standard_normal((d, min(PROJECTED + SPARE, d)), dtype=np.float32)
        for _ in range(ITERATIONS):
            scores = np.linalg.qr(cls(np.split(V, ends), means).observed(some))[0]
            pairs = zip(some, means, strict=True)
            V = np.linalg.qr(np.concatenate([_transposed_times(view, mean, scores) for view, mean in pairs]))[0]
        scores = cls(np.split(V, ends), means).observed(some)
        V = V @ np.linalg.eigh(scores.T @ scores)[1][:, ::-1][:, :PROJECTED]
        return cls(np.split(V, ends), means)

    def __call__(self, views: Views) -> np.ndarray:
        """The coordinates (n, p) of samples; zero where nothing is observed."""
        observed = self.observed(views)
        share = np.sum([view.count_by_sample() / view.n_features for view in views], axis=0) / len(views)
        coordinates = observed / np.where(share > 0, share, 1.0)[:, None].astype(np.float32)
        if not all(view.is_complete for view in views):
            for _ in range(ITERATIONS):
                coordinates = observed + self._expected(views, coordinates)
        return coordinates

    def observed(self, views: Views) -> np.ndarray:
        """The products (n, p) of centred values and directions; zero for missing values."""
        total = np.zeros((views.n_samples, self.directions[0].shape[1]), dtype=np.float32)
        for view, V, mean in zip(views, self.directions, self.means, strict=True):
            G, offset = V.astype(view.X.dtype), (mean[:, None] * V).astype(view.X.dtype)
            for block in row_blocks(views.n_samples, 8 * view.n_features, CELL_BLOCK_BYTES):
                part = view.take(np.arange(block.start, block.stop))
                if view.is_rowwise:
                    total[block] += part.X @ G - part.mask * offset.sum(axis=0)
                else:
                    total[block] += part.X @ G - part.mask.astype(view.X.dtype) @ offset
        return total

    def _expected(self, views: Views, coordinates: np.ndarray) -> np.ndarray:
        """The part (n, p) of the coordinates that missing values would add, if they were as these coordinates say."""
        total = np.zeros_like(coordinates)
        for view, V in zip(views, self.directions, strict=True):
            if view.is_rowwise:
                total += ~view.mask * (coordinates @ (V.T @ V))
                continue
            for block in row_blocks(views.n_samples, 8 * view.n_features, CELL_BLOCK_BYTES):
                total[block] += (~view.mask[block] * (coordinates[block] @ V.T)) @ V
        return total


def _transposed_times(view: View, mean: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The transpose of the centred values, zero where missing, times scores (n, p)."""
    mask = np.broadcast_to(view.mask, (view.n_samples, view.mask.shape[1])).astype(scores.dtype)
    return np.asarray(view.X.T @ scores - mean[:, None] * (mask.T @ scores), dtype=np.float32)


def _sums_and_counts(view: View) -> np.ndarray:
    total = np.asarray(view.X.sum(axis=0, dtype=np.float64)).ravel()
    return np.stack([total, view.count_by_feature()])
