"""Estimators that embed samples: transform, labels, complete and score, whatever found the bases."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_scalar
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from jella.estimators.base import BaseMultiView, has_clusters, spread
from jella.numerics.arrays import Array, like, to_numpy
from jella.readout.scoring import held_out_rmse
from jella.views import Views, fill_in, is_chunked

DEFAULT_RANK = 10


class BaseTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseMultiView):
    """What a model with bases offers for samples, new and incomplete ones too."""

    n_components: int | None
    _bases: tuple[Array, ...]

    @abstractmethod
    def fit(self, X: Any, y: Any = None, *, observed: Any = None) -> BaseTransformer:
        """Learn the bases."""

    @abstractmethod
    def _embed_scaled(self, views: Views) -> Array:
        """Embedding (n, r) of scaled views, every sample with something observed."""

    def fit_transform(self, X: Any, y: Any = None, *, observed: Any = None) -> Array:
        """Fit, and return the embedding (n, r)."""
        self.fit(X, y, observed=observed)
        return self._with_names(self.embedding_, self._sample_names)

    def transform(self, X: Any, *, observed: Any = None) -> Array:
        """Embed samples, new and incomplete ones too, with the bases of the fit.

        Parameters
        ----------
        X : as in fit
            Views may be missing altogether: leave them out of a dict, or pass None in a list.

        Returns
        -------
        embedding : array (n, r)
            Rows of NaN for samples without any observed value, where on_empty='drop'.
        """
        check_is_fitted(self)
        if is_chunked(X):
            from jella.distributed.model import transform_chunks

            return transform_chunks(self, X, observed)
        views = self._read(X, observed, reset=False)
        return self._with_names(self._shown(views), views.sample_names)

    def _shown(self, views: Views) -> Array:
        """The embedding that users see, (n, r): that of the model."""
        return self._embed(views)

    def _rank(self, views: Views) -> int:
        most = min(views.n_samples, views.n_features)
        if self.n_components is None:
            return min(self.n_clusters or DEFAULT_RANK, most)
        check_scalar(self.n_components, "n_components", Integral, min_val=1)
        if self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} is more than {views.n_samples} samples and {views.n_features} "
                f"features allow; choose at most {most}"
            )
        return int(self.n_components)

    def _embed(self, views: Views) -> Array:
        kept = self._kept(views)
        if not kept.any():
            return like(np.full((kept.size, self._n_features_out), np.nan), self._bases[0])
        used = views if kept.all() else views.take(kept)
        return spread(self._embed_scaled(self.scaling_.apply(used)), kept)

    @property
    def _n_features_out(self) -> int:
        return int(self._bases[0].shape[1])


class LabelsMixin:
    """Labels by k-means on the embedding, where there is a number of clusters."""

    @available_if(has_clusters)
    def fit_predict(self, X: Any, y: Any = None, *, observed: Any = None) -> np.ndarray:
        """Fit, and return the cluster of every sample, (n,)."""
        return self.fit(X, y, observed=observed).labels_  # type: ignore[attr-defined]

    @available_if(has_clusters)
    def predict(self, X: Any, *, observed: Any = None) -> np.ndarray:
        """Nearest cluster of every sample, (n,); -1 for samples without any observed value."""
        check_is_fitted(self)
        if is_chunked(X):
            from jella.distributed.model import predict_chunks

            return predict_chunks(self, X, observed)
        embedding = self._embed(self._read(X, observed, reset=False))  # type: ignore[attr-defined]
        return self._nearest_clusters(to_numpy(embedding))  # type: ignore[attr-defined]


class BaseEmbedding(BaseTransformer):
    """A model whose bases also give the values back: it completes, and is scored on what it completes."""

    def complete(self, X: Any, *, observed: Any = None) -> Any:
        """X with its missing values filled in, in the same container and in the user's own units.

        Observed values come back bit for bit. A DataFrame that lacks samples gets them appended to its own rows.
        """
        check_is_fitted(self)
        if is_chunked(X):
            from jella.distributed.model import complete_chunks

            return complete_chunks(self, X, observed)
        views = self._read(X, observed, reset=False)
        return self._completed(X, views, self._expected(self._embed(views)))

    def _completed(self, X: Any, views: Views, expected: Callable[[int, np.ndarray | None], Array]) -> Any:
        """X, which was read as these views, filled in with what is expected of them in the scale of the model."""
        norms = self.scaling_.scale_of(views)

        def estimate(v: int, rows: np.ndarray | None) -> Array:
            scale = None if norms is None or rows is None else norms[rows]
            return self.scaling_.invert(expected(v, rows), v, norms if rows is None else scale)

        return fill_in(X, views, estimate, self._schema)

    def score(self, X: Any, y: Any = None, *, observed: Any = None) -> float:
        """How well hidden values are predicted: the negative RMSE, higher is better.

        A sample with two views or more loses one of them, any other a tenth of its observed entries; its embedding
        is inferred from the rest. Errors are in the scale that the model works in. The choice of what to hide follows
        random_state.
        """
        check_is_fitted(self)
        views = self._read(X, observed, reset=False)
        seed = self.random_state if isinstance(self.random_state, int | np.integer) else 0
        kept = self._kept(views)
        return -held_out_rmse(views.take(kept), self._predict_scaled, self.scaling_, np.random.default_rng(seed))

    def _predict_scaled(self, views: Views) -> list[Array]:
        """Every view as the model sees it, (n, d) each, from its observed part; in the user's units."""
        expected = self._expected(self._embed_scaled(self.scaling_.apply(views)))
        norms = self.scaling_.scale_of(views)
        return [self.scaling_.invert(expected(v, None), v, norms) for v in range(len(self._bases))]

    def _expected(self, W: Array) -> Callable[[int, np.ndarray | None], Array]:
        """What the model expects of samples with these embeddings (n, r): a view, some rows -> values, scaled."""
        return lambda v, rows: (W if rows is None else W[rows, :]) @ self._bases[v].T
