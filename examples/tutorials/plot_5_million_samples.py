"""
A million samples, on Dask and on a GPU
=======================================

The code for a million samples is the code for a thousand. This page runs it on 4000 samples, so that it takes seconds,
and says what changes for more. :doc:`/how-big` has the measured times and memory.
"""

# sphinx_gallery_thumbnail_path = "../benchmarks/results/scale.png"

import tempfile
from pathlib import Path

import numpy as np

import jella

rng = np.random.default_rng(0)
n, groups = 4000, 6
group = rng.integers(groups, size=n)


def view(d):
    """Groups in six places, and noise; three in ten samples lack the view."""
    X = rng.normal(size=(groups, d))[group] + 0.7 * rng.normal(size=(n, d))
    X[rng.random(n) < 0.3] = np.nan
    return X


views = {"left": view(20), "right": view(15)}
empty = np.isnan(views["left"]).all(axis=1) & np.isnan(views["right"]).all(axis=1)
views = {name: X[~empty] for name, X in views.items()}
group = group[~empty]

# %%
# Before you start
# ----------------
#
# ``needs`` estimates memory and time. A fit that needs more than there is refuses to start, in one sentence.

print(jella.SparseBDR(n_clusters=groups).needs(views))

# %%
# In memory
# ---------
#
# ``evidence=False`` leaves out the refits that support the number of clusters.

model = jella.SparseBDR(n_clusters=groups, random_state=0, evidence=False).fit(views)
print("agreement with the groups:", round(jella.metrics.adjusted_rand(group, model.labels_), 2))

# %%
# Larger than memory: Dask
# ------------------------
#
# Pass Dask arrays or DataFrames. Data stay in chunks on the workers, and results are lazy: they are computed when they
# are asked for, or written chunk by chunk. The labels are those of memory.

import dask
import dask.array as da

dask.config.set(scheduler="threads", num_workers=2)
chunked = {name: da.from_array(X, chunks=(1000, -1)) for name, X in views.items()}
on_dask = jella.MVLIV(n_components=10, n_clusters=groups, random_state=0).fit(chunked)
print(on_dask.labels_)
print("agreement with the groups:", round(jella.metrics.adjusted_rand(group, on_dask.labels_.compute()), 2))

# %%
# With a cluster of machines, connect first: ``from distributed import Client; Client("tcp://10.0.0.5:8786")``. The same
# from files, without Python:
#
# .. code-block:: console
#
#    $ jella cluster cells/ -k 12 -o found --dask                        # on the cores of this machine
#    $ jella cluster cells/ -k 12 -o found --dask tcp://10.0.0.5:8786    # on a cluster
#
# DATA are then folders of Parquet files, one folder per view. This writes such a folder:

folder = Path(tempfile.mkdtemp()) / "cells"
import pandas as pd

for name, X in views.items():
    (folder / name).mkdir(parents=True)
    table = pd.DataFrame(X, columns=[f"{name}{j}" for j in range(X.shape[1])])
    table.insert(0, "sample", [f"s{i}" for i in range(len(X))])
    for part in range(4):
        table.iloc[part::4].to_parquet(folder / name / f"part.{part}.parquet", index=False)
print(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet"))[:3], "...")

# %%
# Faster: a GPU
# -------------
#
# Pass PyTorch tensors or CuPy arrays that are on the device. Results are on the device too. (This block is not run on
# this page.)
#
# .. code-block:: python
#
#    import torch
#
#    on_gpu = {name: torch.as_tensor(X, device="cuda") for name, X in views.items()}
#    model = jella.SparseBDR(n_clusters=6, random_state=0).fit(on_gpu)
#    model.embedding_                     # a tensor on cuda
#
# On the command line: ``jella cluster DATA -k 6 -o found --device cuda``.
