"""The number of clusters that SparseBDR chooses without labels, on all real sets.

Run: JELLA_DATA=<folder> python benchmarks/cluster_number.py [--sets Yale Wikipedia]

One mask (seed 0) of each setting at 30 %, and the naturally incomplete sets unchanged. A choice is near if it is off
by at most one, or by at most a fifth of the true number. Lines are appended to docs/results/cluster-number.md's table.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from real_sets import ALL, NATURAL, OTHERS, SETS, folder
from result_cells import RESULTS, SETTINGS

import jella
from jella.datasets import make_incomplete
from jella.metrics import adjusted_rand

PAGE = RESULTS / "cluster-number.md"
HEAD = """# How many clusters?

Written by `python benchmarks/cluster_number.py` (its first lines say what is measured). Near: off by at most one,
or by at most a fifth. The last four sets were not used to find the rule.

| set | setting | classes | chosen | near | ARI at the chosen number | seconds |
|---|---|---|---|---|---|---|
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="*", default=[*SETS, *NATURAL, *OTHERS])
    chosen = parser.parse_args()
    data = folder()
    if data is None:
        raise SystemExit("set JELLA_DATA to the folder with the data")
    warnings.simplefilter("ignore")
    text = PAGE.read_text() if PAGE.exists() else HEAD
    for name in chosen.sets:
        views, y = ALL[name](data)
        true = len(np.unique(y))
        for setting in ("natural",) if name in NATURAL else SETTINGS:
            if f"| {name} | {setting} |" in text:
                continue
            holed = views if setting == "natural" else make_incomplete(views, 0.3, setting, random_state=0)
            model = jella.SparseBDR(random_state=0).fit(holed)
            k = model.n_clusters_
            near = "yes" if abs(k - true) <= max(1.0, 0.2 * true) else "no"
            rand, seconds = adjusted_rand(y, model.labels_), model.result_.seconds
            text += f"| {name} | {setting} | {true} | {k} | {near} | {rand:.3f} | {seconds:.1f} |\n"
            PAGE.write_text(text)
            print(text.splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
