"""Ways to complete data that users know from elsewhere: what a method should be compared with.

All but the column means see the features of all views side by side, standardised by their observed values.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from jella.estimators.needs import Needs, shortfall
from jella.numerics.arrays import to_numpy
from jella.solve.start import feature_means
from jella.views import Schema, Views, fill_in, read_views
from jella.views.checks import check_features

#: factors of MOFA+, as many as the components of the methods of this library
FACTORS = 10


@dataclass(frozen=True)
class Baseline(ABC):
    """A way to complete data; `fit` learns nothing, because the data to complete are those to learn from."""

    random_state: int = 0

    name: ClassVar[str]
    scaling: ClassVar[str] = "standardize"
    #: number of components, if it has one
    rank: ClassVar[int | None] = None
    #: the package that it needs besides those of this library
    package: ClassVar[str | None] = None

    def fit(self, X: Any) -> Baseline:
        """Do nothing."""
        return self

    @abstractmethod
    def complete(self, X: Any) -> Any:
        """X with its missing values imputed, in the same container and in the user's units."""

    @classmethod
    def installed(cls) -> bool:
        """Whether the package that it needs is there."""
        return cls.package is None or find_spec(cls.package) is not None

    def obstacle(self, views: Views) -> str | None:
        """Why it cannot run on these views, in a few words; None if it can."""
        if not self.installed():
            return f"it needs the package {self.package}; pip install {self.package}"
        lacking = shortfall(self.needs(views), views)
        return None if lacking is None else f"it needs {lacking.need.rstrip(',')}, with {lacking.got}"

    def needs(self, views: Views) -> Needs:
        """What it needs, by estimate."""
        return Needs(0.0, 0.0)


class ColumnMeans(Baseline):
    """The mean of each feature."""

    name = "mean-fill"
    scaling = "any"

    def complete(self, X: Any) -> Any:
        """X with the means of its features."""
        views = read_views(X)
        means = [to_numpy(feature_means(view)) for view in views]

        def estimate(v: int, rows: np.ndarray | None) -> np.ndarray:
            return np.broadcast_to(means[v], (views.n_samples if rows is None else rows.size, means[v].size))

        return fill_in(X, views, estimate, Schema.of(views, X))


class SideBySide(Baseline):
    """A way to complete one matrix."""

    #: more features, or more samples, take too long
    most_features: ClassVar[int | None] = None
    most_samples: ClassVar[int | None] = None

    @abstractmethod
    def impute(self, M: np.ndarray, widths: list[int]) -> np.ndarray:
        """A matrix (n, d) of standardised features without its NaN; `widths` are the numbers of features per view."""

    def complete(self, X: Any) -> Any:
        """X with what the matrix of all features gets."""
        from sklearn.preprocessing import StandardScaler

        views = read_views(X)
        check_features(views)
        widths = [view.n_features for view in views]
        M, scaler = np.hstack([_with_nan(view) for view in views]), StandardScaler()
        filled = scaler.inverse_transform(self.impute(scaler.fit_transform(M), widths))
        parts = np.split(filled, np.cumsum(widths)[:-1], axis=1)
        return fill_in(X, views, lambda v, rows: parts[v] if rows is None else parts[v][rows], Schema.of(views, X))

    def obstacle(self, views: Views) -> str | None:
        """Why it cannot run on these views: too many samples or features, too."""
        for count, most, what in (
            (views.n_features, self.most_features, "features"),
            (views.n_samples, self.most_samples, "samples"),
        ):
            if most is not None and count > most:
                return f"it would take too long with {count:,} {what}, more than {most:,}"
        return super().obstacle(views)

    def needs(self, views: Views) -> Needs:
        """Some dense matrices of all features."""
        return Needs(8.0 * 8 * views.n_samples * views.n_features, 0.0)


class Neighbours(SideBySide):
    """scikit-learn's KNNImputer."""

    name = "knn-imputer"
    most_samples = 20_000

    def impute(self, M: np.ndarray, widths: list[int]) -> np.ndarray:
        """Means over the nearest samples that have the value."""
        from sklearn.impute import KNNImputer

        return KNNImputer().fit_transform(M)


class Iterative(SideBySide):
    """scikit-learn's IterativeImputer, each feature by 20 others and in 5 rounds, so that it ends in minutes."""

    name = "iterative-imputer"
    most_features = 2000

    def impute(self, M: np.ndarray, widths: list[int]) -> np.ndarray:
        """Regressions of each feature on others."""
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401
        from sklearn.impute import IterativeImputer

        imputer = IterativeImputer(n_nearest_features=20, max_iter=5, random_state=self.random_state)
        return imputer.fit_transform(M)


class SoftImpute(SideBySide):
    """SoftImpute of the package fancyimpute."""

    name = "soft-impute"
    package = "fancyimpute"

    def impute(self, M: np.ndarray, widths: list[int]) -> np.ndarray:
        """A matrix of small nuclear norm."""
        return import_module("fancyimpute").SoftImpute(verbose=False).fit_transform(M)


class Mofa(SideBySide):
    """MOFA+ of the package mofapy2."""

    name = "mofa"
    package = "mofapy2"
    rank = FACTORS

    def impute(self, M: np.ndarray, widths: list[int]) -> np.ndarray:
        """The means of the factors, times the means of their weights."""
        parts = np.split(M, np.cumsum(widths)[:-1], axis=1)
        with redirect_stdout(io.StringIO()):  # it prints its progress
            model = import_module("mofapy2.run.entry_point").entry_point()
            model.set_data_options(scale_views=False)
            model.set_data_matrix([[part] for part in parts])
            model.set_model_options(factors=min(FACTORS, *M.shape))
            model.set_train_options(seed=self.random_state, quiet=True)
            model.build()
            model.run()
        nodes = model.model.nodes
        return nodes["Z"].getExpectation() @ np.vstack(nodes["W"].getExpectation()).T


#: the column means come first: they are what all others are compared with
BASELINES: tuple[type[Baseline], ...] = (ColumnMeans, Neighbours, Iterative, SoftImpute, Mofa)


def _with_nan(view: Any) -> np.ndarray:
    """The dense values of a view in float64, NaN where missing."""
    X = view.X.toarray() if view.is_sparse else to_numpy(view.X)
    return np.where(to_numpy(view.mask), X, np.nan).astype(np.float64)
