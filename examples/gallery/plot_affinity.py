"""
Which samples belong together
=============================

The affinity of samples, ordered by cluster: clear clusters are blocks on the diagonal.
"""

import jella

digits = jella.datasets.load_digits_views()
some = {name: view[:400] for name, view in digits.data.items()}
views = jella.datasets.make_incomplete(some, 0.3, "incomplete-view", random_state=0)

found = jella.cluster(views, n_clusters=10)

# %%
# SparseBDR learns an affinity. For methods that learn none, neighbours in the embedding are drawn.

jella.plot.affinity(found)
