"""The answers of all estimators: recorded, and compared with a recording from another state of the code.

Run: python benchmarks/answers.py --write FILE.npz [--only NAME]
     python benchmarks/answers.py --against FILE.npz [--only NAME] [--all]

Only the public interface is used, so that the code behind it may change: all estimators of `jella.__all__`, on
embedded digits and on planted groups, complete and incomplete, dense, sparse, in single precision, in another order, in
DataFrames and in Dask collections. A key is 'estimator data/variant quantity'. An answer is an array, or a word if
there is none: 'refused' for a ValueError, 'absent' for a method that does not exist, 'failed: Kind' for other errors.

Answers agree if ‖a − b‖/‖b‖ is at most 1e-10, or 1e-4 in single precision, with NaN in the same places; labels, words
and whole numbers if they are equal. The exit code is 1 if answers disagree that `EXPECTED` does not name.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
import warnings
from collections import defaultdict
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import scipy
import sklearn
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import jella
from jella.terms import L1, L21, Alignment, BlockDiagonal, Box, LearnedGraph, Linf1, NonNegative, Orthonormal, Ridge

#: intended changes since revision 159f028: pattern of keys (fnmatch) -> reason; listed separately, they are no failures
EXPECTED: dict[str, str] = {
    "SparseBDR* * *": "samples are taken in an order of their contents, so that their order does not matter",
    "cluster * *": "as SparseBDR",
    "complete * *": "as SparseBDR",
    "* * transform-fitted": "samples of the fit get their rows of embedding_",
    "* * loaded/transform-fitted": "samples of the fit get their rows of embedding_",
    "* * lazy/transform-fitted": "samples of the fit get their rows of embedding_",
    "IM* * predict-fitted": "samples of the fit get their labels",
    "IMCL* */dask* *": "it now fits Dask collections",
}

TOLERANCE, SINGLE_TOLERANCE = 1e-10, 1e-4
#: of arrays with more rows, only every STEPth row is kept
LONG, STEP = 50_000, 50
#: disagreements shown per estimator and quantity, unless --all
SHOWN = 3
#: attributes that a fit may set, except (n, n) ones
ATTRIBUTES = (
    *("objective_", "history_", "embedding_", "labels_", "bases_", "n_iter_", "converged_", "n_clusters_"),
    *("n_features_in_", "view_names_in_", "sample_names_in_", "dropped_", "residuals_", "singular_values_", "alpha_"),
    *("view_weights_", "view_embeddings_", "n_neighbors_"),
)
PAIRS = ("affinity_", "graph_")
#: those that are asked again after save and load
KEPT = ("objective_", "embedding_", "labels_", "bases_")
#: parameters by estimator, everywhere
OPTIONS: dict[str, dict[str, Any]] = {"RRMC": {"n_components": 5}}
#: fewer sweeps, so that the run takes minutes: on digits
BRIEF: dict[str, dict[str, Any]] = {
    "DAIMC": {"max_iter": 20},
    "IMCL": {"max_iter": 20},
    "IMG": {"max_iter": 15},
    "IMLBDR": {"max_iter": 15},
    "JELLA": {"max_iter": 40},
    "MIC": {"max_iter": 3, "n_steps": 20, "n_init": 2},
    "MVLIV": {"max_iter": 40},
    "PVC": {"max_iter": 15},
    "RRMC": {"max_iter": 100},
}
#: and on planted groups
FEWER: dict[str, dict[str, Any]] = {"IMCL": {"max_iter": 30}, "MIC": {"max_iter": 10}, "PVC": {"max_iter": 30}}
#: further settings of estimators, on planted groups: name -> estimator, parameters
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "SparseBDR-choosing": ("SparseBDR", {"n_clusters": None}),
    "SparseBDR-random": ("SparseBDR", {"init": "random", "n_init": 2, "n_neighbors": 5}),
    "SparseBDR-given": ("SparseBDR", {"scale": "standardize", "view_weights": [1.0, 2.0, 0.5], "n_components": 4}),
    "SparseBDR-basic": ("SparseBDR", {"solver": "basic", "alpha": 0.5, "ridge": 0.01}),
    "SparseBDR-again": ("SparseBDR", {"warm_start": True, "max_iter": 3}),
    "MVLIV-sor": ("MVLIV", {"solver": "sor"}),
    "MVLIV-lmafit": ("MVLIV", {"solver": jella.LMaFitSOR()}),
    "MVLIV-random": ("MVLIV", {"init": "random", "n_init": 3, "max_iter": 30}),
    "MVLIV-again": ("MVLIV", {"warm_start": True, "max_iter": 3}),
    "MVLIV-unlabelled": ("MVLIV", {"n_clusters": None, "n_components": 4}),
    **{
        f"MVLIV-{scale}": ("MVLIV", {"scale": scale, "view_weights": [1.0, 2.0, 0.5], "max_iter": 50})
        for scale in ("feature", "standardize", "center", "root", "auto", "none")
    },
    "PVC-sor": ("PVC", {"solver": "sor", "max_iter": 30}),
    "DAIMC-sor": ("DAIMC", {"solver": "sor"}),
    "IMG-sor": ("IMG", {"solver": "sor", "max_iter": 30}),
    "IMCL-sor": ("IMCL", {"solver": "sor", "max_iter": 30}),
    "IMLBDR-orthonormal": ("IMLBDR", {"basis": "orthonormal", "max_iter": 50}),
    "IMLBDR-affinity": ("IMLBDR", {"basis": "orthonormal", "labels_from": "affinity", "max_iter": 50}),
    "IRMKMC-random": ("IRMKMC", {"init": "random", "n_init": 3, "gamma": 2.0}),
    "MIC-given-rank": ("MIC", {"n_components": 4, "alpha": 0.1, "beta": 0.01, "max_iter": 5}),
    "RAMC-standardize": ("RAMC", {"scale": "standardize", "n_neighbors": 8}),
    "RPCA-weighted": ("RPCA", {"alpha": 0.1, "scale": "standardize", "view_weights": [1.0, 2.0, 0.5]}),
    "RRMC-standardize": ("RRMC", {"n_components": 4, "scale": "standardize"}),
    "JELLA-sparse-parts": ("JELLA", {"basis": [Ridge(0.1)], "embedding": [NonNegative(), L1(0.05)]}),
    "JELLA-row-sparse": ("JELLA", {"basis": [L21(0.01)], "embedding": ["nonnegative"], "max_iter": 60}),
    "JELLA-orthonormal": ("JELLA", {"basis": [Orthonormal()], "embedding": [Ridge(0.1)], "solver": "sor"}),
    "JELLA-box": ("JELLA", {"basis": [NonNegative(), Linf1(0.01)], "embedding": [Box(0.0, 1.0)], "max_iter": 30}),
    "JELLA-aligned": ("JELLA", {"basis": [Alignment(0.1, 1.0)], "embedding": [NonNegative()], "max_iter": 100}),
    "JELLA-graph": ("JELLA", {"basis": [Ridge(0.1)], "embedding": [LearnedGraph(1.0, 10.0)], "max_iter": 30}),
    "JELLA-blocks": ("JELLA", {"basis": [Orthonormal()], "embedding": [BlockDiagonal(3)], "max_iter": 30}),
    "JELLA-robust": ("JELLA", {"loss": "samplenorm", "embedding": ["indicator"]}),
    "JELLA-no-such-plan": ("JELLA", {"basis": [Orthonormal(), L1(0.1)]}),
}

#: variants of planted groups that are also fitted as Dask collections
LAZY = ("complete", "missing-views", "views-and-entries", "float32", "masks", "dropped", "frames", "one-view")
#: functions that are asked too
FUNCTIONS = ("cluster", "complete", "make_incomplete")

Answers = dict[str, np.ndarray]


# data


@dataclass(frozen=True)
class Data:
    """Samples to fit, samples held back, and arguments of the fit."""

    fit: Any
    new: Any
    classes: np.ndarray  # classes of some of the samples to fit, -1 for the others
    k: int
    options: dict[str, Any] = field(default_factory=dict)
    observed: Any = None
    new_observed: Any = None


def each(views: Any, function: Any) -> Any:
    """The function applied to each view, in the container of the views."""
    if isinstance(views, dict):
        return {name: function(X) for name, X in views.items()}
    return [function(X) for X in views] if isinstance(views, list) else function(views)


def split(views: Any, n: int, y: np.ndarray, k: int, **more: Any) -> Data:
    """The first n samples to fit, a third of them with their class; the others held back."""
    classes = np.where(np.arange(n) % 3 == 0, y[:n], -1)
    return Data(each(views, lambda X: X[:n]), each(views, lambda X: X[n:]), classes, k, **more)


def without_views(views: Any, share: float, seed: int) -> Any:
    """The views, where a share of the samples lacks one view."""
    rng, names = np.random.default_rng(seed), list(views) if isinstance(views, dict) else range(len(views))
    holed = each(views, np.copy)
    n = len(holed[next(iter(names))])
    lost = np.where(rng.random(n) < share, rng.integers(len(names), size=n), -1)
    for v, name in enumerate(names):
        holed[name][lost == v] = np.nan
    return holed


def without_entries(views: Any, share: float, seed: int) -> Any:
    """The views with a share of the entries missing; the first feature of each view is kept."""
    rng = np.random.default_rng(seed)

    def holed(X: np.ndarray) -> np.ndarray:
        hidden = rng.random(X.shape) < share
        hidden[:, 0] = False
        return np.where(hidden, np.nan, X)

    return each(views, holed)


def variants(views: Any, n: int, y: np.ndarray, k: int) -> dict[str, Data]:
    """The same samples with missing values of several kinds, and in several kinds of arrays."""
    holed = without_views(views, 0.4, seed=1)
    order = np.concatenate([np.random.default_rng(2).permutation(n), np.arange(n, len(y))])
    made = {
        "complete": views,
        "missing-views": holed,
        "missing-entries": without_entries(views, 0.2, seed=3),
        "views-and-entries": without_entries(holed, 0.2, seed=4),
        "sparse": each(holed, sparse.csr_array),
        "float32": each(holed, lambda X: X.astype(np.float32)),
        "float32-entries": each(without_entries(holed, 0.2, seed=4), lambda X: X.astype(np.float32)),
        "permuted": each(holed, lambda X: X[order]),
    }
    return {name: split(X, n, y[order] if name == "permuted" else y, k) for name, X in made.items()}


def digits() -> dict[str, Data]:
    bunch, n, held_back = jella.datasets.load_digits_views(), 300, 40
    return variants(each(bunch.data, lambda X: X[: n + held_back]), n, bunch.target[: n + held_back], 10)


def groups(n: int, widths: tuple[int, ...], k: int = 3, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray]:
    """Non-negative views of rank k + 2 around k groups of samples, and the groups."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    W = rng.uniform(0.0, 0.5, (n, k + 2))
    W[np.arange(n), y] += 1.0
    return [W @ rng.uniform(0.0, 1.0, (k + 2, d)) + 0.1 * rng.uniform(0.0, 1.0, (n, d)) for d in widths], y


