"""Effects of covariates on the features of a view: least squares on observed values, shrunk where they are small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.numerics.arrays import to_numpy
from jella.numerics.words import listed
from jella.views.model import View
from jella.views.sample_columns import SampleColumn

#: features whose equations are solved together
BLOCK = 256
#: rounds that estimate how large effects are, and the relative change that ends them
ROUNDS, ENOUGH = 30, 0.02
#: the variance of effects, in units of the residual variance, is not smaller
SMALLEST = 1e-8


@dataclass(frozen=True, eq=False)
class Covariate:
    """A covariate of a fit: categories, or a number.

    Attributes
    ----------
    name : str
    levels : tuple of str, or None for a number
    centre : array (L,), or (1,)
        Share of the samples in each category; or the mean of the number.
    unit : float
        Standard deviation of the number; 1 for categories.
    """

    name: str
    levels: tuple[str, ...] | None
    centre: np.ndarray
    unit: float

    @classmethod
    def learn(cls, name: str, cells: Any) -> Covariate:
        """The covariate in a column; refused if all samples have the same value."""
        column = SampleColumn.of(name, cells)
        known = column.values[column.known]
        if len(np.unique(known)) < 2:
            raise ValueError(f"expected at least two values of the covariate {name!r}, got one or none; leave it out")
        if column.levels is None:
            return cls(name, None, np.array([known.mean()]), float(known.std()))
        if 2 * len(column.levels) > known.size:
            raise ValueError(
                f"expected several samples per value of the covariate {name!r}, got {len(column.levels)} values for "
                f"{known.size} samples; join some of its values, or leave it out"
            )
        return cls(name, column.levels, np.bincount(known) / known.size, 1.0)

    def matrix(self, cells: Any) -> np.ndarray:
        """The covariate as numbers with mean zero in the fit, (n, L) or (n, 1); zero where it is not known."""
        column = SampleColumn.of(self.name, cells, few_numbers=0 if self.levels is None else np.inf)
        if self.levels is None:
            if column.levels is not None and column.known.any():
                raise ValueError(f"expected numbers in the covariate {self.name!r} as in the fit, got text; convert it")
            values = np.where(column.known, column.values, self.centre[0]).astype(np.float64)
            return ((values - self.centre[0]) / self.unit)[:, None]
        unknown = [level for level in column.levels or () if level not in self.levels]
        if unknown:
            raise ValueError(
                f"expected values of the covariate {self.name!r} that the fit has seen, got "
                f"{listed([repr(one) for one in unknown], 3)}; leave them empty: then no effect is removed"
            )
        own = [self.levels.index(level) for level in column.levels or ()]
        out = np.zeros((column.values.size, len(self.levels)))
        rows = np.flatnonzero(column.known)
        out[rows, np.array(own, dtype=np.intp)[column.values[rows]]] = 1.0
        out[rows] -= self.centre
        return out


@dataclass(frozen=True, eq=False)
class Design:
    """All covariates of a fit."""

    covariates: tuple[Covariate, ...]

    @classmethod
    def learn(cls, columns: Mapping[str, Any]) -> Design:
        """The covariates in columns."""
        return cls(tuple(Covariate.learn(name, cells) for name, cells in columns.items()))

    def matrix(self, columns: Mapping[str, Any]) -> np.ndarray:
        """All covariates as numbers, (n, p)."""
        for one in self.covariates:
            if one.name not in columns:
                raise ValueError(f"expected the covariate {one.name!r} as in the fit, got {list(columns)}; add it")
        return np.concatenate([one.matrix(columns[one.name]) for one in self.covariates], axis=1)

    @property
    def groups(self) -> np.ndarray:
        """Position of the covariate that each column of the matrix belongs to, (p,)."""
        return np.repeat(np.arange(len(self.covariates)), [len(one.centre) for one in self.covariates])


def learn_effects(view: View, C: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Effects of covariates on each feature, (p, d), in the units of the view.

    For a feature, x = a + C b over its observed values, with an intercept that is kept. The effects of a covariate are
    shrunk as random effects are: by a ridge, the ratio of the residual variance to the variance of its effects over all
    features of the view, which is estimated by a fixed point [1]_. So strong effects are removed almost fully, those of
    small batches less, and where a covariate has no effect nearly nothing is removed.

    Parameters
    ----------
    view : View
        Dense.
    C : array (n, p)
        Covariates.
    groups : int array (p,)
        Which covariate a column belongs to.

    References
    ----------
    .. [1] D. J. C. MacKay: Bayesian interpolation. Neural Computation 4 (1992).
    """
    X, mask = to_numpy(view.X).astype(np.float64), to_numpy(view.mask)
    count = np.maximum(to_numpy(view.count_by_feature()), 1)
    centred = np.where(mask, X - X.sum(axis=0) / count, 0.0)
    spread = np.sqrt(np.sum(centred**2, axis=0) / count)
    spread = np.where(spread > 0, spread, 1.0)
    Y, A = centred / spread, np.concatenate([np.ones((C.shape[0], 1)), C], axis=1)
    noise, sizes = np.ones(view.n_features), np.ones(int(groups.max()) + 1)
    effects = np.zeros((C.shape[1], view.n_features))
    grams = _Grams(A, mask, view.is_rowwise)
    for _ in range(ROUNDS):
        ridge = np.concatenate([[0.0], 1.0 / sizes[groups]])
        squares, used = np.zeros(groups.size), np.zeros(groups.size)
        for start in range(0, view.n_features, BLOCK):
            here = slice(start, min(start + BLOCK, view.n_features))
            inverse = np.linalg.inv(grams.of(here) + np.diag(ridge) + 1e-12 * np.eye(ridge.size))
            b = np.einsum("jpq,qj->pj", inverse, A.T @ Y[:, here])
            left = np.where(mask if mask.shape[1] == 1 else mask[:, here], Y[:, here] - A @ b, 0.0)
            freedom = np.clip(1.0 - ridge[1:] * np.diagonal(inverse, axis1=1, axis2=2)[:, 1:], 1e-12, 1.0)
            free = np.maximum(count[here] - 1.0 - freedom.sum(axis=1), 1.0)
            noise[here] = np.maximum(np.sum(left**2, axis=0) / free, 1e-6)
            effects[:, here] = b[1:]
            squares += np.sum(b[1:] ** 2 / noise[here], axis=1)
            used += freedom.sum(axis=0) * (b.shape[1] / len(freedom))
        before, sizes = sizes, np.maximum(np.bincount(groups, squares) / np.bincount(groups, used), SMALLEST)
        if np.allclose(sizes, before, rtol=ENOUGH):
            break
    return effects * spread


@dataclass(frozen=True, eq=False)
class _Grams:
    """AᵀA over the observed values of each feature; one for all where whole samples are missing."""

    A: np.ndarray
    mask: np.ndarray
    is_rowwise: bool

    def of(self, features: slice) -> np.ndarray:
        """The grams of some features, (m, p + 1, p + 1), or (1, p + 1, p + 1)."""
        mask = np.broadcast_to(self.mask, (self.A.shape[0], self.mask.shape[1]))
        seen = (mask if self.is_rowwise else mask[:, features]).astype(np.float64)
        return np.stack([seen.T @ (self.A * column[:, None]) for column in self.A.T], axis=1)
