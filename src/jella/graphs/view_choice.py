"""Scaling and weight of every view, chosen without labels: by what the views agree on, and by how clear each is."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from jella.graphs.neighbours import nearest, neighbour_graph
from jella.graphs.spectral import modularity, spectral_labels
from jella.views import AnyViews, View, Views
from jella.views.scaling import Scaling

#: samples that are looked at
SAMPLE = 1000
NEIGHBOURS = 10
#: views that fewer samples have in common say nothing of each other
FEWEST = 20
#: what the data's kind suggests is left for a way to scale that agrees by this factor more
MARGIN = 1.05
#: ways to scale a view that are tried, by the way that its kind of data suggests
CANDIDATES = {"root": ("root", "standardize", "center"), "standardize": ("standardize", "center")}


def choose_scaling(views: AnyViews, kinds: Any, weights: Any, n_clusters: int) -> Scaling:
    """Scaling of the views as given, or chosen from the data where kinds or weights are 'auto'."""
    kinds = choose_kinds(views) if isinstance(kinds, str) and kinds == "auto" else kinds
    if isinstance(weights, str) and weights == "auto":
        alone = len(views) == 1
        weights = None if alone else clarity_weights(Scaling.learn(views, kinds).apply(views), n_clusters)
    return Scaling.learn(views, kinds, weights)


def choose_kinds(views: AnyViews) -> tuple[str, ...]:
    """Kind of scaling of every view: the one in which its neighbours are most often those of the other views.

    Nearest neighbours that two views agree on cannot be an accident of either's scale, and how many there are does
    not depend on any unit. Sparse views are left with the root at unit samples.

    Parameters
    ----------
    views : Views
        In the user's units.
    """
    suggested = Scaling.learn(views, "auto")
    kinds = [_candidates(suggested, v) for v in range(len(views))]
    if len(views) == 1 or all(len(kind) == 1 for kind in kinds):
        return suggested.kinds
    some = views.fetch(_sample(views.n_samples))
    scaled = [{kind: _alone(some, v, kind) for kind in kinds[v]} for v in range(len(views))]
    presence = some.presence()
    agreed: list[dict[str, list[float]]] = [{kind: [] for kind in each} for each in kinds]
    for u, v in combinations(range(len(views)), 2):
        both = np.flatnonzero(presence[:, u] & presence[:, v])
        if both.size < FEWEST:
            continue
        graphs = [{kind: _neighbours(scaled[w][kind].take(both)) for kind in kinds[w]} for w in (u, v)]
        for a, first in graphs[0].items():
            for b, second in graphs[1].items():
                share = float((first * second).sum()) / first.sum()
                agreed[u][a].append(share)
                agreed[v][b].append(share)
    return tuple(_best(shares) for shares in agreed)


def clarity_weights(views: AnyViews, n_clusters: int) -> np.ndarray:
    """Weight of every view, (V,) of mean one: the odds that an edge of its own graph stays inside a group of it.

    Parameters
    ----------
    views : Views
        Scaled, every view with samples of about the same norm.
    n_clusters : int
        Groups that each view is cut into.
    """
    clarity = np.clip([_clarity(views, v, n_clusters) for v in range(len(views))], 0.02, 0.98)
    odds = clarity / (1.0 - clarity)
    return odds / odds.mean()


def _clarity(views: AnyViews, v: int, n_clusters: int) -> float:
    rows = np.flatnonzero(views[v].presence())
    some = views.fetch(rows[_sample(rows.size)])[v]
    if some.n_samples <= max(n_clusters, 2):
        return 0.5
    directed = _neighbours(some)
    graph = directed + directed.T
    return modularity(graph, spectral_labels(graph, n_clusters, n_init=3, random_state=0))


def _best(shares: dict[str, list[float]]) -> str:
    """The first kind, unless another one is clearly ahead of it."""
    first = next(iter(shares))
    if not shares[first]:
        return first
    best = max(shares, key=lambda kind: np.mean(shares[kind]))
    return best if np.mean(shares[best]) > MARGIN * np.mean(shares[first]) else first


def _candidates(suggested: Scaling, v: int) -> tuple[str, ...]:
    kind = suggested.kinds[v]
    return (kind,) if suggested.scales[v].by_norm else CANDIDATES[kind]


def _alone(views: Views, v: int, kind: str) -> View:
    one = Views((views[v],))
    return Scaling.learn(one, kind).apply(one)[0]


def _neighbours(view: View) -> sparse.csr_array:
    return neighbour_graph(nearest(Views((view,)), NEIGHBOURS)[1])


def _sample(n: int) -> np.ndarray:
    return np.arange(n) if n <= SAMPLE else np.sort(np.random.default_rng(0).permutation(n)[:SAMPLE])
