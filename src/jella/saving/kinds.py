"""The kinds of values that a model may hold besides plain values and arrays: names, parts, and building from parts.

A file names kinds and never code: a kind that is not in these tables is neither written nor read.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from jella.evidence.confidence import Confidence
from jella.evidence.gather import ClusterEvidence
from jella.graphs.cluster_path import ClusterPath
from jella.problem.model import Blocks, Problem
from jella.problem.terms import Support
from jella.problem.terms.base import Part, concrete_subclasses
from jella.problem.terms.block_diagonal import BlockState
from jella.problem.terms.sample_norm import RobustState
from jella.readout.base import FitSamples
from jella.readout.clusters import IndicatorClusters, KMeansClusters, NeighbourClusters
from jella.readout.landmarks import Landmarks
from jella.readout.low_rank import LowRankReadout
from jella.readout.neighbours import NeighbourReadout
from jella.saving.hints import check_hint, hints_of
from jella.saving.imputer_rules import IMPUTER_RECORDS
from jella.saving.rules import check_record, need_array, require
from jella.solve.relaxation import Relaxation
from jella.solve.solver import Result, Sweep
from jella.views import Schema, View, Views
from jella.views.adjustment import Adjustment
from jella.views.categories import Category
from jella.views.effects import Covariate, Design
from jella.views.kinds import Kinds
from jella.views.scaling import Scaling, ViewScale

#: records that fitted models hold
RECORDS: tuple[type, ...] = (
    Adjustment,
    Blocks,
    BlockState,
    Category,
    ClusterPath,
    Confidence,
    ClusterEvidence,
    Covariate,
    Design,
    FitSamples,
    IndicatorClusters,
    Kinds,
    KMeansClusters,
    Landmarks,
    LowRankReadout,
    NeighbourClusters,
    NeighbourReadout,
    Problem,
    Result,
    RobustState,
    Scaling,
    Schema,
    Sweep,
    View,
    Views,
    ViewScale,
    *IMPUTER_RECORDS,
)
#: records that other packages add with `register`
_ADDED: list[type] = []
T = TypeVar("T", bound=type)


def register(cls: T) -> T:
    """Let files hold records of this class; a decorator."""
    _ADDED.append(cls)
    return cls


class UnsaveableError(Exception):
    """A value that a model file cannot hold; its text says what the value is."""


@dataclass(frozen=True)
class Kind:
    """A kind of value: its name in files, a function from value to parts, and one from parts (by keyword) to value."""

    name: str
    apart: Callable[[Any], dict[str, Any]]
    together: Callable[..., Any]
    #: an object that several attributes hold is written only once
    shared: bool = False


def constructed(cls: type) -> Kind:
    """The kind of a class whose objects store their arguments under the names of the parameters."""
    names = tuple(inspect.signature(cls).parameters)
    return Kind(cls.__name__, lambda value: {name: getattr(value, name) for name in names}, cls)


def recorded(cls: type) -> Kind:
    """The kind of a record: as `constructed`, with its fields checked, each by itself and all together."""
    kind = constructed(cls)

    def together(**parts: Any) -> Any:
        for name, value in parts.items():
            check_hint(value, hints_of(cls).get(name, Any), name)
        record = cls(**parts)
        check_record(record)
        return record

    return replace(kind, together=together)


def texts_apart(array: np.ndarray) -> dict[str, Any]:
    """The texts of an array of objects, in order."""
    values = array.ravel().tolist()
    if not all(type(value) is str for value in values):
        raise UnsaveableError("an array of objects that are not all text")
    return {"values": values, "shape": list(array.shape)}


def texts_together(values: list[str], shape: list[int]) -> np.ndarray:
    """The array of objects with these texts."""
    check_hint(values, list[str], "texts")
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


def csr_apart(matrix: sparse.csr_array) -> dict[str, Any]:
    """The three arrays of a sparse array, and its shape."""
    return {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": list(matrix.shape)}


def csr_together(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: list[int]) -> sparse.csr_array:
    """The sparse array; each index is checked."""
    check_hint(shape, list[int], "shape")
    for array, what, kinds in ((data, "values", "biuf"), (indices, "indices", "i"), (indptr, "indptr", "i")):
        need_array(array, (None,), f"the {what} of a sparse array", kinds)
    require(len(shape) == 2 and min(shape) >= 0 and max(shape) < 2**31, "a sparse array with two dimensions")
    matrix = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
    # compiled products trust the indices: an index out of range would read foreign memory
    matrix.check_format(full_check=True)
    return matrix


def support_apart(support: Support) -> dict[str, Any]:
    """The starting weights of the pairs, each once: a support reads the upper triangle only."""
    shape = support.n_samples, support.n_samples
    return {"weights": sparse.csr_array((support.start, (support.rows, support.columns)), shape=shape)}


def support_together(weights: sparse.csr_array) -> Support:
    """The support of these weights."""
    require(isinstance(weights, sparse.csr_array) and weights.shape[0] == weights.shape[1], "a square sparse array")
    need_array(weights.data, (None,), "weights of pairs")
    return Support(weights)


def kmeans_apart(model: KMeans) -> dict[str, Any]:
    """Centres, labels and the settings that are plain values."""
    return {
        "centers": model.cluster_centers_,
        "labels": model.labels_,
        "inertia": model.inertia_,
        "n_iter": model.n_iter_,
        "n_init": model.n_init,
        "seed": model.random_state if isinstance(model.random_state, int) else None,
    }


def kmeans_together(
    centers: np.ndarray, labels: np.ndarray, *, inertia: float, n_iter: int, n_init: Any, seed: int | None
) -> KMeans:
    """A k-means that predicts with the given centres."""
    k, r = need_array(centers, (None, None), "the centres of k-means").shape
    require(k >= 1 and r >= 1, "at least one cluster")
    m = need_array(labels, (None,), "the labels of k-means", "iu").shape[0]
    require(m >= 1 and labels.min() >= 0 and labels.max() < k, f"labels of {k} clusters")
    for value, hint, name in ((inertia, float, "inertia"), (n_iter, int, "n_iter"), (seed, int | None, "random_state")):
        check_hint(value, hint, name)
    require(n_init == "auto" or (type(n_init) is int and n_init >= 1), "a number of starts of k-means")
    # a fit to one point sets all attributes that predict needs, whatever scikit-learn calls them
    point = np.zeros((1, r), dtype=centers.dtype)
    model = KMeans(1, init=point, n_init=1).fit(point)
    model.set_params(n_clusters=k, init="k-means++", n_init=n_init, random_state=seed)
    model.cluster_centers_, model.labels_ = np.ascontiguousarray(centers), labels
    model.inertia_, model.n_iter_ = inertia, n_iter
    return model


def scalar_together(array: np.ndarray) -> Any:
    """The NumPy scalar in an array without dimensions."""
    return need_array(array, (), "a scalar", "biufUMm", finite=False)[()]


def sequence_together(items: list[Any]) -> tuple[Any, ...]:
    """The tuple of these items."""
    require(type(items) is list, "a list of items")
    return tuple(items)


def mapping_together(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    """The dict of these keys and values, which must be lists of the same length; each key once."""
    require(type(keys) is list and type(values) is list, "lists of keys and of values")
    found = dict(zip(keys, values, strict=True))
    require(len(found) == len(keys), "each key once")
    return found


#: arrays of objects, which NumPy would pickle
TEXTS = Kind("texts", texts_apart, texts_together)
#: NumPy scalars
SCALAR = Kind("scalar", lambda value: {"array": np.asarray(value)}, scalar_together)

#: kinds of Python, SciPy, scikit-learn, and those of the library that are not rebuilt from their parameters
SPECIAL: dict[type, Kind] = {
    float: Kind("float", lambda value: {"text": repr(value)}, lambda text: float(text)),
    bytes: Kind("bytes", lambda value: {"hex": value.hex()}, lambda hex: bytes.fromhex(hex)),
    tuple: Kind("tuple", lambda value: {"items": list(value)}, sequence_together),
    dict: Kind(
        "dict",
        lambda value: {"keys": list(value), "values": list(value.values())},
        mapping_together,
    ),
    sparse.csr_array: Kind("csr_array", csr_apart, csr_together),
    KMeans: Kind("KMeans", kmeans_apart, kmeans_together),
    Support: Kind("Support", support_apart, support_together),
}


def kinds_by_type() -> dict[type, Kind]:
    """All kinds but those of NumPy and pandas, by the exact type of the values."""
    parts = [*concrete_subclasses(Part), *concrete_subclasses(Relaxation)]
    ours = [cls for cls in parts if cls.__module__.startswith("jella.")]
    records = {cls: recorded(cls) for cls in (*RECORDS, *_ADDED)}
    return {**records, **{cls: constructed(cls) for cls in ours}, **SPECIAL}
