"""Loading an estimator from a file, and what must hold between the parts of a fitted one."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from jella.estimators.base import BaseMultiView
from jella.estimators.catalogue import estimators
from jella.estimators.transformer import BaseTransformer
from jella.saving.imputer_rules import check_imputer
from jella.saving.model import OUTPUT, fitted_names, load_as
from jella.saving.rules import check_record, check_widths, need_array, need_indices, require

#: attributes that not every fit sets
SOMETIMES = {
    "embedding_",
    "labels_",
    "kmeans_",
    "n_clusters_",
    "cluster_path_",
    "graph_",
    "feature_names_in_",
    "imputer_",
    "evidence_",
    "adjustment_",
}
#: properties that may take several fits
LAZY = {"label_probabilities_"}


def load(path: str | os.PathLike[str]) -> Any:
    """The estimator in a file that `save` wrote. Nothing in the file is run, so files from strangers can be loaded too.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    model : estimator
        Of the class that was saved, with its parameters and, if it was fitted, all attributes of the fit. Arrays of
        other libraries (torch, cupy) become NumPy arrays, and a `callback` becomes None.

    Examples
    --------
    >>> import os, tempfile, jella
    >>> path = os.path.join(tempfile.mkdtemp(), "model.jella")
    >>> jella.PVC(n_clusters=3, alpha=0.1).save(path)
    >>> jella.load(path)
    PVC(alpha=0.1, n_clusters=3)
    """
    return load_as(path, estimators(), check_model)


def check_model(model: BaseMultiView) -> None:
    """Refuse a model whose parts do not go together, or that lacks some; all that its methods use is looked at."""
    model._check_parameters()
    require(model.capabilities is not None, "parameters that declare a method")
    fitted = fitted_names(type(model)) & vars(model).keys() - {OUTPUT}
    _check_output(vars(model).get(OUTPUT))
    if not fitted:
        return
    for name in sorted(fitted_names(type(model)) - SOMETIMES - {OUTPUT} - fitted):
        raise ValueError(f"expected all attributes of a fitted {type(model).__name__}, got none named {name!r}")
    check_views(model)
    if isinstance(model, BaseTransformer):
        check_answers(model)
    for name in ("objective_", "residuals_", "singular_values_", "view_weights_"):
        if name in fitted:
            need_array(getattr(model, name), (None,), name)
    for name in dir(type(model)):
        is_fitted = name.endswith("_") and not name.startswith("_") and name not in LAZY
        if is_fitted and isinstance(getattr(type(model), name), property):
            getattr(model, name)


def check_views(model: BaseMultiView) -> None:
    """Refuse names, scales and labels that do not go with the views of the fit."""
    schema = model.schema_
    require(tuple(model.view_names_in_) == schema.names, "the names of the views")
    require(model.n_features_in_ == sum(schema.n_features), "the number of features of all views")
    check_widths(model.scaling_, list(schema.n_features))
    names = vars(model).get("feature_names_in_")
    if names is not None:
        require(names.shape == (model.n_features_in_,) and all(type(one) is str for one in names), "a name per feature")
    adjustment = vars(model).get("adjustment_")
    if adjustment is not None:
        own = adjustment.schema
        require(own.names == schema.names and own.n_features == schema.n_features, "an adjustment of the views")
    n, given = _n_samples(model), model.sample_names_in_
    require(given is None or n is None or (hasattr(given, "get_indexer") and len(given) == n), "a name per sample")
    if "labels_" in vars(model):
        labels = model.labels_
        need_indices(labels, (n,), "labels", -1, max(labels.size, 1))
    if "affinity_" in vars(model):
        affinity = vars(model)["affinity_"]
        require(affinity.shape == (n, n) and np.isfinite(affinity.data).all(), "an affinity of the samples")


def check_answers(model: BaseTransformer) -> None:
    """Refuse answers of a fit that do not go with its views, or with each other."""
    readout, name = model.readout_, type(model).__name__
    require(readout.method == name, f"the answers of {name}")
    shapes = [U.shape for U in readout.bases]
    require([width for width, _ in shapes] == list(model.schema_.n_features), "bases of the views")
    check_record(readout)
    imputer = vars(model).get("imputer_")
    if imputer is not None:
        check_imputer(imputer, list(model.schema_.n_features))
    bases = model.bases_
    require(isinstance(bases, list | tuple | dict), "bases in a container")
    found = list(bases.values()) if isinstance(bases, dict) else list(bases)
    require(not isinstance(bases, dict) or {str(key) for key in bases} == set(model.schema_.names), "bases by view")
    require(len(found) == len(shapes) and all(isinstance(U, np.ndarray) for U in found), "a basis per view")
    require(sorted(U.shape for U in found) == sorted(shapes), "bases of the views")
    for U in found:
        need_array(U, (None, readout.width), "a basis")
    if "embedding_" in vars(model):
        W = need_array(model.embedding_, (None, readout.width), "the embedding", finite=False)
        empty = np.isnan(W).all(axis=1)
        require(np.isfinite(W[~empty]).all() and empty.sum() == len(model.dropped_), "a finite embedding")
        landmarks = vars(model).get("landmarks_")
        n_used = len(W) - empty.sum() if landmarks is None else landmarks.n_landmarks
        require(landmarks is None or landmarks.n_samples >= len(W) - empty.sum(), "landmarks of the samples")
        require(
            landmarks is None or landmarks.near is None or len(landmarks.near) == len(W), "landmarks of each sample"
        )
        require(readout.known is None or readout.known.prints.size == n_used, "the samples of the fit")
        n_seen = len(W) if landmarks is None else landmarks.n_samples + empty.sum()
        require(readout.known is None or int(readout.known.places.max(initial=0)) < n_seen, "places of the samples")
    if "result_" in vars(model):
        blocks = model.result_.blocks
        require([U.shape for U in blocks.bases] == shapes, "the bases of the result")
    own = vars(model).get("view_embeddings_")
    if own is not None:
        parts = list(own.values()) if isinstance(own, dict) else own
        require(isinstance(parts, list | tuple) and len(parts) == len(shapes), "an embedding per view")
        for W in parts:
            need_array(W, model.embedding_.shape, "the embedding of a view", finite=False)


def _check_output(config: Any) -> None:
    """Refuse an unknown container for the answers of `transform`."""
    known = ("default", "pandas", "polars", None)
    require(config is None or (type(config) is dict and all(one in known for one in config.values())), "a known output")


def _n_samples(model: BaseMultiView) -> int | None:
    """The number of samples that were given to the fit, where the file has one row for each."""
    for name in ("embedding_", "labels_"):
        rows = vars(model).get(name)
        if isinstance(rows, np.ndarray) and rows.ndim:
            return int(rows.shape[0])
    return None
