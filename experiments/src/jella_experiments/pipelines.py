"""Pipelines as estimators: complete the data first, then cluster them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator


def all_features(views: dict[str, Any]) -> np.ndarray:
    """All features in one dense array."""
    return np.hstack([X.toarray() if sparse.issparse(X) else np.asarray(X) for X in views.values()])


class CompleteThenCluster(BaseEstimator):
    """Complete with one estimator and cluster the completed views with another; complete data skip the first step."""

    def __init__(self, completion: Any, clusterer: Any) -> None:
        self.completion = completion
        self.clusterer = clusterer

    def fit(self, views: dict[str, Any]) -> CompleteThenCluster:
        """Find completed_ and labels_."""
        lacking = any(np.isnan(X.data if sparse.issparse(X) else X).any() for X in views.values())
        self.completed_ = self.completion.fit(views).complete(views) if lacking else views
        self.labels_ = self.clusterer.fit_predict(self.completed_)
        return self

    def complete(self, views: dict[str, Any]) -> dict[str, Any]:
        """The completed views of the fit."""
        return self.completed_


class NeighbourImputer(BaseEstimator):
    """scikit-learn's KNNImputer over all features together, optionally standardised."""

    def __init__(self, scale: str) -> None:
        self.scale = scale

    def fit(self, views: dict[str, Any]) -> NeighbourImputer:
        """Do nothing: the imputer learns from the data that it completes."""
        return self

    def complete(self, views: dict[str, Any]) -> dict[str, Any]:
        """The views with missing values imputed from the nearest rows that have them."""
        from sklearn.impute import KNNImputer
        from sklearn.preprocessing import StandardScaler

        X = all_features(views)
        standardises = self.scale == "standardize"
        scaler = StandardScaler(with_mean=standardises, with_std=standardises).fit(X)
        filled = KNNImputer(keep_empty_features=True).fit_transform(scaler.transform(X))
        ends = np.cumsum([view.shape[1] for view in views.values()])[:-1]
        return dict(zip(views, np.split(scaler.inverse_transform(filled), ends, axis=1), strict=True))


class NeighbourSpectral(BaseEstimator):
    """scikit-learn's SpectralClustering on the nearest neighbours of the rows."""

    def __init__(self, n_clusters: int, scale: str, random_state: int) -> None:
        self.n_clusters = n_clusters
        self.scale = scale
        self.random_state = random_state

    def fit_predict(self, views: dict[str, Any]) -> np.ndarray:
        """Labels of the rows."""
        from sklearn.cluster import SpectralClustering
        from sklearn.preprocessing import StandardScaler

        X = all_features(views)
        if self.scale == "standardize":
            X = StandardScaler().fit_transform(X)
        model = SpectralClustering(self.n_clusters, affinity="nearest_neighbors", random_state=self.random_state)
        return model.fit_predict(X)
