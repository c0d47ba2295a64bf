"""What is imputed for given samples, as functions that the writers of containers call."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from jella.impute.imputed import Imputed
from jella.impute.imputer import Imputer
from jella.numerics.arrays import Array, to_numpy
from jella.numerics.progress import doing
from jella.readout.neighbours import NeighbourReadout
from jella.views import Schema, View, Views, collect, fill_in
from jella.views.adjustment import Restore
from jella.views.checks import kept_samples
from jella.views.containers import is_annotated, is_data_array, is_frame, is_other_frame
from jella.views.fill import fill_sparse_rows
from jella.views.frames import new_frame
from jella.views.intervals import with_layers
from jella.views.kinds import Kinds
from jella.views.read import split


class Interval(NamedTuple):
    """Completed views with intervals.

    Attributes
    ----------
    views : as given
        Completed.
    lower, upper : as given
        The ends of the intervals; observed values, and categories, as in `views`.
    std : arrays, sparse arrays or DataFrames, in the container of the views
        Standard deviation of each imputed value; 0 for observed values.
    """

    views: Any
    lower: Any
    upper: Any
    std: Any


@dataclass(frozen=True, eq=False)
class Estimates:
    """The imputed values of samples.

    Attributes
    ----------
    views : Views
        The samples, as read.
    kept : bool array (n,)
        Samples with something observed; the others stay as they are.
    imputed : tuple of Imputed
        Of the samples that are kept.
    kinds : Kinds
    """

    views: Views
    kept: np.ndarray
    imputed: tuple[Imputed, ...]
    kinds: Kinds

    @classmethod
    def make(
        cls, views: Views, readout: NeighbourReadout, imputer: Imputer, kinds: Kinds, level: float | None = None
    ) -> Estimates:
        """What an imputer gives for samples in the user's units."""
        check_level(level)
        doing("completing missing values")
        kept = kept_samples(views, readout.on_empty)
        used = views if kept.all() else views.take(kept)
        return cls(views, kept, tuple(imputer.impute(used, readout, level)), kinds)

    def get(self, v: int, rows: np.ndarray | None, what: str = "values") -> np.ndarray:
        """Values, 'lower', 'upper' or 'deviation' of a view (n, d); NaN for samples that are not kept."""
        places = np.where(self.kept, np.cumsum(self.kept) - 1, -1)
        places = places if rows is None else places[rows]
        imputed = self.imputed[v]
        out = np.full((places.size, imputed.values.shape[1]), np.nan)
        out[places >= 0] = imputed.rows_of(getattr(imputed, what), places[places >= 0])
        # the units of features keep bounds up to rounding only, and a bound that is missed by rounding holds no value
        return out if what == "deviation" else np.clip(out, *self.kinds.bounds(v))

    def fill(self, X: Any, schema: Schema, what: str = "values") -> Any:
        """X with its missing values imputed, or with an end of their intervals; a category keeps its level."""

        def estimate(v: int, rows: np.ndarray | None) -> np.ndarray:
            values = self.get(v, rows, what)
            if what != "values":
                for category in self.views[v].categories:
                    values[:, category.features] = self.get(v, rows)[:, category.features]
            return values

        return fill_in(X, self.views, estimate, schema)

    def deviations(self, X: Any, schema: Schema) -> Any:
        """The standard deviations, 0 for observed values, in the container of X."""
        arrays = []
        named = any(map(_is_named, split(X, schema)[1]))
        for v, view in enumerate(self.views):
            values = self._deviations_of(v, view)
            arrays.append(new_frame(values, self.views.sample_names, view.feature_names) if named else values)
        return arrays[0] if schema.is_single else collect(arrays, X, schema.names)

    def _deviations_of(self, v: int, view: View) -> Array:
        shape = view.n_samples, view.n_features
        if view.is_sparse:
            lacking = np.flatnonzero(~view.presence())
            return fill_sparse_rows(sparse.csr_array(shape), lacking, self.get(v, lacking, "deviation"))
        return np.where(np.broadcast_to(to_numpy(view.mask), shape), 0.0, self.get(v, None, "deviation"))

    def interval(self, X: Any, schema: Schema, restore: Restore | None = None) -> Interval:
        """X completed, with the ends of the intervals and standard deviations.

        Parameters
        ----------
        restore : callable, optional
            Gives filled views what was removed before X.
        """
        filled, lower, upper = (self.fill(X, schema, what) for what in ("values", "lower", "upper"))
        if restore is not None:
            filled, lower, upper = restore(filled), restore(lower), restore(upper)
        return Interval(with_layers(filled, lower, upper), lower, upper, self.deviations(X, schema))


@dataclass(frozen=True, eq=False)
class ByImputer:
    """Views completed by what an imputer has learned.

    Attributes
    ----------
    readout : NeighbourReadout
    imputer : Imputer
    kinds : Kinds
    """

    readout: NeighbourReadout
    imputer: Imputer
    kinds: Kinds

    def estimates(self, views: Views, level: float | None = None) -> Estimates:
        """The imputed values of samples in the user's units."""
        return Estimates.make(views, self.readout, self.imputer, self.kinds, level)

    def fill(self, views: Views, X: Any, schema: Schema) -> Any:
        """X with its missing values imputed."""
        return self.estimates(views).fill(X, schema)


def _is_named(raw: Any) -> bool:
    return is_frame(raw) or is_other_frame(raw) or is_data_array(raw) or is_annotated(raw)


def check_level(level: Any) -> None:
    """Refuse what is not a share of values that intervals may hold; None means no intervals."""
    is_number = isinstance(level, Real) and not isinstance(level, bool)
    if level is not None and not (is_number and 0 < level < 1):
        raise ValueError(f"expected 0 < interval < 1, got {level!r}; pass the share of values it shall hold, as 0.9")
