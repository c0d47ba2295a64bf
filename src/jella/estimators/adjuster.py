"""`jella.Adjuster`: views without the effects of known covariates, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from jella.numerics.arrays import to_numpy
from jella.numerics.progress import doing
from jella.numerics.words import closest_name, listed
from jella.views import Schema, View, Views, is_chunked, read_views
from jella.views.adjustment import Adjustment
from jella.views.effects import Design, learn_effects
from jella.views.kinds import Kinds
from jella.views.sample_columns import read_columns

#: kinds of values whose effects are sums
CONTINUOUS = ("real", "amount", "proportion")


class Adjuster(BaseEstimator):
    """Remove the effects of known batches and numeric covariates from observed values, and put them back.

    For each feature, x = a + C b is fitted to its observed values by least squares. C has a column per category of a
    covariate, or the number, with mean zero. What is removed is C b, so that the mean over all samples stays. The
    effects of a covariate are shrunk: those of small batches more than those of large ones, and to almost nothing where
    the covariate has no effect on the view. A sample whose covariate is not known keeps its values.

    What goes along with a covariate is removed with it: if a class is in one batch only, so is a part of the difference
    of this class.

    Parameters
    ----------
    views : sequence of str, optional
        Names of the views to adjust; by default all. Others stay as they are.
    kinds : optional
        Kinds of values, as in `jella.SparseBDR`; by default detected. Sparse views, counts, truth values and categories
        are refused.

    Attributes
    ----------
    adjustment_ : Adjustment
        With the covariates (design), the effect of each column of the design on each feature, in the units of the view
        (effects), and the kinds of values (kinds).
    explained_ : dict of view -> float
        Share of the variance of the observed values that was removed from each view.

    Examples
    --------
    >>> import numpy as np, jella
    >>> rng = np.random.default_rng(0)
    >>> batch = np.arange(40) % 2
    >>> X = {"rna": rng.normal(size=(40, 5)) + 3 * batch[:, None]}
    >>> X["rna"][0, 0] = np.nan
    >>> adjuster = jella.Adjuster().fit(X, {"batch": batch})
    >>> Y = adjuster.transform(X, {"batch": batch})
    >>> bool(abs(np.nanmean(Y["rna"][batch == 1]) - np.nanmean(Y["rna"][batch == 0])) < 0.3)
    True
    >>> back = adjuster.inverse_transform(Y, {"batch": batch})
    >>> np.allclose(back["rna"], X["rna"], equal_nan=True)
    True
    """

    def __init__(self, views: Sequence[str] | None = None, *, kinds: Any = None) -> None:
        self.views = views
        self.kinds = kinds

    def fit(self, X: Any, covariates: Any, *, observed: Any = None, ids: Any = "exact") -> Adjuster:
        """Learn the effects.

        Parameters
        ----------
        X : as in the fit of an estimator
            Samples in memory.
        covariates : DataFrame, Series, or dict of name -> column
            Batches or numbers, one per sample. With an index, matched with the ids of the samples; otherwise in their
            order. NaN or None if not known.
        observed : as X, of booleans, optional
            True where a value was observed, instead of NaN.
        ids : default='exact'
            How the ids of the covariates are changed before they are matched, as in `jella.align`.

        Returns
        -------
        self
        """
        if is_chunked(X):
            raise ValueError("expected samples in memory to adjust, got a Dask collection; compute some of them first")
        views = read_views(X, observed)
        columns = read_columns(covariates, views.sample_names, views.n_samples, what="covariates", ids=ids)
        if not columns:
            raise ValueError("expected at least one covariate, got none; pass for example {'batch': batch}")
        kinds, design = Kinds.learn(views, self.kinds), Design.learn(columns)
        self._check_views(views, kinds)
        C, effects, self.explained_ = design.matrix(columns), {}, {}
        for view in views:
            if self._adjusts(view.name):
                doing(f"learning the effects of {listed(list(columns))} on view {view.name}")
                effects[view.name] = learn_effects(view, C, design.groups)
                self.explained_[view.name] = _explained(view, C @ effects[view.name])
        self.adjustment_ = Adjustment(Schema.of(views, X), kinds, design, effects)
        return self

    def transform(self, X: Any, covariates: Any, *, observed: Any = None, ids: Any = "exact") -> Any:
        """The views without the effects: values of the features for a sample of average covariates.

        Returns
        -------
        views : list, tuple or dict, as X
            Adjusted views are arrays, or DataFrames if the samples have ids, with NaN for what is missing.
        """
        check_is_fitted(self)
        return self.adjustment_.remove(X, covariates, observed, ids)

    def fit_transform(self, X: Any, covariates: Any, *, observed: Any = None, ids: Any = "exact") -> Any:
        """Fit, and return the views without the effects."""
        return self.fit(X, covariates, observed=observed, ids=ids).transform(X, covariates, observed=observed, ids=ids)

    def inverse_transform(self, X: Any, covariates: Any, *, observed: Any = None, ids: Any = "exact") -> Any:
        """Adjusted views with the effects put back; equal to the views before, up to rounding."""
        check_is_fitted(self)
        return self.adjustment_.put_back(X, covariates, observed, ids)

    def restore(self, completed: Any, X: Any, covariates: Any, *, observed: Any = None, ids: Any = "exact") -> Any:
        """Completed values in the units of X, with the effects put back; observed values are those of X, bit for bit.

        Parameters
        ----------
        completed : as `transform` returned it
            Adjusted views with their missing values imputed.
        X, covariates, observed, ids : as in `transform`

        Returns
        -------
        completed : as X
            Values stay in the range of their kind: amounts from 0, proportions from 0 to 1.
        """
        check_is_fitted(self)
        return self.adjustment_.restore(completed, X, covariates, observed, ids)

    def _adjusts(self, name: str) -> bool:
        return self.views is None or name in self.views

    def _check_views(self, views: Views, learned: Kinds) -> None:
        """Refuse views that are not known, and those whose values cannot be adjusted."""
        for name in self.views or ():
            if name not in views.names:
                raise ValueError(
                    f"expected the names of views to adjust, got {name!r}; {closest_name(name, views.names)}"
                )
        for view, kinds in zip(views, learned.by_view, strict=True):
            if not self._adjusts(view.name):
                continue
            wrong = [j for j, kind in enumerate(kinds.tolist()) if kind not in CONTINUOUS]
            if not view.is_sparse and not wrong:
                continue
            got = "a sparse array" if view.is_sparse else f"{kinds[wrong[0]]} values in {_feature(view, wrong[0])}"
            raise ValueError(
                f"expected dense views of numbers that are not counts to adjust, got {got} of view {view.name!r}; take "
                "logarithms of counts (numpy.log1p), or name the views to adjust"
            )


def _feature(view: View, j: int) -> str:
    return f"feature {j}" if view.feature_names is None else f"feature {view.feature_names[j]!r}"


def _explained(view: View, effect: np.ndarray) -> float:
    """The share of the variance of observed values that adjusting removes, mean over the features that vary."""
    X, mask = to_numpy(view.X), np.broadcast_to(to_numpy(view.mask), (view.n_samples, view.n_features))
    before, after = (np.nanvar(np.where(mask, one, np.nan), axis=0) for one in (X, X - effect))
    varies = before > 0
    return float(np.mean(1.0 - after[varies] / before[varies])) if varies.any() else 0.0
