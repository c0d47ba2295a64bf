"""The scikit-learn face that every method shares: reading, scaling, solving, and what users ask of a fitted model."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar

from jella.estimators.base import Prepared, generator, spread
from jella.estimators.embedding import BaseEmbedding, LabelsMixin
from jella.numerics.arrays import Array
from jella.problem.model import Blocks, Problem
from jella.problem.residuals import ViewData
from jella.solve.embed import embed
from jella.solve.plan import Plan, make_plan
from jella.solve.relaxation import SOR, Basic, Relaxation
from jella.solve.result import Progress, Result
from jella.solve.samples import SamplesLostError, check_by_sample
from jella.solve.solver import solve
from jella.solve.start import make_start
from jella.views import Views, collect, is_chunked


class BaseJELLA(LabelsMixin, BaseEmbedding):
    """What all methods of the framework share; a method adds its parameters and `declare`."""

    #: whether the objective has a minimiser, so that reaching max_iter is worth a warning
    _has_minimiser = True

    solver: Any
    init: Any
    max_iter: int
    tol: float
    warm_start: bool
    callback: Any

    @abstractmethod
    def declare(self) -> Problem:
        """The method as a problem: its loss, and its terms on the bases and on the embedding."""

    def fit(self, X: Any, y: Any = None, *, observed: Any = None) -> BaseJELLA:
        """Learn bases and embedding, and the clusters where n_clusters is given.

        Parameters
        ----------
        X : 2-D array, list or tuple of 2-D arrays, dict of name -> array, or DataFrames or SciPy sparse arrays
            The views, samples in rows. NaN marks a missing entry, a row of NaN a missing view. DataFrames are aligned
            by their index.
        y : ignored
        observed : as X, of booleans, optional
            True where a value was observed, instead of NaN: (n,), (n, 1) or (n, d) for each view.

        Returns
        -------
        self
        """
        problem = self.declare()
        if is_chunked(X) and self._takes_chunks:
            check_by_sample(problem)
        prepared = self._prepare(X, observed, nonnegative=problem.needs_nonnegative_data)
        if not problem.loss.allows_entries:
            self._refuse_missing_entries(prepared.used)
        problem = self._for_data(problem, prepared, y)
        result = self._solve(prepared.scaled, problem, self._rank(prepared.scaled))
        self._remember(X, prepared)
        self._set_fitted(X, problem, result, prepared.kept)
        if is_chunked(X):
            self._set_lazy(X, observed, result, prepared)
        self._set_labels(prepared.kept)
        self._warn(result)
        return self

    def _for_data(self, problem: Problem, prepared: Prepared, y: Any) -> Problem:
        """The problem with what only the data of the fit can tell, labels among them; for most methods nothing."""
        return problem

    # solving

    def _solve(self, views: Views, problem: Problem, rank: int) -> Result:
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        check_scalar(self.n_init, "n_init", Integral, min_val=1)
        check_scalar(self.tol, "tol", Real, min_val=0)
        plan = make_plan(problem, views.is_rowwise, self._relaxation())
        rng = generator(self.random_state)
        best: Result | None = None
        for _ in range(self.n_init if isinstance(self.init, str) and self.init == "random" else 1):
            result = self._sweeps(problem, plan, views, self._start(views, problem, rank, rng))
            best = result if best is None or result.value < best.value else best
            if result.stop_reason == "interrupted":
                break
        assert best is not None
        return best

    def _sweeps(self, problem: Problem, plan: Plan, views: Views, start: Blocks) -> Result:
        return solve(
            problem,
            plan,
            views,
            start=start,
            relaxation=self._relaxation(),
            max_iter=self.max_iter,
            tol=self.tol,
            callbacks=self._callbacks(),
        )

    def _start(self, views: Views, problem: Problem, rank: int, rng: np.random.Generator) -> Blocks:
        if not self.warm_start or not hasattr(self, "result_"):
            return make_start(views, problem, self.init, rank, rng, self._filled_from())
        last = self.result_.blocks
        shapes = [tuple(U.shape) for U in last.bases], tuple(last.embedding.shape)
        wanted = [(view.n_features, rank) for view in views], (views.n_samples, rank)
        if shapes != wanted:
            raise ValueError(
                f"warm_start=True goes on from blocks of shapes {shapes}, but this fit needs {wanted}; "
                "set warm_start=False or pass the same samples and features"
            )
        return replace(last, embedding=views.cut(last.embedding)) if problem.is_separable else last

    def _filled_from(self) -> Any:
        """Graph of the neighbours that views are filled from before the first sweep; None for means."""
        return None

    def _relaxation(self) -> Relaxation:
        if isinstance(self.solver, Relaxation):
            return self.solver
        rules = {"basic": Basic, "sor": SOR}
        if self.solver not in rules:
            raise ValueError(f"solver must be 'basic', 'sor' or a relaxation rule, got {self.solver!r}")
        return rules[self.solver]()

    def _callbacks(self) -> list[Callable[[Progress], Any]]:
        if self.callback is None:
            return []
        return [self.callback] if callable(self.callback) else list(self.callback)

    def _embed_scaled(self, views: Views) -> Array:
        if not self._problem.loss.allows_entries:
            self._refuse_missing_entries(views)
        data = [ViewData(view) for view in views]
        return embed(data, self._bases, self._problem, self.result_.blocks.loss_state)

    def _set_lazy(self, X: Any, observed: Any, result: Result, prepared: Prepared) -> None:
        """The embedding of samples in chunks; where they were lost, as it can be computed again."""
        from jella.distributed.model import spread_chunks, transform_chunks

        W, views = result.blocks.embedding, cast(Any, prepared.views)
        own = W.lazy(prepared.scaled.layout)  # type: ignore[attr-defined]
        self._files = views.folder, prepared.scaled.folder  # type: ignore[attr-defined]
        self.result_ = replace(result, blocks=replace(result.blocks, embedding=own))
        if not result.lost:
            self.embedding_ = spread_chunks(W, prepared.kept, views)
            return
        self.embedding_ = transform_chunks(self, X, observed)
        if prepared.kept.all():
            self.result_ = replace(result, blocks=replace(result.blocks, embedding=self.embedding_))
        raise SamplesLostError(
            f"{result.lost}: the fit ended after {result.n_iter} sweeps; the model has the bases of the last one, and "
            "its embedding is computed from them when asked for; fit with warm_start=True to go on from there"
        )

    def _set_fitted(self, X: Any, problem: Problem, result: Result, kept: np.ndarray) -> None:
        self._problem = problem
        self.result_ = result
        if not is_chunked(X):
            self.embedding_ = spread(result.blocks.embedding, kept)
        self._bases = result.blocks.bases
        self.bases_ = collect(self._bases, X, self.view_names_in_)
        self.objective_ = result.objective
        self.history_ = result.history
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged

    def _warn(self, result: Result) -> None:
        if result.stop_reason == "interrupted":
            warnings.warn(
                f"the fit was interrupted after {result.n_iter} sweeps; the model holds the last accepted blocks",
                UserWarning,
                stacklevel=3,
            )
        elif result.stop_reason == "max_iter" and self.tol > 0 and self._has_minimiser:
            last = 1.0 - [sweep.ratio for sweep in result.sweeps if sweep.accepted][-1]
            warnings.warn(
                f"{type(self).__name__} did not converge in {self.max_iter} sweeps: the last lowered the objective by "
                f"{last:.1e} (tol={self.tol:g}); increase max_iter or tol, or try solver='sor'",
                ConvergenceWarning,
                stacklevel=3,
            )


class BaseClusterer(ClusterMixin, BaseJELLA):
    """A method that scikit-learn may call a clusterer: it takes values of any sign."""

    # ClusterMixin brings a fit_predict that is always there; ours needs a number of clusters
    fit_predict = LabelsMixin.__dict__["fit_predict"]
