"""Writing the results of a model into the MuData of its fit, where scanpy and muon look for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy
import sklearn
from scipy import sparse

from jella._version import __version__
from jella.describe.palette import palette
from jella.describe.picture import Picture, draw_picture
from jella.describe.subject import Fit
from jella.estimators.base import BaseMultiView
from jella.evidence.confidence import label_columns
from jella.numerics.arrays import to_numpy
from jella.views.annotated import modalities, new_annotated
from jella.views.containers import is_mudata
from jella.views.fill import fill_sparse_rows
from jella.views.frames import column_order, label


def write_mudata(mdata: Any, model: Any, key: str = "jella") -> None:
    """Write the embedding, the clusters and the completed values of a fitted model into a MuData, in place.

    Parameters
    ----------
    mdata : MuData
        The data of the fit, or some of its observations. It may have modalities that the fit did not use.
    model : fitted estimator
        Fitted on a MuData, or on a dict of AnnData or DataFrames with the names of its modalities.
    key : str, default='jella'
        The name to write under. Results that an earlier call wrote under this name are removed.

    Notes
    -----
    The following is written, as far as the model has it:

    - ``mdata.obsm["X_jella"]``: the embedding, (n, r); NaN for observations that the fit did not use.
    - ``mdata.obsm["X_jella_pca"]``: its two leading principal components, as `jella.plot.embedding` draws them.
    - ``mdata.obs["jella_cluster"]``: the clusters as categories, with their colours in
      ``mdata.uns["jella_cluster_colors"]``.
    - ``mdata.obs["jella_probability"]``: the probability of the cluster.
    - All of these also in each modality, so that scanpy can plot it by itself.
    - ``mdata[mod].layers["jella_completed"]``: the values of a modality, with estimates where X has NaN.
    - ``mdata.obsm["jella_completed_<mod>"]``: the same for all observations, if the modality lacks some.
    - ``mdata[mod].varm["jella_loadings"]``: the basis of a modality, (d, r), in the scale that the model works in.
    - ``mdata.uns["jella"]``: class, parameters, versions and the record of the fit.

    Examples
    --------
    >>> import anndata, mudata, pandas as pd, jella
    >>> rna = pd.DataFrame({"CD3": [5.0, 4.0, 1.0, 1.0], "CD19": [1.0, 1.0, 4.0, 5.0]}, index=list("abcd"))
    >>> _ = getattr(mudata, "set_options", dict)(pull_on_update=False)  # what mudata 0.4 always does
    >>> mdata = mudata.MuData({"rna": anndata.AnnData(rna), "adt": anndata.AnnData(rna[:3].add_prefix("protein "))})
    >>> jella.write_mudata(mdata, jella.MVLIV(n_components=1).fit(mdata))
    >>> mdata.obsm["X_jella"].shape, mdata.obsm["jella_completed_adt"].shape
    ((4, 1), (4, 2))
    """
    _check(mdata, model)
    parts = {name: modalities(mdata)[name] for name in model.view_names_in_}
    loadings = _loadings(model, parts)
    completed = _completed(model, parts)
    _clear(mdata, key)
    found = _of_samples(model)
    for target in (mdata, *mdata.mod.values()):
        _write_samples(target, model.sample_names_in_.get_indexer(target.obs_names), found, key)
    for name, basis in loadings.items():
        parts[name].varm[f"{key}_loadings"] = basis
    for name, done in completed.items():
        parts[name].layers[f"{key}_completed"] = done.X[: parts[name].n_obs]
        if parts[name].n_obs < mdata.n_obs:
            mdata.obsm[f"{key}_completed_{name}"] = _rows(done.X, done.obs_names.get_indexer(mdata.obs_names))
    mdata.uns[key] = _record(model)


def _check(mdata: Any, model: Any) -> None:
    """Refuse other objects than a MuData and a model of it, before anything is written."""
    if not is_mudata(mdata):
        raise ValueError(
            f"expected a MuData, got {type(mdata).__name__}; make one with mudata.MuData({{'name': adata}})"
        )
    if mdata.is_view:
        raise ValueError("expected a MuData with its own data, got a view of another; pass a copy made with .copy()")
    if not isinstance(model, BaseMultiView) or not hasattr(model, "view_names_in_"):
        got = "one that is not fitted" if isinstance(model, BaseMultiView) else type(model).__name__
        raise ValueError(f"expected a fitted estimator, got {got}; pass for example jella.cluster(mdata).model")
    strangers = [name for name in model.view_names_in_ if name not in modalities(mdata)]
    if strangers or model.sample_names_in_ is None:
        raise ValueError(
            f"expected a model of the modalities {list(modalities(mdata))}, got one of the views "
            f"{model.view_names_in_}; fit it on the MuData"
        )
    for name in model.view_names_in_:
        obs_names = modalities(mdata)[name].obs_names
        new = obs_names[~obs_names.isin(model.sample_names_in_)]
        if len(new):
            raise ValueError(
                f"expected a model fitted on the observations of the MuData, got {len(new)} of {name!r} that its fit "
                f"did not have, {label(new, 0)} first; fit it on this MuData"
            )


def _loadings(model: Any, parts: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The basis of each modality, (d, r), in the order of its variables."""
    out = {}
    for position, (name, part) in enumerate(parts.items()):
        wanted = tuple(map(str, part.var_names))
        order = column_order(model.schema_.feature_names[position], wanted)
        if order is None:
            raise ValueError(
                f"expected modality {name!r} with the {model.schema_.n_features[position]} variables of the fit, got "
                f"{len(wanted)}, or other names; pass the MuData of the fit"
            )
        if hasattr(model, "readout_"):
            out[name] = to_numpy(model.readout_.bases[position])[order]
    return out


