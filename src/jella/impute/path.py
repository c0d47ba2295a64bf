"""Completion by the nuclear norm: low-rank models along a path, from much shrinkage to little.

A ridge of the same weight on both blocks, ½·weight·(‖W‖² + Σ_v ‖U_v‖²), bounds the weight times the nuclear norm of
W Uᵀ, and equals it at the optimum. So the path is the problem of the framework with two ridges, solved for falling
weights; each solve starts from the last, with further directions from the singular vectors of the imputed data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jella.problem import Blocks, Problem
from jella.problem.terms import Ridge
from jella.solve.plan import make_plan
from jella.solve.relaxation import SOR
from jella.solve.ridge_rows import ridge_rows
from jella.solve.solver import solve
from jella.solve.start import truncated_svd
from jella.views import Views
from jella.views.scaling import Scaling

#: weights fall from this share of the largest singular value, by this factor
FIRST, FACTOR = 0.35, 0.5
#: the longest path
MOST_WEIGHTS = 9
#: the most components
MOST_COMPONENTS = 200
#: sweeps per weight, and the share of the objective that one must gain
MOST_SWEEPS, TOLERANCE = 12, 1e-3
#: components with a singular value above this share of the weight are in the model; new ones start from this share
INSIDE, FAINT = 0.7, 0.1


@dataclass(frozen=True, eq=False)
class OnPath:
    """The model of one weight.

    Attributes
    ----------
    weight : float
    bases : tuple of arrays (d_v, r)
    """

    weight: float
    bases: tuple[np.ndarray, ...]


def path_scaling(views: Views) -> Scaling:
    """Standardised features; samples at unit norm in sparse views, which cannot be centred."""
    return Scaling.learn(views, ["sample" if view.is_sparse else "standardize" for view in views])


def path_views(scaling: Scaling, views: Views) -> Views:
    """The views in the scale of the path, in single precision: the path is not exact, and this is twice as fast."""
    scaled = scaling.apply(views)
    return replace(scaled, items=tuple(replace(view, X=view.X.astype(np.float32)) for view in scaled))


def path(scaled: Views) -> Iterator[tuple[OnPath, np.ndarray]]:
    """The models of falling weights, each with the embedding (n, r) of the samples.

    Parameters
    ----------
    scaled : Views
        From `path_views`.
    """
    rank = min(MOST_COMPONENTS, scaled.n_samples, scaled.n_features)
    Q, s, V = truncated_svd(scaled, rank)
    ends = np.cumsum([view.n_features for view in scaled])[:-1]
    W, U = Q[:, :0], V[:, :0]
    largest = s[0] if s[0] > 0 else 1.0  # where nothing varies, ridges shrink all to zero
    for number in range(MOST_WEIGHTS):
        weight = float(FIRST * FACTOR**number * largest)
        at, wanted = W.shape[1], max(int((s > INSIDE * weight).sum()), 1)
        if wanted > at:
            strength = np.sqrt(np.maximum(s[at:wanted] - weight, FAINT * weight))
            W = np.hstack([W, _beside(Q[:, at:wanted], W) * strength])
            U = np.hstack([U, _beside(V[:, at:wanted], U) * strength])
        problem = Problem(basis=(Ridge(weight),), embedding=(Ridge(weight),))
        result = solve(
            problem,
            make_plan(problem, scaled.is_rowwise, SOR()),
            scaled,
            start=Blocks(tuple(np.split(U, ends)), W),
            relaxation=SOR(),
            max_iter=MOST_SWEEPS,
            tol=TOLERANCE,
            close=False,
        )
        if result.stop_reason == "interrupted":
            raise KeyboardInterrupt
        W, U = result.blocks.embedding, np.vstack(result.blocks.bases)
        yield OnPath(weight, tuple(np.split(U, ends))), W


def _beside(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The part of new directions that is orthogonal to the span of old ones."""
    if not old.shape[1]:
        return new
    basis = np.linalg.qr(old)[0]
    return new - basis @ (basis.T @ new)


@dataclass(frozen=True, eq=False)
class PathPredictor:
    """Predictions by the models of a part of the path.

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
        scaling = path_scaling(views)
        models: list[OnPath] = []
        for number, (model, _) in enumerate(path(path_views(scaling, views))):
            if number in numbers:
                models.append(model)
            if number >= max(numbers):
                break
        return cls(scaling, tuple(models))

    def predict(self, views: Views) -> list[list[np.ndarray]]:
        """The values (n, d) of each view by each model, in the user's units: [view][model]."""
        norms = self.scaling.scale_of(views)
        scaled = path_views(self.scaling, views)
        found: list[list[np.ndarray]] = [[] for _ in views]
        for model in self.models:
            W = ridge_rows(scaled, model.bases, model.weight)
            for v, U in enumerate(model.bases):
                expected = (W @ U.T).astype(np.float64)
                found[v].append(np.asarray(self.scaling.invert(expected, v, norms)))
        return found
