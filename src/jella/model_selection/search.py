"""Choosing the settings that predict hidden values best."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils.parallel import Parallel, delayed

from jella.model_selection.held_out import HeldOut, Trials, check_completes
from jella.numerics.optional import need

N_SPLITS = 3
N_SHOWN = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """One setting and its errors.

    Attributes
    ----------
    params : dict
    by_split : tuple of float
        Error on the hidden values of each split; empty if the candidate failed.
    failure : str or None
        The message of the fit, if it refused.
    seconds : float
        Total time of its fits.
    """

    params: Mapping[str, Any]
    by_split: tuple[float, ...]
    failure: str | None
    seconds: float

    @property
    def error(self) -> float:
        """Mean error over the splits; NaN if the candidate failed."""
        return mean_and_error(self.by_split)[0]

    @property
    def standard_error(self) -> float:
        """Standard error of this mean; NaN for a single split."""
        return mean_and_error(self.by_split)[1]


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchResult:
    """The result of a search.

    Attributes
    ----------
    candidates : tuple of Candidate
        All that were tried, including failed ones, in the order of the grid.
    best_estimator : estimator or None
        With the best settings, fitted to all data; None without a refit.
    interrupted : bool
        Whether the search ended before all candidates were tried.
    """

    candidates: tuple[Candidate, ...]
    best_estimator: Any = None
    interrupted: bool = False

    @property
    def best(self) -> Candidate:
        """The candidate with the smallest error; of equal ones, the first."""
        return self.candidates[int(np.nanargmin(self.errors))]

    @property
    def best_params(self) -> dict[str, Any]:
        """Settings of the best candidate."""
        return dict(self.best.params)

    @property
    def best_error(self) -> float:
        """Error of the best candidate."""
        return self.best.error

    @property
    def errors(self) -> np.ndarray:
        """Mean error of each candidate, NaN if it failed."""
        return np.array([candidate.error for candidate in self.candidates])

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard error of each mean."""
        return np.array([candidate.standard_error for candidate in self.candidates])

    @property
    def failures(self) -> tuple[Candidate, ...]:
        """Candidates that could not be fitted."""
        return tuple(candidate for candidate in self.candidates if candidate.failure is not None)

    def as_frame(self) -> Any:
        """A pandas DataFrame with one row per candidate, best first."""
        pd = need("pandas", "pandas")
        rows = [
            {
                **c.params,
                "error": c.error,
                "standard_error": c.standard_error,
                "seconds": c.seconds,
                "failure": c.failure,
            }
            for c in self.candidates
        ]
        return pd.DataFrame(rows).sort_values("error", kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        failed = self.failures
        ranked = sorted((c for c in self.candidates if c.failure is None), key=lambda c: c.error)
        counts = f"{len(self.candidates)} candidates" + (f", {len(failed)} failed" if failed else "")
        lines = [f"SearchResult({counts}{', interrupted' if self.interrupted else ''})", "   error      ± se  params"]
        lines += [f"{c.error:8.4g}  {c.standard_error:8.2g}  {_words(c.params)}" for c in ranked[:N_SHOWN]]
        if len(ranked) > N_SHOWN:
            lines.append(f"and {len(ranked) - N_SHOWN} more")
        lines += [f"  failed            {_words(c.params)}: {c.failure}" for c in failed[:N_SHOWN]]
        if len(failed) > N_SHOWN:
            lines.append(f"and {len(failed) - N_SHOWN} more that failed")
        return "\n".join(lines)


def search(
    estimator: Any,
    grid: Any,
    X: Any,
    *,
    held_out: HeldOut | None = None,
    y: Any = None,
    observed: Any = None,
    n_iter: int | None = None,
    refit: bool = True,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> SearchResult:
    """Compare settings of an estimator by the error on hidden values, which are the same for all candidates.

    Parameters
    ----------
    estimator : object with fit and complete
        Not modified.
    grid : dict of name -> values, or a list of such
        As for scikit-learn's ParameterGrid; with n_iter also distributions, as for ParameterSampler.
    X : as in the estimator's fit
    held_out : HeldOut, optional
        What to hide; by default three splits.
    y : optional
        For methods that use labels.
    observed : as in the estimator's fit
    n_iter : int, optional
        Try this many settings, drawn at random.
    refit : bool, default=True
        Fit the best settings to all data.
    n_jobs : int, optional
        Number of processes, as in joblib.
    random_state : int, Generator or RandomState, optional
        Seed of the drawn settings, and of the hidden values if `held_out` is not given.
    verbose : bool, default=False
        Print one line per candidate.

    Returns
    -------
    SearchResult

    Notes
    -----
    A candidate whose fit raises a ValueError is kept with the message; the search fails only if all do. Ctrl-C ends the
    search with the candidates finished so far, a warning and no refit.

    Examples
    --------
    >>> import numpy as np, jella
    >>> rng = np.random.default_rng(0)
    >>> W = rng.normal(size=(60, 2))
    >>> X = [W @ rng.normal(size=(2, d)) + 0.1 * rng.normal(size=(60, d)) for d in (8, 6)]
    >>> found = search(jella.MVLIV(scale="standardize"), {"n_components": [1, 2, 5, 99]}, X, random_state=0)
    >>> found.best_params, found.best_estimator.embedding_.shape
    ({'n_components': 2}, (60, 2))
    >>> [candidate.params for candidate in found.failures]
    [{'n_components': 99}]
    """
    check_completes(estimator)
    settings = _settings(grid, n_iter, random_state)
    trials = Trials.draw(
        HeldOut(N_SPLITS, random_state=random_state) if held_out is None else held_out, X, observed, y=y
    )
    candidates: list[Candidate] = []
    interrupted = False
    try:
        for candidate in _tried(estimator, settings, trials, n_jobs):
            candidates.append(candidate)
            if verbose:
                _report(candidate, len(candidates), len(settings))
    except KeyboardInterrupt:
        if all(candidate.failure is not None for candidate in candidates):
            raise
        interrupted = True
        _warn(
            f"the search was interrupted after {len(candidates)} of {len(settings)} candidates; the result holds these"
        )
    if all(candidate.failure is not None for candidate in candidates):
        raise ValueError(
            f"expected settings that can be fitted, but all {len(candidates)} failed: {_reasons(candidates)}"
        )
    result = SearchResult(candidates=tuple(candidates), interrupted=interrupted)
    if not refit or interrupted:
        return result
    try:
        best = _fitted(_with(estimator, result.best_params), X, y, observed)
    except KeyboardInterrupt:
        _warn("the last fit was interrupted; the result holds the errors, but no estimator")
        return result
    return SearchResult(candidates=result.candidates, best_estimator=best)


def mean_and_error(by_split: Sequence[float]) -> tuple[float, float]:
    """Mean over the splits and its standard error, NaN if there are too few."""
    mean = float(np.mean(by_split)) if by_split else float("nan")
    spread = float(np.std(by_split, ddof=1) / np.sqrt(len(by_split))) if len(by_split) > 1 else float("nan")
    return mean, spread


def _settings(grid: Any, n_iter: int | None, random_state: Any) -> list[dict[str, Any]]:
    if n_iter is not None:
        if isinstance(random_state, np.random.Generator):
            random_state = int(random_state.integers(2**31))
        return list(ParameterSampler(grid, n_iter, random_state=random_state))
    for part in [grid] if isinstance(grid, Mapping) else grid:
        for name, values in part.items():
            if hasattr(values, "rvs"):
                raise ValueError(
                    f"expected a list of values for {name!r}, got a distribution; pass n_iter to draw from it"
                )
    return list(ParameterGrid(grid))


def _tried(estimator: Any, settings: list[dict[str, Any]], trials: Trials, n_jobs: int | None) -> Iterator[Candidate]:
    jobs = ((params, number) for params in settings for number in range(len(trials)))
    outcomes = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_attempt)(estimator, params, trials, number) for params, number in jobs
    )
    for params in settings:
        mine = [next(outcomes) for _ in range(len(trials))]
        failure = next((outcome for outcome, _ in mine if isinstance(outcome, str)), None)
        by_split = () if failure is not None else tuple(outcome for outcome, _ in mine)
        yield Candidate(params=params, by_split=by_split, failure=failure, seconds=sum(seconds for _, seconds in mine))


