"""
First steps: cluster and complete
=================================

Handwritten digits, described in three views. A third of the samples lose a view, and a third of the values of the rest.
"""

import matplotlib.pyplot as plt
import numpy as np

import jella

digits = jella.datasets.load_digits_views()
sample = {name: X[:400] for name, X in digits.data.items()}
views = jella.datasets.make_incomplete(sample, 0.3, "incomplete-view", random_state=0)

# %%
# One call finds the clusters. Print what it returns.

found = jella.cluster(views, n_clusters=10)
print(found)

# %%
# The embedding has a row per sample, also for samples with one view.

W = found.embedding
strongest = np.argsort(-W.var(axis=0))[:2]
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.scatter(*W[:, strongest].T, c=found.labels, cmap="tab10", s=12)
axes.set(xlabel="strongest component", ylabel="second", title="400 digits, coloured by cluster")
