"""All methods, what each can handle, and why one cannot run on given data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from jella.estimators import completion, consensus
from jella.estimators.base import BaseMultiView
from jella.estimators.capabilities import Capabilities
from jella.estimators.methods import daimc, generic, imcl, img, imlbdr, irmkmc, mvliv, pvc, sparse_bdr
from jella.estimators.needs import Needs, shortfall
from jella.numerics.arrays import to_numpy
from jella.views import Views

#: all estimators; a new one needs one line
_ALL: tuple[type[BaseMultiView], ...] = (
    sparse_bdr.SparseBDR,
    daimc.DAIMC,
    imcl.IMCL,
    img.IMG,
    imlbdr.IMLBDR,
    irmkmc.IRMKMC,
    consensus.MIC,
    mvliv.MVLIV,
    pvc.PVC,
    consensus.RAMC,
    completion.RPCA,
    completion.RRMC,
    generic.JELLA,
)


@dataclass(frozen=True)
class Method:
    """A method and what it can handle.

    Attributes
    ----------
    kind : type
        The estimator.
    name : str
        Name of the class.
    summary : str
    can : Capabilities
    clusters, completes, embeds_new : bool
        Whether it finds clusters, imputes missing values, and embeds new samples.
    """

    kind: type[Any]
    name: str
    summary: str
    can: Capabilities
    clusters: bool
    completes: bool
    embeds_new: bool

    @property
    def command_name(self) -> str:
        """The name on the command line: SparseBDR is sparse-bdr."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", self.name).lower()

    @property
    def scale_to_complete(self) -> str:
        """The scaling with which it completes best, as a rule: zero is the mean, or at least all features count alike.

        >>> [methods()[name].scale_to_complete for name in ("RPCA", "DAIMC", "PVC")]
        ['auto', 'auto', 'feature']
        """
        return "auto" if self.can.signed else "feature"

    def obstacle(self, views: Views) -> str | None:
        """Why it cannot run on these views, in a few words; None if it can."""
        if self.can.missing != "entries" and not views.is_rowwise:
            return "single entries are missing"
        if self.can.missing == "nothing" and not all(view.is_complete for view in views):
            return "it takes complete data"
        if not self.can.signed:
            negative = [view.name for view in views if _has_negative(view.X)]
            if negative:
                return f"negative values in view {negative[0]!r}"
        lacking = shortfall(self.needs(views), views)
        return None if lacking is None else f"it needs {lacking.need.rstrip(',')}, with {lacking.got}"

    def needs(self, views: Views) -> Needs:
        """What a fit with its defaults needs, by estimate."""
        return self.kind().needs(views)


def estimators() -> dict[str, type[BaseMultiView]]:
    """All estimators of the library, by the name of their class."""
    return {kind.__name__: kind for kind in _ALL}


@lru_cache
def methods() -> dict[str, Method]:
    """All ready-made methods, by the name of their class; the recommended one is first.

    Examples
    --------
    >>> from jella.estimators.catalogue import methods
    >>> methods()["IRMKMC"].can.missing, methods()["PVC"].can.signed
    ('views', False)
    """
    return {kind.__name__: _describe(kind) for kind in _ALL if kind is not generic.JELLA}


def methods_table() -> str:
    """What every estimator takes and gives, as a table in Markdown: the one of docs/which-method.md."""
    heads = ("class", "missing views", "missing entries", "negative values", "clusters", "completes", "new samples")
    lines: list[tuple[str, ...]] = [(*heads, "Dask", "memory beside the data")]
    for kind in _ALL:
        method = _describe(kind)
        can, missing = method.can, method.can.missing
        abilities = missing != "nothing", missing == "entries", can.signed, method.clusters, method.completes
        more = method.embeds_new, can.not_in_chunks is None
        lines.append((f"`{method.name}`", *("yes" if able else "no" for able in (*abilities, *more)), can.memory))
    lines.insert(1, ("---",) * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def find_method(name: str) -> Method:
    """The method of that name, in any spelling: sparse-bdr, SparseBDR, sparse_bdr."""
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
        can=kind().capabilities,
        clusters=hasattr(kind, "fit_predict"),
        completes=hasattr(kind, "complete"),
        embeds_new=hasattr(kind, "transform"),
    )


def _has_negative(X: Any) -> bool:
    values = X.data if hasattr(X, "indptr") else to_numpy(X)
    return bool(np.min(values, initial=0.0) < 0)
