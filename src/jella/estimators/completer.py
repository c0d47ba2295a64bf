"""`jella.Completer`: completion as a step of a Pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from jella.estimators.base import BaseMultiView
from jella.estimators.methods.sparse_bdr import SparseBDR
from jella.estimators.transformer import without_clusters
from jella.numerics.arrays import dense_rows
from jella.views import Views, is_chunked, read_views
from jella.views.frames import new_frame


def _joins(self: Completer) -> bool:
    return self.join


class Completer(TransformerMixin, BaseEstimator):
    """Impute missing values as a step of a scikit-learn Pipeline: learn from some samples, complete these and others.

    What is imputed in test samples depends on training samples only, so `cross_validate` of a Pipeline with this step
    is honest.

    Parameters
    ----------
    estimator : estimator with complete, optional
        By default ``jella.SparseBDR(evidence=False, random_state=0)``.
    join : bool, default=False
        Return one table with the features of all views side by side, for estimators that take one table; by default
        the views, for another estimator of jella.

    Attributes
    ----------
    estimator_ : estimator
        Fitted.

    Examples
    --------
    >>> import jella
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> digits = jella.datasets.load_digits_views()
    >>> some = {name: view[:200] for name, view in digits.data.items()}
    >>> X = jella.MultiView(jella.datasets.make_incomplete(some, 0.3, random_state=0))
    >>> steps = jella.Completer(jella.MVLIV(8, random_state=0), join=True), LogisticRegression(max_iter=2000)
    >>> bool(cross_val_score(make_pipeline(*steps), X, digits.target[:200], cv=3).mean() > 0.8)
    True
    """

    def __init__(self, estimator: Any = None, *, join: bool = False) -> None:
        self.estimator = estimator
        self.join = join

    def fit(self, X: Any, y: Any = None) -> Completer:
        """Learn from views; y is ignored."""
        model = SparseBDR(evidence=False, random_state=0) if self.estimator is None else clone(self.estimator)
        if not isinstance(model, BaseMultiView) or not hasattr(model, "complete"):
            raise ValueError(
                f"expected an estimator of jella that completes, got {type(model).__name__}; pass for example "
                "jella.MVLIV(10)"
            )
        if is_chunked(X):
            raise ValueError("expected samples in memory, got a Dask collection; use the estimator by itself")
        self.estimator_ = without_clusters(model).fit(X)
        return self

    def transform(self, X: Any) -> Any:
        """The completed views in the container of X; with join=True one table, a DataFrame if samples have ids.

        Categories are indicators in a joined table. Samples without any value are completed only as far as the
        estimator does it.
        """
        check_is_fitted(self, "estimator_")
        done = self.estimator_.complete(X)
        if not self.join:
            return done
        views = read_views(done, schema=self.estimator_.schema_)
        assert isinstance(views, Views)
        table = np.concatenate([dense_rows(view.X, slice(None)) for view in views], axis=1)
        given = self.estimator_.read(X)  # completed frames may have more rows, in another order
        names = given.sample_names
        if names is None:
            return table
        return new_frame(table[views.sample_names.get_indexer(names)], names, tuple(self.get_feature_names_out()))

    @available_if(_joins)
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of the joined table: view, two underscores, feature."""
        check_is_fitted(self, "estimator_")
        schema = self.estimator_.schema_
        parts = zip(schema.names, schema.feature_names, schema.n_features, strict=True)
        return np.array([f"{view}__{one}" for view, own, width in parts for one in (own or range(width))], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
