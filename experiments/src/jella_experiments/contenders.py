"""The methods that are compared: each as the paper ran it, its grid of weights, and what users may use instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from jella_experiments.pipelines import CompleteThenCluster, NeighbourImputer, NeighbourSpectral

Parameters = tuple[tuple[str, Any], ...]
#: the scaling of the paper, for methods whose default is another
PAPER_SCALE = "sample"


def _at_unit_norm(parameters: Mapping[str, Any]) -> bool:
    """False: the paper's methods get samples at unit norm, not the raw data."""
    return False


@dataclass(frozen=True)
class Contender:
    """A method of the comparison.

    Parameters
    ----------
    name : str
        As in the paper.
    make : callable (k, seed, **parameters) -> estimator with fit, labels_ and perhaps complete
    grid : mapping of name to values
        The grid from which the paper chose the weights; the first combination is the default.
    kmeans : bool
        Labels by k-means on the embedding, 20 times, scores averaged, as in the paper; otherwise the estimator's own.
    whole_views : bool
        It takes missing views but no missing entries.
    quadratic : bool
        It needs memory or time of the order n², and has few runs on large sets.
    raw : callable (parameters) -> bool
        Whether it gets the raw data; the others get samples at unit norm.
    """

    name: str
    make: Callable[..., Any]
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    kmeans: bool = True
    whole_views: bool = False
    quadratic: bool = False
    raw: Callable[[Mapping[str, Any]], bool] = _at_unit_norm

    def combinations(self, grid: Mapping[str, tuple[Any, ...]] | None = None) -> Iterator[Parameters]:
        """All combinations of the grid, the default first."""
        grid = self.grid if grid is None else grid
        names = sorted(grid)
        for values in product(*(grid[name] for name in names)):
            yield tuple(zip(names, values, strict=True))

    @property
    def default(self) -> Parameters:
        """The default combination."""
        return next(self.combinations())


def _ours(name: str, **settings: Any) -> Callable[..., Any]:
    def make(k: int, seed: int, **parameters: Any) -> Any:
        from jella.estimators.catalogue import estimators

        return estimators()[name](n_clusters=k, n_init=1, random_state=seed, **settings, **parameters)

    return make


def _with_ramc(completion: str) -> Callable[..., Any]:
    def make(k: int, seed: int, **parameters: Any) -> Any:
        from jella.estimators.catalogue import estimators

        rank = parameters.get("n_components")
        options = {"n_components": k if rank == "k" else rank} if rank is not None else {}
        known = estimators()
        return CompleteThenCluster(
            known[completion](scale=PAPER_SCALE, **options), known["RAMC"](n_clusters=k, random_state=seed)
        )

    return make


def _neighbours(k: int, seed: int, *, scale: str) -> Any:
    return CompleteThenCluster(NeighbourImputer(scale), NeighbourSpectral(k, scale, seed))


CONTENDERS: dict[str, Contender] = {
    contender.name: contender
    for contender in (
        Contender("PVC", _ours("PVC"), {"alpha": (1e-2, 1e-4, 1e-3, 1e-1)}),
        Contender("MIC", _ours("MIC"), {"beta": (1e-3, 1e-2, 1e-1)}, whole_views=True),
        Contender("MVL-IV", _ours("MVLIV", scale=PAPER_SCALE)),
        Contender("IMG", _ours("IMG"), {"alpha": (1e-2, 1e-3, 1e-1), "beta": (1.0, 0.1, 10.0)}, quadratic=True),
        Contender("DAIMC", _ours("DAIMC"), {"alpha": (1.0, 0.1, 10.0), "beta": (1.0, 0.1, 10.0)}),
        Contender("iRMKMC", _ours("IRMKMC"), {"gamma": (5.0, 2.0, 3.0)}, kmeans=False, whole_views=True),
        Contender("IML-BDR", _ours("IMLBDR"), {"alpha": (1.0, 1e-2, 1e2), "gamma": (1.0, 10.0, 1e2)}, quadratic=True),
        Contender("RPCA + RAMC", _with_ramc("RPCA"), kmeans=False, quadratic=True),
        Contender("RRMC + RAMC", _with_ramc("RRMC"), {"n_components": ("k", 50, 100)}, kmeans=False, quadratic=True),
        Contender(
            "KNNImputer + spectral",
            _neighbours,
            {"scale": ("sample", "standardize")},
            kmeans=False,
            quadratic=True,
            raw=lambda parameters: parameters["scale"] == "standardize",
        ),
        Contender("SparseBDR", _ours("SparseBDR"), kmeans=False, raw=lambda parameters: True),
    )
}
"""Contenders by name, in the order of the tables."""
