"""Views without the effects of covariates, and values with them again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.numerics.arrays import like, to_numpy
from jella.numerics.progress import doing
from jella.views.containers import collect, is_chunked, is_single
from jella.views.effects import Design
from jella.views.frames import new_frame
from jella.views.kinds import Kinds
from jella.views.model import Views
from jella.views.multi_view import MultiView
from jella.views.read import Schema, read_views, split, split_observed
from jella.views.sample_columns import read_columns
from jella.views.write import fill_in

#: says that values of samples are those that a model of adjusted views knows: their effects are removed already
REMOVED = "removed"
#: a function from views that were completed without the effects to completed views with them
Restore = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Adjustment:
    """The effects of covariates on features, which are removed from views and put back.

    Attributes
    ----------
    schema : Schema
        The views that it was learned from.
    kinds : Kinds
        Kinds of their values.
    design : Design
        The covariates.
    effects : dict of view -> array (p, d)
        Effect of each column of the design on each feature, in the units of the view; other views stay as they are.
    """

    schema: Schema
    kinds: Kinds
    design: Design
    effects: dict[str, np.ndarray]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the covariates."""
        return tuple(one.name for one in self.design.covariates)

    def remove(self, X: Any, covariates: Any, observed: Any = None, ids: Any = "exact") -> Any:
        """The views without the effects; see `Adjuster.transform`."""
        return self._shifted(X, covariates, observed, ids, -1.0)

    def put_back(self, X: Any, covariates: Any, observed: Any = None, ids: Any = "exact") -> Any:
        """Adjusted views with the effects; see `Adjuster.inverse_transform`."""
        return self._shifted(X, covariates, observed, ids, 1.0)

    def restore(self, completed: Any, X: Any, covariates: Any, observed: Any = None, ids: Any = "exact") -> Any:
        """Completed adjusted views in the units of X; see `Adjuster.restore`."""
        views, done = self._read(X, observed), read_views(completed, schema=self.schema)
        C = self._matrix(views, covariates, ids)

        def estimate(v: int, rows: np.ndarray | None) -> Any:
            some = slice(None) if rows is None else rows
            values, name = done[v].X[some], done[v].name
            if name not in self.effects:
                return values
            back = to_numpy(values) + C[some] @ self.effects[name]
            return like(np.clip(back, *self.kinds.bounds(v)), values)

        return fill_in(X, views, estimate, self.schema)

    def _read(self, X: Any, observed: Any) -> Views:
        if is_chunked(X):
            raise ValueError("expected samples in memory to adjust, got a Dask collection; compute some of them first")
        return read_views(X, observed, self.schema)

    def _matrix(self, views: Views, covariates: Any, ids: Any) -> np.ndarray:
        columns = read_columns(covariates, views.sample_names, views.n_samples, what="covariates", ids=ids)
        return self.design.matrix(columns)

    def _shifted(self, X: Any, covariates: Any, observed: Any, ids: Any, sign: float) -> Any:
        views = self._read(X, observed)
        C = self._matrix(views, covariates, ids)
        names, raws = split(X, self.schema)
        masks: list[Any] = [None] * len(raws) if observed is None else split_observed(observed, names, is_single(X))
        out = []
        for view, raw, mask in zip(views, raws, masks, strict=True):
            if raw is None or view.name not in self.effects:
                if mask is not None:
                    raise ValueError(
                        f"expected NaN as the mark of missing values in view {view.name!r}, which is not adjusted, got "
                        "observed; put NaN where nothing was observed"
                    )
                out.append(raw)
                continue
            doing(f"{'removing effects from' if sign < 0 else 'putting effects back into'} view {view.name}")
            effect = sign * (C @ self.effects[view.name])
            values = np.where(to_numpy(view.mask), to_numpy(view.X) + effect, np.nan).astype(to_numpy(view.X).dtype)
            named = views.sample_names is not None
            out.append(new_frame(values, views.sample_names, view.feature_names) if named else like(values, view.X))
        if is_single(X):
            return out[0]
        made = collect(out, X, names)
        return MultiView({n: one for n, one in made.items() if one is not None}) if isinstance(X, MultiView) else made
