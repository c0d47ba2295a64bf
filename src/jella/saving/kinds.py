"""The kinds of values that a model may hold besides plain values and arrays: names, parts, and building from parts.

A file names kinds and never code: a kind that is not in these tables is neither written nor read.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from jella.graphs.spectral import ClusterPath
from jella.problem.model import Blocks, Problem
from jella.problem.terms import Support
from jella.problem.terms.base import Part, concrete_subclasses
from jella.problem.terms.block_diagonal import BlockState
from jella.problem.terms.sample_norm import RobustState
from jella.readout.base import FitSamples
from jella.readout.clusters import IndicatorClusters, KMeansClusters, NeighbourClusters
from jella.readout.low_rank import LowRankReadout
from jella.readout.neighbours import NeighbourReadout
from jella.solve.relaxation import Relaxation
from jella.solve.solver import Result, Sweep
from jella.views import Schema, View, Views
from jella.views.scaling import Scaling, ViewScale

#: records that fitted models hold
RECORDS: tuple[type, ...] = (
    Blocks,
    BlockState,
    ClusterPath,
    FitSamples,
    IndicatorClusters,
    KMeansClusters,
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


def texts_apart(array: np.ndarray) -> dict[str, Any]:
    """The texts of an array of objects, in order."""
    values = array.ravel().tolist()
    if not all(type(value) is str for value in values):
        raise UnsaveableError("an array of objects that are not all text")
    return {"values": values, "shape": list(array.shape)}


def texts_together(values: list[str], shape: list[int]) -> np.ndarray:
    """The array of objects with these texts."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


def csr_apart(matrix: sparse.csr_array) -> dict[str, Any]:
    """The three arrays of a sparse array, and its shape."""
    return {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": list(matrix.shape)}


def csr_together(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: list[int]) -> sparse.csr_array:
    """The sparse array; each index is checked."""
    matrix = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
    # compiled products trust the indices: an index out of range would read foreign memory
    matrix.check_format(full_check=True)
    return matrix


def support_apart(support: Support) -> dict[str, Any]:
    """The starting weights of the pairs, each once: a support reads the upper triangle only."""
    shape = support.n_samples, support.n_samples
    return {"weights": sparse.csr_array((support.start, (support.rows, support.columns)), shape=shape)}


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
    centers: np.ndarray, labels: np.ndarray, *, inertia: float, n_iter: int, n_init: int, seed: int | None
) -> KMeans:
    """A k-means that predicts with the given centres."""
    # a fit to one point per cluster sets all attributes that predict needs, whatever scikit-learn calls them
    points = np.arange(centers.size, dtype=centers.dtype).reshape(centers.shape)
    model = KMeans(centers.shape[0], init=points, n_init=1).fit(points)
    model.set_params(init="k-means++", n_init=n_init, random_state=seed)
    model.cluster_centers_, model.labels_ = centers, labels
    model.inertia_, model.n_iter_ = inertia, n_iter
    return model


#: arrays of objects, which NumPy would pickle
TEXTS = Kind("texts", texts_apart, texts_together)
#: NumPy scalars
SCALAR = Kind("scalar", lambda value: {"array": np.asarray(value)}, lambda array: array[()])

#: kinds of Python, SciPy, scikit-learn, and those of the library that are not rebuilt from their parameters
SPECIAL: dict[type, Kind] = {
    float: Kind("float", lambda value: {"text": repr(value)}, lambda text: float(text)),
    bytes: Kind("bytes", lambda value: {"hex": value.hex()}, lambda hex: bytes.fromhex(hex)),
    tuple: Kind("tuple", lambda value: {"items": list(value)}, lambda items: tuple(items)),
    dict: Kind(
        "dict",
        lambda value: {"keys": list(value), "values": list(value.values())},
        lambda keys, values: dict(zip(keys, values, strict=True)),
    ),
    sparse.csr_array: Kind("csr_array", csr_apart, csr_together),
    KMeans: Kind("KMeans", kmeans_apart, kmeans_together),
    Support: Kind("Support", support_apart, Support),
}


def kinds_by_type() -> dict[type, Kind]:
    """All kinds but those of NumPy and pandas, by the exact type of the values."""
    parts = [*concrete_subclasses(Part), *concrete_subclasses(Relaxation)]
    ours = [cls for cls in parts if cls.__module__.startswith("jella.")]
    return {**{cls: constructed(cls) for cls in (*RECORDS, *_ADDED, *ours)}, **SPECIAL}
