"""iMCL: incomplete multi-view concept learning."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.estimators.framework import BaseJELLA
from jella.estimators.methods.docs import with_shared_docs
from jella.problem.model import Data, Problem
from jella.problem.terms import L1, Box, LabelGraph, Linf1, NonNegative, Squared


@with_shared_docs
class IMCL(BaseJELLA):
    """Incomplete multi-view concept learning (iMCL): semi-supervised, non-negative, with components a view may drop.

    Minimises ½Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + alpha·Σ_v‖U_vᵀ‖_{{∞,1}} + (beta/2)·tr(W_lᵀ(L_w − L_b)W_l) + gamma·‖W‖₁ with
    U_v ≥ 0 and 0 ≤ W ≤ 1, where W_l is the embedding of the labelled samples: `fit(X, y)` takes their classes, -1 for a
    sample without one. Missing views and missing entries; refuses negative data.

    {parameters}
    alpha : float, default=0.01
        Weight of the largest entry of every basis component.
    beta : float, default=0.1
        Weight of the labels.
    gamma : float, default=0.01
        Weight of the ℓ1 norm of the embedding.

    {attributes}

    Notes
    -----
    With the paper's affinities the label term is minus half the scatter between the class means of the labelled
    samples: concave, so each W-step minimises a bound that touches it, and the objective never rises. No trustworthy
    program of the method exists. `transform` embeds new samples without labels.

    References
    ----------
    .. [1] Z. Guan, L. Zhang, J. Peng, J. Fan: Multi-view concept learning for data representation. IEEE Trans.
       Knowledge and Data Engineering 27 (2015).
    .. [2] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics (2021).

    Examples
    --------
    >>> import numpy as np, jella
    >>> digits = jella.datasets.load_digits_views()
    >>> y = np.where(np.arange(1797) < 200, digits.target, -1)  # 200 labels
    >>> bool(jella.IMCL(n_clusters=10, random_state=0).fit(digits.data, y).embedding_.max() <= 1)
    True
    """

    _labels_from_unit_rows = True

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        alpha: float = 0.01,
        beta: float = 0.1,
        gamma: float = 0.01,
        scale: str = "sample",
        view_weights: Any = None,
        solver: Any = "basic",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 200,
        tol: float = 1e-3,
        warm_start: bool = False,
        on_empty: str = "raise",
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
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
        """Half squared loss, U ≥ 0 with ℓ∞,1, 0 ≤ W ≤ 1 with ℓ1, and the graph of the labels where there are some."""
        labelled = () if data.y is None else (LabelGraph(_labels(data).tolist(), self.beta),)
        return Problem(
            loss=Squared(0.5),
            basis=(NonNegative(), Linf1(self.alpha)),
            embedding=(Box(0.0, 1.0), L1(self.gamma), *labelled),
        )


def _labels(data: Data) -> np.ndarray:
    """Known classes of the samples of the fit, -1 where unknown, checked."""
    labels = np.asarray(data.y)
    if labels.shape != (data.n_given,) or labels.dtype.kind not in "biuf" or np.any(labels != np.round(labels)):
        raise ValueError(
            f"Unknown label type: y must hold one whole number for each of the {data.n_given} samples, -1 where the "
            f"class is unknown, got shape {labels.shape} of {labels.dtype}"
        )
    return labels[data.rows].astype(int)