def planted() -> dict[str, Data]:
    n, held_back = 100, 20
    views, y = groups(n + held_back, (12, 9, 7))
    made = variants(views, n, y, 3)
    holed, rough = without_views(views, 0.4, seed=1), without_entries(without_views(views, 0.4, seed=1), 0.2, seed=4)
    made["signed"] = split(each(holed, lambda X: X - 1.0), n, y, 3)
    made["two-views"] = split(rough[:2], n, y, 3)
    there = ~np.isnan(rough[0]).all(axis=1)
    made["one-view"] = split(rough[0][there], 60, y[there], 3)
    made["masks"] = replace(
        split(each(rough, lambda X: np.where(np.isnan(X), 7.0, X)), n, y, 3),
        observed=each(rough, lambda X: ~np.isnan(X[:n])),
        new_observed=each(rough, lambda X: ~np.isnan(X[n:])),
    )
    empty = each(holed, np.copy)
    for X in empty:
        X[[3, 50, n + 2]] = np.nan
    made["dropped"] = split(empty, n, y, 3, options={"on_empty": "drop"})
    made["empty"] = split(empty, n, y, 3)
    made["frames"] = replace(made["missing-views"], fit=frames(holed, 0, n), new=frames(holed, n, n + held_back))
    return made


def frames(views: list[np.ndarray], first: int, last: int) -> dict[str, pd.DataFrame]:
    """The views as DataFrames, with the samples that have them; the second in another order."""
    tables = {}
    for v, X in enumerate(views):
        names = [f"s{row:03}" for row in range(first, last)]
        table = pd.DataFrame(X[first:last], index=names, columns=[f"f{v}_{j}" for j in range(X.shape[1])])
        tables[f"view{v}"] = table.dropna(how="all").iloc[:: -1 if v == 1 else 1]
    return tables


