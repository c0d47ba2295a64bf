"""
Samples in two dimensions
=========================

The embedding of samples with holes, drawn by `jella.plot.embedding`: coloured by cluster, by how sure the clusters are,
by the views that samples have, and by known classes.
"""

import jella

digits = jella.datasets.load_digits_views()
some = {name: view[:400] for name, view in digits.data.items()}
views = jella.datasets.make_incomplete(some, 0.3, "incomplete-view", random_state=0)

found = jella.cluster(views, n_clusters=10)

# %%
# Principal components of the embedding. Clusters have their numbers at their middles, and differ in markers as well as
# in colours.

jella.plot.embedding(found)

# %%
# t-SNE keeps neighbours together. Distances between groups mean little. ``method="umap"`` works too, with
# ``pip install 'jella[umap]'``.

jella.plot.embedding(found, method="tsne")

# %%
# How sure is each label? Dark samples are the least certain.

jella.plot.embedding(found, color="probability")

# %%
# Does the embedding show which views a sample lacks? It should not: the groups are mixed.

jella.plot.embedding(found, color="availability")

# %%
# Anything that is known of the samples gives colours: the true digits in this case. Few values make groups with a
# legend, many numbers a scale.

jella.plot.embedding(found, color=digits.target[:400], label="digit", method="tsne")
