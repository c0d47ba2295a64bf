"""DAIMC: doubly aligned incomplete multi-view clustering."""

from __future__ import annotations

from typing import Any

from jella.estimators.framework import BaseJELLA
from jella.estimators.methods.docs import with_shared_docs
from jella.numerics.arrays import Array, namespace
from jella.problem.model import Data, Problem
from jella.problem.terms import Alignment, NonNegative


@with_shared_docs
class DAIMC(BaseJELLA):
    """Doubly aligned incomplete multi-view clustering (DAIMC): non-negative embedding, bases aligned by regression.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + alpha·Σ_v(‖R_vᵀU_v − I‖² + beta·‖R_v‖_{{2,1}}) with W ≥ 0 and regression
    matrices R_v. Missing views and missing entries; data of any sign. No n × n and no d × d matrix is formed.

    {parameters}
    alpha : float, default=1.0
        Weight of the alignment of the bases.
    beta : float, default=1.0
        Weight of the row norms of the regression: larger lets fewer features take part.

    {attributes}
    regressors_ : list of arrays (d_v, r)
        R_v.

    Notes
    -----
    The objective has no minimiser: U → sU with W → W/s and R → R/s lowers the norm of R for ever, so `tol` and
    `max_iter` decide. After every sweep the columns of W are rescaled to sum 1, U and R with them, where that does not
    raise the objective. Row norms are smoothed, sqrt(‖r‖² + 1e-10), and the smoothed value is what is reported.

    Differences from the authors' program: it rescales W and U but not R, which can raise its objective; it solves W by
    up to 30 multiplicative steps, here W is solved by coordinate descent; it starts from k-means in every view, here
    from the SVD.

    References
    ----------
    .. [1] M. Hu, S. Chen: Doubly aligned incomplete multi-view clustering. IJCAI 2018.
    .. [2] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics (2021).

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> views = jella.datasets.make_incomplete(digits.data, 0.3, random_state=0)
    >>> bool(jella.DAIMC(n_clusters=10, random_state=0).fit(views).embedding_.min() >= 0)
    True
    """

    _has_minimiser = False

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        alpha: float = 1.0,
        beta: float = 1.0,
        scale: str = "sample",
        view_weights: Any = None,
        solver: Any = "basic",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 30,
        tol: float = 1e-4,
        warm_start: bool = False,
        on_empty: str = "raise",
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.scale = scale
        self.view_weights = view_weights
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.on_empty = on_empty
        self.callback = callback
        self.random_state = random_state

    def declare(self, data: Data) -> Problem:
        """Squared loss, alignment of the bases, W ≥ 0."""
        return Problem(
            basis=(Alignment(self.alpha, self.beta),), embedding=(NonNegative(),), normalise=unit_column_sums
        )

    @property
    def regressors_(self) -> list[Any]:
        """Regression matrix of every view."""
        return list(self.result_.blocks.basis_states[0])


def unit_column_sums(sums: Array) -> Array:
    """What brings the columns of W, of these sums, to the sum 1."""
    xp = namespace(sums)
    return xp.where(sums > 0, sums, xp.ones_like(sums))
