"""What every estimator shares: reading, checking and scaling views, and the answers of a fitted model."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_scalar
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from jella.estimators.capabilities import Capabilities
from jella.numerics.arrays import Array, to_numpy
from jella.readout.base import FitSamples, Readout
from jella.readout.clusters import Clusters
from jella.readout.completion import complete_views
from jella.readout.scoring import held_out_rmse
from jella.saving.model import save
from jella.views import AnyViews, Schema, Views, is_chunked, is_single, read_views
from jella.views.checks import check_features, kept_samples
from jella.views.containers import is_annotated, is_frame
from jella.views.fingerprints import content_order, fingerprints
from jella.views.scaling import Scaling

#: components where neither their number nor that of the clusters is given
DEFAULT_RANK = 10


@dataclass(frozen=True)
class Prepared:
    """Views on their way into a fit.

    Attributes
    ----------
    views : AnyViews
        As read, all n samples.
    rows : int array (m,)
        The samples that the fit takes, in the order in which it takes them.
    used, scaled : AnyViews
        These samples, in the user's units and in the scale of the model.
    scaling : Scaling
    prints : uint64 array (m,) or None
        Fingerprints of these samples, where the order comes from them.
    """

    views: AnyViews
    rows: np.ndarray
    used: AnyViews
    scaling: Scaling
    scaled: AnyViews
    prints: np.ndarray | None = None

    def fit_samples(self, W: Array) -> FitSamples | None:
        """What the model recognises these samples by, and their embedding (m, r); None where they are in chunks."""
        if not isinstance(self.used, Views):
            return None  # they may be too many; the last step of their solve is that of new samples
        return FitSamples(self.used.gather(fingerprints), self.rows, W, W)

    @property
    def ranks(self) -> np.ndarray:
        """Where each sample of the fit stands among them in the order they came, (m,)."""
        return np.argsort(np.argsort(self.rows))

    def place(self, rows: Any) -> Any:
        """An array with a row per sample of the fit, for all samples as the user gave them."""
        return self.views.place(rows, self.rows)


class BaseMultiView(BaseEstimator):
    """Reading, checking, scaling and naming views."""

    #: whether a fit takes its samples in an order of their contents
    _orders_samples = False

    n_clusters: int | None
    scale: Any
    view_weights: Any
    n_init: int
    on_empty: str
    random_state: Any
    embedding_: Array
    schema_: Schema

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What the method takes and holds."""

    @abstractmethod
    def _fit_views(self, views: AnyViews, X: Any, y: Any) -> None:
        """Fit views that were read from X."""

    def fit(self, X: Any, y: Any = None, *, observed: Any = None) -> Any:
        """Learn from views.

        Parameters
        ----------
        X : 2-D array, list or tuple of 2-D arrays, dict of name -> array, or DataFrames or SciPy sparse arrays
            The views, samples in rows. NaN marks a missing entry, a row of NaN a missing view. DataFrames are aligned
            by their index.
        y : ignored
            Unless the method says otherwise.
        observed : as X, of booleans, optional
            True where a value was observed, instead of NaN: (n,), (n, 1) or (n, d) for each view.

        Returns
        -------
        self
        """
        self._fit_views(self._read(X, observed, reset=True), X, y)
        return self

    def read(self, X: Any, observed: Any = None) -> AnyViews:
        """The views of X as the fitted model reads them: its names, its columns, in their order."""
        check_is_fitted(self)
        return self._read(X, observed, reset=False)

    def _prepare(self, views: AnyViews) -> Prepared:
        """Check and scale the views of a fit."""
        check_features(views)
        kept = kept_samples(views, self.on_empty)
        rows, prints = np.flatnonzero(kept), None
        used = views if kept.all() else views.take(kept)
        self._check_n_clusters(used.n_samples)
        if self._orders_samples:
            prints = used.gather(fingerprints)
            order = content_order(prints)
            rows, prints, used = rows[order], prints[order], used.in_order(order)
        scaling = self._learn_scaling(used)
        return Prepared(views, rows, used, scaling, scaling.apply(used).persist(), prints)

    def _learn_scaling(self, views: AnyViews) -> Scaling:
        return Scaling.learn(views, self.scale, self.view_weights)

    def _remember(self, X: Any, prepared: Prepared) -> None:
        """Set what later calls need to know of the views of the fit."""
        views = prepared.views
        self.schema_ = Schema.of(views, X)
        self.scaling_ = prepared.scaling
        self.view_names_in_ = list(views.names)
        self.sample_names_in_ = views.sample_names
        names = np.arange(views.n_samples) if views.sample_names is None else views.sample_names
        dropped = np.ones(views.n_samples, dtype=bool)
        dropped[prepared.rows] = False
        self.dropped_ = names[dropped].tolist()

    def _read(self, X: Any, observed: Any, reset: bool) -> AnyViews:
        schema = None if reset else self.schema_
        if schema is not None and schema.is_single != is_single(X):
            got = "one array" if is_single(X) else "a collection of views"
            raise ValueError(f"expected the {len(schema.names)} view(s) {list(schema.names)} as in fit, got {got}")
        if is_chunked(X):
            views = self._read_chunks(X, observed, schema)
        # torch, cupy and masked arrays: validate_data would copy them to plain NumPy; it does not know AnnData
        elif is_single(X) and not (_is_foreign(X) or is_annotated(X)):
            return read_views(self._checked_single(X, observed, reset), observed, schema)
        else:
            views = read_views(X, observed, schema)
        if reset:
            self.n_features_in_ = views.n_features
            names = [view.feature_names for view in views]
            if all(columns is not None for columns in names):
                self.feature_names_in_ = np.array([c for columns in names for c in columns], dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        return views

    def _read_chunks(self, X: Any, observed: Any, schema: Schema | None) -> AnyViews:
        reason = self.capabilities.not_in_chunks if schema is None else None
        if reason is not None:
            raise ValueError(
                f"expected samples in memory, got a Dask collection: {type(self).__name__} {reason}; use SparseBDR, "
                "MVLIV, PVC, DAIMC, IMCL or IRMKMC, or compute the collection first if it fits"
            )
        from jella.distributed import read_chunked

        return read_chunked(X, observed, schema)

    def _checked_single(self, X: Any, observed: Any, reset: bool) -> Any:
        """A plain 2-D array is one view, checked as scikit-learn does; a DataFrame stays one, for its index."""
        first = X[0] if isinstance(X, list | tuple) else X
        if isinstance(first, str | PathLike):
            raise ValueError(f"expected arrays of numbers, got the text {str(first)!r}; if it is a file, read it first")
        if getattr(X, "ndim", 2) > 2:
            raise ValueError(
                f"expected a 2-D array (samples x features), got {X.ndim} dimensions; "
                "pass a list of 2-D arrays, one per view"
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

    def _check_n_clusters(self, n_samples: int) -> None:
        if self.n_clusters is None:
            return
        check_scalar(self.n_clusters, "n_clusters", Integral, min_val=1)
        if self.n_clusters > n_samples:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the {n_samples} samples; choose fewer clusters"
            )

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
        save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags, can = super().__sklearn_tags__(), self.capabilities
        tags.input_tags.allow_nan = can.missing == "entries"  # a single view has no whole views to lack
        tags.input_tags.positive_only = not can.signed
        tags.input_tags.sparse = True
        return tags


def has_clusters(self: BaseMultiView) -> bool:
    """Condition of the methods that need a number of clusters."""
    if self.n_clusters is None and not self.capabilities.chooses_n_clusters:
        raise AttributeError(f"{type(self).__name__} has no labels without a number of clusters; set n_clusters")
    return True


class BaseTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseMultiView):
    """A model that embeds samples, new and incomplete ones too; a fit sets `readout_`, which answers."""

    n_components: int | None
    readout_: Readout

    #: labels are found from rows of the embedding at unit norm
    _labels_from_unit_rows = False

    def fit_transform(self, X: Any, y: Any = None, *, observed: Any = None) -> Array:
        """Fit, and return the embedding (n, r)."""
        self.fit(X, y, observed=observed)
        return self._with_names(self.embedding_, self.sample_names_in_)

    def transform(self, X: Any, *, observed: Any = None) -> Array:
        """Embed samples, new and incomplete ones too, with the bases of the fit.

        A sample of the fit, with the same values and the same holes, gets its row of `embedding_`.

        Parameters
        ----------
        X : as in fit
            Views may be missing altogether: leave them out of a dict, or pass None in a list.

        Returns
        -------
        embedding : array (n, r)
            Rows of NaN for samples without any observed value, where on_empty='drop'.
        """
        views = self.read(X, observed)
        return self._with_names(views.as_given(self._answers().present(views)), views.sample_names)

    def _answers(self) -> Readout:
        """The readout, with what the user says now of empty samples."""
        return replace(self.readout_, on_empty=self.on_empty)

    def _rank(self, views: AnyViews) -> int:
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

    @property
    def _n_features_out(self) -> int:
        return self.readout_.width

    def _with_names(self, W: Array, sample_names: Any) -> Any:
        """The embedding, as a DataFrame on the samples' names where set_output asks for pandas."""
        config = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if config != "pandas" or sample_names is None:
            return W
        import pandas as pd

        return pd.DataFrame(to_numpy(W), index=sample_names, columns=self.get_feature_names_out())

    def _set_answers(self, readout: Readout, W: Any, prepared: Prepared) -> None:
        """Set the readout and, where there is a number of clusters, the labels of the samples of the fit.

        Parameters
        ----------
        W : array (m, r)
            The embedding of the samples of the fit, divided as they are.
        """
        for name in ("labels_", "kmeans_", "n_clusters_", "cluster_path_"):
            if name in vars(self):
                delattr(self, name)
        if self.n_clusters is not None or self.capabilities.chooses_n_clusters:
            clusters, labels = self._find_clusters(readout, W, prepared)
            readout = readout.with_clusters(clusters, labels)
            self.labels_ = prepared.place(labels)
            for name, value in ({} if clusters is None else clusters.attributes()).items():
                setattr(self, name, value)
        self.readout_ = readout

    def _find_clusters(self, readout: Readout, W: Any, prepared: Prepared) -> tuple[Clusters | None, Any]:
        """The clusters of the samples of the fit, and their labels."""
        unit = self._labels_from_unit_rows
        return readout.find_clusters(prepared.scaled, W, self.n_clusters, self.n_init, self.random_state, unit=unit)


