"""The scikit-learn face that every method shares: reading, scaling, solving, and what users ask of a fitted model."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from jella.arrays import Array, like, to_numpy
from jella.embed import embed
from jella.labels import kmeans, unit_rows
from jella.plan import make_plan
from jella.problem import Blocks, Problem
from jella.relaxation import SOR, Basic, Relaxation
from jella.residuals import ViewData
from jella.result import Progress, Result
from jella.scaling import Scaling
from jella.scoring import held_out_rmse
from jella.solver import solve
from jella.start import make_start
from jella.views import Schema, Views, check_for_fit, collect, is_single, read_views, write_views
from jella.views.frames import is_frame

DEFAULT_RANK = 10


def _clusters(self: BaseJELLA) -> bool:
    if self.n_clusters is None:
        raise AttributeError(f"{type(self).__name__} has no labels without a number of clusters; set n_clusters")
    return True


class BaseJELLA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What all methods of the framework share; a method adds its parameters and `declare`."""

    #: k-means on rows of unit norm
    _labels_from_unit_rows = False

    n_clusters: int | None
    n_components: int | None
    scale: str
    view_weights: Any
    solver: Any
    init: Any
    n_init: int
    max_iter: int
    tol: float
    warm_start: bool
    on_empty: str
    callback: Any
    random_state: Any

    @abstractmethod
    def declare(self) -> Problem:
        """The method as a problem: its loss, and its terms on the bases and on the embedding."""

    def fit(self, X: Any, y: Any = None, *, observed: Any = None) -> BaseJELLA:
        """Learn bases and embedding, and the clusters where n_clusters is given.

        Parameters
        ----------
        X : 2-D array, list or tuple of 2-D arrays, dict of name -> array, or DataFrames or SciPy sparse arrays
            The views, samples in rows. NaN marks a missing entry, a row of NaN a missing view. DataFrames are aligned
            by their index.
        y : ignored
        observed : as X, of booleans, optional
            True where a value was observed, instead of NaN: (n,), (n, 1) or (n, d) for each view.

        Returns
        -------
        self
        """
        views = self._read(X, observed, reset=True)
        check_for_fit(views)
        kept = self._kept(views)
        used = views if kept.all() else views.take(kept)
        problem = self.declare()
        if problem.needs_nonnegative_data:
            self._refuse_negative(used)
        scaling = Scaling.learn(used, self.scale, self.view_weights)
        scaled = scaling.apply(used)
        if problem.needs_nonnegative_data:
            self._refuse_negative(scaled)
        rank = self._rank(scaled)
        self._check_n_clusters(scaled.n_samples)
        result = self._solve(scaled, problem, rank)
        self._set_fitted(X, views, scaling, problem, result, kept)
        self._set_labels(kept)
        self._warn(result)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, observed: Any = None) -> Array:
        """Fit, and return the embedding (n, r)."""
        return self.fit(X, y, observed=observed).embedding_

    @available_if(_clusters)
    def fit_predict(self, X: Any, y: Any = None, *, observed: Any = None) -> np.ndarray:
        """Fit, and return the cluster of every sample, (n,)."""
        return self.fit(X, y, observed=observed).labels_

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
        return self._embed(self._read(X, observed, reset=False))

    @available_if(_clusters)
    def predict(self, X: Any, *, observed: Any = None) -> np.ndarray:
        """Nearest cluster of every sample, (n,); -1 for samples without any observed value."""
        check_is_fitted(self)
        W = to_numpy(self._embed(self._read(X, observed, reset=False)))
        labels = np.full(W.shape[0], -1, dtype=np.intp)
        known = ~np.isnan(W).any(axis=1)
        labels[known] = self.kmeans_.predict(self._for_labels(W[known]))
        return labels

    def complete(self, X: Any, *, observed: Any = None) -> Any:
        """X with its missing values filled in, in the same container and in the user's own units.

        Observed values come back bit for bit. A DataFrame that lacks samples gets them appended to its own rows.
        """
        check_is_fitted(self)
        views = self._read(X, observed, reset=False)
        W = self._embed(views)
        norms = self.scaling_.scale_of(views)

        def estimate(v: int) -> Array:
            return self.scaling_.invert(W @ self._bases[v].T, v, norms)

        return write_views(X, views, estimate, self._schema)

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

    # reading and checking

    def _read(self, X: Any, observed: Any, reset: bool) -> Views:
        schema = None if reset else self._schema
        if schema is not None and schema.is_single != is_single(X):
            got = "one array" if is_single(X) else "a collection of views"
            raise ValueError(f"expected the {len(schema.names)} view(s) {list(schema.names)} as in fit, got {got}")
        # torch, cupy and masked arrays: validate_data would copy them to plain NumPy
        foreign = (is_array_api_obj(X) and not isinstance(X, np.ndarray)) or isinstance(X, np.ma.MaskedArray)
        if is_single(X) and not foreign:
            X = self._checked_single(X, reset)
            return read_views(X, observed, schema)
        views = read_views(X, observed, schema)
        if reset:
            self._remember_features(views)
        return views

    def _checked_single(self, X: Any, reset: bool) -> Any:
        """A plain 2-D array is one view, checked as scikit-learn does; a DataFrame stays one, for its index."""
        if is_frame(X):
            read_views(X)  # names the columns that are not numbers
        try:
            checked = validate_data(self, X, reset=reset, accept_sparse="csr", ensure_all_finite=False)
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
            raise ValueError(f"the data must hold real numbers ({error}); encode or drop what is not numeric") from None
        return X if is_frame(X) else checked

    def _remember_features(self, views: Views) -> None:
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
            smallest = float(view.X.min()) if view.is_sparse else float(views.xp.min(view.X))
            if smallest < 0:
                raise ValueError(
                    f"Negative values in data passed to {type(self).__name__}: it needs non-negative data, but view "
                    f"{view.name!r} goes down to {smallest:.3g}; shift it, or use a method without sign constraints"
                )

    def _rank(self, views: Views) -> int:
        most = min(views.n_samples, views.n_features)
        if self.n_components is None:
            return min(self.n_clusters or DEFAULT_RANK, most)
        check_scalar(self.n_components, "n_components", int | np.integer, min_val=1)
        if self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} is more than {views.n_samples} samples and {views.n_features} "
                f"features allow; choose at most {most}"
            )
        return int(self.n_components)

    def _check_n_clusters(self, n_samples: int) -> None:
        if self.n_clusters is None:
            return
        check_scalar(self.n_clusters, "n_clusters", int | np.integer, min_val=1)
        if self.n_clusters > n_samples:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the {n_samples} samples; choose fewer clusters"
            )

    # solving

    def _solve(self, views: Views, problem: Problem, rank: int) -> Result:
        check_scalar(self.max_iter, "max_iter", int | np.integer, min_val=1)
        check_scalar(self.n_init, "n_init", int | np.integer, min_val=1)
        check_scalar(self.tol, "tol", float | int, min_val=0)
        relaxation = self._relaxation()
        plan = make_plan(problem, views.is_rowwise, relaxation)
        rng = _generator(self.random_state)
        best: Result | None = None
        for _ in range(self.n_init if isinstance(self.init, str) and self.init == "random" else 1):
            result = solve(
                problem,
                plan,
                views,
                start=self._start(views, problem, rank, rng),
                relaxation=relaxation,
                max_iter=self.max_iter,
                tol=self.tol,
                callbacks=self._callbacks(),
            )
            best = result if best is None or result.value < best.value else best
            if result.stop_reason == "interrupted":
                break
        assert best is not None
        return best

    def _start(self, views: Views, problem: Problem, rank: int, rng: np.random.Generator) -> Blocks:
        if not self.warm_start or not hasattr(self, "result_"):
            return make_start(views, problem, self.init, rank, rng)
        last = self.result_.blocks
        shapes = [tuple(U.shape) for U in last.bases], tuple(last.embedding.shape)
        wanted = [(view.n_features, rank) for view in views], (views.n_samples, rank)
        if shapes != wanted:
            raise ValueError(
                f"warm_start=True goes on from blocks of shapes {shapes}, but this fit needs {wanted}; "
                "set warm_start=False or pass the same samples and features"
            )
        return last

    def _relaxation(self) -> Relaxation:
        if isinstance(self.solver, Relaxation):
            return self.solver
        rules = {"basic": Basic, "sor": SOR}
        if self.solver not in rules:
            raise ValueError(f"solver must be 'basic', 'sor' or a relaxation rule, got {self.solver!r}")
        return rules[self.solver]()

    def _callbacks(self) -> list[Callable[[Progress], Any]]:
        if self.callback is None:
            return []
        return [self.callback] if callable(self.callback) else list(self.callback)

    def _embed(self, views: Views) -> Array:
        kept = self._kept(views)
        used = views if kept.all() else views.take(kept)
        return _spread(self._embed_scaled(self.scaling_.apply(used)), kept)

    def _embed_scaled(self, views: Views) -> Array:
        return embed([ViewData(view) for view in views], self._bases, self._problem.embedding)

    def _predict_scaled(self, views: Views) -> list[Array]:
        """Every view as the model sees it, (n, d) each, from its observed part; in the user's units."""
        W = self._embed_scaled(self.scaling_.apply(views))
        norms = self.scaling_.scale_of(views)
        return [self.scaling_.invert(W @ U.T, v, norms) for v, U in enumerate(self._bases)]

    # fitted attributes

    def _set_fitted(
        self, X: Any, views: Views, scaling: Scaling, problem: Problem, result: Result, kept: np.ndarray
    ) -> None:
        self._schema = Schema.of(views, X)
        self._problem = problem
        self.scaling_ = scaling
        self.result_ = result
        self.embedding_ = _spread(result.blocks.embedding, kept)
        self._bases = result.blocks.bases
        self.bases_ = collect(self._bases, X, views.names)
        self.objective_ = result.objective
        self.history_ = result.history
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.view_names_in_ = list(views.names)
        self.dropped_ = [views.label(int(row)) for row in np.flatnonzero(~kept)]

    def _set_labels(self, kept: np.ndarray) -> None:
        for name in ("labels_", "kmeans_"):
            if hasattr(self, name):
                delattr(self, name)
        if self.n_clusters is None:
            return
        W = to_numpy(self.result_.blocks.embedding)
        self.kmeans_ = kmeans(self._for_labels(W), self.n_clusters, self.n_init, self.random_state)
        self.labels_ = np.full(kept.size, -1, dtype=np.intp)
        self.labels_[kept] = self.kmeans_.labels_

    def _for_labels(self, W: np.ndarray) -> np.ndarray:
        return unit_rows(W) if self._labels_from_unit_rows else W

    def _warn(self, result: Result) -> None:
        if result.stop_reason == "interrupted":
            warnings.warn(
                f"the fit was interrupted after {result.n_iter} sweeps; the model holds the last accepted blocks",
                UserWarning,
                stacklevel=3,
            )
        elif result.stop_reason == "max_iter" and self.tol > 0:
            last = 1.0 - result.sweeps[-1].ratio
            warnings.warn(
                f"{type(self).__name__} did not converge in {self.max_iter} sweeps: the last lowered the objective by "
                f"{last:.1e} (tol={self.tol:g}); increase max_iter or tol, or try solver='sor'",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def _n_features_out(self) -> int:
        return int(self._bases[0].shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class BaseClusterer(ClusterMixin, BaseJELLA):
    """A method that scikit-learn may call a clusterer: it takes values of any sign."""

    # ClusterMixin brings a fit_predict that is always there; ours needs a number of clusters
    fit_predict = BaseJELLA.__dict__["fit_predict"]


def _spread(W: Array, kept: np.ndarray) -> Array:
    """Rows of W at the samples that were kept, NaN at the others."""
    if kept.all():
        return W
    full = np.full((kept.size, W.shape[1]), np.nan)
    full[kept] = to_numpy(W)
    return like(full, W)


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