def chunked(data: Data) -> Data:
    """The same in Dask arrays, in chunks that differ from view to view, or in Dask DataFrames."""
    sizes = iter([(23, 5), (40, 3), (100, 7)] * 4)

    def lazy(X: Any) -> Any:
        frame = isinstance(X, pd.DataFrame)
        return dd.from_pandas(X, npartitions=3, sort=False) if frame else da.from_array(X, next(sizes))

    names = ("fit", "new", "observed", "new_observed")
    return replace(data, **{name: each(X, lazy) for name in names if (X := getattr(data, name)) is not None})


def in_blocks(n: int, widths: tuple[int, ...], chunk: int) -> Data:
    """Dask arrays with chunks of 8 MiB and more, which are not merged."""
    views, y = groups(n + 500, widths)
    data = split(without_views(views, 0.3, seed=5), n, y, 3)
    lazy = [each(X, lambda view: da.from_array(view, chunks=(chunk, -1))) for X in (data.fit, data.new)]
    return replace(data, fit=lazy[0], new=lazy[1])


# answers


def plain(value: Any, key: str = "") -> Answers:
    """Arrays of numbers or words, by suffix of the key: entries of containers with their place in them."""
    if hasattr(value, "compute"):
        value = value.compute()
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, pd.DataFrame):
        return {**plain(value.to_numpy(), key), **plain(value.index, f"{key}/index")}
    if isinstance(value, dict) or (
        isinstance(value, list | tuple) and any(np.ndim(x) or hasattr(x, "compute") for x in value)
    ):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {name: found for place, item in items for name, found in plain(item, f"{key}/{place}").items()}
    array = np.asarray(value)
    array = array.astype(str) if array.dtype.kind not in "biuf" else array
    return {key: array[::STEP] if array.ndim and len(array) > LONG else array}