class LabelsMixin:
    """Labels of samples, where there is a number of clusters."""

    @available_if(has_clusters)
    def fit_predict(self, X: Any, y: Any = None, *, observed: Any = None) -> np.ndarray:
        """Fit, and return the cluster of each sample, (n,)."""
        return self.fit(X, y, observed=observed).labels_  # type: ignore[attr-defined]

    @available_if(has_clusters)
    def predict(self, X: Any, *, observed: Any = None) -> np.ndarray:
        """The cluster of each sample, (n,); -1 for samples without any observed value.

        A sample of the fit, with the same values and the same holes, gets its label of `labels_`.
        """
        views = self.read(X, observed)  # type: ignore[attr-defined]
        return views.as_given(self._answers().assign(views))  # type: ignore[attr-defined]


class BaseEmbedding(BaseTransformer):
    """A model whose bases also give the values back: it completes, and is scored on what it completes."""

    def complete(self, X: Any, *, observed: Any = None) -> Any:
        """X with its missing values filled in, in the same container and in the user's own units.

        Observed values come back bit for bit. A DataFrame that lacks samples gets them appended to its own rows.
        """
        return complete_views(self.read(X, observed), X, self._answers(), self.schema_)

    def score(self, X: Any, y: Any = None, *, observed: Any = None) -> float:
        """How well hidden values are predicted: the negative RMSE, higher is better.

        A sample with two views or more loses one of them, any other a tenth of its observed entries; its embedding
        is inferred from the rest. Errors are in the scale that the model works in. The choice of what to hide follows
        random_state.
        """
        views = self.read(X, observed)
        seed = self.random_state if isinstance(self.random_state, int | np.integer) else 0
        kept = views.take(kept_samples(views, self.on_empty))
        if not isinstance(kept, Views):
            raise ValueError("expected samples in memory, got a Dask collection; compute some of them first")
        return -held_out_rmse(kept, self._predict_new, self.scaling_, np.random.default_rng(seed))

    def _predict_new(self, views: Views) -> list[Array]:
        """Each view as the model expects it, (n, d), from what is observed of new samples; in the user's units."""
        readout = self.readout_
        estimate = readout.in_units(views, readout.expect(readout.solve(readout.scaling.apply(views))))
        return [estimate(v, None) for v in range(len(views))]


def _is_foreign(X: Any) -> bool:
    return (is_array_api_obj(X) and not isinstance(X, np.ndarray)) or isinstance(X, np.ma.MaskedArray)


def generator(random_state: Any) -> np.random.Generator:
    """A generator from whatever scikit-learn users pass as random_state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
