"""MVL-IV: multi-view learning with incomplete views."""

from __future__ import annotations

from typing import Any

from jella.estimators.framework import BaseClusterer
from jella.estimators.methods.docs import with_shared_docs
from jella.problem.model import Data, Problem


@with_shared_docs
class MVLIV(BaseClusterer):
    """Multi-view learning with incomplete views (MVL-IV): a common low-rank factorisation, nothing else.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² over the bases U_v and the embedding W. It takes missing views and missing
    entries, values of any sign, and sparse views that lack whole samples. Nothing fixes the coordinates of W, so they
    are made canonical: components are orthogonal, the strongest comes first, and bases and embedding share its
    strength. Labels are k-means on rows of W at unit norm.

    {parameters}

    {attributes}

    Notes
    -----
    Differences from the publication: none in the model. No program of the authors is public; with
    ``solver=jella.LMaFitSOR()`` the iterates are those of LMaFit [2]_, whose program it extends.

    References
    ----------
    .. [1] C. Xu, D. Tao, C. Xu: Multi-view learning with incomplete views. IEEE Trans. Image Processing 24 (2015).
    .. [2] Z. Wen, W. Yin, Y. Zhang: Solving a low-rank factorization model for matrix completion by a nonlinear
       successive over-relaxation algorithm. Math. Programming Computation 4 (2012).

    Examples
    --------
    >>> import numpy as np, jella
    >>> rng = np.random.default_rng(0)
    >>> W = rng.normal(size=(60, 2))
    >>> rna, adt = W @ rng.normal(size=(2, 8)), W @ rng.normal(size=(2, 5))
    >>> adt[:20] = np.nan  # twenty samples lack the second view
    >>> jella.MVLIV(n_components=2).fit([rna, adt]).embedding_.shape
    (60, 2)
    """

    _labels_from_unit_rows = True

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        scale: str = "sample",
        view_weights: Any = None,
        solver: Any = "sor",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 500,
        tol: float = 1e-4,
        warm_start: bool = False,
        on_empty: str = "raise",
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
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
        """Squared loss, no term and no constraint on either block."""
        return Problem()
