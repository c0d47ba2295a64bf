"""
Features of the clusters
========================

Which features distinguish the clusters? A heat map of the strongest ones (`jella.plot.heatmap`), and tables of all.
"""

import jella

digits = jella.datasets.load_digits_views()
some = {name: view[:400] for name, view in digits.data.items()}
views = jella.datasets.make_incomplete(some, 0.3, "incomplete-view", random_state=0)

found = jella.cluster(views, n_clusters=10)

# %%
# Samples are ordered by cluster, features by the cluster that they distinguish. Hatched values are missing.

jella.plot.heatmap(found, n_features=8)

# %%
# The table behind it: effects in pooled standard deviations, with q-values. The clusters were found in the same data:
# q-values rank features and prove nothing.

found.markers(n_features=1).round(3)

# %%
# One row per cluster.

found.summary().round(2)
