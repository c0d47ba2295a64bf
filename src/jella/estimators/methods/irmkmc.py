"""iRMKMC: incomplete robust multi-view k-means."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.estimators.base import Prepared
from jella.estimators.framework import BaseClusterer
from jella.estimators.methods.docs import with_shared_docs
from jella.problem.model import Data, Problem
from jella.problem.terms import Indicator, SampleNorm
from jella.readout.base import Readout
from jella.readout.clusters import Clusters, IndicatorClusters


@with_shared_docs
class IRMKMC(BaseClusterer):
    """Incomplete robust multi-view k-means (iRMKMC): k-means on norms, not squares, with a learned weight a view.

    Minimises Σ_v a_v^gamma Σ_i ‖x_i − u_{v,l(i)}‖ over the samples present in each view, with centroids u, labels l and
    view weights a ≥ 0, Σ a_v = 1. Takes samples that lack whole views, not single entries. Labels are the assignment;
    the embedding is its indicator.

    {parameters}
    gamma : float, default=5.0
        Exponent of the view weights, greater than 1; large values make the views equal, and near 1 the view that is
        easiest to fit, which need not be the best, takes all the weight.

    {attributes}
    view_weights_ : array (V,)
        Learned weight of each view.

    Notes
    -----
    The norms are bounded by squares at the current residuals (iteratively reweighted), so the objective never rises. A
    cluster that loses all its samples gets one of them back; a cluster none of whose samples has a view keeps its
    centroid there. The rank is the number of clusters (10 without one), view weights are learned, and over-relaxation
    has no meaning for norms, so the method lacks those parameters. It has no `score`, which would hide single entries.

    References
    ----------
    .. [1] X. Cai, F. Nie, H. Huang: Multi-view k-means clustering on big data. IJCAI 2013.
    .. [2] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics (2021).

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> views = jella.datasets.make_incomplete(digits.data, 0.3, random_state=0)
    >>> jella.IRMKMC(n_clusters=10).fit(views).view_weights_.shape
    (3,)
    """

    n_components = None
    view_weights = None
    solver = "basic"

    _may_miss = "views"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        gamma: float = 5.0,
        scale: str = "sample",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-6,
        warm_start: bool = False,
        on_empty: str = "raise",
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.scale = scale
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.on_empty = on_empty
        self.callback = callback
        self.random_state = random_state

    def declare(self, data: Data) -> Problem:
        """Norms of samples, and an indicator for an embedding."""
        return Problem(loss=SampleNorm(self.gamma), embedding=(Indicator(),))

    @property
    def score(self) -> Any:
        """Absent: scoring hides single entries of a sample with one view, which the method cannot take."""
        raise AttributeError("IRMKMC has no score: it takes no missing entries, and scoring would make some")

    @property
    def view_weights_(self) -> np.ndarray:
        """Learned weight of each view."""
        return np.asarray(self.result_.blocks.loss_state.view_weights)

    def _find_clusters(self, readout: Readout, W: Any, prepared: Prepared) -> tuple[Clusters | None, Any]:
        return readout.label_by(IndicatorClusters(), prepared.scaled, W)