def _attempt(estimator: Any, params: dict[str, Any], trials: Trials, number: int) -> tuple[float | str, float]:
    """Error on one split, or the message of the failure; and the seconds it took."""
    start = time.perf_counter()
    try:
        outcome: float | str = trials.error(_with(estimator, params), number)
    except ValueError as error:
        outcome = str(error) or type(error).__name__
    return outcome, time.perf_counter() - start


def _with(estimator: Any, params: Mapping[str, Any]) -> Any:
    return clone(estimator).set_params(**{name: clone(value, safe=False) for name, value in params.items()})


def _fitted(estimator: Any, X: Any, y: Any, observed: Any) -> Any:
    labels = () if y is None else (y,)
    return estimator.fit(X, *labels) if observed is None else estimator.fit(X, *labels, observed=observed)


def _words(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in params.items()) or "as given"


def _reasons(candidates: Sequence[Candidate]) -> str:
    return "; ".join(dict.fromkeys(str(candidate.failure) for candidate in candidates))


def _report(candidate: Candidate, number: int, n_settings: int) -> None:
    outcome = f"error {candidate.error:.4g}" if candidate.failure is None else f"failed: {candidate.failure}"
    print(f"[{number}/{n_settings}] {_words(candidate.params)}: {outcome} ({candidate.seconds:.1f} s)", flush=True)


def _warn(words: str) -> None:
    warnings.warn(words, UserWarning, stacklevel=3)
