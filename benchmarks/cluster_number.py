"""The number of clusters that SparseBDR chooses without labels, on all real sets.

Run: JELLA_DATA=<folder> python benchmarks/cluster_number.py [--sets Yale Wikipedia]

One mask (seed 0) of each setting at 30 %, and the naturally incomplete sets unchanged. A choice is near if it is off
by at most one, or by at most a fifth of the true number. Lines are appended to docs/results/cluster-number.md's table;
to compute lines again, delete them.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from real_sets import ALL, NATURAL, OTHERS, SETS, needed_folder
from result_cells import RESULTS, SETTINGS, SOURCE

import jella
from jella.datasets import make_incomplete
from jella.metrics import adjusted_rand

PAGE = RESULTS / "cluster-number.md"
HEAD = f"""# How many clusters?

Written by `python benchmarks/cluster_number.py` (its first lines say what is measured), with the library's source
{SOURCE}. Near: off by at most one, or by at most a fifth. Supported: the range of numbers that the data support;
clear: whether the clusters are clearer than those of data without groups. BBCSport (4 views), BUAA, Cornell and
nutrimouse had no part in finding the first rule; all sets were looked at when evidence from refits was added.

| set | setting | classes | chosen | supported | near | clear | ARI at the chosen number | seconds |
|---|---|---|---|---|---|---|---|---|
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="*", default=[*SETS, *NATURAL, *OTHERS])
    chosen = parser.parse_args()
    data = needed_folder()
    warnings.simplefilter("ignore")
    text = PAGE.read_text() if PAGE.exists() else HEAD
    for name in chosen.sets:
        views, y = ALL[name](data)
        true = len(np.unique(y))
        for setting in ("natural",) if name in NATURAL else SETTINGS:
            if f"| {name} | {setting} |" in text:
                continue
            holed = views if setting == "natural" else make_incomplete(views, 0.3, setting, random_state=0)
            begin = time.process_time()
            model = jella.SparseBDR(random_state=0).fit(holed)
            k, path, seconds = model.n_clusters_, model.cluster_path_, time.process_time() - begin
            numbers = path.supported
            range_ = f"{numbers.min()} to {numbers.max()}" if numbers.size else "none"
            near = "yes" if abs(k - true) <= max(1.0, 0.2 * true) else "no"
            clear, rand = "yes" if path.is_clear else "no", adjusted_rand(y, model.labels_)
            figures = f"{true} | {k} | {range_} | {near} | {clear} | {rand:.3f} | {seconds:.1f}"
            text += f"| {name} | {setting} | {figures} |\n"
            PAGE.write_text(text)
            print(text.splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
