"""Models that embed samples, new ones too, and that predict labels and values from embeddings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from jella.estimators.base import DEFAULT_RANK, BaseMultiView, Prepared, seed_of
from jella.estimators.left_out import fit_to_most, labels_at, places_in_fit
from jella.graphs.cluster_path import ClusterPath
from jella.numerics.arrays import Array, to_numpy
from jella.numerics.finite import overflow_refused
from jella.numerics.optional import need
from jella.readout.base import Readout
from jella.readout.clusters import Clusters
from jella.readout.completion import ByReadout, complete_views
from jella.readout.scoring import held_out_rmse
from jella.views import AnyViews, Views
from jella.views.checks import kept_samples


def has_clusters(self: BaseMultiView) -> bool:
    """Whether there are labels; if not, an AttributeError says why `predict` and `fit_predict` do not exist."""
    if self.n_clusters is None and not self.capabilities.chooses_n_clusters:
        raise AttributeError(f"{type(self).__name__} has no labels without a number of clusters; set n_clusters")
    return True


class BaseTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseMultiView):
    """A model that embeds samples, also new and incomplete ones; a fit sets `readout_`, which gives the answers."""

    n_components: int | None

    readout_: Readout
    bases_: Any
    kmeans_: KMeans
    n_clusters_: int
    cluster_path_: ClusterPath

    #: whether labels come from rows of the embedding at unit norm
    _labels_from_unit_rows = False
    #: whether a fit looks for clusters, if there is a number of them or the method can choose it
    _seeks_clusters = True

    def fit_transform(self, X: Any, y: Any = None, *, observed: Any = None, **told: Any) -> Array:
        """Fit, and return the embedding (n, r)."""
        self.fit(X, y, observed=observed, **told)
        return self._with_names(self.embedding_, self.sample_names_in_)

    def transform(self, X: Any, *, observed: Any = None, covariates: Any = None) -> Array:
        """The embedding of samples, also new and incomplete ones, with the bases of the fit.

        A sample of the fit, with the same values and the same missing entries, gets its row of `embedding_`.

        Parameters
        ----------
        X : as in fit
            Whole views may be missing: leave them out of a dict, or pass None in a list.
        observed : as in fit
        covariates : optional
            For a model of adjusted views, as in `read`.

        Returns
        -------
        embedding : array (n, r)
            Rows of NaN for samples without any observed value, where on_empty='drop'.
        """
        views = self.read(X, observed, covariates)
        return self._with_names(views.as_given(self._answers().present(views)), views.sample_names)

    def loadings(self) -> dict[str, Any]:
        """The bases as tables: per view, a pandas DataFrame of features by components.

        The columns are those of the embedding. Values are in the scale that the model works in (see `scaling_`), where
        a view is about ``embedding @ loadings.T``.

        Examples
        --------
        >>> import jella
        >>> views = {"a": [[1.0, 2.0], [2.0, 4.0]], "b": [[3.0], [6.0]]}
        >>> tables = jella.MVLIV(n_components=1).fit(views).loadings()
        >>> {name: table.shape for name, table in tables.items()}, list(tables["a"].columns)
        ({'a': (2, 1), 'b': (1, 1)}, ['mvliv0'])
        """
        check_is_fitted(self, "readout_")
        pd, columns, names = need("pandas", "pandas"), self.get_feature_names_out(), self.schema_.feature_names
        return {
            name: pd.DataFrame(to_numpy(U), index=features, columns=columns)
            for name, features, U in zip(self.view_names_in_, names, self.readout_.bases, strict=True)
        }

    def _answers(self) -> Readout:
        """The readout with the current `on_empty`, which the user may have changed after the fit."""
        return replace(self.readout_, on_empty=self.on_empty)

    def _rank(self, views: AnyViews) -> int:
        most = min(views.n_samples, views.n_features)
        if self.n_components is None:
            return min(self.n_clusters or DEFAULT_RANK, most)
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
        """The embedding; a DataFrame indexed by the samples' names where set_output asks for pandas."""
        config = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if config != "pandas" or sample_names is None:
            return W
        import pandas as pd

        return pd.DataFrame(to_numpy(W), index=sample_names, columns=self.get_feature_names_out())

    def _set_answers(self, readout: Readout, W: Any, prepared: Prepared) -> None:
        """Set the readout and, if there is a number of clusters, the labels of the samples of the fit.

        Parameters
        ----------
        W : array (m, r)
            The embedding of the samples of the fit; in chunks if they are.
        """
        if self._seeks_clusters and (self.n_clusters is not None or self.capabilities.chooses_n_clusters):
            clusters, labels = self._find_clusters(readout, W, prepared)
            known = (
                None
                if readout.known is None
                else replace(readout.known, labels=to_numpy(prepared.scaled.whole(labels)))
            )
            readout = replace(readout, clusters=clusters, known=known)
            if not prepared.is_part:
                self.labels_ = prepared.views.place(labels, prepared.rows)
            for name, value in ({} if clusters is None else clusters.attributes()).items():
                setattr(self, name, value)
        self.readout_ = readout

    def _find_clusters(self, readout: Readout, W: Any, prepared: Prepared) -> tuple[Clusters | None, Any]:
        """The clusters of the samples of the fit, and their labels."""
        unit = self._labels_from_unit_rows
        return readout.find_clusters(prepared.scaled, W, self.n_clusters, self.n_init, self.random_state, unit=unit)


