"""NMI and ARI of all methods on incomplete real data, beside other methods that users may choose.

Run: JELLA_DATA=<folder> python benchmarks/methods_table.py [--repeats 5] [--sets Yale] [--methods MVLIV] [--draw]
     [--device cuda]

Each finished cell is appended to docs/results/methods.jsonl at once; a cell in the file is not computed again, and
--draw writes docs/results/methods.md from the file without computing. Protocol of the JELLA paper: samples of the
complete data at unit norm, then missing values (the same for all methods), defaults of each method, number of classes
given, k-means from 10 starts. Scores are means over the repeats. --device fits on an accelerator with PyTorch; the rows
in the file say which, and methods that compute in NumPy are refused.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from methods_page import draw
from real_sets import ALL, NATURAL, read_set, unit_samples
from result_cells import RATES, SETTINGS, arguments, device_argument, failure, fill, origin

import jella
from jella.datasets import make_incomplete
from jella.estimators.on_device import Device, fit_on
from jella.metrics import adjusted_rand, nmi
from jella_experiments.contenders import PAPER_SCALE
from jella_experiments.pipelines import all_features


def mean_fill_kmeans(views: dict[str, Any], k: int, y: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    X = all_features(views)
    return KMeans(k, n_init=10, random_state=seed).fit_predict(np.where(np.isnan(X), np.nanmean(X, axis=0), X))


def neighbour_spectral(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(k, affinity="nearest_neighbors", random_state=seed).fit_predict(X)


def knn_spectral(views: dict[str, Any], k: int, y: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.impute import KNNImputer

    return neighbour_spectral(KNNImputer().fit_transform(all_features(views)), k, seed)


def knn_spectral_standardised(views: dict[str, Any], k: int, y: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.impute import KNNImputer
    from sklearn.preprocessing import StandardScaler

    X = StandardScaler().fit_transform(all_features(views))
    return neighbour_spectral(KNNImputer().fit_transform(X), k, seed)


def mvliv_spectral(views: dict[str, Any], k: int, y: np.ndarray, seed: int) -> np.ndarray:
    return neighbour_spectral(jella.MVLIV(k, scale=PAPER_SCALE, random_state=seed).fit_transform(views), k, seed)


def imlbdr_by_labels(
    views: dict[str, Any], k: int, y: np.ndarray, seed: int, device: Device | None = None
) -> np.ndarray:
    """The paper's rule: from its grid of weights, the fit whose labels agree best with the truth."""
    fits = [
        fit_on(device, jella.IMLBDR(k, alpha=alpha, gamma=gamma, random_state=seed), views).labels_
        for alpha in (1e-2, 1.0, 1e2)
        for gamma in (1.0, 10.0, 1e2)
    ]
    return max(fits, key=lambda found: nmi(y, found))


def ours(name: str, **options: Any) -> Callable[..., np.ndarray]:
    def run(views: dict[str, Any], k: int, y: np.ndarray, seed: int, device: Device | None = None) -> np.ndarray:
        return fit_on(device, getattr(jella, name)(n_clusters=k, random_state=seed, **options), views).labels_

    return run


def imcl(views: dict[str, Any], k: int, y: np.ndarray, seed: int) -> np.ndarray:
    """A tenth of the samples keep their label; the score is over the others (NaN marks the ones not scored)."""
    known = np.random.default_rng(seed).random(y.size) < 0.1
    given = np.where(known, np.unique(y, return_inverse=True)[1], -1)
    found = jella.IMCL(n_clusters=k, random_state=seed).fit_predict(views, given)
    return np.where(known, np.nan, found)


def completed_then_ramc(completion: str) -> Callable[..., np.ndarray]:
    def run(views: dict[str, Any], k: int, y: np.ndarray, seed: int) -> np.ndarray:
        options = {"n_components": k} if completion == "RRMC" else {}
        full = getattr(jella, completion)(scale=PAPER_SCALE, **options).fit(views).complete(views)
        return jella.RAMC(n_clusters=k, random_state=seed).fit_predict(full)

    return run


