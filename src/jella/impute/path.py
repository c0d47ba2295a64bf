"""Completion by the nuclear norm: low-rank models along a path, from much shrinkage to little.

A ridge of the same weight on both blocks, ½·weight·(‖W‖² + Σ_v ‖U_v‖²), bounds the weight times the nuclear norm of
W Uᵀ, and equals it at the optimum. So the path is the problem of the framework with two ridges, solved for falling
weights; each solve starts from the last. Models have all components, from singular values (`thresholded`); where both
samples and features are many, they have fewer, and come from sweeps that start with further singular vectors of the
imputed data. One more view holds a constant: its component is hardly shrunk, so it estimates means that observed values
alone would miss where large values are missing more often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

import numpy as np

from jella.impute.thresholded import MOST_SIDE, Thresholded, is_affordable
from jella.problem import Blocks, Problem
from jella.problem.terms import Ridge
from jella.solve.plan import make_plan
from jella.solve.quadratic import overlap
from jella.solve.relaxation import SOR
from jella.solve.ridge_rows import ridge_rows
from jella.solve.solver import solve
from jella.solve.start import truncated_svd
from jella.views import View, Views
from jella.views.scaling import Scaling

#: weights fall from this share of the largest singular value, by this factor
FIRST, FACTOR = 0.35, 0.5
#: the longest path
MOST_WEIGHTS = 9
#: components, where not all are affordable: at most this many, and beyond the fewest at most this work per product
FEWEST, MOST_COMPONENTS, WORK = 200, 500, 1.6e9
#: sweeps per weight, and the share of the objective that one must gain
MOST_SWEEPS, TOLERANCE = 12, 1e-3
#: numbers of components of the models that are shrunk little, their weight as a share of the largest singular value
FEW, FEW_WEIGHT = (6, 15), 0.05
#: their sweeps, and the share of the objective that one must gain
FEW_SWEEPS, FEW_TOLERANCE = 40, 1e-4
#: data are completed, so that one matrix is solved for all samples: with many views, their sets are as many as samples
RULE = SOR(completes=True)
#: the value of the constant, where samples have a norm near one in each view
CONSTANT = 3.0
#: the embedding of samples by each model of a predictor, None where it is not known
KnownEmbeddings: TypeAlias = Sequence[np.ndarray | None]
#: components with a singular value above this share of the weight are in the model; new ones start from this share
INSIDE, FAINT = 0.7, 0.1


@dataclass(frozen=True, eq=False)
class OnPath:
    """The model of one weight.

    Attributes
    ----------
    weight : float
    bases : tuple of arrays (d_v, r)
        The last one is that of the constant, (1, r).
    """

    weight: float
    bases: tuple[np.ndarray, ...]


def path_scaling(views: Views) -> Scaling:
    """Standardised features; those of sparse views, which cannot be centred, are divided by their root mean square.

    So each feature counts as much as in the error of completed values.
    """
    return Scaling.learn(views, ["feature" if view.is_sparse else "standardize" for view in views])


def most_components(views: Views) -> int:
    """The components that a model of the path may have.

    A model with all of them shrinks without choosing; with fewer, one that is shrunk little fits noise.

    >>> from jella.views import read_views
    >>> most_components(read_views(np.ones((30, 4000)))), most_components(read_views(np.ones((4000, 2000))))
    (30, 200)
    """
    n, d = views.n_samples, views.n_features
    return min(n, d, MOST_SIDE if is_affordable(n, d) else max(FEWEST, min(MOST_COMPONENTS, int(WORK / (n * d)))))


def path_views(scaling: Scaling, views: Views) -> Views:
    """The views in the scale of the path, and the constant.

    In single precision: the path is not exact, and this is twice as fast.
    """
    single = [replace(view, X=view.X.astype(np.float32)) for view in scaling.apply(views)]
    constant = View("", np.full((views.n_samples, 1), CONSTANT, dtype=np.float32), np.ones((1, 1), dtype=bool))
    return replace(views, items=(*single, constant))


@dataclass(frozen=True, eq=False)
class PathStart:
    """The singular vectors of imputed views, from which models start.

    Attributes
    ----------
    scaled : Views
        From `path_views`.
    Q, s, V : arrays (n, r), (r,) and (Σ d_v, r)
        Leading singular triplets.
    largest : float
        The largest singular value, without that of the constant.
    takes_all : bool
        Whether models of the path have all components, and not only those of the triplets.
    """

    scaled: Views
    Q: np.ndarray
    s: np.ndarray
    V: np.ndarray
    largest: float
    takes_all: bool

    @classmethod
    def of(cls, scaling: Scaling, views: Views, most: int | None = None) -> PathStart:
        """The start for views in the user's units, with at most this many components, by default all affordable."""
        scaled = path_views(scaling, views)
        takes_all = most is None and is_affordable(scaled.n_samples, scaled.n_features)
        wanted = max(FEW) + 1 if takes_all else most_components(scaled) if most is None else most
        Q, s, V = truncated_svd(scaled, min(wanted, most_components(scaled)))
        largest = float(np.delete(s, np.abs(V[-1]).argmax()).max(initial=0.0))
        # where nothing varies, ridges of any weight shrink all to zero
        return cls(scaled, Q, s, V, largest if largest > s[0] * np.finfo(s.dtype).eps else 1.0, takes_all)

    def split(self, U: np.ndarray) -> tuple[np.ndarray, ...]:
        """The bases of the views, from their stack."""
        return tuple(np.split(U, np.cumsum([view.n_features for view in self.scaled])[:-1]))

    def solved(
        self, weight: float, W: np.ndarray, U: np.ndarray, n_sweeps: int, tol: float
    ) -> tuple[OnPath, np.ndarray]:
        """The model of a weight by sweeps from blocks W and U, and its embedding; components are orthogonal."""
        problem = Problem(basis=(Ridge(weight),), embedding=(Ridge(weight),))
        result = solve(
            problem,
            make_plan(problem, self.scaled.is_rowwise, RULE),
            self.scaled,
            start=Blocks(self.split(U), W),
            relaxation=RULE,
            max_iter=n_sweeps,
            tol=tol,
            close=False,
        )
        if result.stop_reason == "interrupted":
            raise KeyboardInterrupt
        bases = result.blocks.bases
        turn = np.linalg.eigh(overlap(bases, bases))[1]  # then `ridge_rows` takes fewer steps
        return OnPath(weight, tuple(U @ turn for U in bases)), result.blocks.embedding @ turn