def sketch(matrix: Any) -> np.ndarray:
    """Products of an (n, n) matrix with eight fixed vectors: they show any change, and are small."""
    places = np.arange(matrix.shape[1])[:, None]
    return np.asarray(matrix @ np.cos(places * np.arange(1.0, 9.0)))


def attempt(ask: Any) -> tuple[Any, str]:
    """The answer, or a word that says why there is none; unexpected errors are printed."""
    try:
        return ask(), ""
    except ValueError:
        return None, "refused"
    except Exception as error:
        traceback.print_exc()
        return None, f"failed: {type(error).__name__}"


def asked(ask: Any) -> Answers:
    """An answer, or a word that says why there is none."""
    found, word = attempt(lambda: plain(ask()))
    return plain(word) if word else found


def called(model: Any, method: str, *given: Any, **options: Any) -> Answers:
    """The answer of a method, which may not exist."""
    return asked(lambda: getattr(model, method)(*given, **options)) if hasattr(model, method) else plain("absent")


def filled(completed: Any, given: Any, observed: Any) -> Any:
    """Of completed arrays the imputed values, and whether the others are unchanged; frames are kept whole."""
    if isinstance(given, dict):
        return {name: filled(completed[name], X, observed and observed[name]) for name, X in given.items()}
    if isinstance(given, list):
        masks = observed or [None] * len(given)
        return dict(enumerate(filled(*one) for one in zip(completed, given, masks, strict=True)))
    if hasattr(given, "columns"):
        return completed
    new, old = plain_values(completed), plain_values(given)
    missing = np.isnan(old) if observed is None else ~plain_values(observed)
    kept = np.array_equal(new[~missing], old[~missing]) and new.dtype == old.dtype
    return {"filled": new[missing], "kept": kept, "sparse": sparse.issparse(completed)}


