"""
Completed values against the truth
==================================

Holes were made in complete data, so completed values can be compared with what was hidden (`jella.plot.completed`).
"""

import jella

digits = jella.datasets.load_digits_views()
full = {name: view[:300] for name, view in digits.data.items()}
views = jella.datasets.make_incomplete(full, 0.3, "incomplete-view", random_state=0)
done = jella.complete(views, interval=0.9)
print(done)

# %%
# Points on the dashed line are exact. Vertical lines are intervals, drawn for some of the values. Completed values vary
# less than true ones: what is not known is completed near the mean.

jella.plot.completed(done, full)

# %%
# One view.

jella.plot.completed(done, full, view="fourier")

# %%
# Without the truth, the plot shows observed values that the model has hidden from itself.

jella.plot.completed(done)
