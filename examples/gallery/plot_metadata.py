"""
Clusters, metadata and batches
==============================

Patients are described by two views, and a table says what else is known about them: subtype, batch, age, survival. We
compare the clusters with this table. Then we remove the effects of the batches, and compare again.
"""

# %%
# Made data
# ---------
# Three subtypes, four batches with stronger effects than the subtypes, and survival that depends on the subtype. A
# quarter of the patients lack a view.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import jella

rng = np.random.default_rng(0)
n = 160
patients = pd.Index([f"patient {i}" for i in range(n)])
subtype, batch = rng.integers(0, 3, n), rng.integers(0, 4, n)
views = {}
for name, d in (("rna", 40), ("protein", 25)):
    values = 1.5 * rng.normal(size=(3, d))[subtype] + 2.5 * rng.normal(size=(4, d))[batch] + rng.normal(size=(n, d))
    views[name] = pd.DataFrame(values, index=patients)
views = jella.datasets.make_incomplete(views, 0.25, random_state=0)
clinical = pd.DataFrame(
    {
        "subtype": np.array(["A", "B", "C"])[subtype],
        "batch": np.array(["march", "april", "may", "june"])[batch],
        "age": rng.normal(60, 10, n).round(),
        "months": rng.exponential(np.array([12, 30, 60])[subtype]).round(1),
        "died": rng.random(n) < 0.7,
    },
    index=patients,
)

# %%
# Compare the clusters with what is known
# ---------------------------------------
# Each column is tested, with q-values for the number of columns. ``expected`` is the strength that missing values alone
# would give. Here the clusters are the batches.

survival = ("months", "died")
before = jella.cluster(views, 3, metadata=clinical, survival=survival, evidence=False)
print(before.metadata[["strength", "expected", "q_value", "verdict"]].round(3))

# %%
# Remove the effects of the batches
# ---------------------------------
# ``covariates`` removes them from the observed values of each view before the fit. Now the clusters are the subtypes.

after = jella.cluster(views, 3, metadata=clinical, survival=survival, covariates="batch", evidence=False)
print(after)
print(after.metadata[["strength", "expected", "q_value", "verdict"]].round(3))
print(after.confusion(clinical["subtype"]))

# %%
# Completed values have the effects again: observed values are those that were given, bit for bit.

completed = after.complete()
seen = views["rna"].notna()
print("observed values unchanged:", completed["rna"].where(seen).equals(views["rna"].where(seen)))

# %%
# Survival of the clusters
# ------------------------
# Kaplan-Meier curves and a log-rank test, before and after.

fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
for ax, found, title in ((axes[0], before, "as given"), (axes[1], after, "batches removed")):
    for curve, dash in zip(found.survival.curves, ("-", "--", ":"), strict=True):
        (line,) = ax.step(curve.times, curve.survival, dash, where="post", label=f"cluster {curve.cluster}")
        ax.fill_between(curve.times, curve.lower, curve.upper, step="post", alpha=0.12, color=line.get_color())
    ax.set(title=f"{title}: log-rank p = {found.survival.p_value:.2g}", xlabel="months", ylim=(0, 1.02))
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("share alive")
fig.tight_layout()
plt.show()
