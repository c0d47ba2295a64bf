"""Fit DAIMC of the package iMML to views stored in a file; runs in an environment of its own that has iMML.

Run: python benchmarks/imml_daimc.py IN.npz OUT.npz

IN holds `n_clusters` and `view_0`, `view_1`, ... (samples as rows, a missing sample is a row of NaN). OUT gets
`seconds` (CPU time of the fit alone), `labels`, `embedding`, `basis_0`, ..., and `regression_0`, ....
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits


def timed(warm_up: Callable[[], Any], fit: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of `fit` on one thread, after a warm-up that loads all libraries, and its result."""
    with threadpool_limits(1):
        warm_up()
    with threadpool_limits(1):  # again: for the libraries that the warm-up loaded
        start = time.process_time()
        result = fit()
        return time.process_time() - start, result


def main(source: str, target: str) -> None:
    from imml.cluster import DAIMC

    with np.load(source) as file:
        views = [file[f"view_{v}"] for v in range(sum(name.startswith("view_") for name in file))]
        k = int(file["n_clusters"])
    few = [np.nan_to_num(X[: 5 * k]) for X in views]
    seconds, model = timed(
        lambda: DAIMC(n_clusters=k, alpha=1.0, beta=1.0, random_state=0).fit(few),
        lambda: DAIMC(n_clusters=k, alpha=1.0, beta=1.0, random_state=0).fit(views),
    )
    bases = {f"basis_{v}": U for v, U in enumerate(model.U_)}
    regressions = {f"regression_{v}": R for v, R in enumerate(model.B_)}
    np.savez(target, seconds=seconds, labels=model.labels_, embedding=model.embedding_, **bases, **regressions)


if __name__ == "__main__":
    main(*sys.argv[1:3])