def _completed(model: Any, parts: Mapping[str, Any]) -> dict[str, Any]:
    """An AnnData without missing values per modality; none if the model does not complete."""
    if not hasattr(model, "complete"):
        return {}
    values = {name: new_annotated(part.X, part.obs_names, part.var_names) for name, part in parts.items()}
    return dict(model.complete(values))


def _clear(mdata: Any, key: str) -> None:
    """Remove what an earlier call wrote, since the new model may not have all of it."""
    names = [name for name in mdata.obsm if name.startswith(f"{key}_completed_")]
    places: list[tuple[Any, list[str]]] = [(mdata.obsm, names), (mdata.uns, [key])]
    for target in (mdata, *mdata.mod.values()):
        places += [
            (target.obsm, [f"X_{key}", f"X_{key}_pca"]),
            (target.obs, [f"{key}_cluster", f"{key}_probability"]),
            (target.uns, [f"{key}_cluster_colors"]),
        ]
    for part in mdata.mod.values():
        places += [(part.varm, [f"{key}_loadings"]), (part.layers, [f"{key}_completed"])]
    for place, written in places:
        for name in written:
            if name in place:
                del place[name]


def _of_samples(model: Any) -> tuple[dict[str, np.ndarray], np.ndarray | None, np.ndarray | None]:
    """What a model has found for its samples: embeddings by the end of their name, labels, and their probabilities."""
    embeddings: dict[str, np.ndarray] = {}
    if hasattr(model, "embedding_"):
        W = to_numpy(model.embedding_)
        embeddings = {"": W, "_pca": _plane(model, W)}
    if not hasattr(model, "labels_"):
        return embeddings, None, None
    known = hasattr(model, "label_probabilities_")
    sure = label_columns(model.labels_, model.label_probabilities_)["probability"] if known else None
    return embeddings, model.labels_, sure


def _write_samples(target: Any, rows: np.ndarray, found: tuple[Any, ...], key: str) -> None:
    """Write what was found into a MuData or one modality, whose observations are these rows of the fit, -1 for none."""
    import pandas as pd

    embeddings, labels, sure = found
    for end, W in embeddings.items():
        target.obsm[f"X_{key}{end}"] = _rows(W, rows)
    if labels is not None:
        names = pd.Index([str(cluster) for cluster in range(labels.max(initial=-1) + 1)])  # text, as in scanpy
        codes = np.where(rows < 0, -1, labels[rows])  # -1 becomes a missing value
        target.obs[f"{key}_cluster"] = pd.Series(pd.Categorical.from_codes(codes, names), index=target.obs_names)
        target.uns[f"{key}_cluster_colors"] = np.array(palette(len(names)))
    if sure is not None:
        target.obs[f"{key}_probability"] = np.where(rows < 0, np.nan, sure[rows])


def _plane(model: Any, W: np.ndarray) -> np.ndarray:
    """The two leading principal components of the embedding, (n, 2); NaN for observations that were dropped."""
    out = np.full((len(W), 2), np.nan)
    found = draw_picture(Fit.of_model(model), [], most=len(W))
    if isinstance(found, Picture):
        out[found.rows] = found.points
    return out


def _rows(X: Any, positions: np.ndarray) -> Any:
    """Rows of a dense or sparse array; NaN for position -1."""
    gaps = np.flatnonzero(positions < 0)
    if sparse.issparse(X):
        return fill_sparse_rows(X[positions], gaps, np.full((gaps.size, X.shape[1]), np.nan))
    return np.where((positions < 0)[:, None], np.nan, X[positions])


def _record(model: Any) -> dict[str, Any]:
    """The origin of the results, in values that HDF5 can store."""
    course = {"n_iter": "n_iter_", "converged": "converged_", "objective": "objective_", "residuals": "residuals_"}
    return {
        "class": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in model.get_params(deep=False).items()},
        "versions": {
            "jella": __version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        **{name: _plain(getattr(model, attribute)) for name, attribute in course.items() if hasattr(model, attribute)},
    }


def _plain(value: Any) -> Any:
    """Numbers, text, arrays of numbers and dicts of these unchanged; other values as text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    numbers = isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    return value if numbers or isinstance(value, bool | int | float | str) else repr(value)
