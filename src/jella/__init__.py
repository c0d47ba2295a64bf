"""Embed, complete and cluster multi-view data with missing views and missing entries."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from jella._version import __version__

if TYPE_CHECKING:
    from jella import datasets, experiments, io, metrics, model_selection, report, terms
    from jella.completion import RPCA, RRMC
    from jella.consensus import MIC, RAMC
    from jella.methods.daimc import DAIMC
    from jella.methods.generic import JELLA
    from jella.methods.imcl import IMCL
    from jella.methods.img import IMG
    from jella.methods.imlbdr import IMLBDR
    from jella.methods.irmkmc import IRMKMC
    from jella.methods.mvliv import MVLIV
    from jella.methods.pvc import PVC
    from jella.methods.sparse_bdr import SparseBDR
    from jella.mudata import write_mudata
    from jella.oneshot import cluster, complete
    from jella.problem import Problem
    from jella.relaxation import SOR, Basic, LMaFitSOR
    from jella.result import Progress, Result
    from jella.saving import load

# public name -> module it lives in; loaded when first asked for, so that `import jella` stays quick
_HOME = {
    "JELLA": "jella.methods.generic",
    "DAIMC": "jella.methods.daimc",
    "IMCL": "jella.methods.imcl",
    "IMG": "jella.methods.img",
    "IMLBDR": "jella.methods.imlbdr",
    "IRMKMC": "jella.methods.irmkmc",
    "MVLIV": "jella.methods.mvliv",
    "PVC": "jella.methods.pvc",
    "SparseBDR": "jella.methods.sparse_bdr",
    "MIC": "jella.consensus",
    "RAMC": "jella.consensus",
    "RPCA": "jella.completion",
    "RRMC": "jella.completion",
    "cluster": "jella.oneshot",
    "complete": "jella.oneshot",
    "Problem": "jella.problem",
    "Basic": "jella.relaxation",
    "SOR": "jella.relaxation",
    "LMaFitSOR": "jella.relaxation",
    "Progress": "jella.result",
    "Result": "jella.result",
    "load": "jella.saving",
    "write_mudata": "jella.mudata",
    "datasets": "jella",
    "experiments": "jella",
    "io": "jella",
    "metrics": "jella",
    "model_selection": "jella",
    "report": "jella",
    "terms": "jella",
}

__all__ = [
    "DAIMC",
    "IMCL",
    "IMG",
    "IMLBDR",
    "IRMKMC",
    "JELLA",
    "MIC",
    "MVLIV",
    "PVC",
    "RAMC",
    "RPCA",
    "RRMC",
    "SOR",
    "Basic",
    "LMaFitSOR",
    "Problem",
    "Progress",
    "Result",
    "SparseBDR",
    "__version__",
    "cluster",
    "complete",
    "datasets",
    "experiments",
    "io",
    "load",
    "metrics",
    "model_selection",
    "report",
    "terms",
    "write_mudata",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'jella' has no attribute {name!r}")
    home = _HOME[name]
    value = (
        importlib.import_module(f"jella.{name}") if home == "jella" else getattr(importlib.import_module(home), name)
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
