"""The paper's protocol: unit samples, missing values, k-means twenty times, NMI, adjusted Rand index and RMSE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from jella.datasets import make_incomplete
from jella.estimators.on_device import Device, fit_on
from jella.metrics import adjusted_rand, nmi, rmse
from jella.model_selection import HeldOut, held_out_error
from jella.numerics.arrays import to_numpy
from jella.numerics.kmeans import kmeans
from jella_experiments.cell import Cell
from jella_experiments.contenders import CONTENDERS, Contender

N_KMEANS = 20


def compute_cell(cell: Cell, views: Mapping[str, Any], labels: Any, device: Device | None = None) -> dict[str, Any]:
    """The result of a cell.

    Parameters
    ----------
    cell : Cell
    views : mapping of name to complete arrays (n, d_v)
    labels : array (n,)
    device : Device, optional
        The device of the fit, if the method can run on devices.

    Returns
    -------
    dict
        For 'cluster' nmi, ari, n_iter and, if the method completes, rmse (missing entries) and rmse_all (all); for
        'hold-out' error; for 'converge' objective (one value per sweep), n_iter, stopped_by, fit_seconds. Also
        device, the name of the hardware, if there is one.
    """
    contender = CONTENDERS[cell.method]
    chosen = {name: views[name] for name in (cell.views or views)}
    norms = norms_per_view(chosen)
    raw = contender.raw(dict(cell.parameters))
    true = chosen if raw else scaled_samples(chosen, norms)
    holed = true
    if cell.rate > 0:
        holed = make_incomplete(true, cell.rate, cell.setting, random_state=cell.seed)
    model = contender.make(len(np.unique(labels)), cell.seed, **dict(cell.parameters))
    if device is not None and not device.takes(model):
        device = None
    where = {} if device is None else {"device": device.hardware}
    if cell.task == "hold-out":
        moved = holed if device is None else device.tensors(holed)
        return {"error": held_out_error(model, moved, HeldOut(random_state=cell.seed)), **where}
    model = fit_on(device, model, holed)
    if cell.task == "converge":
        result = model.result_
        took = {"n_iter": result.n_iter, "stopped_by": result.stop_reason, "fit_seconds": result.seconds}
        return {"objective": result.objective.tolist(), **took, **where}
    out = scores(model, contender, labels, cell.seed) | where
    if cell.rate > 0 and hasattr(model, "complete"):
        completed = model.complete(holed)
        if raw:  # errors are those at unit samples for all methods
            true, completed = scaled_samples(true, norms), scaled_samples(completed, norms)
        out |= _errors(true, completed, holed)
    return out


def scores(model: Any, contender: Contender, labels: Any, seed: int) -> dict[str, Any]:
    """Agreement of the clusters with the truth; for k-means, the mean over 20 single starts."""
    truth = np.asarray(labels)
    found = [np.asarray(model.labels_)]
    if contender.kmeans:
        W = model.readout_.clusters.compared(to_numpy(model.embedding_))
        found = [kmeans(W, model.n_clusters, 1, seed % 2**31 + start).labels_ for start in range(N_KMEANS)]
    out = {
        "nmi": float(np.mean([nmi(truth, one) for one in found])),
        "ari": float(np.mean([adjusted_rand(truth, one) for one in found])),
    }
    result = getattr(model, "result_", None)
    return out if result is None else out | {"n_iter": result.n_iter, "stopped_by": result.stop_reason}


def norms_per_view(views: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Norm of each sample in each view, (n,); 1 for empty samples."""
    norms = {}
    for name, X in views.items():
        squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.sum(np.square(X), axis=1)
        found = np.sqrt(np.asarray(squares).ravel())
        norms[name] = np.where(found > 0, found, 1.0)
    return norms


def scaled_samples(views: Mapping[str, Any], norms: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The views with each sample divided by its norm."""
    return {
        name: sparse.csr_array(sparse.diags_array(1.0 / norms[name]) @ X)
        if sparse.issparse(X)
        else X / norms[name][:, None]
        for name, X in views.items()
    }


def _errors(true: dict[str, Any], completed: dict[str, Any], holed: dict[str, Any]) -> dict[str, float]:
    """RMSE over the missing entries, and over all entries."""
    missing = {name: np.isnan(_dense(X)) for name, X in holed.items()}
    return {"rmse": rmse(true, completed, missing=missing), "rmse_all": rmse(true, completed)}


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)
