"""What methods there are, what each can handle, and what stands in the way of running one on given data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from jella.estimators.base import BaseMultiView
from jella.numerics.arrays import to_numpy
from jella.numerics.registry import concrete_subclasses
from jella.views import Views

#: samples from which n × n matrices of double precision are out of reach of most machines
MANY = 20_000


@dataclass(frozen=True)
class Method:
    """A method and what it can handle.

    Attributes
    ----------
    name : str
        Of the class.
    summary : str
    missing : {'entries', 'views', 'nothing'}
        What may be missing: views and single entries, whole views only, or nothing.
    signed : bool
        Takes negative values.
    clusters, completes, embeds_new : bool
        Finds clusters, fills in missing values, has an embedding for new samples.
    pairs : bool
        Holds n × n matrices.
    chunks : bool
        Fits samples in chunks (Dask).
    """

    kind: type[Any]
    name: str
    summary: str
    missing: str
    signed: bool
    clusters: bool
    completes: bool
    embeds_new: bool
    pairs: bool
    chunks: bool

    @property
    def command_name(self) -> str:
        """As on the command line: SparseBDR is sparse-bdr."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", self.name).lower()

    def obstacle(self, views: Views) -> str | None:
        """Why it cannot run on these views, in a few words; None where it can."""
        if self.missing != "entries" and not views.is_rowwise:
            return "single entries are missing"
        if self.missing == "nothing" and not all(view.is_complete for view in views):
            return "it takes complete data"
        if not self.signed:
            negative = [view.name for view in views if _has_negative(view.X)]
            if negative:
                return f"negative values in view {negative[0]!r}"
        if self.pairs and views.n_samples > MANY:
            return f"it holds n × n matrices, and n is {views.n_samples:,}"
        return None


@lru_cache
def methods() -> dict[str, Method]:
    """Every ready-made method by the name of its class, the recommended one first.

    Examples
    --------
    >>> from jella.estimators.catalogue import methods
    >>> methods()["IRMKMC"].missing, methods()["PVC"].signed
    ('views', False)
    """
    import jella

    public = {name for name in jella.__all__ if isinstance(getattr(jella, name), type)} - {"JELLA"}
    found = [kind for kind in concrete_subclasses(BaseMultiView) if kind.__name__ in public]
    described = sorted(
        (_describe(kind) for kind in found), key=lambda m: (m.name != "SparseBDR", not m.clusters, m.name)
    )
    return {method.name: method for method in described}


def find_method(name: str) -> Method:
    """The method of that name, written in whatever way: sparse-bdr, SparseBDR, sparse_bdr."""
    plain = _plain(name)
    for method in methods().values():
        if _plain(method.name) == plain:
            return method
    known = ", ".join(method.command_name for method in methods().values())
    raise ValueError(f"expected a method among {known}, got {name!r}; pass one of these names")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _describe(kind: Any) -> Method:
    return Method(
        kind=kind,
        name=kind.__name__,
        summary=(kind.__doc__ or "").strip().splitlines()[0].rstrip("."),
        missing=kind._may_miss,
        signed=not kind().__sklearn_tags__().input_tags.positive_only,
        clusters=hasattr(kind, "fit_predict"),
        completes=hasattr(kind, "complete"),
        embeds_new=hasattr(kind, "transform"),
        pairs=kind._holds_pairs,
        chunks=kind._takes_chunks,
    )


def _has_negative(X: Any) -> bool:
    values = X.data if hasattr(X, "indptr") else to_numpy(X)
    return bool(np.min(values, initial=0.0) < 0)
