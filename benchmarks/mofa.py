"""SparseBDR beside MOFA+ and KNNImputer on small data: processor seconds of one core for labels, in one run.

Run: python benchmarks/mofa.py --mofa-python PYTHON [--sizes 1000 10000]

Ten planted groups in two views of 50 features, in double precision. By default 30 % of the samples lack a view, and
30 % of the other entries are missing (the data of scale.py); --missing views and --missing nothing leave more. Each
fit runs in a process of its own, on one thread, after a fit to 300 samples that loads what is loaded once. MOFA+
(mofapy2 in the environment of --mofa-python) has 15 factors, then k-means; it ends by its own rule, or after `SHORT`
iterations.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from measuring import machine
from scale import RATE, K, make_views

FILE = Path(__file__).parent / "results" / "mofa.txt"
FACTORS, SHORT, WARM = 15, 20, 300
MISSING = ("views and entries", "views", "nothing")
METHODS = ("SparseBDR", "MOFA+", f"MOFA+, {SHORT} iterations", "KNNImputer + SpectralClustering")


def data(n: int, missing: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Views, NaN where missing, and groups."""
    if missing == MISSING[0]:
        views, groups = make_views(n)
        return [X.astype(np.float64) for X in views], groups
    rng = np.random.default_rng(0)
    groups = rng.integers(K, size=n)
    lost = np.where(rng.random(n) < RATE, rng.integers(2, size=n), -1)
    views = []
    for v in range(2):
        inner, spread = 2.0 * rng.standard_normal((K, 8)), rng.standard_normal((8, 50))
        X = (inner[groups] + rng.standard_normal((n, 8))) @ spread + rng.standard_normal((n, 50))
        X[(lost == v) & (missing == MISSING[1])] = np.nan
        views.append(X)
    return views, groups


def labels_of(method: str, views: list[np.ndarray]) -> np.ndarray:
    if method == "SparseBDR":
        import jella

        return np.asarray(jella.SparseBDR(K, random_state=0).fit(views).labels_)
    from sklearn.cluster import KMeans, SpectralClustering

    if method.startswith("KNN"):
        from sklearn.impute import KNNImputer

        filled = KNNImputer().fit_transform(np.concatenate(views, axis=1))
        return np.asarray(SpectralClustering(K, affinity="nearest_neighbors", random_state=0).fit_predict(filled))
    from mofapy2.run.entry_point import entry_point

    with redirect_stdout(StringIO()):  # it prints its progress
        model = entry_point()
        model.set_data_options(scale_views=False)
        model.set_data_matrix([[X.copy()] for X in views], likelihoods=["gaussian"] * len(views))
        model.set_model_options(factors=FACTORS)
        model.set_train_options(seed=1, quiet=True, **({"iter": SHORT} if "iterations" in method else {}))
        model.build()
        model.run()
    factors = model.model.nodes["Z"].getExpectation()
    return np.asarray(KMeans(K, n_init=10, random_state=0).fit_predict(factors))


def measure(method: str, n: int, missing: str) -> dict[str, Any]:
    """Processor seconds and agreement with the groups."""
    from sklearn.metrics import adjusted_rand_score

    views, groups = data(n, missing)
    labels_of(method, data(WARM, missing)[0])
    started = time.process_time()
    labels = labels_of(method, views)
    return {"seconds": time.process_time() - started, "ari": float(adjusted_rand_score(groups, labels))}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--missing", nargs="*", default=[MISSING[0]], choices=MISSING)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=METHODS)
    parser.add_argument("--mofa-python", help="Python of an environment with mofapy2; without it MOFA+ is left out")
    parser.add_argument("--one", nargs=3, help="measure one fit in this process and print JSON")
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(measure(chosen.one[0], int(chosen.one[1]), chosen.one[2])))
        return
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    lines = [f"{machine()}; two views of 50 features, processor seconds (adjusted Rand index)"]
    lines.append(f"{'missing':20s}{'n':>8s}" + "".join(f"{method:>34s}" for method in chosen.methods))
    print("\n".join(lines), flush=True)
    for missing in chosen.missing:
        for n in chosen.sizes:
            cells = []
            for method in chosen.methods:
                python = chosen.mofa_python if method.startswith("MOFA") else sys.executable
                if python is None:
                    cells.append("not measured")
                    continue
                command = [python, __file__, "--one", method, str(n), missing]
                done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **one})
                found = json.loads(done.stdout.strip().splitlines()[-1])
                cells.append(f"{found['seconds']:.2f} ({found['ari']:.3f})")
            lines.append(f"{missing:20s}{n:8,d}" + "".join(f"{cell:>34s}" for cell in cells))
            print(lines[-1], flush=True)
    FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