def path(start: PathStart) -> Iterator[tuple[OnPath, np.ndarray]]:
    """The models of falling weights, each with the embedding (n, r) of the samples."""
    weights = [FIRST * FACTOR**number * start.largest for number in range(MOST_WEIGHTS)]
    return _with_all(start, weights) if start.takes_all else _with_some(start, weights)


def _with_all(start: PathStart, weights: Sequence[float]) -> Iterator[tuple[OnPath, np.ndarray]]:
    """Models with all components."""
    data = Thresholded(start.scaled)
    for weight in weights:
        W, U = data.solve(weight)
        yield OnPath(weight, start.split(U)), W


def _with_some(start: PathStart, weights: Sequence[float]) -> Iterator[tuple[OnPath, np.ndarray]]:
    """Models with the components that the start has."""
    W, U = start.Q[:, :0], start.V[:, :0]
    for weight in weights:
        at, wanted = W.shape[1], max(int((start.s > INSIDE * weight).sum()), 1)
        if wanted > at:
            strength = np.sqrt(np.maximum(start.s[at:wanted] - weight, FAINT * weight))
            W = np.hstack([W, _beside(start.Q[:, at:wanted], W) * strength])
            U = np.hstack([U, _beside(start.V[:, at:wanted], U) * strength])
        model, W = start.solved(weight, W, U, MOST_SWEEPS, TOLERANCE)
        U = np.vstack(model.bases)
        yield model, W


def few_components(start: PathStart) -> list[OnPath]:
    """Models of a few components that are shrunk little: better than the path where strong components say it all."""
    models = []
    for count in FEW:
        rank = min(count + 1, start.s.size)  # and one for the constant
        root = np.sqrt(start.s[:rank])
        weight = FEW_WEIGHT * start.largest
        model, _ = start.solved(weight, start.Q[:, :rank] * root, start.V[:, :rank] * root, FEW_SWEEPS, FEW_TOLERANCE)
        models.append(model)
    return models


def _beside(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The part of new directions that is orthogonal to the span of old ones."""
    if not old.shape[1]:
        return new
    basis = np.linalg.qr(old)[0]
    return new - basis @ (basis.T @ new)


@dataclass(frozen=True, eq=False)
class PathPredictor:
    """Predictions by the models of a part of the path, and by those of few components.

    Attributes
    ----------
    scaling : Scaling
    models : tuple of OnPath
    """

    scaling: Scaling
    models: tuple[OnPath, ...]

    @classmethod
    def learn(cls, views: Views, numbers: Sequence[int]) -> PathPredictor:
        """The models with these numbers on the path of views in the user's units."""
        return cls.fitted(views, numbers, np.empty(0, dtype=np.intp))[0]

    @classmethod
    def fitted(cls, views: Views, numbers: Sequence[int], rows: np.ndarray) -> tuple[PathPredictor, KnownEmbeddings]:
        """These models, and what is known of the embedding of some of the samples."""
        scaling = path_scaling(views)
        start = PathStart.of(scaling, views)
        found = [(model, W[rows]) for model, W in islice(path(start), max(numbers) + 1)]
        return cls.of(scaling, [found[number] for number in numbers], start)

    @classmethod
    def of(
        cls, scaling: Scaling, found: Sequence[tuple[OnPath, np.ndarray]], start: PathStart
    ) -> tuple[PathPredictor, KnownEmbeddings]:
        """The predictor of models that were found on the path, and their embeddings of some of the samples.

        Those of sweeps are too far from the best ones.
        """
        few = few_components(start)
        known = [W if start.takes_all else None for _, W in found]
        return cls(scaling, (*(model for model, _ in found), *few)), [*known, *(None for _ in few)]

    def predict(self, views: Views, known: KnownEmbeddings | None = None) -> list[list[np.ndarray]]:
        """The values (n, d) of each view by each model, in the user's units: [view][model].

        Parameters
        ----------
        views : Views
        known : sequence of arrays (n, r) or None, optional
            The embedding by each model.
        """
        norms = self.scaling.scale_of(views)
        scaled = path_views(self.scaling, views)
        found: list[list[np.ndarray]] = [[] for _ in views]
        for number, model in enumerate(self.models):
            own = None if known is None else known[number]
            W = ridge_rows(scaled, model.bases, model.weight) if own is None else own
            for v, U in enumerate(model.bases[: len(views)]):
                expected = (W @ U.T).astype(np.float64)
                found[v].append(np.asarray(self.scaling.invert(expected, v, norms)))
        return found
