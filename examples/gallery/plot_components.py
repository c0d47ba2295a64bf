"""
Components: what they explain, and their features
=================================================

`jella.plot.variance_explained` shows how much of each view each component explains, `jella.plot.loadings` the features
with the largest weights.
"""

import jella

digits = jella.datasets.load_digits_views()
some = {name: view[:400] for name, view in digits.data.items()}
views = jella.datasets.make_incomplete(some, 0.3, "incomplete-view", random_state=0)

model = jella.MVLIV(n_components=8, max_iter=100, tol=1e-4, random_state=0).fit(views)

# %%
# A fitted model does not keep its data: pass the views beside it.

jella.plot.variance_explained(model, views)

# %%
# The features of one component. Negative weights are hatched.

jella.plot.loadings(model, component=0, n_features=6)

# %%
# All weights, as tables.

model.loadings()["fourier"].head().round(3)
