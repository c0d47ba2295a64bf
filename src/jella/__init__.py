"""Embed, complete and cluster multi-view data with missing views and missing entries."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from jella._version import __version__

if TYPE_CHECKING:
    from jella import datasets, io, metrics, model_selection, plot, report, terms
    from jella.estimators.adjuster import Adjuster
    from jella.estimators.completer import Completer
    from jella.estimators.completion import RPCA, RRMC
    from jella.estimators.consensus import MIC, RAMC
    from jella.estimators.loading import load
    from jella.estimators.methods.daimc import DAIMC
    from jella.estimators.methods.generic import JELLA
    from jella.estimators.methods.imcl import IMCL
    from jella.estimators.methods.img import IMG
    from jella.estimators.methods.imlbdr import IMLBDR
    from jella.estimators.methods.irmkmc import IRMKMC
    from jella.estimators.methods.mvliv import MVLIV
    from jella.estimators.methods.pvc import PVC
    from jella.estimators.methods.sparse_bdr import SparseBDR
    from jella.io.mudata import write_mudata
    from jella.numerics.limits import get_limits, set_limits
    from jella.numerics.progress import show_progress
    from jella.oneshot import cluster, complete
    from jella.problem.model import Problem
    from jella.solve.relaxation import SOR, Basic, LMaFitSOR
    from jella.solve.solver import Progress, Result
    from jella.views.align import align
    from jella.views.multi_view import MultiView

# public name -> its module, which is imported at first use, so that `import jella` is fast
_HOME = {
    "JELLA": "jella.estimators.methods.generic",
    "DAIMC": "jella.estimators.methods.daimc",
    "IMCL": "jella.estimators.methods.imcl",
    "IMG": "jella.estimators.methods.img",
    "IMLBDR": "jella.estimators.methods.imlbdr",
    "IRMKMC": "jella.estimators.methods.irmkmc",
    "MVLIV": "jella.estimators.methods.mvliv",
    "PVC": "jella.estimators.methods.pvc",
    "SparseBDR": "jella.estimators.methods.sparse_bdr",
    "MIC": "jella.estimators.consensus",
    "RAMC": "jella.estimators.consensus",
    "RPCA": "jella.estimators.completion",
    "RRMC": "jella.estimators.completion",
    "Adjuster": "jella.estimators.adjuster",
    "Completer": "jella.estimators.completer",
    "get_limits": "jella.numerics.limits",
    "set_limits": "jella.numerics.limits",
    "show_progress": "jella.numerics.progress",
    "align": "jella.views.align",
    "MultiView": "jella.views.multi_view",
    "cluster": "jella.oneshot",
    "complete": "jella.oneshot",
    "Problem": "jella.problem.model",
    "Basic": "jella.solve.relaxation",
    "SOR": "jella.solve.relaxation",
    "LMaFitSOR": "jella.solve.relaxation",
    "Progress": "jella.solve.solver",
    "Result": "jella.solve.solver",
    "load": "jella.estimators.loading",
    "write_mudata": "jella.io.mudata",
    "datasets": "jella",
    "io": "jella",
    "metrics": "jella",
    "model_selection": "jella",
    "plot": "jella",
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
    "Adjuster",
    "Basic",
    "Completer",
    "LMaFitSOR",
    "MultiView",
    "Problem",
    "Progress",
    "Result",
    "SparseBDR",
    "__version__",
    "align",
    "cluster",
    "complete",
    "datasets",
    "get_limits",
    "io",
    "load",
    "metrics",
    "model_selection",
    "plot",
    "report",
    "set_limits",
    "show_progress",
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
