"""What all estimators share: reading, checking and scaling views, and the answers of a fitted model."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted, validate_data

from jella.estimators.asked import Asked
from jella.estimators.capabilities import Capabilities
from jella.estimators.landmarks import Chosen
from jella.estimators.needs import Needs, check_needs
from jella.estimators.parameters import check_parameters
from jella.numerics.arrays import Array
from jella.numerics.finite import is_finite, overflow_refused, too_large
from jella.readout.base import FitSamples
from jella.readout.landmarks import Landmarks
from jella.saving.model import save
from jella.views import AnyViews, Schema, Views, is_chunked, is_single, read_views
from jella.views.adjustment import Adjustment
from jella.views.align import check_fit
from jella.views.checks import check_features, check_on_empty, kept_samples
from jella.views.containers import check_given, is_annotated, is_data_array, is_frame, is_other_frame
from jella.views.fingerprints import fingerprints
from jella.views.kinds import Kinds
from jella.views.missing_codes import warn_of_codes
from jella.views.scaling import Scaling

#: number of components where neither n_components nor n_clusters is given
DEFAULT_RANK = 10


@dataclass(frozen=True)
class Prepared:
    """The views of a fit, checked and scaled.

    Attributes
    ----------
    views : AnyViews
        All n samples, as read.
    rows : int array (m,)
        Positions of the samples that the fit uses, in the order of the fit.
    used, scaled : AnyViews
        These samples, in the user's units and in the scale of the model.
    scaling : Scaling
    prints : uint64 array (m,) or None
        Fingerprints of these samples, if their order comes from fingerprints.
    kinds : Kinds or None
        Kinds of their values, if the method looks at them.
    y : object
        Known classes of all n samples, as they were given to the fit; None if there are none.
    empty : int array
        Positions of the samples without any observed value.
    landmarks : Landmarks or None
        Which samples the fit uses and why, if the method chooses landmarks.
    """

    views: AnyViews
    rows: np.ndarray
    used: AnyViews
    scaling: Scaling
    scaled: AnyViews
    prints: np.ndarray | None = None
    kinds: Kinds | None = None
    y: Any = None
    empty: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    landmarks: Landmarks | None = None

    @property
    def is_part(self) -> bool:
        """Whether the fit uses landmarks only, so that other samples need answers too."""
        return self.rows.size + self.empty.size < self.views.n_samples

    def fit_samples(self, W: Array) -> FitSamples | None:
        """The samples with their embedding (m, r), for the model to recognise them; None if it is in chunks."""
        if not is_array_api_obj(W):
            return None  # they may be too many, and the last step of the fit embeds them as it embeds new samples
        return FitSamples(self.used.gather(fingerprints), self.rows, W, W)

    @property
    def ranks(self) -> np.ndarray:
        """The rank of each sample of the fit in the user's order, (m,)."""
        return np.argsort(np.argsort(self.rows))

    @property
    def ranks_among_kept(self) -> np.ndarray:
        """The rank of each sample of the fit among all that have something observed, in the user's order, (m,)."""
        return self.rows - np.searchsorted(self.empty, self.rows)


