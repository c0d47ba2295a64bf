"""
News in several sources
=======================

Three newspapers report on the same stories, but not every newspaper on each story. Which stories belong together? Words
are counts, most of them are zero, and a paper that did not report is a missing view, not an empty text.

The code makes 300 stories of five topics, each with its own usual words.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

import jella

rng = np.random.default_rng(1)
topics = ["business", "health", "politics", "sport", "technology"]
n, n_words = 300, 400
topic = rng.integers(5, size=n)

# a background that all topics share, and some words that are frequent in one topic
background = rng.dirichlet(np.full(n_words, 0.3))
usual = np.array([0.65 * background + 0.35 * rng.dirichlet(np.full(n_words, 0.03)) for _ in topics])


def counts(length):
    """Word counts of each story in one newspaper, which chooses its words in its own way."""
    style = rng.gamma(2.0, 0.5, size=n_words)
    rates = usual[topic] * style
    rates *= rng.poisson(length, size=(n, 1)) / rates.sum(axis=1, keepdims=True)
    return sparse.csr_matrix(rng.poisson(rates).astype(float))


papers = {"Daily": counts(70), "Herald": counts(50), "Wire": counts(30)}

# %%
# A missing view is not an empty text
# -----------------------------------
#
# Sparse matrices cannot hold NaN cheaply. So the masks say who reported: one value per story and newspaper. The rows of
# the others are ignored, whatever they hold.

reported = {name: rng.random(n) > share for name, share in {"Daily": 0.2, "Herald": 0.35, "Wire": 0.5}.items()}
silent = ~np.any(list(reported.values()), axis=0)
reported["Daily"] |= silent  # every story is in one paper at least
for name, X in papers.items():
    papers[name] = sparse.csr_matrix(X.multiply(reported[name][:, None]))
    print(f"{name}: {reported[name].sum()} of {n} stories, {X.nnz / n:.0f} different words in a story")

found = jella.cluster(papers, n_clusters=5, observed=reported)
print(found)
print("agreement with the topics:", round(jella.metrics.nmi(topic, found.labels), 2))

# %%
# What happens if a missing paper is taken for an empty text? A fit warns of rows of zeros that look like missing views,
# and the clusters are worse.

import warnings

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    wrong = jella.cluster(papers, n_clusters=5)
print(said[0].message)
print("agreement with the topics:", round(jella.metrics.nmi(topic, wrong.labels), 2))

# %%
# ``zero_rows="missing"`` corrects it without masks, if a text without words cannot occur.

again = jella.cluster(papers, n_clusters=5, zero_rows="missing")
print("agreement with the topics:", round(jella.metrics.nmi(topic, again.labels), 2))

# %%
# Which words make a topic?
# -------------------------
#
# Compare the share of each word inside a cluster with its share in all stories.

X = papers["Daily"]
share = np.array([np.asarray(X[found.labels == k].sum(axis=0)).ravel() for k in range(5)])
share = share / share.sum(axis=1, keepdims=True)
lift = np.log2((share + 1e-3) / (share.mean(axis=0) + 1e-3))
words = np.concatenate([np.argsort(-row)[:5] for row in lift])
figure, axes = plt.subplots(figsize=(8, 2.8), layout="constrained")
picture = axes.imshow(lift[:, words], cmap="RdBu_r", vmin=-4, vmax=4, aspect="auto")
axes.set_xticks(range(len(words)), [f"word{j}" for j in words], rotation=90, fontsize=7)
axes.set_yticks(range(5), [f"cluster {k}" for k in range(5)])
axes.set_title("Five words of each cluster: how many times as frequent as elsewhere (log2)")
figure.colorbar(picture, ax=axes)
