"""Laws that every estimator keeps, on small random problems: `check(seed)` draws one and says what is broken."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from common import all_terms, make
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from jella.estimators.catalogue import estimators
from jella.estimators.certain_labels import NoClearClustersWarning
from jella.estimators.framework import BaseJELLA
from jella.terms import SparseBlockDiagonal
from jella.views import read_views
from jella.views.fingerprints import fingerprints

SCALES = ("sample", "feature", "standardize", "center", "root", "auto", "none")
#: terms that can be made without data
TERMS = [kind for kind in all_terms() if kind is not SparseBlockDiagonal]


@dataclass
class Drawn:
    """A random problem: the estimator and its settings, and views with their masks."""

    kind: type[Any]
    settings: dict[str, Any]
    views: list[np.ndarray]
    masks: list[np.ndarray]
    container: str
    degenerate: str

    def estimator(self) -> Any:
        """A new estimator."""
        return make(self.kind, **self.settings)

    def data(self, views: list[np.ndarray] | None = None, order: np.ndarray | None = None) -> Any:
        """The views in their container, NaN where nothing is observed; samples in an order."""
        chosen = []
        for X, mask in zip(self.views if views is None else views, self.masks, strict=True):
            hidden = np.where(mask, X, np.asarray(np.nan, dtype=X.dtype)) if views is None else X
            hidden = hidden if order is None else hidden[order]
            chosen.append(sparse.csr_array(hidden) if self.container == "sparse" else hidden)
        if self.container == "single":
            return chosen[0]
        if self.container == "dict":
            return {f"v{i}": X for i, X in enumerate(chosen)}
        return tuple(chosen) if self.container == "tuple" else chosen

    def observed(self) -> Any:
        """The masks in their container."""
        if self.container == "single":
            return self.masks[0]
        return {f"v{i}": mask for i, mask in enumerate(self.masks)} if self.container == "dict" else list(self.masks)

    def __str__(self) -> str:
        shapes = [X.shape for X in self.views]
        data = f"{self.container} {shapes} {self.views[0].dtype} {self.degenerate}"
        return f"{self.kind.__name__}({self.settings}) on {data}"


def check(seed: int) -> str | None:
    """None if all laws hold for the problem of this seed, else what is broken."""
    drawn = draw(seed)
    try:
        wrong = _check(drawn, np.random.default_rng([seed, 1]))
    except ValueError as error:
        words = str(error)
        wrong = None if "\n" not in words and len(words) > 20 else f"refused with {words!r}"
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"
    return None if wrong is None else f"seed {seed}: {drawn}: {wrong}"


def draw(seed: int) -> Drawn:
    """The problem of a seed."""
    rng = np.random.default_rng([seed, 0])
    kind = list(estimators().values())[rng.integers(len(estimators()))]
    n, n_views = int(rng.integers(6, 25)), int(rng.integers(1, 4))
    container = str(rng.choice(["list", "tuple", "dict", "dict", "list"]))
    container = "single" if n_views == 1 and rng.random() < 0.5 else container
    widths, rank = rng.integers(1, 7, size=n_views), int(rng.integers(1, 4))
    W = rng.uniform(0.0, 1.0, (n, rank)) ** 2
    signed = rng.random() < (0.5 if kind.__name__ not in ("PVC", "IMCL", "MIC") else 0.05)
    views = [W @ rng.uniform(0.0, 1.0, (rank, d)) + 0.1 * rng.random((n, d)) for d in widths]
    views = [X - 0.4 for X in views] if signed else views
    views, degenerate = _degenerate(views, rng) if rng.random() < 0.3 else (views, "")
    pattern = str(rng.choice(["none", "rows", "entries"]))
    able = {"nothing": "none", "views": "rows", "entries": pattern}[kind().capabilities.missing]
    pattern = able if rng.random() < 0.9 and (pattern == "entries" or able == "none") else pattern
    masks = _masks(rng, n, [int(d) for d in widths], pattern)
    if rng.random() < 0.1 and pattern != "entries":
        container = "sparse" if container == "list" and pattern == "none" else container
    if rng.random() < 0.25:
        with np.errstate(all="ignore"):
            views = [X.astype(np.float32) for X in views]
        views = [np.where(np.isfinite(X), X, np.float32(0)) for X in views]
    return Drawn(kind, _settings(kind, rng, n), views, masks, container, degenerate)


def _degenerate(views: list[np.ndarray], rng: np.random.Generator) -> tuple[list[np.ndarray], str]:
    which = str(rng.choice(["zero", "constant", "equal", "tiny", "huge", "offset", "twins", "huge entry", "tiny all"]))
    v = int(rng.integers(len(views)))
    out = [X.copy() for X in views]
    if which == "zero":
        out[v][:] = 0.0
    elif which == "constant":
        out[v][:] = 3.0
    elif which == "equal":
        out = [np.repeat(X[:1], len(X), axis=0) for X in out]
    elif which == "twins":
        out = [np.repeat(X[:2], (len(X) + 1) // 2, axis=0)[: len(X)] for X in out]
    elif which == "tiny all":
        out = [X * 10.0 ** -float(rng.integers(1, 320)) for X in out]
    elif which == "huge entry":
        out[v][0, 0] = 10.0 ** float(rng.integers(1, 300))
    else:
        factor = {"tiny": 10.0 ** -float(rng.integers(1, 320)), "huge": 10.0 ** float(rng.integers(1, 300))}.get(
            which, 1.0
        )
        out[v] = out[v] * factor + (1e12 if which == "offset" else 0.0)
    return out, which


def _masks(rng: np.random.Generator, n: int, widths: list[int], pattern: str) -> list[np.ndarray]:
    """Masks (n, d) in which each sample and each feature has something observed."""
    masks = [np.ones((n, d), dtype=bool) for d in widths]
    rate = rng.uniform(0.05, 0.6)
    if pattern == "rows" and len(widths) > 1:
        lacks = rng.random((n, len(widths))) < rate
        lacks[lacks.all(axis=1), int(rng.integers(len(widths)))] = False
        for v, mask in enumerate(masks):
            mask[lacks[:, v]] = False
    if pattern == "entries":
        masks = [rng.random(mask.shape) >= rate for mask in masks]
    for mask in masks:
        for j in np.flatnonzero(~mask.any(axis=0)):
            mask[rng.integers(n)] = True if pattern == "rows" else mask[rng.integers(n)]
            mask[rng.integers(n), j] = True
            if pattern == "rows":
                break
    empty = ~np.concatenate(masks, axis=1).any(axis=1)
    masks[0][empty] = True
    return masks


def _settings(kind: type[Any], rng: np.random.Generator, n: int) -> dict[str, Any]:
    known = kind().get_params()
    settings: dict[str, Any] = {"random_state": 0, "max_iter": int(rng.integers(1, 8)), "n_init": 1, "n_steps": 3}
    settings["scale"] = str(rng.choice(SCALES)) if rng.random() < 0.7 else known["scale"]
    if not kind().capabilities.signed and rng.random() < 0.9:
        settings["scale"] = str(rng.choice(["sample", "feature", "none"]))  # the others make negative values
    if rng.random() < 0.7:
        settings["n_clusters"] = int(rng.integers(1, 5))
    if rng.random() < 0.5:
        settings["n_components"] = int(rng.integers(1, 5))
    if rng.random() < 0.2:
        settings["solver"] = str(rng.choice(["basic", "sor"]))
    if rng.random() < 0.2 and "init" in known and known["init"] == "svd":
        settings["init"] = "random"
    for name in ("alpha", "beta", "gamma", "ridge"):
        if isinstance(known.get(name), float) and rng.random() < 0.3:
            least = 0 if kind.__name__ == "IRMKMC" else -3  # whose gamma is a power above one
            settings[name] = known[name] * float(10.0 ** rng.integers(least, 4))
    if kind.__name__ == "JELLA":
        for block in ("basis", "embedding"):
            count = int(rng.integers(0, 3))
            settings[block] = [TERMS[i]() for i in rng.choice(len(TERMS), size=count, replace=False)]
    return {name: value for name, value in settings.items() if name in known}


# the laws


def _fit(drawn: Drawn, data: Any, observed: Any = None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", NoClearClustersWarning)
        return drawn.estimator().fit(data, observed=observed)


def _check(drawn: Drawn, rng: np.random.Generator) -> str | None:
    data = drawn.data()
    model = _fit(drawn, data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for law in (_finite, _never_rises, _same_answers, _completes):
            wrong = law(drawn, model, data)
            if wrong:
                return wrong
    if drawn.container == "sparse":
        return None
    return _garbage_has_no_effect(drawn, model, rng) if rng.random() < 0.5 else _order(drawn, model, rng)


def _finite(drawn: Drawn, model: Any, data: Any) -> str | None:
    for name in ("embedding_", "bases_", "view_weights_", "affinity_", "singular_values_"):
        value = getattr(model, name, None)
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
        for part in parts:
            part = part.data if sparse.issparse(part) else part
            if part is not None and not np.isfinite(part).all():
                return f"{name} is not finite"
    return None


def _never_rises(drawn: Drawn, model: Any, data: Any) -> str | None:
    if not isinstance(model, BaseJELLA):
        return None  # the rounds of the others may raise it
    values = np.asarray(model.objective_, dtype=float)
    if not np.isfinite(values).all():
        return f"objective {values}"
    share = 1e-3 if drawn.views[0].dtype == np.float32 else 1e-8
    scale = sum(float(np.abs(part).max(initial=0.0)) for part in map(np.asarray, model.history_.values()))
    rises = np.diff(values).max(initial=0.0)
    return f"the objective rises by {rises} in {values}" if rises > share * max(scale, 1e-12) else None


def _same_answers(drawn: Drawn, model: Any, data: Any) -> str | None:
    if hasattr(model, "transform") and not np.array_equal(model.transform(data), model.embedding_):
        return "transform(X) is not embedding_"
    if hasattr(model, "predict") and not np.array_equal(model.predict(data), model.labels_):
        return "predict(X) is not labels_"
    return None


def _completes(drawn: Drawn, model: Any, data: Any) -> str | None:
    if not hasattr(model, "complete") or drawn.container == "sparse":
        return None
    completed = model.complete(data)
    parts = list(completed.values()) if isinstance(completed, dict) else completed
    parts = [completed] if drawn.container == "single" else parts
    for X, mask, found in zip(drawn.views, drawn.masks, parts, strict=True):
        if not np.array_equal(found[mask], X[mask]):
            return "observed values are changed"
        if not np.isfinite(found).all():
            return "completed values are not finite"
    return None


def _garbage_has_no_effect(drawn: Drawn, model: Any, rng: np.random.Generator) -> str | None:
    garbage = [
        np.where(mask, X, rng.choice([1e9, -7.0, np.nan, np.inf], size=X.shape).astype(X.dtype))
        for X, mask in zip(drawn.views, drawn.masks, strict=True)
    ]
    other = _fit(drawn, drawn.data(garbage), drawn.observed())
    for name in ("embedding_", "labels_"):
        if hasattr(model, name) and not np.array_equal(getattr(model, name), getattr(other, name)):
            return f"values under the mask change {name}"
    return None


def _order(drawn: Drawn, model: Any, rng: np.random.Generator) -> str | None:
    order = rng.permutation(len(drawn.views[0]))
    if len(np.unique(fingerprints(read_views(drawn.data())))) < len(order):
        return None  # equal samples are told apart by their order
    name = drawn.kind.__name__
    if name == "SparseBDR":
        other = _fit(drawn, drawn.data(order=order))
        if not np.array_equal(other.embedding_, model.embedding_[order]):
            return "another order of samples changes embedding_"
        if hasattr(model, "labels_") and not np.array_equal(other.labels_, model.labels_[order]):
            return "another order of samples changes labels_"
    elif not drawn.degenerate and name in ("RPCA", "RRMC") and drawn.views[0].dtype == np.float64:
        other = _fit(drawn, drawn.data(order=order))
        if not np.isclose(other.objective_[0], model.objective_[0], rtol=1e-6, atol=1e-9):
            return f"another order of samples gives {other.objective_[0]} instead of {model.objective_[0]}"
    return None
