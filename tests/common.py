"""What many tests share: small data, and the parts there are, found by walking subclasses."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from scipy import sparse

import jella
from jella.estimators.framework import BaseJELLA
from jella.problem.terms.base import concrete_subclasses
from jella.terms import SparseBlockDiagonal, Support, Term

# public names load lazily; walking subclasses needs them loaded
for _name in jella.__all__:
    getattr(jella, _name)


def all_methods() -> list[type[BaseJELLA]]:
    """Every estimator of the package, found by walking subclasses."""
    kinds = {kind for kind in concrete_subclasses(BaseJELLA) if kind.__module__.startswith("jella.")}
    return sorted((kind for kind in kinds if not kind.__name__.startswith("Base")), key=lambda kind: kind.__name__)


def all_terms() -> list[type[Term]]:
    """Every term of the package, found by walking subclasses."""
    kinds = {kind for kind in concrete_subclasses(Term) if kind.__module__.startswith("jella.")}
    return sorted(kinds, key=lambda kind: kind.__name__)


class EveryPair(SparseBlockDiagonal):
    """The term with every pair of whatever samples it meets in its support."""

    def __init__(self) -> None:
        super().__init__(every_pair(2))

    def start(self, B: Any) -> Any:
        self.support = every_pair(B.shape[0])
        return super().start(B)


def every_pair(n: int) -> Support:
    """A full support that starts from averaging."""
    return Support.averaging(sparse.csr_array(np.ones((n, n)) - np.eye(n)))


def make_term(kind: type[Term]) -> Term:
    """A term with its defaults."""
    return EveryPair() if kind is SparseBlockDiagonal else kind()


def planted(
    n: int = 40, widths: tuple[int, ...] = (9, 6, 4), r: int = 3, noise: float = 0.05, seed: int = 0
) -> list[np.ndarray]:
    """Non-negative views of rank r plus noise, around three groups of samples."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % 3
    W = rng.uniform(0.0, 0.3, (n, r))
    W[np.arange(n), groups % r] += 1.0
    return [W @ rng.uniform(0.0, 1.0, (r, d)) + noise * rng.uniform(0.0, 1.0, (n, d)) for d in widths]


SETTINGS = ("missing-view", "incomplete-view")


def holed(setting: str, rate: float = 0.3, seed: int = 0, **options: Any) -> list[np.ndarray]:
    """Planted views with holes."""
    return jella.datasets.make_incomplete(planted(seed=seed, **options), rate, setting, random_state=seed)


def takes(method: type[BaseJELLA], setting: str) -> bool:
    """Whether the method takes data with this kind of holes."""
    return setting == "missing-view" or method().capabilities.missing == "entries"


def make(method: type[BaseJELLA], **options: Any) -> BaseJELLA:
    """The method with those of the options that it has."""
    return method(**{key: value for key, value in options.items() if key in method().get_params()})


CASES = [(method, setting) for method in all_methods() for setting in SETTINGS if takes(method, setting)]


def never_pulling(mudata):
    """A block in which a MuData does not copy annotations of its modalities, as in mudata 0.4, which has no option."""
    return mudata.set_options(pull_on_update=False) if hasattr(mudata, "set_options") else nullcontext()
