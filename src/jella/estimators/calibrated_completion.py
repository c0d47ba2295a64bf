"""Completion that has learned from hidden values how to weigh and correct predictions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from jella.estimators.base import DEFAULT_RANK, seed_of
from jella.estimators.framework import BaseClusterer
from jella.estimators.interrupted import was_interrupted
from jella.evidence.refits import drawn_samples
from jella.impute.estimates import ByImputer, Estimates, check_level
from jella.impute.imputer import Imputer
from jella.numerics.finite import overflow_refused
from jella.numerics.progress import doing
from jella.numerics.words import counted
from jella.readout.completion import ByReadout, complete_views
from jella.readout.neighbours import NeighbourReadout
from jella.views import Views
from jella.views.kinds import Kinds


class BaseCalibrated(BaseClusterer):
    """Completion by an imputer that is learned at the first call, for a method that relates samples."""

    calibrate: bool
    n_components: int | None

    kinds_: Kinds
    imputer_: Imputer | None
    n_blocks: Any

    def complete(self, X: Any, *, observed: Any = None, covariates: Any = None, interval: float | None = None) -> Any:
        """X with its missing values imputed, in the same container and in the user's units.

        Observed values are returned bit for bit. Samples that a DataFrame lacks are appended to its rows. The first
        call learns how to weigh and correct predictions, which takes a few fits; see `calibrate`.

        Parameters
        ----------
        X : as in fit
            Samples of the fit or new ones. Whole views may be missing.
        observed : as in fit
        covariates : optional
            For a model of adjusted views, as in `read`; their effects are put back into completed values.
        interval : float in (0, 1), optional
            Also return intervals that hold this share of the true values, if values are missing in the way in which
            they are missing in the samples of the fit, and not because of their size.

        Returns
        -------
        views : as X
            Or, with `interval`, an `Interval` of views, lower, upper and std.

        Examples
        --------
        >>> import jella
        >>> digits = jella.datasets.load_digits_views()
        >>> views = jella.datasets.make_incomplete([view[:200] for view in digits.data.values()], 0.3, random_state=0)
        >>> found = jella.SparseBDR(n_clusters=10, random_state=0).fit(views).complete(views, interval=0.9)
        >>> bool((found.lower[0] <= found.views[0]).all()), bool((found.views[0] <= found.upper[0]).all())
        (True, True)
        """
        asked = self._asked(X, observed, covariates)
        check_level(interval)
        with overflow_refused("completed values"):
            if interval is None:
                return asked.restore(complete_views(asked.views, asked.X, self.filling(), self.schema_))
            if isinstance(asked.views, Views) and self.learn_completion() is not None:
                return self.estimates(asked.views, interval).interval(asked.X, self.schema_, asked.restore)
            if isinstance(asked.views, Views) and self.calibrate:
                raise ValueError(
                    "expected values that can be hidden as others are missing, to learn intervals from, got none in "
                    f"{self._n_known()}: each sample and feature keeps its last one, and a sample that loses a view "
                    "needs another; pass more data, or no interval"
                )
            raise ValueError(
                "expected a model that can hide values of its samples for intervals, got one without calibration or "
                "samples in chunks; pass samples in memory, to a model with calibrate=True"
            )

    def _n_known(self) -> str:
        """The samples of the fit, in words."""
        return counted(int(self.embedding_.shape[0]), "sample")

    def filling(self, imputer: Imputer | None = None) -> ByImputer | ByReadout:
        """How views are completed: by an imputer of this model, by default its own; without one by the readout."""
        imputer, readout = self.learn_completion() if imputer is None else imputer, self._answers()
        if imputer is None:
            return ByReadout(readout, [self.kinds_.bounds(v) for v in range(len(self.schema_.names))])
        own = readout if imputer.readout is None else replace(imputer.readout, on_empty=self.on_empty)
        assert isinstance(own, NeighbourReadout)
        return ByImputer(own, imputer, self.kinds_)

    def estimates(self, views: Views, interval: float | None = None, imputer: Imputer | None = None) -> Estimates:
        """The imputed values of samples that were read, by an imputer of this model, by default its own."""
        filling = self.filling(imputer)
        assert isinstance(filling, ByImputer)
        with overflow_refused("completed values"):
            return filling.estimates(views, interval)

    def learn_completion(self, progress: Any = None, *, most_samples: int | None = None) -> Imputer | None:
        """Learn from hidden values how to weigh and correct predictions, if that was not done before.

        Parameters
        ----------
        progress : callable, optional
            Called before each trial with its number, from 1, and the number of trials. By default an open line says it.
        most_samples : int, optional
            With more samples than this, learn from a random part of this size; the model does not keep what is learned
            from a part.

        Returns
        -------
        imputer : Imputer or None
            Also in `imputer_`. None with calibrate=False, after a fit that was interrupted, and where nothing can be
            hidden.
        """
        check_is_fitted(self, "readout_")
        readout = self.readout_
        if not self.calibrate or not isinstance(readout, NeighbourReadout):
            return None
        if "imputer_" not in vars(self):
            is_part = most_samples is not None and readout.samples.n_samples > most_samples
            samples, rows = readout.samples, None
            if is_part and most_samples is not None:
                rows = drawn_samples(samples, most_samples)
                samples = samples.take(rows)
            with overflow_refused("completed values"):
                undone = readout.scaling.undo(samples, rows)
                found = None if was_interrupted(self) else self._learned(undone, progress, is_part)
            if is_part:
                return found
            self.imputer_ = found
        return self.imputer_

    def _learned(self, samples: Views, progress: Any, is_part: bool = False) -> Imputer | None:
        """The imputer of samples of the fit; it does not depend on the number of clusters."""
        readout = self.readout_
        blocks = min(self.n_components or DEFAULT_RANK, samples.n_samples)
        same = self.n_blocks == blocks and isinstance(readout.bases[0], np.ndarray) and not is_part
        own = None if same else self._refit(samples, n_clusters=blocks)
        refit = partial(self._refit, like=(readout if own is None else own).scaling, n_clusters=blocks)
        seed, told = seed_of(self.random_state), _tell if progress is None else progress
        imputer = Imputer.learn(samples, refit, self.kinds_, seed, told)
        return replace(imputer, readout=own) if imputer is not None and isinstance(own, NeighbourReadout) else imputer


def _tell(trial: int, n_trials: int) -> None:
    doing(f"calibrating on hidden values, trial {trial} of {n_trials}")
