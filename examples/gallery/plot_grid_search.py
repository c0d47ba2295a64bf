"""
Grid search and pipelines with several views
============================================

:class:`jella.MultiView` holds several views and is sliced by sample. So the tools of scikit-learn work as they do for
one array: ``train_test_split``, ``cross_validate``, ``GridSearchCV``, ``Pipeline``.
"""

# %%
# Three views of handwritten digits; 30 % of the samples lack one or two of them.

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

import jella
from jella.model_selection import AvailabilityKFold

digits = jella.datasets.load_digits_views()
views = jella.datasets.make_incomplete(digits.data, 0.3, random_state=0)
X, y = jella.MultiView(views)[:600], digits.target[:600]
print(X)

# %%
# How many components?
# --------------------
# The score of an embedding is the negative error on values that are hidden in samples that the fit has not seen. Labels
# are not needed. ``AvailabilityKFold`` shares out the samples of each pattern of missing views over the folds.

model = jella.MVLIV(scale="standardize", max_iter=50, tol=1e-3, random_state=0)
search = GridSearchCV(model, {"n_components": [2, 5, 10, 20, 40]}, cv=AvailabilityKFold(3)).fit(X)
print("components:", search.best_params_["n_components"])

# %%
# An embedding, and then a classifier
# -----------------------------------
# The embedding is learned from the training part alone; test samples are placed in it, whatever views they lack.

train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
steps = make_pipeline(jella.SparseBDR(n_clusters=10, evidence=False, random_state=0), LogisticRegression(max_iter=2000))
steps.fit(train, y_train)
print(f"accuracy on {len(test)} test samples: {steps.score(test, y_test):.3f}")

# %%
# The errors of the search.

results = search.cv_results_
ranks = [int(one) for one in results["param_n_components"]]
fig, ax = plt.subplots(figsize=(6, 3.6))
ax.errorbar(ranks, -results["mean_test_score"], results["std_test_score"], marker="o", capsize=3, color="#0072B2")
ax.set(
    xlabel="components", ylabel="error on hidden values of new samples", xscale="log", xticks=ranks, xticklabels=ranks
)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
fig.tight_layout()
plt.show()
