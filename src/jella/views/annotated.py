"""AnnData and MuData, in and out. Their packages are imported only to make new objects."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from scipy import sparse

from jella.numerics.arrays import Array
from jella.views.containers import is_mudata


def modalities(mdata: Any) -> Mapping[str, Any]:
    """The AnnData objects of a MuData, by name."""
    if mdata.axis == 1:
        raise ValueError("expected a MuData whose modalities share observations, got axis=1; make one with axis=0")
    return mdata.mod


def matrix(raw: Any, name: str) -> Any:
    """The values X of an AnnData, which must exist and be in memory."""
    if is_mudata(raw):
        raise ValueError(f"expected an AnnData for view {name!r}, got a MuData; pass each of its modalities as a view")
    if raw.isbacked:
        raise ValueError(
            f"expected view {name!r} in memory, got an AnnData that is backed by a file; read it without backed=True"
        )
    if raw.X is None:
        raise ValueError(f"expected values in X of view {name!r}, got none; set X, for example to one of its layers")
    return raw.X


def with_values(raw: Any, X: Any) -> Any:
    """A copy of an AnnData with other values."""
    out = raw.copy()
    out.X = X
    return out


def with_more_samples(raw: Any, X: Any, lacked: Any) -> Any:
    """An AnnData with other values and with more samples; of these, everything except the values is missing.

    Parameters
    ----------
    X : values of its own observations, and then of those it lacked
    lacked : pandas Index
        Names of the observations that it lacked.
    """
    if not len(lacked):
        return with_values(raw, X)
    import anndata
    import pandas as pd

    # without X and raw, which need not be copied
    aligned = {name: dict(getattr(raw, name)) for name in ("obsm", "varm", "obsp", "varp", "layers")}
    own = anndata.AnnData(obs=raw.obs, var=raw.var, uns=deepcopy(raw.uns), **aligned)
    more = anndata.AnnData(obs=pd.DataFrame(index=lacked), var=raw.var[[]])
    keep: dict[str, Any] = {"merge": "first", "uns_merge": "first", "pairwise": True}
    out = anndata.concat([own, more], join="outer", fill_value=float("nan"), **keep)
    out.X = X
    return out


def new_annotated(X: Array, sample_names: Any, feature_names: Any) -> Any:
    """An AnnData with values and names only."""
    import pandas as pd
    from anndata import AnnData

    columns = None if feature_names is None else pd.DataFrame(index=list(feature_names))
    return AnnData(X, obs=pd.DataFrame(index=sample_names), var=columns)


def padded(X: Any, n_more: int) -> Any:
    """The values of an AnnData, dense or sparse, followed by `n_more` rows of zeros."""
    if not n_more:
        return X
    shape = (n_more, X.shape[1])
    if sparse.issparse(X):
        return type(X)(sparse.vstack([X, sparse.csr_array(shape, dtype=X.dtype)]))
    return np.concatenate([X, np.zeros(shape, dtype=X.dtype)])


def with_modalities(mdata: Any, parts: Mapping[str, Any]) -> Any:
    """A MuData of other modalities, with the annotations of all observations and variables of the given one."""
    import mudata

    aligned = {name: getattr(mdata, name).copy() for name in ("obsm", "varm", "obsp", "varp", "obsmap", "varmap")}
    common = {"obs": mdata.obs.copy(), "var": mdata.var.copy(), "uns": deepcopy(mdata.uns), "axis": mdata.axis}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about names and future changes: the user saw them for the given one
        return mudata.MuData(dict(parts), **common, **aligned)


def renewed_mudata(mdata: Any, parts: Mapping[str, Any], rule: Any) -> Any:
    """A MuData of modalities whose observations were renamed by a rule or extended.

    What it holds of all observations is matched by the same rule; of arrays that belong to the old observations,
    none is kept.
    """
    import mudata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        out = mudata.MuData(dict(parts), uns=deepcopy(mdata.uns), axis=mdata.axis)
        common = mdata.obs.set_axis(rule.match(mdata.obs_names), axis=0)
        common = common[~common.index.duplicated()]
        out.obs = out.obs.join(common[[column for column in common if column not in out.obs]])
        return out
