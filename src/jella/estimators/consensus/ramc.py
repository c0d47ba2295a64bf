"""RAMC: robust auto-weighted multi-view clustering."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from jella.estimators.base import BaseMultiView, Prepared
from jella.estimators.capabilities import Capabilities
from jella.estimators.consensus.graph_fit import Cut, connected_enough, fit_graph
from jella.estimators.needs import Needs, Size, by_graphs
from jella.estimators.rounds import RoundsMixin
from jella.numerics.arrays import to_numpy
from jella.numerics.kmeans import kmeans
from jella.views import AnyViews, Views

#: number of clusters where none is given, as in scikit-learn
DEFAULT_CLUSTERS = 8


class RAMC(RoundsMixin, ClusterMixin, BaseMultiView):
    """Robust auto-weighted multi-view clustering (RAMC): one graph with exactly k components, for complete data.

    Minimises Σ_v sqrt(‖S − A_v‖₁) over graphs S with rows on the simplex and rank(L_S) = n − k, where A_v is the
    adaptive-neighbour graph of view v and L_S the Laplacian of (S + Sᵀ)/2. Such a graph has exactly k connected
    components: these are the labels. The weights of the views, w_v = 1/(2 sqrt(‖S − A_v‖₁)), come with S.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters k; 8 by default, or the number of samples where that is smaller.
    n_neighbors : int, default=15
        Neighbours of a sample in the graph of a view. Doubled until the views' mean graph has at most k components.
    scale : str, or sequence or dict of str, default='sample'
        Scaling before distances are taken, one for all views or one per view: 'sample', 'feature', 'standardize',
        'center', 'root', 'auto' or 'none', as in `jella.MVLIV`. The scale of a view as a whole does not matter.
    n_init : int, default=10
        Starts of k-means, which is used only where no graph with exactly k components was found.
    max_iter : int, default=100
        Maximum number of rounds.
    tol : float, default=1e-4
        The fit ends when the graph has k components and a round moves less than this share of its mass.
    on_empty : {'raise', 'drop'}, default='raise'
        A sample without any value: an error, or left out of the fit (no edges, label -1).
    random_state : int, RandomState or Generator, optional
        Seed of k-means; the graph does not depend on it.

    Attributes
    ----------
    labels_ : array (n,)
        Components of the graph.
    affinity_ : CSR array (n, n)
        S; each row sums to one.
    view_weights_ : array (V,)
        w_v, scaled to sum one.
    residuals_ : array
        Sum of the k lowest eigenvalues of L_S after each round; zero where S has k components or more.
    n_iter_, converged_ : int, bool
        Rounds done; whether S has exactly k components.
    n_neighbors_ : int
        Neighbours used.
    n_features_in_, feature_names_in_, view_names_in_
        What the fit has seen, for all views together.
    dropped_ : list
        Names, or positions, of the samples that were left out because they have no observed value.

    Notes
    -----
    λ·Σ ‖f_i − f_j‖² s_ij stands for the rank, with F the k lowest eigenvectors of L_S. Rounds solve the rows of S
    exactly, then the weights, then F; λ rises while S has fewer than k components and falls while it has more. If no
    round ends with exactly k, a ConvergenceWarning says so and the labels are k-means on F. The graph cannot place new
    samples, so RAMC has no `predict`.

    References
    ----------
    .. [1] P. Ren, Y. Xiao, P. Xu, J. Guo, X. Chen, X. Wang, D. Fang: Robust auto-weighted multi-view clustering. IJCAI
       2018.
    .. [2] F. Nie, X. Wang, M. I. Jordan, H. Huang: The constrained Laplacian rank algorithm for graph-based clustering.
       AAAI 2016.

    Examples
    --------
    >>> import jella
    >>> from jella.estimators.consensus import RAMC
    >>> digits = jella.datasets.load_digits_views()
    >>> labels = RAMC(n_clusters=10).fit_predict(digits.data)
    >>> round(jella.metrics.nmi(digits.target, labels), 1)
    0.9
    """

    # the method finds the weights of the views itself
    view_weights = None

    _counts = ("n_neighbors", "n_init", "max_iter")

    n_neighbors_: int
    view_weights_: np.ndarray
    affinity_: sparse.csr_array

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_neighbors: int = 15,
        scale: Any = "sample",
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-4,
        on_empty: str = "raise",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.on_empty = on_empty
        self.random_state = random_state

    @property
    def capabilities(self) -> Capabilities:
        """Nothing may be missing."""
        return Capabilities(missing="nothing", memory="n·neighbours·views")

    def _needs(self, views: Views) -> Needs:
        return by_graphs(Size.of(views, 0), self.max_iter, min(self.n_neighbors, views.n_samples))

    def _fit_views(self, views: AnyViews, X: Any, y: Any) -> None:
        prepared = self._prepare(views)
        refuse_incomplete(prepared.scaled)
        n = prepared.scaled.n_samples
        k = min(DEFAULT_CLUSTERS, n) if self.n_clusters is None else int(self.n_clusters)
        values = [view.X if view.is_sparse else to_numpy(view.X) for view in prepared.scaled]
        graphs, start, self.n_neighbors_ = connected_enough(values, k, self.n_neighbors)
        cut = fit_graph(graphs, start, k, max_iter=self.max_iter, tol=self.tol)
        self._remember(X, prepared)
        self._set_fitted(cut, k, prepared)

    def _set_fitted(self, cut: Cut, k: int, prepared: Prepared) -> None:
        self.view_weights_ = cut.weights
        self._set_rounds(cut.residuals, cut.reached)
        graph, n = cut.graph.tocoo(), prepared.views.n_samples
        ends = tuple(prepared.rows[along] for along in graph.coords)
        self.affinity_ = sparse.csr_array((graph.data, ends), shape=(n, n))
        labels = cut.labels
        if not cut.reached:
            self._warn(cut, k)
            labels = kmeans(cut.vectors, k, self.n_init, self.random_state).labels_
        self.labels_ = prepared.views.place(np.asarray(labels, dtype=np.intp), prepared.rows)

    def _warn(self, cut: Cut, k: int) -> None:
        warnings.warn(
            f"RAMC found no graph with exactly {k} components in {len(cut.residuals)} rounds: the last has "
            f"{cut.labels.max() + 1} (sum of the {k} lowest eigenvalues {cut.residuals[-1]:.1e}), so the labels are "
            "k-means on eigenvectors; increase max_iter, or change n_neighbors or n_clusters",
            ConvergenceWarning,
            stacklevel=6,
        )


def refuse_incomplete(views: AnyViews) -> None:
    """Refuse views with missing values: a graph needs the distances between all samples in each view."""
    if views.n_samples < 2:
        raise ValueError("RAMC needs neighbours, but there is n_samples=1; pass more samples")
    for view in views:
        missing = view.n_samples * view.n_features - view.n_observed()
        if missing:
            raise ValueError(
                f"RAMC needs complete views, but view {view.name!r} lacks {missing} values (NaN or not observed); "
                "complete the data first, e.g. with jella.MVLIV(n_components=10).fit(X).complete(X)"
            )
