"""The scaling and the weight of each view, chosen without labels: by what views agree on, and by how clear each is.

Where there is one view only, halves of its features stand for views.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from jella.graphs.neighbours import nearest
from jella.graphs.spectral import modularity, spectral_labels
from jella.numerics.arrays import to_numpy
from jella.numerics.sparse_arrays import neighbour_graph
from jella.views import AnyViews, View, Views
from jella.views.scaling import Scaling
from jella.views.steps import spread_over_steps

#: at most this many samples are compared
SAMPLE = 1000
NEIGHBOURS = 10
#: two views are compared if at least this many samples have both
FEWEST = 20
#: how often the features of a single view are divided, and the fewest in a half
DIVISIONS, FEWEST_FEATURES = 4, 2
#: another scaling replaces the suggested one if its agreement is higher by this factor
MARGIN = 1.05
#: scalings that are tried, by the scaling that the kind of data suggests
CANDIDATES = {"root": ("root", "standardize", "center"), "standardize": ("standardize", "center")}


def choose_scaling(views: AnyViews, kinds: Any, weights: Any, n_clusters: int) -> Scaling:
    """The scaling of the views, with the kinds and weights given; those that are 'auto' are chosen from the data."""
    kinds = choose_kinds(views) if isinstance(kinds, str) and kinds == "auto" else kinds
    scaling = Scaling.learn(views, kinds)
    if isinstance(weights, str) and weights == "auto":
        weights = None if len(views) == 1 else clarity_weights(views, scaling, n_clusters)
    return scaling.weighted(views, weights)


def choose_kinds(views: AnyViews) -> tuple[str, ...]:
    """The kind of scaling of each view: the one whose neighbours are most often neighbours in the other views.

    If two views agree on nearest neighbours, neither's scale can be the reason. How often they agree does not depend on
    any unit. Sparse views keep the suggested scaling, 'root' with samples at unit norm. A single view has the scaling
    under which random halves of its features agree most.

    Parameters
    ----------
    views : Views
        In the user's units.
    """
    suggested = Scaling.learn(views, "auto")
    kinds = [
        (kind,) if scale.by_norm else CANDIDATES[kind]
        for kind, scale in zip(suggested.kinds, suggested.scales, strict=True)
    ]
    if all(len(each) == 1 for each in kinds):
        return suggested.kinds
    some = views.fetch(_sample(views.n_samples))
    if len(views) == 1:
        return (_of_one(some[0], kinds[0]),)
    alone, rng = [some.only(v) for v in range(len(views))], np.random.default_rng(0)
    spread = [spread_over_steps(one, rng) for one in alone]
    scaled = [
        {kind: Scaling.learn(one, kind).apply(moved) for kind in each}
        for one, moved, each in zip(alone, spread, kinds, strict=True)
    ]
    presence = some.presence()
    agreed: list[dict[str, list[float]]] = [{kind: [] for kind in each} for each in kinds]
    for u, v in combinations(range(len(views)), 2):
        both = np.flatnonzero(presence[:, u] & presence[:, v])
        if both.size < FEWEST:
            continue
        graphs = [
            {kind: neighbour_graph(nearest(scaled[w][kind].take(both), NEIGHBOURS)) for kind in kinds[w]}
            for w in (u, v)
        ]
        for a, first in graphs[0].items():
            for b, second in graphs[1].items():
                share = _shared(first, second)
                agreed[u][a].append(share)
                agreed[v][b].append(share)
    return tuple(_best(shares) for shares in agreed)


def clarity_weights(views: AnyViews, scaling: Scaling, n_clusters: int) -> np.ndarray:
    """The weight of each view, (V,) of mean one: the odds that an edge of its own graph stays inside one of its groups.

    Parameters
    ----------
    views : Views
        In the user's units.
    scaling : Scaling
        With it the samples of all views have about the same norm.
    n_clusters : int
        Number of groups that each view is divided into.
    """
    clarity, rng = np.full(len(views), 0.5), np.random.default_rng(0)
    for v, view in enumerate(views):
        rows = np.flatnonzero(view.presence())
        some = views.fetch(rows[_sample(rows.size)])
        moved = spread_over_steps(some.only(v), rng)[0]
        some = scaling.apply(replace(some, items=(*some.items[:v], moved, *some.items[v + 1 :]))).only(v)
        if some.n_samples > max(n_clusters, 2):
            directed = neighbour_graph(nearest(some, NEIGHBOURS))
            graph = directed + directed.T
            clarity[v] = modularity(graph, spectral_labels(graph, n_clusters, n_init=3, random_state=0))
    clarity = np.clip(clarity, 0.02, 0.98)
    odds = clarity / (1.0 - clarity)
    return odds / odds.mean()


def _of_one(view: View, kinds: tuple[str, ...]) -> str:
    """The kind under which halves of the features agree most; the first one for few features or samples."""
    rng, d = np.random.default_rng(0), view.n_features
    shares: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(DIVISIONS if d >= 2 * FEWEST_FEATURES else 0):
        order = rng.permutation(d)
        halves = Views(tuple(_columns(view, np.sort(half)) for half in (order[: d // 2], order[d // 2 :])))
        both = np.flatnonzero(halves.presence().all(axis=1))
        if both.size < FEWEST:
            continue
        spread = spread_over_steps(halves, rng)
        for kind in kinds:
            scaled = Scaling.learn(halves, kind).apply(spread).take(both)
            shares[kind].append(_shared(*(neighbour_graph(nearest(scaled.only(h), NEIGHBOURS)) for h in range(2))))
    return _best(shares)


def _columns(view: View, columns: np.ndarray) -> View:
    """A dense view of some of the features."""
    X, mask = to_numpy(view.X)[:, columns], to_numpy(view.mask)
    name = f"{view.name} {columns[0]}"  # the halves need different names
    return View(name, X, mask if mask.shape[1] == 1 else mask[:, columns])


def _shared(first: Any, second: Any) -> float:
    """The share of the edges of one graph that another has too."""
    edges = float(first.sum())
    return float((first * second).sum()) / edges if edges else 0.0


def _best(shares: dict[str, list[float]]) -> str:
    """The first kind, unless another one agrees clearly more often."""
    first = next(iter(shares))
    if not shares[first]:
        return first
    best = max(shares, key=lambda kind: np.mean(shares[kind]))
    return best if np.mean(shares[best]) > MARGIN * np.mean(shares[first]) else first


def _sample(n: int) -> np.ndarray:
    """Positions of at most `SAMPLE` of n samples, drawn with a fixed seed."""
    return np.arange(n) if n <= SAMPLE else np.sort(np.random.default_rng(0).permutation(n)[:SAMPLE])
