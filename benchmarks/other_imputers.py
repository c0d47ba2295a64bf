"""Complete views with imputers of other packages; runs in an environment of its own that has the package.

Run: python benchmarks/other_imputers.py METHOD IN.npz OUT.npz
or:  python benchmarks/other_imputers.py, then one line of JSON per request, {"method": ..., "source": IN.npz,
     "target": OUT.npz}; each is answered by one line. One process serves many requests, since imports take seconds.

IN holds `seed` and `view_0`, `view_1`, ... (samples as rows, NaN is missing); OUT gets the completed views under the
same names. The answer has the seconds and CPU seconds of the method alone, the peak memory of the process so far (GiB)
and the versions of the packages; or the error.

All methods but the mean get standardised features: minus the mean of the observed values, divided by their standard
deviation; the results are transformed back. Features whose observed values are all equal are kept from the methods and
completed by that value, by 0 if nothing was observed. Environment:
    python3.12 -m venv <env>; <env>/bin/pip install mofapy2 fancyimpute MissForest lightgbm tqdm "scikit-learn==1.7.*"
(fancyimpute 0.7 needs scikit-learn below 1.8).
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np

Views = list[np.ndarray]
Impute = Callable[[Views, int], Views]


def mean(views: Views, seed: int) -> Views:
    return [np.where(np.isnan(X), _observed_mean(X), X) for X in views]


def knn(X: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.impute import KNNImputer

    return KNNImputer().fit_transform(X)


def iterative(X: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(n_nearest_features=20, max_iter=5, random_state=seed).fit_transform(X)


def soft_impute(X: np.ndarray, seed: int) -> np.ndarray:
    from fancyimpute import SoftImpute

    np.random.seed(seed)  # noqa: NPY002 - it draws from the global generator
    return SoftImpute(verbose=False).fit_transform(X)


def miss_forest(X: np.ndarray, seed: int) -> np.ndarray:
    import pandas as pd
    from lightgbm import LGBMRegressor
    from missforest import MissForest

    # its own default regressor, on one thread and with a seed
    regressor = LGBMRegressor(verbosity=-1, linear_tree=True, n_jobs=1, random_state=seed)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    return np.asarray(MissForest(rgr=regressor, verbose=0).fit_transform(frame)[frame.columns], dtype=float)


def mofa(views: Views, seed: int) -> Views:
    from mofapy2.run.entry_point import entry_point

    model = entry_point()
    model.set_data_options(scale_views=False)
    model.set_data_matrix([[X.copy()] for X in views], likelihoods=["gaussian"] * len(views))
    model.set_model_options(factors=15)
    model.set_train_options(seed=seed + 1, quiet=True)  # it takes a seed of 0 for none
    model.build()
    model.run()
    Z = model.model.nodes["Z"].getExpectation()
    fits = [
        Z @ W.T + intercept[0]
        for W, intercept in zip(model.model.nodes["W"].getExpectation(), model.intercepts, strict=True)
    ]
    return [np.where(np.isnan(X), fit, X) for X, fit in zip(views, fits, strict=True)]


def standardised(impute: Impute) -> Impute:
    """The method on standardised features that vary, and its results in the units of the data."""

    def completed(views: Views, seed: int) -> Views:
        centres = [_observed_mean(X) for X in views]
        spreads = [_quietly(np.nanstd, X) for X in views]
        vary = [~np.isnan(s) & (s > 1e-12 * np.abs(m)) for s, m in zip(spreads, centres, strict=True)]
        parts = zip(views, centres, spreads, vary, strict=True)
        found = iter(impute([(X[:, v] - m[v]) / s[v] for X, m, s, v in parts if v.any()], seed))
        results = mean(views, seed)
        for X, result, m, s, v in zip(views, results, centres, spreads, vary, strict=True):
            if v.any():
                result[:, v] = np.where(np.isnan(X[:, v]), next(found) * s[v] + m[v], X[:, v])
        return results

    return completed


def side_by_side(impute: Callable[[np.ndarray, int], np.ndarray]) -> Impute:
    """A method for one table on the features of all views."""

    def completed(views: Views, seed: int) -> Views:
        return np.split(impute(np.hstack(views), seed), np.cumsum([X.shape[1] for X in views])[:-1], axis=1)

    return completed


#: the method, and the packages whose versions are told
METHODS: dict[str, tuple[Impute, tuple[str, ...]]] = {
    "mean": (mean, ("numpy",)),
    "KNNImputer": (standardised(side_by_side(knn)), ("scikit-learn",)),
    "IterativeImputer": (standardised(side_by_side(iterative)), ("scikit-learn",)),
    "SoftImpute": (standardised(side_by_side(soft_impute)), ("fancyimpute",)),
    "MOFA+": (standardised(mofa), ("mofapy2",)),
    "MissForest": (standardised(side_by_side(miss_forest)), ("MissForest", "lightgbm")),
}


def serve(method: str, source: str, target: str) -> dict[str, Any]:
    """Complete the views of a file; what there is to tell about it."""
    impute, packages = METHODS[method]
    with np.load(source) as file:
        views = [file[f"view_{v}"] for v in range(sum(name.startswith("view_") for name in file))]
        seed = int(file["seed"])
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            _warm_up(method)
            begin, cpu = time.perf_counter(), time.process_time()
            completed = impute(views, seed)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    spent = {"seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - cpu}
    np.savez(target, **{f"view_{v}": X for v, X in enumerate(completed)})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {**spent, "peak_gib": peak, "versions": {name: version(name) for name in packages}}


@lru_cache
def _warm_up(method: str) -> None:
    """Load the libraries of a method, by a small run, so that its time is not theirs."""
    X = np.random.default_rng(0).normal(size=(30, 40))
    X[:5, :4] = np.nan
    METHODS[method][0]([X[:, :20], X[:, 20:]], 0)


def _observed_mean(X: np.ndarray) -> np.ndarray:
    return np.nan_to_num(_quietly(np.nanmean, X), nan=0.0)


def _quietly(statistic: Callable[..., np.ndarray], X: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # features without any value
        return statistic(X, axis=0)


def main() -> None:
    warnings.simplefilter("ignore")
    if len(sys.argv) > 1:
        print(json.dumps(serve(*sys.argv[1:4])))
        return
    for line in sys.stdin:
        print(json.dumps(serve(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
