"""Six plots of one result in one picture: digits in three views with holes.

Run: python examples/plots_overview.py [FILE]   (needs pip install 'jella[plot]'). By default FILE is
docs/images/plots.png, where the page on plots looks for it.
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt

import jella

SAMPLES = 600


def main(path: str = "docs/images/plots.png") -> None:
    digits = jella.datasets.load_digits_views()
    full = {name: view[:SAMPLES] for name, view in digits.data.items()}
    views = jella.datasets.make_incomplete(full, 0.3, "incomplete-view", random_state=0)
    found, done = jella.cluster(views), jella.complete(views, interval=0.9)
    figure, axes = plt.subplots(3, 2, figsize=(13, 14), layout="constrained", height_ratios=(1, 1.4, 1.4))
    jella.plot.missingness(found, ax=axes[0, 0])
    jella.plot.evidence(found, ax=axes[0, 1])
    jella.plot.embedding(found, method="tsne", ax=axes[1, 0])
    jella.plot.heatmap(found, n_features=6, ax=axes[1, 1])
    jella.plot.affinity(found, ax=axes[2, 0])
    jella.plot.completed(done, full, ax=axes[2, 1])
    figure.savefig(path, dpi=80)
    print(f"saved {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