class LabelsMixin:
    """Labels of samples, for estimators with a number of clusters."""

    @available_if(has_clusters)
    def fit_predict(self, X: Any, y: Any = None, *, observed: Any = None, **told: Any) -> np.ndarray:
        """Fit, and return the cluster of each sample, (n,)."""
        return self.fit(X, y, observed=observed, **told).labels_  # type: ignore[attr-defined]

    @available_if(has_clusters)
    def predict(self, X: Any, *, observed: Any = None, covariates: Any = None) -> np.ndarray:
        """The cluster of each sample, (n,); -1 for samples without any observed value.

        A sample of the fit, with the same values and the same missing entries, gets its label of `labels_`.

        Parameters
        ----------
        X, observed : as in fit
        covariates : optional
            For a model of adjusted views, as in `read`.
        """
        views = self.read(X, observed, covariates)  # type: ignore[attr-defined]
        return views.as_given(self._answers().assign(views))  # type: ignore[attr-defined]


class BaseEmbedding(BaseTransformer):
    """A model that also predicts values from embeddings: it completes data, and is scored on its predictions."""

    def complete(self, X: Any, *, observed: Any = None, covariates: Any = None) -> Any:
        """X with its missing values imputed, in the same container and in the user's units.

        Observed values are returned bit for bit. Samples that a DataFrame lacks are appended to its rows.

        Parameters
        ----------
        X, observed : as in fit
        covariates : optional
            For a model of adjusted views, as in `read`; their effects are put back into completed values.
        """
        asked = self._asked(X, observed, covariates)
        with overflow_refused("completed values"):
            return asked.restore(complete_views(asked.views, asked.X, ByReadout(self._answers()), self.schema_))

    def score(self, X: Any, y: Any = None, *, observed: Any = None, covariates: Any = None) -> float:
        """The negative RMSE of predictions of hidden values of samples that the fit has not seen; higher is better.

        In a sample with at least two views one view is hidden, in any other a tenth of its observed entries. Its
        embedding is inferred from the rest. Errors are in the scale of the model. random_state decides what is hidden.

        A sample of the fit, with the same values and the same missing entries, is never scored by the model that has
        seen it. If all samples of X are those of the fit, a clone is fitted to four fifths of them and scored on the
        others, five times with other hidden values; this takes about as long as the fit. If X has new samples too,
        only these are scored. A part of the fit alone is refused. A model that was fitted on Dask collections may keep
        no samples; then all are new to it.

        Parameters
        ----------
        X, observed : as in fit
            Samples in memory.
        y : as in fit
            For the clone of a method that uses labels; otherwise ignored.
        covariates : optional
            For a model of adjusted views, as in `read`; errors are those of adjusted values.
        """
        asked = self._asked(X, observed, covariates)
        X, views = asked.X, asked.views
        kept = kept_samples(views, self.on_empty)
        given = views.take(kept)
        if not isinstance(given, Views):
            raise ValueError("expected samples in memory, got a Dask collection; compute some of them first")
        rng, places = np.random.default_rng(seed_of(self.random_state)), places_in_fit(given, self.readout_.known)
        if (places < 0).any():
            model, given = self, given.take(places < 0)
        else:
            model, given = fit_to_most(self, given, places, X, labels_at(kept, y), rng)
        return -held_out_rmse(given, model._predict_new, self.scaling_, rng)

    def _unfitted_for(self, places: np.ndarray) -> Any:
        """A clone for a fit to some samples of the fit, at these positions; it calls nobody and seeks no clusters."""
        copy = clone(self).set_params(random_state=seed_of(self.random_state))
        copy._seeks_clusters = False
        return copy

    def _predict_new(self, views: Views) -> list[Array]:
        """Each view as the model predicts it, (n, d), from what is observed of new samples; in the user's units."""
        readout = self.readout_
        estimate = readout.in_units(views, readout.expect(readout.solve(readout.scaling.apply(views))))
        return [estimate(v, None) for v in range(len(views))]


def without_clusters(estimator: Any) -> Any:
    """The estimator, not fitted; if it is one of ours, its fit will not look for clusters."""
    if isinstance(estimator, BaseTransformer):
        estimator._seeks_clusters = False
    return estimator
