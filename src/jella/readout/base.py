"""The answers of a fitted model for samples of its fit and for new ones: embedding, labels, expected values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from jella.numerics.arrays import Array, like, namespace, row_blocks, take_rows, to_numpy
from jella.numerics.finite import overflow_refused, refuse_nonfinite
from jella.numerics.kmeans import kmeans, unit_rows
from jella.readout.clusters import Clusters, EmbeddingClusters, KMeansClusters
from jella.views import AnyViews, Views
from jella.views.checks import kept_samples
from jella.views.fingerprints import find_prints, fingerprints
from jella.views.scaling import Scaling

#: takes the position of a view and the rows wanted (None for all); returns values in the scale of the model
Expected: TypeAlias = Callable[[int, np.ndarray | None], Array]

#: k-means on samples in chunks is fitted to at most about this many of them
CLUSTERED = 1_000_000
#: new samples in memory that are answered at once
AT_ONCE = 50_000


@dataclass(frozen=True, eq=False)
class FitSamples:
    """The samples of a fit, which the model recognises when it sees them again.

    A sample is one of the fit if it has the same values and the same missing entries. Then its answers are those of
    the fit.

    Attributes
    ----------
    prints : uint64 array (m,)
        Fingerprints of their values, in the user's units.
    places : int array (m,)
        Their positions among the samples that were given to the fit.
    own, shown : arrays (m, r)
        The embedding that the model computes with, and the one that users see.
    labels : int array (m,) or None
    """

    prints: np.ndarray
    places: np.ndarray
    own: Array
    shown: Array
    labels: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Readout(ABC):
    """The answers of a fitted model; estimators, reports, files and Dask use only its public methods.

    Attributes
    ----------
    method : str
        Name of the estimator, for messages.
    scaling : Scaling
    bases : tuple of arrays (d_v, r)
    on_empty : {'raise', 'drop'}
        A sample without any observed value: an error, or a row of NaN and the label -1.
    known : FitSamples or None
        The samples of the fit; None where `solve` gives the answers of the fit for them too.
    clusters : Clusters or None
    """

    method: str
    scaling: Scaling
    bases: tuple[Array, ...]
    on_empty: str = "raise"
    known: FitSamples | None = None
    clusters: Clusters | None = None

    @property
    def width(self) -> int:
        """Number of components r."""
        return int(self.bases[0].shape[1])

    @abstractmethod
    def solve(self, views: Views) -> Array:
        """The embedding (n, r) of new samples, which are scaled and each have something observed."""

    # answers for samples in the user's units, in memory or in chunks

    def embed(self, views: AnyViews) -> Any:
        """The embedding (n, r) from which values are expected: each sample solved for what was observed of it."""
        return views.map_rows(self._embed, self.width)

    def present(self, views: AnyViews) -> Any:
        """The embedding (n, r) that users see."""
        return views.map_rows(self._present, self.width)

    def assign(self, views: AnyViews) -> Any:
        """The cluster of each sample, (n,)."""
        return views.map_rows(self._assign, None, dtype=np.dtype(np.intp))

    def expect(self, W: Array) -> Expected:
        """The values that the model expects of samples with embeddings (n, r), in the scale of the model."""
        return lambda v, rows: (W if rows is None else W[rows, :]) @ self.bases[v].T

    def in_units(self, views: Views, expected: Expected) -> Expected:
        """The expected values of samples, in the user's units."""
        norms = self.scaling.scale_of(views)

        def estimate(v: int, rows: np.ndarray | None) -> Array:
            of_rows = norms if rows is None or norms is None else norms[rows]
            return self.scaling.invert(expected(v, rows), v, of_rows)

        return estimate

    # clusters

    def find_clusters(
        self, views: AnyViews, W: Any, n_clusters: int | None, n_init: int, random_state: Any, *, unit: bool
    ) -> tuple[Clusters, Any]:
        """The clusters of the samples of the fit, and their labels (m,).

        Parameters
        ----------
        views : AnyViews
            The samples of the fit, scaled.
        W : array (m, r)
            Their embedding.
        unit : bool
            Whether rows are compared at unit norm.
        """
        assert n_clusters is not None
        W = views.cut(W)
        some = views.gather(lambda _, rows: to_numpy(rows), W, at_most=CLUSTERED)
        fitted = kmeans(unit_rows(some) if unit else some, n_clusters, n_init, random_state)
        clusters = KMeansClusters(fitted, unit)
        return clusters, views.map_rows(clusters.label, None, W, dtype=np.dtype(np.intp))

    def without_samples(self) -> Readout:
        """The same readout without the samples of the fit: all samples are new to it."""
        return replace(self, known=None)

    # on each worker for its chunks, or for all samples together where they are in memory

    def _embed(self, views: Views) -> Array:
        return self._answer(views, None, self.solve, np.nan)

    def _present(self, views: Views) -> Array:
        return self._answer(views, None if self.known is None else self.known.shown, self._present_new, np.nan)

    def _present_new(self, views: Views) -> Array:
        """The embedding of new samples that users see."""
        return self.solve(views)

    def _assign(self, views: Views) -> np.ndarray:
        known = self.known
        if self.clusters is None:
            raise ValueError(
                f"expected a {self.method} that was fitted with a number of clusters, got one without clusters; set "
                "n_clusters and fit it again"
            )
        return self._answer(views, None if known is None else known.labels, self._label_new, -1)

    def _label_new(self, views: Views) -> np.ndarray:
        """The clusters of new samples."""
        W = to_numpy(self.solve(views))
        refuse_nonfinite(W, f"new samples of {self.method}")
        assert isinstance(self.clusters, EmbeddingClusters)
        return self.clusters.assign(W)

    def _answer(self, views: Views, known: Array | None, new: Callable[[Views], Array], nothing: float) -> Array:
        """One row per sample: the known row for samples of the fit, `new` of the scaled views for other samples."""
        kept, found = self._recognised(views)
        if known is None:
            found[:] = -1
        fresh = kept & (found < 0)
        if fresh.all():
            return self._solved(views, new)
        if (found >= 0).all():
            return take_rows(known, found)
        rows = self._solved(views.take(fresh), new) if fresh.any() else None
        example = rows if rows is not None else known if known is not None else self.bases[0]
        full = np.full((kept.size, *example.shape[1:]), nothing, dtype=to_numpy(example).dtype)
        if rows is not None:
            full[fresh] = to_numpy(rows)
        if known is not None:
            full[found >= 0] = to_numpy(known)[found[found >= 0]]
        return full if isinstance(example, np.ndarray) else like(full, example)

    def _recognised(self, views: Views) -> tuple[np.ndarray, np.ndarray]:
        """Which samples have something observed, (n,) booleans, and their positions in the fit, -1 for new ones."""
        kept = kept_samples(views, self.on_empty)
        found = np.full(kept.size, -1, dtype=np.intp)
        if self.known is not None:
            found[kept] = find_prints(fingerprints(views)[kept], self.known.prints)
        return kept, found

    def _solved(self, views: Views, new: Callable[[Views], Array]) -> Array:
        """What `new` gives for samples in the user's units; what overflows is refused."""
        what = f"new samples of {self.method}"
        if views.n_samples > AT_ONCE:
            parts = [np.arange(rows.start, rows.stop) for rows in row_blocks(views.n_samples, 1, AT_ONCE)]
            pieces = [self._solved(views.take(rows), new) for rows in parts]
            return namespace(pieces[0]).concat(pieces, axis=0)
        with overflow_refused(what):
            rows = new(self.scaling.apply(views))
        refuse_nonfinite(rows, what)
        return rows
