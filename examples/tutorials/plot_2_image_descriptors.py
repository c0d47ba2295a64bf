"""
Images described in several ways
================================

An image can be described by its pixels, by its frequencies, by its edges, by the output of a network. Descriptors
differ in scale and in quality, and not every image has all of them: old images were never processed by the new program.
This tutorial uses handwritten digits in three views.
"""

import matplotlib.pyplot as plt
import numpy as np

import jella

digits = jella.datasets.load_digits_views()
some = np.random.default_rng(0).choice(1797, 500, replace=False)
full = {name: X[some] for name, X in digits.data.items()}
target = digits.target[some]
views = jella.datasets.make_incomplete(full, 0.3, "incomplete-view", random_state=0)
print({name: f"{X.shape[1]} features, {np.isnan(X).mean():.0%} missing" for name, X in views.items()})

# %%
# Clusters of images
# ------------------
#
# Fill the holes with means and run k-means, as many people do first. Then compare.

from sklearn.cluster import KMeans

filled = np.hstack([np.where(np.isnan(X), np.nanmean(X, axis=0), X) for X in views.values()])
by_means = KMeans(10, n_init=10, random_state=0).fit_predict(filled)
found = jella.cluster(views, n_clusters=10)
for name, labels in (("mean-fill + k-means", by_means), ("jella.cluster", found.labels)):
    print(f"{name:20} NMI {jella.metrics.nmi(target, labels):.2f}")

# %%
# How was each descriptor used? The scaling is chosen by how well neighbours agree between views, the weight by how
# clearly a view falls into groups.

print(found)

# %%
# A picture of the samples
# ------------------------
#
# The embedding does not show which views an image lacks: images with one view lie among those with three.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
jella.plot.embedding(found, method="tsne", ax=left)
jella.plot.embedding(found, method="tsne", color="availability", ax=right)

# %%
# What the missing pixels were
# ----------------------------
#
# ``complete`` gives values in the units of the views. In the second row, red is missing; the last four images lack all
# pixels, so these were predicted from the two other descriptors.

done = jella.complete(views)
names = digits.feature_names["pixels"]
place = [int(name.rsplit("_", 2)[-2]) * 8 + int(name.rsplit("_", 1)[-1]) for name in names]
lacking = np.isnan(views["pixels"]).all(axis=1)
shown = [*np.flatnonzero(~lacking)[:8], *np.flatnonzero(lacking)[:4]]
figure, grid = plt.subplots(3, 12, figsize=(9, 2.6), layout="constrained")
for row, (title, X) in enumerate(
    {"true": full["pixels"], "given": views["pixels"], "completed": done.views["pixels"]}.items()
):
    for axes, sample in zip(grid[row], shown, strict=True):
        image = np.zeros(64)
        image[place] = X[sample]
        axes.imshow(np.ma.masked_invalid(image.reshape(8, 8)), cmap="gray")
        axes.set(xticks=[], yticks=[], facecolor="#d62728")
    grid[row, 0].set_ylabel(title)
print(done)

# %%
# Your own images
# ---------------
#
# Any descriptor is a view: pass a dict of arrays with the same images in the same order, and a row of NaN where an
# image lacks a descriptor. DataFrames with the file names as index need no common order.
