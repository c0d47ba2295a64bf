"""From an incomplete MuData to a plot: counts of genes for all cells, proteins for some; one embedding for all.

Run: python examples/mudata_to_plot.py   (needs pip install 'jella[mudata,plot]'). Saves mudata_to_plot.png.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import anndata
import mudata
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.decomposition import PCA

import jella

TYPES = ["B cell", "monocyte", "NK cell", "T cell CD4", "T cell CD8"]
N_CELLS, N_GENES, N_PROTEINS, SEED = 800, 600, 25, 0


def draw_cells() -> mudata.MuData:
    """Cells of five types: sparse counts of genes, and dense intensities of proteins that every third cell lacks."""
    rng = np.random.default_rng(SEED)
    kind = rng.integers(len(TYPES), size=N_CELLS)
    cells = pd.DataFrame({"type": pd.Categorical.from_codes(kind, TYPES)}, index=[f"cell{i}" for i in range(N_CELLS)])

    rates = rng.gamma(0.3, 1.0, size=N_GENES) * np.exp(0.9 * rng.normal(size=(len(TYPES), N_GENES)))
    depth = rng.lognormal(0.0, 0.4, size=(N_CELLS, 1))  # cells differ in their total counts
    counts = sparse.csr_matrix(rng.poisson(depth * rates[kind]).astype(np.float32))
    genes = pd.DataFrame(index=[f"gene{j}" for j in range(N_GENES)])

    levels = 2.0 + rng.normal(size=(len(TYPES), N_PROTEINS))
    proteins = (levels[kind] + 0.7 * rng.normal(size=(N_CELLS, N_PROTEINS))).astype(np.float32)
    stained = rng.random(N_CELLS) > 1 / 3
    names = pd.DataFrame(index=[f"protein{j}" for j in range(N_PROTEINS)])

    rna = anndata.AnnData(counts, obs=cells, var=genes)
    adt = anndata.AnnData(proteins[stained], obs=cells.loc[stained, []], var=names)
    with mudata.set_options(pull_on_update=False) if hasattr(mudata, "set_options") else nullcontext():
        return mudata.MuData({"rna": rna, "adt": adt})


def scatter(ax: Any, place: np.ndarray, values: Any, title: str) -> None:
    """Draw one panel: no ticks, small points, a legend beside it, as in scanpy."""
    for category in values.cat.categories:
        x, y = place[values == category].T
        ax.scatter(x, y, s=9, linewidths=0, label=category)
    ax.set(title=title, xlabel="PC1 of X_jella", ylabel="PC2 of X_jella", xticks=[], yticks=[])
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5), markerscale=2)


def main() -> None:
    import matplotlib.pyplot as plt

    mdata = draw_cells()
    found = jella.cluster(mdata, n_clusters=len(TYPES))
    print(found)
    jella.write_mudata(mdata, found.model)
    print(mdata)

    place = PCA(2).fit_transform(mdata.obsm["X_jella"])
    has = mdata.obs_names.isin(mdata["adt"].obs_names)
    mdata.obs["measured"] = pd.Categorical(np.where(has, "genes and proteins", "genes only"))
    mdata.obs["type"] = mdata["rna"].obs["type"]

    figure, axes = plt.subplots(1, 3, figsize=(15, 4), layout="constrained")
    for ax, column in zip(axes, ("jella_cluster", "measured", "type"), strict=True):
        scatter(ax, place, mdata.obs[column], column)
    figure.savefig("mudata_to_plot.png", dpi=120)

    agreement = jella.metrics.adjusted_rand(mdata.obs["type"], mdata.obs["jella_cluster"])
    print(f"adjusted Rand index with the types: {agreement:.2f}; saved mudata_to_plot.png")


if __name__ == "__main__":
    main()