def plain_values(X: Any) -> np.ndarray:
    X = X.compute() if hasattr(X, "compute") else X
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def of_samples(model: Any, data: Data) -> dict[str, Answers]:
    """The answers of a fitted model for samples."""
    seen = {} if data.observed is None else {"observed": data.observed}
    new = {} if data.new_observed is None else {"observed": data.new_observed}
    found = {
        "transform": called(model, "transform", data.new, **new),
        "transform-fitted": called(model, "transform", data.fit, **seen),
        "predict": called(model, "predict", data.new, **new),
        "score": called(model, "score", data.fit, **seen),
    }
    for name, X, masks in (("complete", data.fit, seen), ("complete-new", data.new, new)):
        if hasattr(model, "complete"):
            found[name] = asked(lambda X=X, masks=masks: filled(model.complete(X, **masks), X, masks.get("observed")))
        else:
            found[name] = plain("absent")
    if isinstance(data.new, dict | list) and len(data.new) > 1 and data.new_observed is None:
        found["transform-first-view"] = called(model, "transform", first_only(data.new))
    return found


def first_only(views: Any) -> Any:
    """The first view alone, with the samples that have it."""
    name = next(iter(views)) if isinstance(views, dict) else 0
    X = views[name]
    if not hasattr(X, "columns"):
        X = X[np.flatnonzero(~np.isnan(plain_values(X)).all(axis=1))]
    return {name: X} if isinstance(views, dict) else [X, *[None] * (len(views) - 1)]


def of_fit(model: Any, names: tuple[str, ...] = ATTRIBUTES) -> dict[str, Answers]:
    """The attributes that a fit set."""
    found = {name: asked(partial(getattr, model, name)) for name in names if getattr(model, name, None) is not None}
    if names is ATTRIBUTES:
        found |= {name: plain(sketch(getattr(model, name))) for name in PAIRS if hasattr(model, name)}
    return found


def of_scaling(model: Any) -> dict[str, Answers]:
    scaling = getattr(model, "scaling_", None)
    if scaling is None:
        return {}
    return {
        "scaling_/kinds": asked(lambda: list(scaling.kinds)),
        "scaling_/weights": asked(lambda: np.array([scale.root_weight**2 for scale in scaling.scales])),
    }


def of_path(model: Any) -> dict[str, Answers]:
    path = getattr(model, "cluster_path_", None)
    names = () if path is None else ("n_clusters", "numbers", "modularity", "gap")
    return {f"cluster_path_/{name}": plain(getattr(path, name)) for name in names}


def fitted(model: Any, data: Data) -> Any:
    """The fitted model; fitted twice if it has a warm start."""
    options = {} if data.observed is None else {"observed": data.observed}
    for _ in range(2 if model.get_params().get("warm_start") else 1):
        model.fit(data.fit, data.classes, **options)
    return model


def make(name: str, k: int, options: dict[str, Any]) -> Any:
    """An estimator with the options that are its parameters."""
    kind = getattr(jella, name)
    given = {"n_clusters": k, "random_state": 0, **OPTIONS.get(name, {}), **options}
    return kind(**{key: value for key, value in given.items() if key in kind().get_params()})


