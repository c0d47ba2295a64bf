"""RPCA: completion by robust principal component analysis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from jella.estimators.completion.base import BaseCompletion, CompletionReadout, check_completion
from jella.estimators.completion.lagrangian import Factors, Formulation, PenaltySchedule
from jella.numerics.arrays import Array, like, namespace, sqnorm
from jella.saving.kinds import register
from jella.saving.rules import check_record, need_array, require
from jella.views import AnyViews, Views

#: below this share of ‖M‖ singular values are not taken from the eigenvalues of MᵀM: their squares are too small
GRAM_LIMIT = 1e-5


def robust_pca(D: Array, weight: float) -> Formulation:
    """Robust PCA of a matrix in either orientation: min ‖Z‖_* + weight · ‖E‖₁ with Z + E = D.

    The inexact augmented Lagrangian of Lin et al. (2010), E before Z, with their start and their penalties: μ starts
    at 1.25/‖D‖₂ and grows by half per round, up to 1e7 times its start.
    """
    xp = namespace(D)
    gram = D.T @ D if D.shape[0] >= D.shape[1] else D @ D.T
    norm = max(float(xp.max(xp.linalg.eigvalsh(gram))), 0.0) ** 0.5 or 1.0
    penalty = PenaltySchedule(1.25 / norm, growth=1.5, most=1e7 * 1.25 / norm)
    largest = float(xp.max(xp.abs(D)))
    return Formulation(weight, shrink, penalty, dual=D / max(norm, largest / weight))


def shrink(M: Array, mu: float) -> Factors:
    """M with its singular values lowered by 1/μ: the minimiser of ‖Z‖_* + μ/2 ‖M − Z‖²."""
    if 1.0 / mu < GRAM_LIMIT * sqnorm(M) ** 0.5:
        return _shrink_by_svd(M, 1.0 / mu)
    xp = namespace(M)
    tall = M.shape[0] >= M.shape[1]
    squares, vectors = xp.linalg.eigh(M.T @ M if tall else M @ M.T)
    kept = int(xp.sum(xp.astype(squares > 1.0 / mu**2, xp.int64)))
    near, s = vectors[:, vectors.shape[1] - kept :], xp.sqrt(squares[squares.shape[0] - kept :])
    far = (M @ near if tall else M.T @ near) * (1.0 - 1.0 / (mu * s))
    value = float(xp.sum(s - 1.0 / mu))
    return Factors(far, near, value) if tall else Factors(near, far, value)


def _shrink_by_svd(M: Array, threshold: float) -> Factors:
    xp = namespace(M)
    Q, s, Vt = xp.linalg.svd(M, full_matrices=False)
    kept = int(xp.sum(xp.astype(s > threshold, xp.int64)))
    s = s[:kept] - threshold
    return Factors(Q[:, :kept] * s, Vt[:kept, :].T, float(xp.sum(s)))


@register
@dataclass(frozen=True, eq=False)
class RPCAReadout(CompletionReadout):
    """A new sample is separated with the row space and the singular values of the fit.

    Attributes
    ----------
    alpha : float
        Weight of the sparse part.
    singular_values : array (r,)
    """

    alpha: float = 1.0
    singular_values: np.ndarray | None = None

    rounds = 40  # by then μ has reached its largest value

    def formulate(self, observed: Array, V: Array) -> Formulation:
        """As in the fit, with a shrinkage for the low-rank step."""
        s = like(self.singular_values, V)

        def ridge(M: Array, mu: float) -> Factors:
            # singular value thresholding with V fixed: it lowers s + 1/μ, which M has at the end of the fit, to s
            return Factors((M @ V) * (s / (s + 1.0 / mu)), V)

        return Formulation(self.alpha, ridge, self.penalty)


@check_record.register
def _(readout: RPCAReadout) -> None:
    check_completion(readout)
    require(0 < readout.alpha < np.inf, "a weight of the sparse part")
    s = need_array(readout.singular_values, (readout.width,), "singular values")
    require(np.all(s >= 0), "singular values of at least zero")


class RPCA(BaseCompletion):
    """Completion by robust PCA: the scaled views side by side as a low-rank part plus sparse errors.

    Minimises ‖Z‖_* + alpha · ‖E‖₁ with Z + E = D by the inexact augmented Lagrangian [2]_. **Missing entries are zeros
    in D and count as data**, as in the published comparisons: the sparse part has to correct them, and if much is
    missing, Z is pulled towards zero. `jella.RRMC` leaves them out of the loss instead.

    Parameters
    ----------
    alpha : float, optional
        Weight of the sparse part; 1/sqrt(number of features of all views) by default.
    scale : str, or sequence or dict of str, default='auto'
        Scaling before the fit, from observed entries only, one for all views or one per view: 'sample', 'feature',
        'standardize', 'center', 'root', 'auto' or 'none', as in `jella.MVLIV`. A missing entry counts as zero, so zero
        should be the mean of the feature, as it is after 'auto', 'standardize' and 'center'.
    view_weights : sequence or dict of float, optional
        Positive weight of each view, 1 by default; its scaled values are multiplied by the root of it.
    max_iter : int, default=1000
        Maximum number of rounds.
    tol : float, default=1e-7
        The fit ends when ‖D − Z − E‖ < tol · ‖D‖.
    on_empty : {'raise', 'drop'}, default='raise'
        A sample without any observed value: an error, or left out of the fit (its embedding is NaN).
    random_state : int, optional
        Seed of the values that `score` hides; the fit uses no random numbers.

    Attributes
    ----------
    embedding_ : array (n, r)
        Coordinates of the samples in Z, r its rank: the scaled view v is about ``embedding_ @ bases_[v].T``.
    bases_ : list, tuple or dict of arrays (d_v, r), in the container of the views
        Right singular vectors of Z, orthonormal over all views together.
    singular_values_ : array (r,)
        Of Z, largest first.
    alpha_ : float
        The weight that was used.
    residuals_, objective_ : arrays, one value per round
        ‖D − Z − E‖ / ‖D‖, and ‖Z‖_* + alpha · ‖D − Z‖₁; the second may rise.
    n_iter_, converged_ : int, bool
        Rounds done; whether the residual fell below tol.
    n_features_in_, feature_names_in_, view_names_in_, dropped_
        As in all estimators.

    Notes
    -----
    A sample of the fit is recognised by its values and missing entries and keeps its part of Z: `transform` returns
    exactly its row of `embedding_`. A new one gets the w that minimises ½ wᵀS⁻¹w + alpha · ‖x − Vw‖₁ with V and the
    singular values S of the fit. This is the same problem with the other samples fixed: its missing entries are zeros
    too. Sparse views become dense.

    References
    ----------
    .. [1] E. Candès, X. Li, Y. Ma, J. Wright: Robust principal component analysis? Journal of the ACM 58 (2011).
    .. [2] Z. Lin, M. Chen, Y. Ma: The augmented Lagrange multiplier method for exact recovery of corrupted low-rank
       matrices. arXiv:1009.5055 (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from jella import RPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    >>> X[rng.random(X.shape) < 0.03] = np.nan
    >>> RPCA(scale="none").fit(X).embedding_.shape
    (60, 2)
    """

    _usual_rounds = 60
    alpha_: float

    def __init__(
        self,
        alpha: float | None = None,
        *,
        scale: Any = "auto",
        view_weights: Any = None,
        max_iter: int = 1000,
        tol: float = 1e-7,
        on_empty: str = "raise",
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.scale = scale
        self.view_weights = view_weights
        self.max_iter = max_iter
        self.tol = tol
        self.on_empty = on_empty
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.alpha is not None:
            check_scalar(self.alpha, "alpha", Real, min_val=0, include_boundaries="neither")

    def _formulate(self, D: Array, observed: Array, views: Views) -> Formulation:
        self.alpha_ = D.shape[1] ** -0.5 if self.alpha is None else float(self.alpha)
        return robust_pca(D, self.alpha_)

    def _rank(self, views: AnyViews) -> int:
        return min(views.n_samples, views.n_features)

    def _make_readout(self, *shared: Any) -> RPCAReadout:
        readout = RPCAReadout(*shared)
        return replace(readout, alpha=self.alpha_, singular_values=self.singular_values_)
