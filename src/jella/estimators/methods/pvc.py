"""PVC: partial multi-view clustering."""

from __future__ import annotations

from typing import Any

from jella.estimators.framework import BaseJELLA
from jella.estimators.methods.docs import with_shared_docs
from jella.problem.model import Data, Problem
from jella.problem.terms import L1, NonNegative


@with_shared_docs
class PVC(BaseJELLA):
    """Partial multi-view clustering (PVC): non-negative factors with a sparse embedding, two views or more.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + alpha·‖W‖₁ with U_v ≥ 0 and W ≥ 0. It takes missing views and missing
    entries, and refuses negative data. Labels are k-means on rows of W at unit norm, as in the authors' program.

    {parameters}
    alpha : float, default=0.01
        Weight of the ℓ1 norm of the embedding; larger means fewer components a sample.

    {attributes}

    Notes
    -----
    The objective has no minimiser: U_v → s·U_v with W → W/s lowers the ℓ1 term for ever, so `tol` and `max_iter`
    decide the scale of W, and reaching max_iter is no cause for a warning. Directions, which the labels use, settle
    early.

    Differences from the authors' program: it weighs ℓ1 by alpha·d_v/r a view (summed over a sample's views), works on
    raw data, starts at random, first alternates on the paired samples alone, and takes two views only. Every block is
    solved to near optimality here as there. The paper's update formulas for U and w have the wrong signs; the ones
    used are max(0, U + (XW − UWᵀW)/(WᵀW)_jj) and max(0, w + (b − alpha/2)/C_jj).

    References
    ----------
    .. [1] S.-Y. Li, Y. Jiang, Z.-H. Zhou: Partial multi-view clustering. AAAI 2014.
    .. [2] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics (2021).

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> views = jella.datasets.make_incomplete(digits.data, 0.3, random_state=0)
    >>> jella.PVC(n_clusters=10, random_state=0, tol=1e-3).fit(views).labels_.shape
    (1797,)
    """

    _labels_from_unit_rows = True
    _has_minimiser = False

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        alpha: float = 0.01,
        scale: str = "sample",
        view_weights: Any = None,
        solver: Any = "basic",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        on_empty: str = "raise",
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.alpha = alpha
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
        """Squared loss, U ≥ 0, W ≥ 0 with an ℓ1 norm."""
        return Problem(basis=(NonNegative(),), embedding=(NonNegative(), L1(self.alpha)))
