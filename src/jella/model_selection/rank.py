"""Choosing the rank that predicts hidden values best."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from sklearn.base import clone

from jella.estimators.methods.generic import JELLA
from jella.model_selection.held_out import HeldOut, Trials, check_completes
from jella.model_selection.search import N_SPLITS, mean_and_error
from jella.problem.terms import Orthonormal, Ridge
from jella.views import Views

#: weight of the ridge of the default estimator, whose samples have a norm near one in each view
RIDGE = 0.1
#: the search stops when the error has risen this many times in a row
N_RISES = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class RankPath:
    """The errors by rank, and the rank chosen from them.

    Attributes
    ----------
    rank : int
        The chosen rank.
    ranks : tuple of int
        The ranks tried, in ascending order.
    errors, standard_errors : arrays
        Mean over the splits for each, and its standard error (NaN with one split).
    estimator : estimator
        With the chosen rank, not fitted.
    """

    rank: int
    ranks: tuple[int, ...]
    errors: np.ndarray
    standard_errors: np.ndarray
    estimator: Any

    def __repr__(self) -> str:
        lines = [f"RankPath(rank={self.rank})", "  rank     error      ± se"]
        for rank, error, spread in zip(self.ranks, self.errors, self.standard_errors, strict=True):
            lines.append(f"{rank:6d}  {error:8.4g}  {spread:8.2g}{'  <' if rank == self.rank else ''}")
        return "\n".join(lines)


def select_rank(
    X: Any,
    ranks: Iterable[int] | None = None,
    *,
    estimator: Any = None,
    held_out: HeldOut | None = None,
    observed: Any = None,
    random_state: Any = None,
    tolerance: float | str = 0.0,
) -> RankPath:
    """The rank with the smallest error on hidden values, with the errors of all ranks tried.

    Ranks are tried in ascending order, until the error has risen three times in a row.

    Parameters
    ----------
    X : as in the estimator's fit
    ranks : iterable of int, optional
        Tried in ascending order; by default 2, 3, 4, 6, 8, 12, 16, … up to half the number of samples or
        features, whichever is smaller.
    estimator : object with fit, complete and n_components, optional
        By default `jella.JELLA` with an orthonormal basis and a small ridge on the embedding, on standardized
        features, or on samples of unit norm if a view is sparse.
    held_out : HeldOut, optional
        What to hide; by default three splits.
    observed : as in the estimator's fit
    random_state : int, Generator or RandomState, optional
        Seed of the hidden values if `held_out` is not given, and of the default estimator.
    tolerance : float or 'one-se', default=0.0
        0.0 chooses the rank with the smallest error. A positive number, such as 0.01, chooses the smallest rank with an
        error at most this share above it. 'one-se' chooses the smallest rank with an error at most one standard error
        (of the smallest error, over the splits) above it, and needs two splits or more.

    Returns
    -------
    RankPath

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> W = rng.normal(size=(80, 3))
    >>> X = [W @ rng.normal(size=(3, d)) + 0.1 * rng.normal(size=(80, d)) for d in (9, 7)]
    >>> select_rank(X, random_state=0).rank
    3
    """
    held_out = HeldOut(N_SPLITS, random_state=random_state) if held_out is None else held_out
    _check_tolerance(tolerance, held_out)
    trials = Trials.draw(held_out, X, observed)
    estimator = default_estimator(trials.views, random_state) if estimator is None else estimator
    check_completes(estimator)
    if "n_components" not in estimator.get_params():
        raise ValueError(
            f"expected an estimator with the parameter n_components, got {type(estimator).__name__}, which has no rank "
            "to set; use jella.model_selection.search for its own parameters"
        )
    wanted = ladder(trials.views) if ranks is None else _checked(ranks)
    tried, by_split = _walk(estimator, wanted, trials)
    errors, spreads = np.array([mean_and_error(row) for row in by_split]).T
    rank = tried[_choice(errors, spreads, tolerance)]
    return RankPath(
        rank=rank,
        ranks=tuple(tried),
        errors=errors,
        standard_errors=spreads,
        estimator=clone(estimator).set_params(n_components=rank),
    )


def default_estimator(views: Views, random_state: Any = None) -> JELLA:
    """The default estimator: a completion that overfits little at any rank."""
    return JELLA(
        basis=[Orthonormal()],
        embedding=[Ridge(RIDGE)],
        scale="sample" if any(view.is_sparse for view in views) else "standardize",
        solver="sor",
        on_empty="drop",
        random_state=random_state,
    )


def ladder(views: Views) -> list[int]:
    """2, 3, 4, 6, 8, 12, 16, … up to half the largest possible rank; 1 if that is less than 2."""
    most = min(views.n_samples, views.n_features) // 2
    steps = [2]
    for power in count(1):
        steps += [3 * 2 ** (power - 1), 2 ** (power + 1)]
        if steps[-1] > most:
            return [step for step in steps if step <= most] or [1]
    raise AssertionError("not reached")


def _walk(estimator: Any, ranks: list[int], trials: Trials) -> tuple[list[int], list[list[float]]]:
    """Errors by rank and split, until they have risen N_RISES times in a row."""
    tried: list[int] = []
    by_split: list[list[float]] = []
    rises = 0
    for rank in ranks:
        model = clone(estimator).set_params(n_components=rank)
        try:
            row = [trials.error(model, number) for number in range(len(trials))]
        except KeyboardInterrupt:
            if not tried:
                raise
            warnings.warn(
                f"the search for a rank was interrupted at {rank}; the choice is among {tried}",
                UserWarning,
                stacklevel=3,
            )
            break
        rises = rises + 1 if by_split and np.mean(row) > np.mean(by_split[-1]) else 0
        tried.append(rank)
        by_split.append(row)
        if rises == N_RISES:
            break
    return tried, by_split


def _choice(errors: np.ndarray, spreads: np.ndarray, tolerance: float | str) -> int:
    """Position of the smallest rank that is good enough."""
    best = int(np.argmin(errors))
    limit = errors[best] + (spreads[best] if tolerance == "one-se" else errors[best] * float(tolerance))
    return int(np.argmax(errors <= limit))


def _checked(ranks: Iterable[int]) -> list[int]:
    found: list[Any] = list(ranks)
    if not found or not all(isinstance(rank, int | np.integer) and rank >= 1 for rank in found):
        raise ValueError(f"expected ranks to be integers from 1, got {found}; pass for example [2, 4, 8]")
    return sorted({int(rank) for rank in found})


def _check_tolerance(tolerance: Any, held_out: HeldOut) -> None:
    if tolerance == "one-se":
        if held_out.n_splits < 2:
            raise ValueError(
                "expected two or more splits for tolerance='one-se', got 1; pass held_out=HeldOut(3) or tolerance=0.0"
            )
    elif not isinstance(tolerance, int | float | np.floating) or not 0 <= tolerance < np.inf:
        raise ValueError(
            f"expected tolerance to be 'one-se' or a number from 0, got {tolerance!r}; 0.0 is the minimiser"
        )
