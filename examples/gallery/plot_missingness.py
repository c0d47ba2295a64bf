"""
What is missing
===============

Which samples have which views? Handwritten digits in three views: a third of the samples lose a view, and a third of
the values of the rest are lost too. `jella.plot.missingness` takes views, a result or a fitted model.
"""

import jella

digits = jella.datasets.load_digits_views()
some = {name: view[:400] for name, view in digits.data.items()}
views = jella.datasets.make_incomplete(some, 0.3, "incomplete-view", random_state=0)

# %%
# Samples run from left to right, sorted by the views that they have. Hatched parts are missing, numbers below count the
# samples that have the same views.

jella.plot.missingness(views)
