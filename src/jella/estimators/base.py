"""What every estimator shares, whatever its method: reading and checking views, scaling, names, labels."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar
from sklearn.utils.validation import validate_data

from jella.numerics.arrays import Array, like, to_numpy
from jella.numerics.kmeans import kmeans, unit_rows
from jella.views import Schema, Views, check_for_fit, is_chunked, is_single, read_views
from jella.views.annotated import is_annotated
from jella.views.frames import is_frame
from jella.views.scaling import Scaling


@dataclass(frozen=True)
class Prepared:
    """Views on their way into a fit."""

    views: Views  # as read, all samples
    kept: np.ndarray  # (n,) samples with something observed
    used: Views  # the kept samples, in the user's units
    scaling: Scaling
    scaled: Views  # the kept samples, in the scale of the model


def has_clusters(self: BaseMultiView) -> bool:
    """Condition of the methods that need a number of clusters."""
    if self.n_clusters is None and not self._chooses_n_clusters:
        raise AttributeError(f"{type(self).__name__} has no labels without a number of clusters; set n_clusters")
    return True


class BaseMultiView(BaseEstimator):
    """Reading, checking, scaling and naming views, and k-means labels."""

    #: k-means on rows of unit norm
    _labels_from_unit_rows = False
    #: finds the number of clusters where none is given
    _chooses_n_clusters = False
    #: what the data may lack: 'entries' (and views), whole 'views' only, or 'nothing'
    _may_miss = "entries"
    #: needs memory of the order n²
    _holds_pairs = False
    #: whether the samples of a fit may lie in chunks (Dask)
    _takes_chunks = False

    n_clusters: int | None
    scale: str
    view_weights: Any
    n_init: int
    on_empty: str
    random_state: Any
    embedding_: Array

    def _prepare(self, X: Any, observed: Any, *, nonnegative: bool = False) -> Prepared:
        """Read, check and scale the views of a fit."""
        views = self._read(X, observed, reset=True)
        check_for_fit(views)
        kept = self._kept(views)
        used = views if kept.all() else views.take(kept)
        self._check_n_clusters(used.n_samples)
        if nonnegative:
            self._refuse_negative(used)
        scaling = self._learn_scaling(used)
        scaled = scaling.apply(used).held()
        if nonnegative:
            self._refuse_negative(scaled)
        return Prepared(views, kept, used, scaling, scaled)

    def _learn_scaling(self, views: Views) -> Scaling:
        return Scaling.learn(views, self.scale, self.view_weights)

    def _remember(self, X: Any, prepared: Prepared) -> None:
        """Set what later calls need to know of the views of the fit."""
        views = prepared.views
        self._schema = Schema.of(views, X)
        self._sample_names = views.sample_names
        self.scaling_ = prepared.scaling
        self.view_names_in_ = list(views.names)
        names = np.arange(views.n_samples) if views.sample_names is None else views.sample_names
        self.sample_names_in_ = None if views.sample_names is None else views.sample_names
        self.dropped_ = names[~prepared.kept].tolist()

    def _read(self, X: Any, observed: Any, reset: bool) -> Views:
        schema = None if reset else self._schema
        if schema is not None and schema.is_single != is_single(X):
            got = "one array" if is_single(X) else "a collection of views"
            raise ValueError(f"expected the {len(schema.names)} view(s) {list(schema.names)} as in fit, got {got}")
        if is_chunked(X):
            return self._read_chunks(X, observed, reset)
        # torch, cupy and masked arrays: validate_data would copy them to plain NumPy; it does not know AnnData
        foreign = (is_array_api_obj(X) and not isinstance(X, np.ndarray)) or isinstance(X, np.ma.MaskedArray)
        if is_single(X) and not foreign and not is_annotated(X):
            X = self._checked_single(X, observed, reset)
            return read_views(X, observed, schema)
        views = read_views(X, observed, schema)
        if reset:
            self._remember_features(views)
        return views

    def _read_chunks(self, X: Any, observed: Any, reset: bool) -> Any:
        if not reset:
            raise ValueError("expected samples in memory, got a Dask collection; compute some of them first")
        if not self._takes_chunks:
            raise ValueError(
                f"expected samples in memory, got a Dask collection: {type(self).__name__} relates samples to each "
                "other; use SparseBDR, MVLIV, PVC, DAIMC or IRMKMC, or compute the collection first if it fits"
            )
        from jella.distributed.read import read_chunked

        views = read_chunked(X, observed)
        self._remember_features(views)
        return views

    def _checked_single(self, X: Any, observed: Any, reset: bool) -> Any:
        """A plain 2-D array is one view, checked as scikit-learn does; a DataFrame stays one, for its index."""
        first = X[0] if isinstance(X, list | tuple) else X
        if isinstance(first, str | PathLike):
            raise ValueError(f"expected arrays of numbers, got the text {str(first)!r}; if it is a file, read it first")
        if getattr(X, "ndim", 2) > 2:
            raise ValueError(
                f"expected a 2-D array (samples x features), got {X.ndim} dimensions; "
                "pass a list of 2-D arrays, one a view"
            )
        if is_frame(X):
            read_views(X, observed)  # names the columns that are not numbers
        try:
            checked = validate_data(self, X, reset=reset, accept_sparse="csr", ensure_all_finite=False)
        except ValueError as error:
            words = str(error)
            if not any(sign in words for sign in ("could not convert", "bytes/strings")):
                raise
            got = words.rpartition(": ")[2] if "could not convert" in words else f"an array of {np.asarray(X).dtype}"
            raise ValueError(
                f"the data must hold real numbers, got {got}; encode or drop what is not numeric"
            ) from None
        return X if is_frame(X) else checked

    def _remember_features(self, views: Any) -> None:
        self.n_features_in_ = views.n_features
        names = [view.feature_names for view in views]
        if all(columns is not None for columns in names):
            self.feature_names_in_ = np.array([c for columns in names for c in columns or ()], dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _kept(self, views: Views) -> np.ndarray:
        """Samples with something observed; what happens to the others is on_empty's."""
        if self.on_empty not in ("raise", "drop"):
            raise ValueError(f"on_empty must be 'raise' or 'drop', got {self.on_empty!r}")
        kept = np.asarray(views.presence().any(axis=1))
        if self.on_empty == "raise" and not kept.all():
            empty = np.flatnonzero(~kept)
            more = f" and {empty.size - 5} more" if empty.size > 5 else ""
            named = ", ".join(views.label(row) for row in empty[:5])
            raise ValueError(f"sample {named}{more} is missing in every view; remove it or set on_empty='drop'")
        return kept

    def _refuse_negative(self, views: Views) -> None:
        for view in views:
            smallest = view.smallest()
            if smallest < 0:
                raise ValueError(
                    f"Negative values in data passed to {type(self).__name__}: it needs non-negative data, but view "
                    f"{view.name!r} goes down to {smallest:.3g}; shift it, or use a method without sign constraints"
                )

    def _refuse_missing_entries(self, views: Views) -> None:
        """For methods that weigh whole samples of a view and have no place for single missing entries."""
        for view in views:
            if not view.is_rowwise:
                counts = to_numpy(view.count_by_sample())
                row = int(np.flatnonzero((counts > 0) & (counts < view.n_features))[0])
                raise ValueError(
                    f"{type(self).__name__} takes samples that lack whole views, but sample {views.label(row)} lacks "
                    f"{view.n_features - counts[row]} of the {view.n_features} entries of view {view.name!r} (NaN or "
                    "not observed); use jella.MVLIV, or complete the data with it first"
                )

    def _check_n_clusters(self, n_samples: int) -> None:
        if self.n_clusters is None:
            return
        check_scalar(self.n_clusters, "n_clusters", Integral, min_val=1)
        if self.n_clusters > n_samples:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the {n_samples} samples; choose fewer clusters"
            )

    def _with_names(self, W: Array, sample_names: Any) -> Any:
        """The embedding, as a DataFrame on the samples' names where set_output asks for pandas."""
        config = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if config != "pandas" or sample_names is None:
            return W
        import pandas as pd

        return pd.DataFrame(to_numpy(W), index=sample_names, columns=self.get_feature_names_out())

    def _set_labels(self, kept: np.ndarray) -> None:
        """Labels of the kept samples where there is a number of clusters; -1 for the others."""
        for name in ("labels_", "kmeans_"):
            if name in vars(self):
                delattr(self, name)
        if self.n_clusters is not None or self._chooses_n_clusters:
            if is_chunked(self.embedding_):
                from jella.distributed.model import lazy_labels

                self.labels_ = lazy_labels(self)
                return
            self.labels_ = np.full(kept.size, -1, dtype=np.intp)
            self.labels_[kept] = self._find_labels()

    def _find_labels(self) -> np.ndarray:
        """k-means on the embedding."""
        W = to_numpy(self.embedding_)
        self._learn_labels(W[~np.isnan(W).any(axis=1)])
        return np.asarray(self.kmeans_.labels_)

    def _learn_labels(self, W: np.ndarray) -> None:
        """Find the clusters of the rows of an embedding."""
        assert self.n_clusters is not None
        self.kmeans_ = kmeans(self._for_labels(W), self.n_clusters, self.n_init, self.random_state)

    def _for_labels(self, W: np.ndarray) -> np.ndarray:
        return unit_rows(W) if self._labels_from_unit_rows else W

    def _nearest_clusters(self, W: np.ndarray) -> np.ndarray:
        """Nearest cluster of every row, -1 for rows of NaN."""
        labels = np.full(W.shape[0], -1, dtype=np.intp)
        known = ~np.isnan(W).any(axis=1)
        if known.any():
            labels[known] = self.kmeans_.predict(self._for_labels(W[known]))
        return labels

    def save(self, path: str | PathLike[str]) -> None:
        """Write the estimator, fitted or not, to one file that `jella.load` reads and that holds no code.

        Where it was fitted on Dask collections, the embedding and the labels of its samples are left out: they may be
        larger than any memory, and `transform` and `predict` give them again.

        Parameters
        ----------
        path : str or path
            The file, by custom with the extension .jella. One that is there is replaced when the new one is complete.

        Examples
        --------
        >>> import os, tempfile, jella
        >>> path = os.path.join(tempfile.mkdtemp(), "model.jella")
        >>> jella.MVLIV(n_components=1).fit([[1.0, 2.0], [2.0, 4.0]]).save(path)
        >>> jella.load(path).embedding_.shape
        (2, 1)
        """
        from jella.estimators.model_file import save  # it knows every estimator

        save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def spread(W: Array, kept: np.ndarray) -> Array:
    """Rows of W at the samples that were kept, NaN at the others."""
    if kept.all():
        return W
    full = np.full((kept.size, W.shape[1]), np.nan)
    full[kept] = to_numpy(W)
    return like(full, W)


def generator(random_state: Any) -> np.random.Generator:
    """A generator from whatever scikit-learn users pass as random_state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
