"""Estimators of the framework: a method declares a problem, and a fit solves it."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar

from jella.estimators.base import Prepared, generator
from jella.estimators.capabilities import Capabilities, probe
from jella.estimators.needs import MOST_SWEEPS, Needs, Size, by_sweeps
from jella.estimators.transformer import BaseEmbedding, LabelsMixin
from jella.graphs.confirmed import label_neighbours
from jella.numerics.arrays import take_rows
from jella.numerics.sparse_arrays import neighbour_graph
from jella.problem import Blocks, Problem
from jella.problem.model import Data
from jella.readout.base import Readout
from jella.readout.low_rank import LowRankReadout
from jella.readout.neighbours import NeighbourReadout
from jella.solve.plan import make_plan
from jella.solve.relaxation import SOR, Basic, Relaxation
from jella.solve.samples import SamplesLostError
from jella.solve.solver import Result, solve
from jella.solve.start import make_start
from jella.views import AnyViews, Views, collect
from jella.views.checks import refuse_few_samples, refuse_missing_entries, refuse_negative
from jella.views.fingerprints import fingerprints
from jella.views.scaling import Scaling

#: rules for relaxation, by the names that users give
RULES = {"basic": Basic, "sor": SOR}


class BaseJELLA(LabelsMixin, BaseEmbedding):
    """What all methods of the framework share; a method adds its parameters and `declare`."""

    #: whether the method finds the number of clusters where none is given
    _chooses_n_clusters = False
    #: whether a fit leaves its samples in the order in which they come
    _keeps_order = False
    #: whether the objective has a minimiser; if it has, reaching max_iter is worth a warning
    has_minimiser = True

    solver: Any
    init: Any
    max_iter: int
    tol: float
    warm_start: bool
    callback: Any

    objective_: np.ndarray
    history_: dict[str, np.ndarray]
    n_iter_: int
    converged_: bool
    result_: Result
    graph_: sparse.csr_array

    @abstractmethod
    def declare(self, data: Data) -> Problem:
        """The problem that the method solves for these data: a loss, and terms on the bases and on the embedding."""

    @property
    def capabilities(self) -> Capabilities:
        """What the method accepts and keeps in memory, from its declaration."""
        return Capabilities.of(self.declare(probe()), self._chooses_n_clusters)

    def _needs(self, views: Views) -> Needs:
        can = self.capabilities  # its declaration checks the parameters
        starts = self.n_init if isinstance(self.init, str) and self.init == "random" else 1
        size, neighbours = Size.of(views, self._rank(views)), getattr(self, "n_neighbors", 0)
        wide = label_neighbours(size.samples, self.n_clusters or 1, neighbours) if neighbours else 0
        sweeps = starts * min(self.max_iter, MOST_SWEEPS)
        return by_sweeps(size, sweeps, pairs=can.pairs, neighbours=neighbours, label_neighbours=wide)

    def _fit_views(self, views: AnyViews, X: Any, y: Any) -> None:
        prepared, name = self._prepare(views, y), type(self).__name__
        problem = self.declare(Data(prepared.scaled, y, prepared.rows, views.n_samples))
        if problem.needs_nonnegative_data:
            refuse_negative(prepared.used, name)
            refuse_negative(prepared.scaled, name)
        if not problem.loss.allows_entries:
            refuse_missing_entries(prepared.used, name)
        if any(term.grows for term in problem.basis):
            refuse_few_samples(prepared.used, self._rank(prepared.used), name)
        result = self._solve(prepared, problem)
        self._remember(X, prepared)
        self._set_fitted(X, problem, result, prepared)
        if not result.converged:
            self._warn(result)

    def _refit(self, views: Views, like: Scaling | None = None, n_clusters: int | None = None) -> Readout:
        """The answers of a fit to other views of the same features, without clusters.

        Parameters
        ----------
        views : Views
            In the order of the fit, which is kept: a refit is the same whatever the last digits of the values are.
        like : Scaling, optional
            Its kinds and weights of views are taken, instead of chosen again.
        n_clusters : int, optional
            The number of clusters that the model is fitted for.
        """
        trial = clone(self).set_params(n_clusters=n_clusters, callback=None, warm_start=False, on_empty="drop")
        if not isinstance(self.init, str):
            trial.set_params(init="svd")
        if like is not None:
            weights = [one.root_weight**2 for one in like.scales]
            trial.set_params(scale=list(like.kinds), view_weights=weights)
        trial._keeps_order = True  # they are in the order of the fit, which rounding must not change
        prepared = trial._prepare(views)
        problem = trial.declare(Data(prepared.scaled, None, prepared.rows, views.n_samples))
        result = trial._solve(prepared, problem)
        if result.stop_reason == "interrupted":
            raise KeyboardInterrupt
        return trial._make_readout(problem, result, prepared)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        check_scalar(self.n_init, "n_init", Integral, min_val=1)
        check_scalar(self.tol, "tol", Real, min_val=0)
        if not isinstance(self.solver, Relaxation) and self.solver not in RULES:
            raise ValueError(f"solver must be 'basic', 'sor' or a relaxation rule, got {self.solver!r}")

    def _solve(self, prepared: Prepared, problem: Problem) -> Result:
        """The best result of one start, or of several random ones."""
        relaxation = self.solver if isinstance(self.solver, Relaxation) else RULES[self.solver]()
        callbacks = [self.callback] if callable(self.callback) else list(self.callback or ())
        views, rng = prepared.scaled, generator(self.random_state)
        rank = self._rank(views)
        plan = make_plan(problem, views.is_rowwise, relaxation)
        best: Result | None = None
        for _ in range(self.n_init if isinstance(self.init, str) and self.init == "random" else 1):
            if self.warm_start and hasattr(self, "result_"):
                start = self._last_blocks(prepared, problem, rank)
            else:
                init = self.init if isinstance(self.init, str) else self._given_start(prepared)
                start = make_start(views, problem, init, rank, rng)
            result = solve(
                problem,
                plan,
                views,
                start=start,
                relaxation=relaxation,
                max_iter=self.max_iter,
                tol=self.tol,
                callbacks=callbacks,
            )
            best = result if best is None or result.value < best.value else best
            if result.stop_reason == "interrupted":
                break
        assert best is not None
        return best

    def _given_start(self, prepared: Prepared) -> Any:
        """The start that the user gave, with its rows in the order of the fit."""
        if prepared.prints is None:
            return self.init
        given = self.init if isinstance(self.init, Mapping) else {"embedding": self.init}
        W = given.get("embedding")
        if W is None or np.shape(W)[0] != prepared.views.n_samples - prepared.empty.size:
            return self.init  # which `make_start` refuses
        return {**given, "embedding": take_rows(W if hasattr(W, "shape") else np.asarray(W), prepared.ranks_among_kept)}

    def _unfitted_for(self, places: np.ndarray) -> Any:
        """A clone for a fit to some samples of the fit; a given start has their rows only."""
        copy = super()._unfitted_for(places).set_params(callback=None)
        if isinstance(self.init, str):
            return copy
        given = self.init if isinstance(self.init, Mapping) else {"embedding": self.init}
        W = given["embedding"]
        W = W if hasattr(W, "shape") else np.asarray(W)
        return copy.set_params(init={**given, "embedding": take_rows(W, places)})

    def _last_blocks(self, prepared: Prepared, problem: Problem, rank: int) -> Blocks:
        """The blocks of the last fit, from which this fit continues."""
        last, views = self.result_.blocks, prepared.scaled
        shapes = [tuple(U.shape) for U in last.bases], tuple(last.embedding.shape)
        wanted = [(view.n_features, rank) for view in views], (views.n_samples, rank)
        if shapes != wanted:
            raise ValueError(
                f"warm_start=True continues from blocks of shapes {shapes}, but this fit needs {wanted}; "
                "set warm_start=False or pass the same samples and features"
            )
        if prepared.prints is not None:
            return problem.take_blocks(last, prepared.ranks)
        return replace(last, embedding=views.cut(last.embedding)) if problem.is_separable else last

    def _make_readout(self, problem: Problem, result: Result, prepared: Prepared) -> Readout:
        """The object that gives the answers of the fitted model."""
        blocks, W = result.blocks, result.blocks.embedding
        for_new = Problem(loss=problem.loss, embedding=tuple(term for term in problem.embedding if term.separable))
        readout = LowRankReadout(
            type(self).__name__,
            prepared.scaling,
            blocks.bases,
            self.on_empty,
            problem=for_new,
            loss_state=blocks.loss_state,
        )
        if problem.neighbours is None:
            return replace(readout, known=prepared.fit_samples(W))
        prints = prepared.used.gather(fingerprints) if prepared.prints is None else prepared.prints
        pull = sum(term.ridge + term.pull for term in problem.embedding)
        assert isinstance(prepared.scaled, Views)
        samples, places = prepared.scaled, prepared.rows
        return NeighbourReadout.of(readout, samples, problem.neighbours, pull, prints, places, W, self.n_clusters)

    def _set_fitted(self, X: Any, problem: Problem, result: Result, prepared: Prepared) -> None:
        blocks, back = result.blocks, np.argsort(prepared.rows)
        self.bases_ = collect(blocks.bases, X, self.view_names_in_)
        self.objective_ = result.objective
        self.history_ = result.history
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        if problem.neighbours is not None:
            places = np.append(np.argsort(back), -1)  # of samples in the user's order, and of none
            self.graph_ = neighbour_graph(places[problem.neighbours.take(back, axis=0)])
        if prepared.prints is None:
            given = replace(blocks, embedding=prepared.scaled.as_given(blocks.embedding))
        else:
            given = problem.take_blocks(blocks, back)
        self.result_ = replace(result, blocks=problem.at_rest(given))
        if prepared.views.folder is not None or prepared.scaled.folder is not None:
            self._files = prepared.views.folder, prepared.scaled.folder  # they are deleted when no model needs them
        if result.lost:
            self._keep_what_is_left(problem, result, prepared)
        readout = self._make_readout(problem, result, prepared)
        shown = blocks.embedding if readout.known is None else readout.known.shown
        if not prepared.is_part:
            self.embedding_ = prepared.views.place(shown, prepared.rows)
        self._set_answers(readout, blocks.embedding, prepared)

    def _keep_what_is_left(self, problem: Problem, result: Result, prepared: Prepared) -> None:
        """Set what the fit has found before its samples were lost, and raise an error that says so."""
        if problem.is_separable:
            self.readout_, again = self._make_readout(problem, result, prepared), prepared.views.fresh()
            self.embedding_ = again.as_given(self.readout_.present(again))
            if not self.dropped_:
                self.result_ = replace(result, blocks=replace(result.blocks, embedding=self.embedding_))
            left = "bases of the last one, and computes the embedding from them when it is needed"
        else:
            self.embedding_ = prepared.views.place(result.blocks.embedding, prepared.rows)
            left = "bases and the embedding of the last one"
        raise SamplesLostError(
            f"{result.lost}: the fit ended after {result.n_iter} sweeps; the model has the {left}; fit with "
            "warm_start=True to continue from them"
        )

    def _warn(self, result: Result) -> None:
        """Say why the fit ended early, if users should know."""
        if result.stop_reason == "interrupted":
            warnings.warn(
                f"the fit was interrupted after {result.n_iter} sweeps; the model holds the last accepted blocks",
                UserWarning,
                stacklevel=5,
            )
        elif result.stop_reason == "max_iter" and self.tol > 0 and self.has_minimiser:
            last = 1.0 - [sweep.ratio for sweep in result.sweeps if sweep.accepted][-1]
            warnings.warn(
                f"{type(self).__name__} did not converge in {self.max_iter} sweeps: the last lowered the objective by "
                f"{last:.1e} (tol={self.tol:g}); increase max_iter or tol, or try solver='sor'",
                ConvergenceWarning,
                stacklevel=5,
            )


class BaseClusterer(ClusterMixin, BaseJELLA):
    """A method that scikit-learn may call a clusterer: it takes values of any sign."""

    # the fit_predict of ClusterMixin always exists; ours needs a number of clusters
    fit_predict = LabelsMixin.__dict__["fit_predict"]
