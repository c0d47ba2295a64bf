"""Choosing the number of clusters without labels."""

from __future__ import annotations

from typing import Any

from jella.estimators.methods.sparse_bdr import SparseBDR
from jella.graphs.cluster_path import ClusterPath


def select_n_clusters(X: Any, *, observed: Any = None, random_state: Any = 0, **settings: Any) -> ClusterPath:
    """What supports each number of clusters of incomplete views, and the number that `jella.SparseBDR` chooses.

    The model is fitted without a number of clusters. For several numbers, the neighbour graph of its embedding is cut
    into this many groups, and the number is chosen whose groups refits on parts of the samples find again most surely;
    without groups that are clearer than in data without groups it is 1, with a warning. With evidence=False there are
    no refits: of the numbers with nearly the best modularity, the one is chosen after which the gap to the next
    eigenvalue of the graph's Laplacian is widest.

    Parameters
    ----------
    X : as in SparseBDR.fit
    observed : as in SparseBDR.fit
    random_state : int, optional
    **settings
        Parameters of SparseBDR.

    Returns
    -------
    ClusterPath
        The chosen number, and what speaks for each number that was tried.

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> views = [view[:300] for view in digits.data.values()]
    >>> path = jella.model_selection.select_n_clusters(views)
    >>> 6 <= path.n_clusters <= 14
    True
    """
    return SparseBDR(random_state=random_state, **settings).fit(X, observed=observed).cluster_path_