def loaded(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.jella"
        model.save(path)
        return jella.load(path)


def answers(model: Any, data: Data, *, again: bool = True, lazily: bool = False) -> Answers:
    """All answers of a model on data, by quantity.

    Parameters
    ----------
    again : bool
        Ask again after save and load.
    lazily : bool
        Ask a model that was fitted in memory about Dask collections too.
    """
    _, word = attempt(lambda: fitted(model, data))
    if word:
        return {"fit": np.array(word)}
    parts = {
        "fit": plain("answered"),
        **of_fit(model),
        **of_scaling(model),
        **of_path(model),
        **of_samples(model, data),
    }
    if again:
        parts |= again_answers(model, data)
    if lazily:
        lazy = chunked(data)
        parts |= {f"lazy/{name}": found for name, found in of_samples(model, lazy).items()}
    return joined(parts)


def again_answers(model: Any, data: Data) -> dict[str, Answers]:
    """The same after save and load."""
    twin, word = attempt(lambda: loaded(model))
    if word:
        return {"loaded": plain(word)}
    parts = of_fit(twin, KEPT) | of_samples(twin, data)
    return {f"loaded/{name}": found for name, found in parts.items()}


# cases


def estimators() -> list[str]:
    """All public estimators."""
    return sorted(name for name in jella.__all__ if hasattr(getattr(jella, name), "save"))


def cases(name: str, data: dict[str, dict[str, Data]]) -> dict[str, Answers]:
    """All answers of an estimator, by data and variant."""
    found = {}
    for where, given in data["digits"].items():
        found[f"digits/{where}"] = answers(make(name, given.k, BRIEF.get(name, {})), given)
    for where, given in data["planted"].items():
        model = make(name, given.k, {**FEWER.get(name, {}), **given.options})
        found[f"planted/{where}"] = answers(model, given, lazily=where in ("missing-views", "frames"))
    for where in LAZY:
        given = chunked(data["planted"][where])
        found[f"planted/dask-{where}"] = answers(make(name, given.k, {**FEWER.get(name, {}), **given.options}), given)
    given = chunked(data["digits"]["missing-views"])
    found["digits/dask-missing-views"] = answers(make(name, given.k, BRIEF.get(name, {})), given)
    return found


def setting_cases(name: str, data: dict[str, dict[str, Data]]) -> dict[str, Answers]:
    """Answers of an estimator with other settings."""
    kind, options = SETTINGS[name]
    found = {}
    for where in ("complete", "missing-views", "views-and-entries"):
        given = data["planted"][where]
        found[f"planted/{where}"] = answers(make(kind, given.k, options), given, again=where == "missing-views")
        if where == "views-and-entries":
            found[f"planted/dask-{where}"] = answers(make(kind, given.k, options), chunked(given), again=False)
    return found


def many_cases(name: str) -> dict[str, Answers]:
    """Answers on more samples than the limits for subsampling, and on chunks that are not merged."""
    if name == "SparseBDR":
        bunch = jella.datasets.load_digits_views()
        given = split(without_views(bunch.data, 0.3, seed=6), 1500, bunch.target, 10)
        rough = split(without_entries(bunch.data, 0.3, seed=7), 1500, bunch.target, 10)
        views, y = groups(1550, (30, 20, 15), k=5)
        clear = split(without_views(views, 0.3, seed=8), 1500, y, 5)
        blocks = in_blocks(2400, (800, 600), 800)
        with dask.config.set(scheduler="threads"):
            apart = answers(make(name, 3, {"max_iter": 2}), blocks, again=False)
        return {
            "many/missing-views": answers(make(name, 10, {"max_iter": 5}), given, again=False),
            "many/missing-entries": answers(make(name, 10, {"max_iter": 3}), rough, again=False),
            "many/choosing": answers(make(name, 10, {"max_iter": 3, "n_clusters": None}), given, again=False),
            "many/planted": answers(make(name, 5, {"max_iter": 5}), clear, again=False),
            "many/planted-choosing": answers(make(name, 5, {"max_iter": 3, "n_clusters": None}), clear, again=False),
            "blocks/dask": apart,
        }
    if name in ("MVLIV", "PVC", "DAIMC", "IRMKMC", "JELLA"):
        given = in_blocks(20_000, (80, 60, 40), 6700)
        with dask.config.set(scheduler="threads"):
            return {"blocks/dask": answers(make(name, 3, {"max_iter": 3, "n_init": 1}), given, again=False)}
    return {}


def function_cases(name: str, data: dict[str, dict[str, Data]]) -> dict[str, Answers]:
    """The answer of a function: `jella.cluster`, `jella.complete`, or the values that `make_incomplete` removes."""
    found = {}
    if name == "make_incomplete":
        for setting in ("missing-view", "incomplete-view", "mcar", "mar", "mnar"):
            ask = partial(jella.datasets.make_incomplete, data["digits"]["complete"].fit, 0.3, setting, random_state=0)
            found[f"digits/{setting}"] = joined({"holes": asked(lambda ask=ask: each(ask(), np.isnan))})
        return found
    for where in ("missing-views", "views-and-entries", "sparse"):
        views = data["digits"][where].fit
        if name == "complete":
            found[f"digits/{where}"] = of_complete(views)
        else:
            found[f"digits/{where}"] = of_cluster(views, 10)
            found[f"digits/{where}-choosing"] = of_cluster(views, None)
    return found


def of_cluster(views: Any, k: int | None) -> Answers:
    done, word = attempt(lambda: jella.cluster(views, k))
    if word:
        return {"call": np.array(word)}
    names = ("labels", "embedding", "n_clusters", "sizes", "modularity", "n_missing")
    parts = {name: asked(partial(getattr, done, name)) for name in names}
    return joined({**parts, "complete": asked(lambda: filled(done.complete(), views, None))})


def of_complete(views: Any) -> Answers:
    done, word = attempt(lambda: jella.complete(views))
    if word:
        return {"call": np.array(word)}
    names = ("n_filled", "error", "mean_error", "error_by_view", "mean_error_by_view")
    parts = {name: asked(partial(getattr, done, name)) for name in names}
    return joined({**parts, "views": asked(lambda: filled(done.views, views, None))})


def joined(parts: dict[str, Answers]) -> Answers:
    return {f"{name}{more}": array for name, found in parts.items() for more, array in found.items()}


def record(only: str) -> Answers:
    """All answers of the estimators whose name has `only` in it, by key."""
    data = {"digits": digits(), "planted": planted()}
    found: dict[str, dict[str, Answers]] = {}
    for name in [*estimators(), *SETTINGS, *FUNCTIONS]:
        if only.lower() not in name.lower():
            continue
        started = time.perf_counter()
        if name in FUNCTIONS:
            found[name] = function_cases(name, data)
        elif name in SETTINGS:
            found[name] = setting_cases(name, data)
        else:
            found[name] = {**cases(name, data), **many_cases(name)}
        print(f"{name}: {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)
    return {
        f"{name} {where} {quantity}": array
        for name, by_data in found.items()
        for where, by_quantity in by_data.items()
        for quantity, array in by_quantity.items()
    }


# comparison


def difference(ours: np.ndarray | None, theirs: np.ndarray | None) -> tuple[float, str]:
    """The distance of an answer from the recorded one (0: equal), and a description in words."""
    if ours is None or theirs is None:
        return np.inf, "is new" if theirs is None else "is gone"
    if "U" in (ours.dtype.kind, theirs.dtype.kind):
        same = ours.dtype.kind == theirs.dtype.kind and np.array_equal(ours, theirs)
        return (0.0, "") if same else (np.inf, f"{in_words(ours)}, was {in_words(theirs)}")
    if ours.shape != theirs.shape or ours.dtype.kind != theirs.dtype.kind:
        return np.inf, f"{in_words(ours)}, was {in_words(theirs)}"
    if theirs.dtype.kind != "f":
        return differing(ours, theirs)
    if ours.dtype != theirs.dtype:
        return np.inf, f"{ours.dtype}, was {theirs.dtype}"
    holes = np.isnan(theirs)
    if not np.array_equal(np.isnan(ours), holes):
        return np.inf, f"NaN in {np.isnan(ours).sum()} places, was in {holes.sum()}"
    ours, theirs = (np.where(holes, 0.0, array).astype(np.float64) for array in (ours, theirs))
    apart = float(np.linalg.norm(ours - theirs))
    distance = apart / (float(np.linalg.norm(theirs)) or 1.0) if np.isfinite(apart) else np.inf
    return distance, f"{distance:.1e}"


def differing(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, str]:
    """The same for whole numbers; for labels also the agreement of the groups."""
    share = float(np.mean(ours != theirs)) if ours.size else 0.0
    if ours.ndim != 1 or ours.size < 2:
        return share, f"{share:.0%} differ" if ours.ndim else f"{ours}, was {theirs}"
    return share, f"{share:.0%} differ, adjusted Rand index {adjusted_rand_score(theirs, ours):.3f}"


def in_words(array: np.ndarray) -> str:
    if array.dtype.kind == "U":
        return str(array) if array.size < 5 else f"{array.size} words"
    return f"{array.dtype} {array.shape}"


def tolerance(key: str, theirs: np.ndarray | None) -> float:
    """The largest difference that counts as agreement: larger for data in single precision."""
    single = "float32" in key.split(" ")[1] or (theirs is not None and theirs.dtype == np.float32)
    return SINGLE_TOLERANCE if single else TOLERANCE


def compare(ours: Answers, theirs: Answers, show_all: bool) -> int:
    """Print the disagreements by estimator and quantity, the worst first; returns the number of unexpected ones."""
    groups_: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    meant: dict[str, list[str]] = defaultdict(list)
    keys, disagreeing = sorted(ours.keys() | theirs.keys()), 0
    for key in keys:
        distance, words = difference(ours.get(key), theirs.get(key))
        if distance <= tolerance(key, theirs.get(key)):
            continue
        reason = next((why for pattern, why in EXPECTED.items() if fnmatchcase(key, pattern)), None)
        if reason is not None:
            meant[reason].append(f"{key}: {words}")
            continue
        disagreeing += 1
        name, _, quantity = key.split(" ", 2)
        groups_[name, quantity].append((distance, f"{key}: {words}"))
    for (name, quantity), found in sorted(groups_.items(), key=lambda item: -max(item[1])[0]):
        found.sort(key=lambda one: -one[0])
        cases_of = sum(key.startswith(f"{name} ") and key.endswith(f" {quantity}") for key in keys)
        print(f"{name} {quantity}: {len(found)} of {cases_of} disagree")
        show([line for _, line in found], show_all)
    for reason, lines in meant.items():
        print(f"intended, {reason}: {len(lines)}")
        show(lines, show_all)
    n_meant = sum(map(len, meant.values()))
    agreeing = len(keys) - disagreeing - n_meant
    print(f"{len(keys)} compared, {agreeing} agree, {disagreeing} disagree, {n_meant} intended changes")
    return disagreeing


def show(lines: list[str], show_all: bool) -> None:
    shown = lines if show_all else lines[:SHOWN]
    for line in shown:
        print(f"  {line}")
    if len(shown) < len(lines):
        print(f"  … and {len(lines) - len(shown)} more")


def about() -> np.ndarray:
    """Versions that answers depend on."""
    return np.array([f"{module.__name__} {module.__version__}" for module in (np, scipy, sklearn, dask)])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", metavar="FILE", type=Path, help="record all answers into this .npz file")
    what.add_argument("--against", metavar="FILE", type=Path, help="compare with the answers of this file")
    parser.add_argument("--only", metavar="NAME", default="", help="estimators whose name contains this")
    parser.add_argument("--all", action="store_true", help="list all disagreements, not only the worst")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"jella of {Path(jella.__file__).parent}", file=sys.stderr)
    started = time.perf_counter()
    with threadpool_limits(1), dask.config.set(scheduler="synchronous"):
        found = record(chosen.only)
    print(f"{len(found)} answers in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    if chosen.write:
        np.savez(chosen.write, **{"about": about(), **found})
        return 0
    with np.load(chosen.against) as file:
        recorded = {key: file[key] for key in file.files}
    before = recorded.pop("about")
    if not np.array_equal(before, about()):
        print(f"recorded with {', '.join(before)}; now {', '.join(about())}")
    theirs = {key: array for key, array in recorded.items() if chosen.only.lower() in key.split(" ")[0].lower()}
    return 1 if compare(found, theirs, chosen.all) else 0


if __name__ == "__main__":
    sys.exit(main())
