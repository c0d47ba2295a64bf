"""Known classes: the embeddings of labelled samples of different classes are pushed apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jella.numerics.arrays import Array, inner, like, namespace
from jella.problem.terms.base import Term, positive


class LabelGraph(Term):
    """(weight/2) · tr(W_lᵀ(L_w − L_b)W_l) over the embeddings W_l of the labelled samples.

    L_w and L_b are the Laplacians of the affinity 1/N_c − 1/N_l between samples of the same class c and of the penalty
    1/N_l between classes, for N_l labelled samples, N_c of them in class c. Row i of (L_w − L_b)W_l is m − m_c, the
    mean of all labelled samples less the mean of the class of i, so the term equals −(weight/2)·Σ_c N_c ‖m_c − m‖² and
    no n × n matrix is formed. It is concave: the update of W replaces it by its tangent, −2 tr(LᵀW) with
    L = (weight/2)·(m_c − m) in the labelled rows and 0 in the others, and the objective never rises.

    Parameters
    ----------
    labels : sequence of int, default=()
        Class of each sample, -1 where unknown.
    weight : float, default=1.0
        Positive.

    References
    ----------
    .. [1] Z. Guan, L. Zhang, J. Peng, J. Fan: Multi-view concept learning for data representation. IEEE Trans.
       Knowledge and Data Engineering 27 (2015).
    """

    separable, linearises = False, True

    def __init__(self, labels: Sequence[int] = (), weight: float = 1.0) -> None:
        self.labels = tuple(int(label) for label in labels)
        self.weight = positive(weight, "LabelGraph weight")

    def value(self, B: Array, state: Any = None) -> float:
        """−(weight/2) Σ_c N_c ‖mean_c − mean‖²."""
        means = self._contrast(B)
        return 0.0 if means is None else 0.5 * self.weight * inner(B, means)

    def linear(self, B: Array, state: Any) -> Array | None:
        """Minus half the gradient, (n, r); zero for samples without a label."""
        means = self._contrast(B)
        return None if means is None else (-0.5 * self.weight) * means

    def _contrast(self, B: Array) -> Array | None:
        """(L_w − L_b) W: mean of all labelled rows less the mean of the class, zero for the others, (n, r)."""
        labels = np.asarray(self.labels)
        known = labels >= 0
        if labels.size != B.shape[0] or not known.any():
            return None
        classes, which = np.unique(labels[known], return_inverse=True)
        members = np.zeros((labels.size, classes.size))
        members[np.flatnonzero(known), which] = 1.0
        member, sizes = like(members, B), like(members.sum(axis=0), B)
        sums = member.T @ B  # (classes, r)
        overall = namespace(B).sum(sums, axis=0) / float(members.sum())
        return member @ (overall[None, :] - sums / sizes[:, None])

    def __repr__(self) -> str:
        return f"LabelGraph(labels of {sum(label >= 0 for label in self.labels)} samples, weight={self.weight})"