class BaseMultiView(BaseEstimator):
    """Reading, checking, scaling and naming views."""

    n_clusters: int | None
    scale: Any
    view_weights: Any
    n_init: int
    on_empty: str
    random_state: Any

    embedding_: Array
    labels_: np.ndarray
    schema_: Schema
    scaling_: Scaling
    n_features_in_: int
    feature_names_in_: np.ndarray
    view_names_in_: list[str]
    sample_names_in_: Any
    dropped_: list[Any]
    #: the effects of covariates that were removed from the views before the fit, if there are some
    adjustment_: Adjustment

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What the method accepts and keeps in memory."""

    @abstractmethod
    def _needs(self, views: Views) -> Needs:
        """What a fit to these views needs, by estimate."""

    @abstractmethod
    def _fit_views(self, views: AnyViews, X: Any, y: Any) -> None:
        """Fit the views that were read from X."""

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
        check_parameters(self)  # reading already asks what the method can do
        views = self._read(X, observed, reset=True)
        if isinstance(views, Views):
            warn_of_codes(views, getattr(self, "feature_names_in_", None))
        return self._fit_read(views, X, y)

    def _fit_read(self, views: AnyViews, X: Any, y: Any) -> Any:
        """Fit the views that were read from X, or some of their samples."""
        self._check_parameters()
        with overflow_refused(f"the fit of {type(self).__name__}"):
            self._fit_views(views, X, y)
        self._refuse_nonfinite()
        return self

    def needs(self, X: Any, observed: Any = None) -> Needs:
        """The memory and time that a fit to X needs, by estimate; a fit refuses what the limits do not allow.

        Parameters
        ----------
        X, observed : as in fit
            Samples in memory.

        Returns
        -------
        Needs
            With the attributes memory (bytes besides the data) and seconds (of one core, at most).

        Examples
        --------
        >>> import numpy as np, jella
        >>> print(jella.IMG(n_clusters=3).needs(np.ones((1000, 20))))  # doctest: +ELLIPSIS
        about ... MiB of memory, up to about ...
        """
        return self._needs(X if isinstance(X, Views) else read_views(X, observed))

    @property
    def adjusted_for_(self) -> tuple[str, ...]:
        """Names of the covariates whose effects were removed from the views before the fit."""
        own = vars(self).get("adjustment_")
        return () if own is None else own.names

    def read(self, X: Any, observed: Any = None, covariates: Any = None) -> AnyViews:
        """The views of X, with the names and columns of the fit in their order; as the model knows their values.

        Parameters
        ----------
        X, observed : as in fit
        covariates : as in `Adjuster.transform`, optional
            For a model of adjusted views (`adjusted_for_`): the covariates of the samples, whose effects are removed;
            or 'removed' for values that were adjusted before. Without it, only samples of the fit are accepted.
        """
        return self._asked(X, observed, covariates).views

    def _asked(self, X: Any, observed: Any, covariates: Any) -> Asked:
        """Samples that the fitted model is asked about."""
        check_is_fitted(self)
        return Asked.of(self, X, observed, covariates)

    def _refuse_nonfinite(self) -> None:
        """Refuse a fit with a result that is not finite, and forget it; rows of dropped samples are NaN."""
        fitted = [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]
        for name in fitted:
            value = getattr(self, name)
            parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
            n_empty = len(self.dropped_) if name in ("embedding_", "view_embeddings_") else 0
            if not all(is_finite(part, n_empty) for part in parts):
                for attribute in fitted:
                    delattr(self, attribute)
                raise too_large(f"{name} of {type(self).__name__}")

    def _check_parameters(self) -> None:
        """Refuse parameters that are wrong for any data; a file is checked in the same way."""
        check_parameters(self)
        check_on_empty(self.on_empty)
        for name in ("n_clusters", "n_components"):
            if getattr(self, name, None) is not None:
                check_scalar(getattr(self, name), name, Integral, min_val=1)

    def _prepare(self, views: AnyViews, y: Any = None) -> Prepared:
        """The views of a fit, checked and scaled."""
        check_features(views)
        kept = kept_samples(views, self.on_empty)
        chosen = self._choose_samples(views, kept, y)
        if chosen is None:
            rows, used, prints, landmarks = np.flatnonzero(kept), views if kept.all() else views.take(kept), None, None
        else:
            rows, used, prints, landmarks = chosen.rows, chosen.used, chosen.prints, chosen.landmarks
        if self.n_clusters is not None and self.n_clusters > rows.size:
            what = "samples" if rows.size == kept.sum() else "landmarks"
            raise ValueError(f"n_clusters={self.n_clusters} is more than the {rows.size} {what}; choose fewer clusters")
        if isinstance(used, Views):
            check_needs(type(self).__name__, self._needs(used), used)
        scaling = self._learn_scaling(used)
        if isinstance(used, Views):
            scaling.refuse_extremes(used)
        scaled, empty = scaling.apply(used).persist(), np.flatnonzero(~kept)
        return Prepared(views, rows, used, scaling, scaled, prints, y=y, empty=empty, landmarks=landmarks)

    def _choose_samples(self, views: AnyViews, kept: np.ndarray, y: Any) -> Chosen | None:
        """The samples that the fit uses, if the method chooses them and their order; None for all, as they are."""
        return None

    def _learn_scaling(self, views: AnyViews) -> Scaling:
        return Scaling.learn(views, self.scale, self.view_weights)

    def _remember(self, X: Any, prepared: Prepared) -> None:
        """Set what later calls need to know about the views of the fit; forget the clusters of an earlier fit."""
        for name in ("labels_", "kmeans_", "n_clusters_", "cluster_path_", "evidence_", "adjustment_"):
            if name in vars(self):
                delattr(self, name)
        views = prepared.views
        self.schema_ = Schema.of(views, X)
        self.scaling_ = prepared.scaling
        self.view_names_in_ = list(views.names)
        self._remember_samples(views, prepared.empty)

    def _remember_samples(self, views: AnyViews, empty: np.ndarray) -> None:
        """Set the names of the samples, and of those at the places `empty`, which have no values."""
        self.sample_names_in_ = views.sample_names
        names = np.arange(views.n_samples) if views.sample_names is None else views.sample_names
        self.dropped_ = names[empty].tolist()

    def _read(self, X: Any, observed: Any, reset: bool) -> AnyViews:
        check_given(X)
        schema = None if reset else self.schema_
        if schema is not None and schema.is_single != is_single(X):
            got = "one array" if is_single(X) else "a collection of views"
            raise ValueError(f"expected the {len(schema.names)} view(s) {list(schema.names)} as in fit, got {got}")
        if is_chunked(X):
            views = self._read_chunks(X, observed, schema)
        # validate_data would copy torch, cupy and masked arrays to plain NumPy, and does not know the others
        elif is_single(X) and not (_is_foreign(X) or is_annotated(X) or is_data_array(X) or is_other_frame(X)):
            table = _with_categories(X, observed, schema) if is_frame(X) else None
            if table is None:
                return read_views(self._checked_single(X, reset), observed, schema)
            views = table
        else:
            views = read_views(X, observed, schema)
            if reset:
                check_fit(X, views)
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

    def _checked_single(self, X: Any, reset: bool) -> Any:
        """A 2-D array, which is one view, checked as scikit-learn does; a DataFrame stays one, for its index."""
        if getattr(X, "ndim", 2) > 2:
            raise ValueError(
                f"expected a 2-D array (samples x features), got {X.ndim} dimensions; "
                "pass a list of 2-D arrays, one per view"
            )
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

    def save(self, path: str | PathLike[str]) -> None:
        """Write the estimator, fitted or not, to one file that `jella.load` reads and that holds no code.

        If it was fitted on Dask collections, the file does not hold the embedding and the labels of its samples: they
        may be larger than memory, and `transform` and `predict` compute them again.

        Parameters
        ----------
        path : str or path
            The file, usually with the extension .jella. An existing file is replaced when the new one is complete.

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
        tags.input_tags.allow_nan = can.missing == "entries"  # with a single view, no whole view can be missing
        tags.input_tags.positive_only = not can.signed
        tags.input_tags.sparse = True
        return tags


def _with_categories(X: Any, observed: Any, schema: Schema | None) -> Views | None:
    """The view in a DataFrame with columns of categories, which scikit-learn does not check; None if it has none."""
    if schema is not None and any(schema.categories):
        return read_views(X, observed, schema)
    views = read_views(X, observed, only_numbers=schema is not None)  # its error names the columns that are no numbers
    return views if views[0].categories else None


def _is_foreign(X: Any) -> bool:
    return (is_array_api_obj(X) and not isinstance(X, np.ndarray)) or isinstance(X, np.ma.MaskedArray)


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from anything that scikit-learn accepts as random_state, or from a generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def seed_of(random_state: Any) -> int:
    """The seed that a user gave as a number; 0 for anything else, so that what is drawn after a fit can be repeated."""
    return int(random_state) if isinstance(random_state, Integral) else 0
