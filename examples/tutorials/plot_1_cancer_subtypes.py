"""
Cancer subtypes from incomplete omics
=====================================

A hospital has measured gene expression, micro-RNA and proteins of tumours. Not every tumour was measured in all three
ways, and single values failed. Which subtypes are there, what marks them, and do patients of different subtypes live
equally long?

The data of this page are made by the code below, since patient data may not be published with a library. They have the
usual shape: one table per measurement, one row per patient, empty cells where something is missing. Install what this
page needs with ``pip install 'jella[io,plot,survival]'``.
"""

# %%
# Tables in a folder
# ------------------
#
# Three hundred tumours of four subtypes. A quarter of them lacks one of the three tables, and five percent of the
# values of the others are missing.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import jella

rng = np.random.default_rng(0)
n = 300
subtype = rng.choice(4, size=n, p=[0.4, 0.3, 0.2, 0.1])
patients = [f"P{i:03d}" for i in range(n)]


def measured(n_features, n_marked, strength):
    """Noise, and a shift of some features in each subtype."""
    shift = np.zeros((4, n_features))
    for group in range(4):
        marked = rng.choice(n_features, n_marked, replace=False)
        shift[group, marked] = strength * rng.choice([-1, 1], n_marked)
    shared = rng.normal(size=(n, 2)) @ rng.normal(size=(2, n_features)) * 0.4  # age, tumour purity, ...
    return shift[subtype] + shared + rng.normal(size=(n, n_features))


tables = {
    "mrna": pd.DataFrame(measured(120, 20, 1.8), index=patients, columns=[f"gene{j}" for j in range(120)]),
    "mirna": pd.DataFrame(measured(60, 10, 1.5), index=patients, columns=[f"mir{j}" for j in range(60)]),
    "protein": pd.DataFrame(measured(40, 8, 1.5), index=patients, columns=[f"prot{j}" for j in range(40)]),
}
holed = jella.datasets.make_incomplete(tables, 0.25, random_state=1)  # whole views
holed = {name: table.dropna(how="all") for name, table in holed.items()}
holed = {name: table.mask(rng.random(table.shape) < 0.05) for name, table in holed.items()}

folder = Path(tempfile.mkdtemp()) / "tumours"
folder.mkdir()
for name, table in holed.items():
    table.round(4).to_csv(folder / f"{name}.csv", index_label="patient")

# %%
# Read them
# ---------
#
# `jella.io.read` takes the folder. Samples are matched by the first column, and every decision is printed: read it
# before you go on.

data = jella.io.read(folder)
print(data)

# %%
# What is missing
# ---------------
#
# Patients in columns, sorted by what they lack. A method that needs complete patients would lose a quarter of them.

jella.plot.missingness(data.views)

# %%
# Find the subtypes
# -----------------
#
# Without a number of clusters, jella looks for the numbers that the data support: it fits again on parts of the
# patients and compares with data without groups.

found = jella.cluster(data.views)
print(found)

# %%
# The printed text says what to believe: whether the clusters are clear, which patients are uncertain, and how each
# table was scaled and weighted. Here we know the true subtypes, so we can check. In a real study you would compare
# with what is known about some of the patients.

truth = pd.Series(subtype, index=patients)[found.sample_names]
print("agreement with the true subtypes (1 is perfect):", round(jella.metrics.adjusted_rand(truth, found.labels), 2))

print(found.as_frame().iloc[:3, :4])
jella.plot.embedding(found, method="tsne")

# %%
# Do subtypes differ in survival?
# -------------------------------
#
# Metadata never enter the fit; they are compared with the clusters afterwards. Each column is tested, and ``expected``
# is the strength that missing values alone would give. (Survival needs ``pip install 'jella[survival]'``.)

clinical = pd.DataFrame(
    {
        "age": rng.normal(60, 10, n).round(),
        "hospital": rng.choice(["north", "south"], n),
        "months": rng.exponential(np.array([60, 36, 24, 10])[subtype]).round(1),
        "died": rng.random(n) < 0.7,
    },
    index=patients,
)
found = jella.cluster(data.views, found.n_clusters, metadata=clinical, survival=("months", "died"))
print(found.metadata[["strength", "expected", "q_value", "verdict"]].round(3))
print(found.survival)

curves = found.survival.as_frame()
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for cluster, curve in curves.groupby("cluster"):
    axes.step(curve["time"], curve["survival"], where="post", label=f"cluster {cluster}")
axes.set(xlabel="months", ylabel="share alive", title="Survival of the clusters (Kaplan-Meier)", ylim=(0, 1))
axes.legend(fontsize=8)

# %%
# What marks a subtype
# --------------------
#
# Which features distinguish the clusters? The table has effects in standard deviations. The clusters were found in the
# same data, so its q-values rank features and prove nothing.

print(found.markers(n_features=2)[["cluster", "view", "feature", "effect", "q_value"]].round(3))
jella.plot.heatmap(found, n_features=6)

# %%
# Missing values
# --------------
#
# Observed values are unchanged; intervals say how sure an imputed value is. The plot compares values that the model has
# hidden from itself with what it predicted for them.

done = jella.complete(data.views, interval=0.9)
print(done)
jella.plot.completed(done)

# %%
# The same from MuData
# --------------------
#
# If your data are in a MuData file, pass the object; nothing else changes. Results are written where scanpy looks for
# them. (Files with many cells: see :doc:`/mudata`.)

import anndata
import mudata

getattr(mudata, "set_options", dict)(pull_on_update=False)  # what mudata 0.4 always does
mdata = mudata.MuData({name: anndata.AnnData(table) for name, table in holed.items()})
model = jella.SparseBDR(n_clusters=found.n_clusters, random_state=0).fit(mdata)
jella.write_mudata(mdata, model)
print(mdata.obs["jella_cluster"].value_counts())

# %%
# New patients
# ------------
#
# A new patient may have one table only. The model places it among the others.

new = {"protein": holed["protein"].iloc[:5]}
print(found.model.predict(new), found.model.predict_proba(new).max(axis=1).round(2))

# %%
# From the command line
# ---------------------
#
# The whole page is also one command; ``report.html`` in the folder ``found`` shows all of it on one page:
#
# .. code-block:: console
#
#    $ jella info tumours/
#    $ jella cluster tumours/ -o found --metadata clinical.csv --survival months,died
#    $ jella report found
