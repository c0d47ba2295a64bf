"""
The course of a fit
===================

The objective and its terms, sweep by sweep (`jella.plot.objective`).
"""

import matplotlib.pyplot as plt

import jella

digits = jella.datasets.load_digits_views()
some = {name: view[:400] for name, view in digits.data.items()}
views = jella.datasets.make_incomplete(some, 0.3, "incomplete-view", random_state=0)

model = jella.DAIMC(10, random_state=0, max_iter=60, tol=0).fit(views)
jella.plot.objective(model)

# %%
# Every plot takes ``ax`` and returns the Axes, so that plots can be combined.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
for ax, solver in ((left, "basic"), (right, "sor")):
    jella.plot.objective(jella.DAIMC(10, random_state=0, max_iter=60, tol=0, solver=solver).fit(views), ax=ax)
    ax.set_title(f"solver={solver!r}", loc="left")
