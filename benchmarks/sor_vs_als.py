"""Does over-relaxation reach the objective of many plain sweeps? MVL-IV with SOR against 5000 sweeps, same start.

Run: JELLA_DATA=<folder> python benchmarks/sor_vs_als.py [masks] [sweeps]
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from real_sets import SETS, folder, unit_samples

import jella
from jella.datasets import make_incomplete

TOLERANCE = 1e-4  # a relative difference to the long run up to this counts as reached


def compare(views: dict[str, np.ndarray], k: int, setting: str, mask: int, sweeps: int) -> tuple[float, float, int]:
    holed = make_incomplete(views, 0.3, setting, random_state=mask)
    options = {"n_components": k, "scale": "none", "max_iter": sweeps}
    plain = jella.MVLIV(solver="basic", tol=0.0, **options).fit(holed)
    quick = jella.MVLIV(solver="sor", tol=1e-8, **options).fit(holed)
    return float(plain.objective_[-1]), float(quick.objective_[-1]), int(quick.n_iter_)


def main(masks: int = 10, sweeps: int = 5000) -> None:
    data = folder()
    if data is None:
        print("skipped: JELLA_DATA is not set")
        return
    warnings.simplefilter("ignore")
    for name in ("Handwritten", "Caltech7"):
        views, y = SETS[name](data)
        k = len(np.unique(y))
        for setting in ("missing-view", "incomplete-view"):
            reached = 0
            for mask in range(masks):
                plain, quick, n_iter = compare(unit_samples(views), k, setting, mask, sweeps)
                reached += quick <= plain * (1 + TOLERANCE)
                gap = (quick - plain) / plain
                text = f"mask {mask}: plain {plain:.6f}  sor {quick:.6f}  {gap:+.1e}  {n_iter} sweeps"
                print(f"{name:12} {setting:16} {text}", flush=True)
            print(
                f"{name} {setting}: reached on {reached} of {masks} masks (rate .3, r = {k}, {sweeps} plain sweeps)",
                flush=True,
            )


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:3]])