METHODS: dict[str, Callable[..., np.ndarray]] = {
    "mean-fill + k-means": mean_fill_kmeans,
    "KNNImputer + SpectralClustering": knn_spectral,
    "KNNImputer + SpectralClustering (standardised)": knn_spectral_standardised,
    "SparseBDR": ours("SparseBDR"),
    "MVLIV": ours("MVLIV", scale=PAPER_SCALE),
    "MVLIV + SpectralClustering": mvliv_spectral,
    "PVC": ours("PVC"),
    "IMG": ours("IMG"),
    "DAIMC": ours("DAIMC"),
    "IRMKMC": ours("IRMKMC"),
    "IMCL (10 % labelled)": imcl,
    "IMLBDR": ours("IMLBDR"),
    "IMLBDR (orthonormal, affinity)": ours("IMLBDR", basis="orthonormal", labels_from="affinity"),
    "IMLBDR (weights by labels)": imlbdr_by_labels,
    "MIC": ours("MIC"),
    "RPCA + RAMC": completed_then_ramc("RPCA"),
    "RRMC + RAMC": completed_then_ramc("RRMC"),
}
WHOLE_VIEWS_ONLY = {"IRMKMC", "MIC"}
RUN_ON_DEVICES = [name for name, run in METHODS.items() if "device" in inspect.signature(run).parameters]
#: methods that scale the data themselves get the raw data; the others get unit samples, as in the paper
ON_RAW_DATA = {"KNNImputer + SpectralClustering (standardised)", "SparseBDR"}


def cells(name: str, repeats: int, methods: list[str]) -> Any:
    """Cells of a set: all methods of a mask before the next mask."""
    settings, rates = (("natural",), (0.0,)) if name in NATURAL else (SETTINGS, RATES)
    for repeat, setting, rate, method in product(range(repeats), settings, rates, methods):
        if setting != "incomplete-view" or method not in WHOLE_VIEWS_ONLY:
            yield {"set": name, "setting": setting, "rate": rate, "repeat": repeat, "method": method}


def compute(cell: dict[str, Any], raw: dict[str, Any], y: np.ndarray, device: Device | None = None) -> dict[str, Any]:
    views = raw if cell["method"] in ON_RAW_DATA else unit_samples(raw)
    holed = views
    if cell["setting"] != "natural":
        holed = make_incomplete(views, cell["rate"], cell["setting"], random_state=cell["repeat"])
    where = {} if device is None else {"device": device}
    started, cpu = time.perf_counter(), time.process_time()
    try:
        found = METHODS[cell["method"]](holed, len(np.unique(y)), y, cell["repeat"], **where)
        scored = ~np.isnan(found.astype(float))
        result = {"nmi": nmi(y[scored], found[scored]), "ari": adjusted_rand(y[scored], found[scored])}
    except Exception as error:
        if device is not None:  # it may have refused data that the method takes
            raise
        result = failure(error)
    spent = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - cpu}
    return {**cell, **result, **spent, **origin(device)}


def main() -> None:
    parser = arguments(ALL, METHODS)
    device_argument(parser)
    chosen = parser.parse_args()
    on_host = [name for name in chosen.methods if name not in RUN_ON_DEVICES]
    if chosen.device and on_host:
        parser.error(f"expected methods that run on devices, got {on_host}; name others, of {RUN_ON_DEVICES}")
    fill(
        "methods",
        lambda data: (cell for name in chosen.sets for cell in cells(name, chosen.repeats, chosen.methods)),
        lambda cell, data: compute(cell, *read_set(cell["set"], data), chosen.device),
        lambda result: result.get("error") or f"NMI {result['nmi']:.3f}, ARI {result['ari']:.3f}",
        lambda results: draw(results, list(METHODS)),
        only_draw=chosen.draw,
    )


if __name__ == "__main__":
    main()
