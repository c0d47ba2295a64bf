"""RRMC: robust completion at a fixed rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.estimators.completion.base import BaseCompletion, CompletionReadout
from jella.estimators.completion.lagrangian import Factors, Formulation, PenaltySchedule
from jella.numerics.arrays import Array, like, namespace, to_numpy
from jella.saving.kinds import register
from jella.solve.start import truncated_svd
from jella.views import Views


def rank_k(X: Array, observed: Array, start: Array) -> Formulation:
    """Robust completion of a matrix: min `Σ_observed |x_ij − z_ij|` over matrices Z of rank k at most.

    At the first μ, values up to twice the median size are left unchanged; μ grows by a twentieth per round. Gross
    errors do not move the median, unlike the spectral norm. The multipliers do not reach the missing entries; slow
    growth gives these the rounds they need to settle.

    Parameters
    ----------
    X : array (n, d), zero where not observed
    observed : bool array (n, d)
    start : array (d, k)
        Row space to start from; its width is the rank.

    Examples
    --------
    >>> import numpy as np
    >>> from jella.estimators.completion.lagrangian import separate
    >>> X = np.outer(np.ones(20), np.arange(1.0, 11.0))
    >>> observed = np.indices(X.shape).sum(axis=0) % 3 > 0
    >>> X[3, 4] += 100.0
    >>> D = np.where(observed, X, 0.0)
    >>> result = separate(D, rank_k(D, observed, np.eye(10, 1)), tol=1e-6, max_iter=1000)
    >>> bool(np.allclose(result.low_rank, np.arange(1.0, 11.0), atol=1e-3))
    True
    """
    sizes = np.abs(to_numpy(X))
    sizes = sizes[sizes > 0]
    first = 0.5 / float(np.median(sizes)) if sizes.size else 1.0
    return Formulation(1.0, Truncation(start), PenaltySchedule(first, growth=1.05, most=1e10 * first), observed)


class Truncation:
    """A step to a matrix of rank k near M: one step of subspace iteration from the row space of the last round.

    M changes little from round to round, so one step stays near the truncated SVD, at k/min(n, d) of its cost.
    """

    def __init__(self, right: Array) -> None:
        self.right = right

    def __call__(self, M: Array, mu: float) -> Factors:
        """Q QᵀM, Q the column space of M times the last row space."""
        xp = namespace(M)
        Q, _ = xp.linalg.qr(M @ self.right)
        self.right, R = xp.linalg.qr(M.T @ Q)
        return Factors(Q @ R.T, self.right)


@register
@dataclass(frozen=True, eq=False)
class RRMCReadout(CompletionReadout):
    """A new sample is fitted in the ℓ₁ norm by the row space of the fit."""

    rounds = 150  # by then μ has grown by a factor of 1500, and little moves

    def formulate(self, observed: Array, V: Array) -> Formulation:
        """As in the fit, with a projection for the low-rank step."""

        def project(M: Array, mu: float) -> Factors:
            return Factors(M @ V, V)

        return Formulation(1.0, project, self.penalty, observed)


class RRMC(BaseCompletion):
    """Robust rank-k matrix completion: the scaled views side by side, fitted by a rank-r matrix in the ℓ₁ norm.

    Minimises `Σ_observed |x_ij − z_ij|` over matrices Z of rank r at most [1]_ by an inexact augmented Lagrangian.
    Missing entries have no part in the loss, and gross errors in the observed ones little.

    Parameters
    ----------
    n_components : int, optional
        Rank r. By default 10, but at most the number of samples and of features.
    scale : str, or sequence or dict of str, default='auto'
        Scaling before the fit, from observed entries only, one for all views or one per view: 'sample', 'feature',
        'standardize', 'center', 'root', 'auto' or 'none', as in `jella.MVLIV`.
    view_weights : sequence or dict of float, optional
        Positive weight of each view, 1 by default; its scaled values are multiplied by the root of it.
    max_iter : int, default=1000
        Maximum number of rounds.
    tol : float, default=1e-6
        The fit ends when ‖X − Z − E‖ < tol · ‖X‖, on missing entries counting what the round changed in Z.
    on_empty : {'raise', 'drop'}, default='raise'
        A sample without any observed value: an error, or left out of the fit (its embedding is NaN).
    random_state : int, optional
        Seed of the values that `score` hides; the fit uses no random numbers.

    Attributes
    ----------
    embedding_ : array (n, r)
        Coordinates of the samples in Z: the scaled view v is about ``embedding_ @ bases_[v].T``.
    bases_ : list, tuple or dict of arrays (d_v, r), in the container of the views
        Right singular vectors of Z, orthonormal over all views together; zero beyond the rank of Z.
    singular_values_ : array (r,)
        Of Z, largest first.
    residuals_, objective_ : arrays, one value per round
        ‖X − Z − E‖ / ‖X‖, and `Σ_observed |x_ij − z_ij|`; the second may rise.
    n_iter_, converged_ : int, bool
        Rounds done; whether the residual fell below tol.
    n_features_in_, feature_names_in_, view_names_in_, dropped_
        As in all estimators.

    Notes
    -----
    No program of the authors is public; `docs/completion-methods.md` gives the formulation that is used and what
    differs. A sample of the fit is recognised by its values and missing entries and keeps its part of Z: `transform`
    returns exactly its row of `embedding_`. A new one goes through the same rounds with the bases V of the fit, for
    min `Σ_observed |x − Vw|` over w. Sparse views become dense.

    References
    ----------
    .. [1] J. Huang, F. Nie, H. Huang, Y. Lei, C. Ding: Social trust prediction using rank-k matrix recovery. IJCAI
       (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from jella import RRMC
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    >>> X = np.where(rng.random(truth.shape) < 0.3, np.nan, truth + 20 * (rng.random(truth.shape) < 0.05))
    >>> bool(np.allclose(RRMC(2, scale="sample").fit(X).complete(X)[np.isnan(X)], truth[np.isnan(X)], atol=1e-2))
    True
    """

    _usual_rounds = 400

    def __init__(
        self,
        n_components: int | None = None,
        *,
        scale: Any = "auto",
        view_weights: Any = None,
        max_iter: int = 1000,
        tol: float = 1e-6,
        on_empty: str = "raise",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.view_weights = view_weights
        self.max_iter = max_iter
        self.tol = tol
        self.on_empty = on_empty
        self.random_state = random_state

    def _formulate(self, D: Array, observed: Array, views: Views) -> Formulation:
        _, _, V = truncated_svd(views, self._rank(views))
        return rank_k(D, observed, like(V, D))

    def _make_readout(self, *shared: Any) -> RRMCReadout:
        return RRMCReadout(*shared)
