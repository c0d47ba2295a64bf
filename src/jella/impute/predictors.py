"""The predictors of missing values: the models of a path, the clusters' low-rank model, and near samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from jella.graphs.neighbours import nearest
from jella.impute.path import KnownEmbeddings, PathPredictor
from jella.impute.units import Units
from jella.numerics.arrays import to_numpy
from jella.numerics.sparse_arrays import neighbour_graph
from jella.readout.base import Readout
from jella.readout.neighbours import NeighbourReadout
from jella.views import View, Views

#: donors per neighbour of the model: not all of them have the value
DONORS_PER_NEIGHBOUR = 2
#: the mean of donors is shrunk to the mean of the feature as if this many more donors had that mean
SHRINKAGE = 1.0

#: fits the model to other views, without clusters
Refit = Callable[[Views], Readout]


@dataclass(frozen=True, eq=False)
class Predictors:
    """What predicts values, fitted on some views.

    Attributes
    ----------
    readout : NeighbourReadout
        The low-rank model of the clusters, which keeps the samples of the fit.
    path : PathPredictor
    units : Units
        Of the samples of the fit.
    """

    readout: NeighbourReadout
    path: PathPredictor
    units: Units

    @property
    def n_members(self) -> int:
        """The number of predictions per value."""
        return len(self.path.models) + 2

    def near(self, views: Views) -> np.ndarray:
        """The samples of the fit that are near to samples in the user's units, (n, q), the nearest first; -1 for none.

        For all samples at once: what the search prepares is the same for all.
        """
        readout = self.readout
        count = DONORS_PER_NEIGHBOUR * readout.n_neighbors
        return nearest(readout.samples, count, queries=readout.scaling.apply(views))

    def predict(self, views: Views, near: np.ndarray, known: KnownEmbeddings | None = None) -> list[np.ndarray]:
        """For each view the predictions (K, n, d), as distances from the means of the fit in its standard deviations.

        Parameters
        ----------
        views : Views
            In the user's units, NumPy arrays; each sample has something observed. The last two predictions are those
            of the low-rank model with its neighbours, and of donors.
        near : int array (n, q)
            From `near`.
        known : sequence of arrays (n, r) or None, optional
            The embedding by each model of the path.
        """
        readout, by_path = self.readout, self.path.predict(views, known)
        scaled = readout.scaling.apply(views)
        W = readout.placed(scaled, near[:, : readout.n_neighbors])
        values, by_donors = readout.in_units(views, readout.expect(W)), self._lent(views, near)
        found = []
        for v in range(len(views)):
            several = [self.units.relative(one, v) for one in (*by_path[v], to_numpy(values(v, None)))]
            found.append(np.stack([*several, by_donors[v]]))
        return found

    @cached_property
    def _lenders(self) -> list[View]:
        """The samples of the fit in the user's units, at norm one where they are divided by norms."""
        pairs = zip(self.readout.scaling.scales, self.readout.samples, strict=True)
        return [scale.undo(view.on_host(), None) for scale, view in pairs]

    def _lent(self, views: Views, near: np.ndarray) -> list[np.ndarray]:
        """The mean of the donors of each sample, relative to the units."""
        readout = self.readout
        graph, norms = neighbour_graph(near, readout.samples.n_samples), readout.scaling.scale_of(views)
        found = []
        for v, (scale, lenders) in enumerate(zip(readout.scaling.scales, self._lenders, strict=True)):
            total, count = _sums(graph, lenders)
            if scale.by_norm and norms is not None:  # a donor lends a direction, and the sample has its own norm
                total *= (norms[:, v] ** 2 if scale.rooted else norms[:, v])[:, None]
            total -= count * self.units.means[v]
            found.append(total / ((count + SHRINKAGE) * self.units.spreads[v]))
        return found


def _sums(graph: sparse.csr_array, view: View) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the values of neighbours, (n, d), and how many of them have the value, (n, 1) or (n, d)."""
    total = graph @ view.X
    mask = np.broadcast_to(view.mask, (view.n_samples, view.mask.shape[1])).astype(np.float64)
    return np.asarray(total.toarray() if sparse.issparse(total) else total, dtype=np.float64), graph @ mask
