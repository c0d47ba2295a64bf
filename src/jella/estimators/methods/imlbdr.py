"""IML-BDR: incomplete multi-view learning with block diagonal representation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from jella.estimators.base import DEFAULT_RANK, Prepared, has_clusters
from jella.estimators.framework import BaseClusterer
from jella.estimators.methods.docs import with_shared_docs
from jella.graphs.spectral import spectral_labels
from jella.numerics.arrays import to_numpy
from jella.problem.model import Data, Problem
from jella.problem.terms import BlockDiagonal, Orthonormal
from jella.readout.base import Readout
from jella.readout.clusters import Clusters


def _labels_from_embedding(self: IMLBDR) -> bool:
    if self.labels_from != "embedding":
        raise AttributeError("labels from the affinity cannot be found for new samples; use labels_from='embedding'")
    return has_clusters(self)


@with_shared_docs
class IMLBDR(BaseClusterer):
    """Incomplete multi-view learning with block diagonal representation (IML-BDR), the method of the JELLA paper.

    Minimises Σ_v ‖Γ_v ⊙ (X_v − W U_vᵀ)‖² + alpha‖W − PᵀW‖² + beta‖P − B‖² + gamma·(sum of the k lowest eigenvalues of
    L_B): samples are written by samples of their own group, through an affinity B that is symmetric, non-negative and
    pushed to k blocks. Missing views and missing entries, any sign. A sweep costs O(n²) in time and memory; nothing of
    size n × n is solved with or decomposed.

    {parameters}
    alpha : float, default=1.0
        Weight of the self-expression of the embedding.
    beta : float, optional
        Weight of ‖P − B‖²; 1e4, as in the paper, for free bases, and 10 for orthonormal ones.
    gamma : float, optional
        Weight of the block-diagonal structure; 1 for free bases, 0.1 for orthonormal ones.
    basis : {'free', 'orthonormal'}, default='free'
        Free, as in the paper, or orthonormal as a stack, which fixes the scale of the embedding.
    labels_from : {'embedding', 'affinity'}, default='embedding'
        k-means on the embedding, as in the paper, or spectral clustering of B; only the former can `predict`.

    {attributes}
    affinity_ : array (n, n)
        B.
    indicator_ : array (n, k)
        F, the lowest eigenvectors of the Laplacian of B.

    Notes
    -----
    With free bases the objective degenerates in scale: nothing weighs U, so W shrinks and B and F carry little. It is
    kept as published; basis='orthonormal' is the form in which B is informative. The number of blocks is n_clusters,
    else n_components, else 10. `transform` embeds new samples without the block-diagonal term. No program of the
    authors is public.

    References
    ----------
    .. [1] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics (2021).
    .. [2] C. Lu, J. Feng, Z. Lin, T. Mei, S. Yan: Subspace clustering by block diagonal representation. IEEE Trans.
       Pattern Analysis and Machine Intelligence 41 (2019).

    Examples
    --------
    >>> import jella
    >>> views = [view[:200] for view in jella.datasets.load_digits_views().data.values()]
    >>> model = jella.IMLBDR(n_clusters=10, basis="orthonormal", random_state=0).fit(views)
    >>> model.affinity_.shape, model.indicator_.shape
    ((200, 200), (200, 10))
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        alpha: float = 1.0,
        beta: float | None = None,
        gamma: float | None = None,
        basis: str = "free",
        labels_from: str = "embedding",
        scale: str = "sample",
        view_weights: Any = None,
        solver: Any = "sor",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 200,
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
        self.gamma = gamma
        self.basis = basis
        self.labels_from = labels_from
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
        """Squared loss, block-diagonal term on the embedding, bases free or orthonormal."""
        if self.basis not in ("free", "orthonormal"):
            raise ValueError(f"basis must be 'free' or 'orthonormal', got {self.basis!r}")
        if self.labels_from not in ("embedding", "affinity"):
            raise ValueError(f"labels_from must be 'embedding' or 'affinity', got {self.labels_from!r}")
        free = self.basis == "free"
        beta = (1e4 if free else 10.0) if self.beta is None else self.beta
        gamma = (1.0 if free else 0.1) if self.gamma is None else self.gamma
        blocks = self.n_clusters or self.n_components or DEFAULT_RANK
        term = BlockDiagonal(blocks, self.alpha, beta, gamma=gamma)
        return Problem(basis=() if free else (Orthonormal(),), embedding=(term,))

    @property
    def _has_minimiser(self) -> bool:  # type: ignore[override]
        """Free bases let the embedding shrink for ever."""
        return self.basis != "free"

    @available_if(_labels_from_embedding)
    def predict(self, X: Any, *, observed: Any = None) -> np.ndarray:
        """Nearest cluster of every sample, (n,); -1 for samples without any observed value."""
        return super().predict(X, observed=observed)

    @property
    def affinity_(self) -> Any:
        """Affinity of the samples that were kept."""
        return self.result_.blocks.embedding_states[0].affinity

    @property
    def indicator_(self) -> Any:
        """Lowest eigenvectors of the Laplacian of the affinity."""
        return self.result_.blocks.embedding_states[0].indicator

    def _find_clusters(self, readout: Readout, W: Any, prepared: Prepared) -> tuple[Clusters | None, Any]:
        if self.labels_from == "embedding":
            return super()._find_clusters(readout, W, prepared)
        assert self.n_clusters is not None
        return None, spectral_labels(to_numpy(self.affinity_), self.n_clusters, self.n_init, self.random_state)
