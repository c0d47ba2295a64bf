"""What is described: a fitted model, the views of its fit, and its results for their samples."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from jella.estimators.base import BaseMultiView, seed_of
from jella.numerics.arrays import to_numpy
from jella.numerics.words import listed
from jella.views import View, Views, is_chunked
from jella.views.adjustment import REMOVED
from jella.views.fingerprints import fingerprints


@dataclass(frozen=True)
class Absent:
    """A part of the description that this model or these data do not have, and why, in one sentence."""

    reason: str


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model with its results.

    Attributes
    ----------
    model : estimator
    kept : bool array (n,)
        Samples with observed values.
    names : tuple of str
        Names of the samples, or their positions if they have none.
    labels : int array (n,) or None
        Clusters from 0, -1 for samples that were left out or belong to no cluster.
    embedding : array (n, r) or None
        NaN for samples that were left out.
    seed : int
        Seed of random choices.
    """

    model: Any
    kept: np.ndarray
    names: tuple[str, ...]
    labels: np.ndarray | None
    embedding: np.ndarray | None
    seed: int

    @classmethod
    def of_model(cls, model: Any, seed: int | None = None) -> Fit:
        """The results of a fitted model, without its data."""
        if not isinstance(model, BaseMultiView):
            raise ValueError(
                f"expected a fitted estimator of jella, got {type(model).__name__}; pass what fit returned"
            )
        check_is_fitted(model)
        labels, embedding = getattr(model, "labels_", None), getattr(model, "embedding_", None)
        n = next((rows.shape[0] for rows in (embedding, labels) if rows is not None), 0)
        names = range(n) if model.sample_names_in_ is None else model.sample_names_in_
        dropped = set(model.dropped_)
        return cls(
            model=model,
            kept=np.array([name not in dropped for name in names], dtype=bool),
            names=tuple(str(name) for name in names),
            labels=None if labels is None else to_numpy(labels),
            embedding=None if embedding is None else to_numpy(embedding),
            seed=seed_of(model.random_state if seed is None else seed),
        )

    @property
    def sample_names(self) -> Any:
        """A pandas Index, or None if samples have no names."""
        return self.model.sample_names_in_

    @property
    def method(self) -> str:
        """Name of the method."""
        return type(self.model).__name__

    @property
    def clusters(self) -> np.ndarray:
        """The clusters that have samples, ascending; none if the model has no labels."""
        return np.empty(0, dtype=np.intp) if self.labels is None else np.unique(self.labels[self.labels >= 0])

    def related(self) -> Self:
        """The same with the samples that the model was fitted to only: all that were kept, or its landmarks."""
        if getattr(getattr(self.model, "landmarks_", None), "near", None) is None:
            return self
        return replace(self, kept=self.kept & np.isin(np.arange(self.kept.size), self.model.readout_.known.places))

    def sizes(self) -> np.ndarray:
        """Number of samples of each of the clusters."""
        known = np.empty(0, dtype=np.intp) if self.labels is None else self.labels[self.labels >= 0]
        return np.unique(known, return_counts=True)[1]


@dataclass(frozen=True, eq=False)
class Subject(Fit):
    """A fitted model with its results and its data.

    Attributes
    ----------
    X, observed : as in its fit
    views : Views
        X as read, in NumPy or sparse; all n samples.
    """

    X: Any
    observed: Any
    views: Views

    @classmethod
    def of(cls, model: Any, X: Any, observed: Any = None, seed: int | None = None) -> Subject:
        """Read X as the model did, and check that it is the data of the fit."""
        fit = Fit.of_model(model, seed)
        if is_chunked(X):
            raise ValueError("expected samples in memory, got a Dask collection; compute some of them")
        views = model.read(X, observed, REMOVED).on_host()
        _check_same_samples(fit, views)
        parts = {one.name: getattr(fit, one.name) for one in fields(fit)}
        names = range(views.n_samples) if views.sample_names is None else views.sample_names
        parts["names"] = tuple(str(name) for name in names)
        parts["kept"] = np.asarray(views.presence().any(axis=1))
        return cls(**parts, X=X, observed=observed, views=views)

    @property
    def sample_names(self) -> Any:
        """A pandas Index, or None if samples have no names."""
        return self.views.sample_names

    def used(self) -> Views:
        """The views of the samples that were kept."""
        return self.views if self.kept.all() else self.views.take(self.kept)


def feature_name(view: View, j: int) -> str:
    """The name of a feature: its own name if it has one, otherwise its position."""
    return f"feature {j}" if view.feature_names is None else view.feature_names[j]


def _check_same_samples(fit: Fit, views: Views) -> None:
    model, rows = fit.model, fit.labels if fit.embedding is None else fit.embedding
    if rows is not None and rows.shape[0] != views.n_samples:
        raise ValueError(
            f"expected the {rows.shape[0]} samples that the model was fitted on, got {views.n_samples}; pass the X "
            "that was given to fit"
        )
    fitted = model.sample_names_in_
    if fitted is not None and (views.sample_names is None or list(fitted) != list(views.sample_names)):
        raise ValueError(
            "expected the samples that the model was fitted on, in their order, got other names; pass the X that was "
            "given to fit"
        )
    known = getattr(getattr(model, "readout_", None), "known", None)
    prints = fingerprints(views)
    in_order = known is None or known.places.max(initial=-1) < prints.size
    if known is not None and not (in_order and np.array_equal(prints[known.places], known.prints)):
        names, what = model.adjusted_for_, "X that was given to fit"
        what = f"views adjusted for {listed(names)}, as jella.Adjuster returns them" if names else what
        raise ValueError(
            "expected the samples that the model was fitted on, with their values and in their order, got others; pass "
            f"the {what}"
        )
