"""
How many clusters?
==================

Without a number, `jella.cluster` chooses one and says what speaks for it. `jella.plot.evidence` draws it.
"""

import jella

digits = jella.datasets.load_digits_views()
some = {name: view[:400] for name, view in digits.data.items()}
views = jella.datasets.make_incomplete(some, 0.3, "incomplete-view", random_state=0)

found = jella.cluster(views)
print(found.evidence.path.words())

# %%
# Modularity says how clear the clusters are. It must lie above the grey band, which is where it lies for data without
# groups. Stability says how far refits on parts of the samples find the same clusters.

jella.plot.evidence(found)
